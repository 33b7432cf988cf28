# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# The emulated ZCU102 with the kernel's own drivers: its AXI DMA, of which tools/fpga
# has a model and IPs, and the DMA of its display port.

ABOUT_STREAMS="the AXI DMA of the emulated ZCU102, whose stream goes through an IP \
on this machine: packets, batches, faults; its display and sound"
PACKAGES_STREAMS=("${PACKAGES_GUEST[@]}" "${PACKAGES_FPGA[@]}")

suite_streams()
{
	local scratch=$1

	tally_run "the model of the AXI DMA builds" fpga_build || return 0
	batch_begin "$scratch/invert"
	tally_run "tests of the driver build" streams_add_driver || return 0
	streams_boot "streams through invert" invert
	streams_boot_display "$scratch/display"
	batch_count_aside
	streams_check_display "$scratch/display"
}

# streams_boot TITLE IP [OPTION]...: boots the batch with this IP
streams_boot()
{
	local GUEST_FPGA SELFTESTS_MODULES=()

	fpga_take "${@:2}"
	batch_aside "$1" zcu102 6.1
}

# streams_boot_display FOLDER: a batch whose pictures and sound go to FOLDER/screen
streams_boot_display()
{
	local GUEST_SCREEN=$1/screen SELFTESTS_MODULES=()

	batch_begin "$1"
	mkdir "$GUEST_SCREEN"
	cp "$(build_folder streams-arm64)/display" "$BATCH/job"
	batch_add tap display ./display
	batch_aside "the display" zcu102 6.1
}

# streams_check_display FOLDER: compares what the program has shown with the screen
streams_check_display()
{
	local status=0

	[ -e "$1/status" ] || return 0
	/usr/bin/python3 "$TREE/tests/streams/screen_check.py" "$1/screen" \
		"$1/results" >"$1/check" 2>&1 || status=$?
	tally_tap "pictures and sound" "$status" "$1/check"
}

# The kernel's driver without dray, then with it.
streams_add_driver()
{
	local kernel folder

	kernel=$(kernel_make arm64 6.1) || return 1
	folder=$(module_test streams "$kernel") || return 1
	cp "$folder/dray_test_axidma.ko" "$BATCH/job"
	program_build streams arm64 || return 1
	cp "$(build_folder streams-arm64)/packets" "$BATCH/job"
	batch_add tap driver \
		"insmod dray_test_axidma.ko && rmmod dray_test_axidma; dmesg | sed -n 's/.*dray_test_axidma: //p'"
	batch_add tap packets ./packets
}
