# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# The library with Debian's XRT: on the emulated ZCU102 with the edge build and a
# stand-in for its driver, which is in no package; on this machine in the mode noop.
# The package and libraries of its release are unpacked there, not installed.

ABOUT_XRT="BOs of Debian's XRT over dray's memory and arrays over BOs, on the \
emulated ZCU102, with a stand-in for XRT's driver, and on this machine without a \
device; the layout of its files"
PACKAGES_XRT=(
	"${PACKAGES_GUEST[@]}" "${PACKAGES_BUILD[@]}"
	libcurl4 python3-pytest
)

# Programs of tests/xrt, in their order: the last fact of user keeps memory.
XRT_PROGRAMS=(import export sync ends user)

suite_xrt()
{
	xrt_native "$1"
	! xrt_wants_board || xrt_board "$1"
}

# Whether a program of the board is to run: to build for it needs minutes.
xrt_wants_board()
{
	local name

	for name in "${XRT_PROGRAMS[@]}" python; do
		! tally_wants "xrt-$name" || return 0
	done
	return 1
}

# xrt_board FOLDER: the programs of tests/xrt on the board
xrt_board()
{
	local GUEST_ROOTS GUEST_PYTHON=tests SELFTESTS_MODULES=(drm_dma_helper)

	tally_run "user space builds for the board" build_board "${XRT_PROGRAMS[@]/#/tests/xrt/test_xrt_}" || return 0
	GUEST_ROOTS=("$(build_board_root)")
	batch_begin "$1/board"
	tally_run "the stand-in for zocl builds" xrt_add_driver || return 0
	xrt_add_programs
	batch_aside "XRT on the board" zcu102 6.1 GUEST_XRT=yes
	batch_count_aside
}

# The shim wants a folder of links to the devices, as udev makes it.
xrt_add_driver()
{
	local kernel folder name=platform-zyxclmm_drm-render

	kernel=$(kernel_make arm64 6.1) || return 1
	folder=$(module_test xrt "$kernel") || return 1
	cp "$folder/dray_test_zocl.ko" "$BATCH/job"
	batch_add step zocl \
		"insmod dray_test_zocl.ko && mkdir -p /dev/dri/by-path && ln -s ../renderD128 /dev/dri/by-path/$name"
}

xrt_add_programs()
{
	local name folder

	folder=$(build_folder arm64)
	for name in "${XRT_PROGRAMS[@]}"; do
		cp "$folder/tests/xrt/test_xrt_$name" "$BATCH/job/$name"
		batch_add tap "xrt-$name" \
			"CMOCKA_MESSAGE_OUTPUT=TAP ./$name"
	done
	cp "$TREE/tests/xrt/test_zocl.py" "$BATCH/job"
	batch_add counts xrt-python \
		"PYTHONDONTWRITEBYTECODE=1 DRAY_BACKEND=kernel python3 -m pytest -q --color=no -p no:cacheprovider test_zocl.py"
}

# xrt_native SCRATCH: from C and from Python on this machine
xrt_native()
{
	local xrt

	case $(uname -m) in
	x86_64) ;;
	*) log_note "libxrt1 has the mode noop on amd64 only"; return 0 ;;
	esac
	tally_wants native || return 0
	# shellcheck disable=SC2154 # tally_fetch sets it
	tally_fetch "fetches libxrt1" xrt foreign_set amd64 alone xrt libxrt1 \
		libxrt-dev libboost-filesystem1.74.0 libprotobuf32 || return 0
	tally_run "builds as a release" build_native || return 0
	tally_run "native: XRT's headers describe the same" gcc -std=gnu11 \
		-Wall -Wextra -Werror -fsyntax-only \
		"-I$TREE"/{include,include/uapi,userspace/core} \
		-isystem "$xrt/usr/include/xrt" "$TREE/tests/xrt/layout.c"
	xrt_noop "$xrt" "$1"
}

# xrt_noop XRT SCRATCH.  XRT may leave files in the working directory: all runs in a
# directory that must stay empty.
xrt_noop()
{
	local run=$2/run status=0 libraries=$1/usr/lib/x86_64-linux-gnu

	mkdir "$run"
	(cd "$run" && TMPDIR=$run LD_LIBRARY_PATH=$libraries \
		XCL_EMULATION_MODE=noop CMOCKA_MESSAGE_OUTPUT=TAP \
		timeout --foreground 300 \
		"$(build_folder native)/tests/xrt/test_xrt_noop" </dev/null) >"$2/noop.log" 2>&1 ||
		status=$?
	tally_tap "native: noop, from C" "$status" "$2/noop.log"
	TMPDIR=$run LD_LIBRARY_PATH=$libraries XCL_EMULATION_MODE=noop \
		python_count "native: noop, from Python" native "$2/python.log" \
		/usr/bin/python3 '' -m pytest -q --color=no -p no:cacheprovider \
		"$TREE/tests/xrt/test_noop.py"
	tally_run "native: XRT leaves nothing behind" rmdir "$run"
}
