# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Debian's libxrt1 is unpacked and not installed; it needs the libraries in PACKAGES_XRT.

ABOUT_XRT="Xilinx's runtime: its own library in the mode noop, without a device; the \
layout of its files"
PACKAGES_XRT=(
	"${PACKAGES_BUILD[@]}" libboost-filesystem1.74.0 libcurl4 libprotobuf32
	python3-pytest
)

suite_xrt()
{
	xrt_native "$1"
}

# xrt_native SCRATCH: from C and from Python on this machine
xrt_native()
{
	local xrt native

	case $(uname -m) in
	x86_64) ;;
	*) log_note "libxrt1 has the mode noop on amd64 only"; return 0 ;;
	esac
	tally_wants native || return 0
	# shellcheck disable=SC2154 # tally_fetch sets it
	tally_fetch "fetches libxrt1" xrt foreign_set amd64 one xrt libxrt1 \
		libxrt-dev || return 0
	tally_run "builds as a release" build_native || return 0
	native=$(build_folder native)
	tally_run "native: XRT's headers describe the same" xrt_compile "$xrt" \
		-fsyntax-only "$TREE/tests/xrt/layout.c"
	! tally_run "native: noop builds" xrt_compile "$xrt" -o "$1/noop" \
		"$TREE"/tests/{xrt/noop,unit/unit}.c "-L$native/userspace/src" \
		-ldray -lcmocka -pthread || xrt_noop "$xrt" "$1"
}

# xrt_compile XRT ARGUMENT...
xrt_compile()
{
	gcc -std=gnu11 -g -Wall -Wextra -Werror -Wno-unused-parameter \
		"-I$TREE"/{include,include/uapi,userspace/src,tests/unit} \
		-isystem "$1/usr/include/xrt" "${@:2}"
}

# xrt_noop XRT SCRATCH.  XRT may leave directories in its own: all is run in one that
# must stay empty.
xrt_noop()
{
	local run=$2/run status=0 libraries

	libraries=$(build_folder native)/userspace/src:$1/usr/lib/x86_64-linux-gnu
	mkdir "$run"
	(cd "$run" && TMPDIR=$run LD_LIBRARY_PATH=$libraries \
		XCL_EMULATION_MODE=noop CMOCKA_MESSAGE_OUTPUT=TAP \
		timeout --foreground 300 "$2/noop" </dev/null) >"$2/noop.log" 2>&1 ||
		status=$?
	tally_tap "native: noop, from C" "$status" "$2/noop.log"
	TMPDIR=$run LD_LIBRARY_PATH=$libraries XCL_EMULATION_MODE=noop \
		python_count "native: noop, from Python" native "$2/python.log" \
		/usr/bin/python3 '' -m pytest -q --color=no -p no:cacheprovider \
		"$TREE/tests/xrt/test_noop.py"
	tally_run "native: XRT leaves nothing behind" rmdir "$run"
}
