# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# The board of tools/fpga: the kernel's own driver, a model of its core, and an IP.

ABOUT_STREAMS="the AXI DMA of the emulated ZCU102, whose stream goes through an IP \
on this machine: packets, batches, faults"
PACKAGES_STREAMS=("${PACKAGES_GUEST[@]}" "${PACKAGES_FPGA[@]}")

suite_streams()
{
	local scratch=$1

	tally_run "the model of the AXI DMA builds" fpga_build || return 0
	batch_begin "$scratch/invert"
	tally_run "tests of the driver build" streams_add_driver || return 0
	streams_boot "streams through invert" invert
	batch_count_aside
}

# streams_boot TITLE IP [OPTION]...: boots the batch with this IP
streams_boot()
{
	local GUEST_FPGA SELFTESTS_MODULES=()

	fpga_take "${@:2}"
	batch_aside "$1" zcu102 6.1
}

# The kernel's driver without dray, then with it.
streams_add_driver()
{
	local kernel folder

	kernel=$(kernel_make arm64 6.1) || return 1
	folder=$(module_test streams "$kernel") || return 1
	cp "$folder/dray_test_axidma.ko" "$BATCH/job"
	program_build streams arm64 || return 1
	cp "$(build_folder streams-arm64)"/{packets,rings} "$BATCH/job"
	batch_add tap driver \
		"insmod dray_test_axidma.ko && rmmod dray_test_axidma; dmesg | sed -n 's/.*dray_test_axidma: //p'"
	batch_add tap packets ./packets
	batch_add tap rings ./rings
}
