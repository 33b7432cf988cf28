# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# The library with Debian's XRT: on the emulated ZCU102 with the edge build and a
# stand-in for its driver, which is in no package.

ABOUT_XRT="BOs of Debian's XRT over dray's memory and arrays over BOs, on the \
emulated ZCU102, with a stand-in for XRT's driver"
PACKAGES_XRT=("${PACKAGES_GUEST[@]}" "${PACKAGES_BUILD[@]}")

# Programs of tests/xrt, in their order: the last fact of user keeps memory.
XRT_PROGRAMS=(import export sync ends user)

suite_xrt()
{
	xrt_board "$1"
}

# xrt_board FOLDER: the programs of tests/xrt on the board
xrt_board()
{
	local GUEST_ROOTS SELFTESTS_MODULES=(drm_dma_helper)

	tally_run "user space builds for the board" build_board || return 0
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
}
