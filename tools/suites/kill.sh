# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Uses the board with its engine, and the PC with a slow one, so that transfers are in
# flight.  A shorter round reclaims memory that a node holds.

ABOUT_KILL='kill -9 at random points of a mixed load: nothing may remain'
PACKAGES_KILL=("${PACKAGES_GUEST[@]}" qemu-system-x86)

suite_kill()
{
	local scratch=$1 kills=40

	[ "$FULL" = no ] || kills=250 # on each: 500 in all
	[ "$LONG" = no ] || kills=500
	tally_run "the killer builds for the board" \
		program_build kill arm64 || return 0
	kill_run "$scratch/board" zcu102 6.1 "$kills"
	[ "$FULL" = yes ] || return 0
	tally_run "the killer builds for the PC" \
		program_build kill amd64 || return 0
	kill_run "$scratch/pc" pc 6.12 "$kills"
}

# kill_run FOLDER BOARD SERIES KILLS
kill_run()
{
	local folder=$1 board=$2 series=$3 kills=$4 title="$4 kills on the $2"
	local architecture=arm64 slow='' GUEST_EXTRA=()
	# No device uses the addresses that the processes ask for.
	local GUEST_PARAMETERS='watchdog_ms=60000 hold=0'

	batch_begin "$folder"
	if [ "$board" = pc ]; then
		architecture=amd64
		slow='echo 2 >/sys/module/dray_test_engine/parameters/delay_ms && '
		pc_take_engine "$series"
	fi
	cp "$(build_folder "kill-$architecture")/kill" \
		"$TREE/tools/lib/guest-unload" "$BATCH/job"
	tally_run "streams for the $board" kill_add_streams "$architecture" \
		"$series" || return 0
	batch_add tap "$board-kill" \
		"insmod dray_test_stream.ko frame_us=2000 && $slow./kill --kills $kills"
	# If a dead process knew an address, its memory is held until RECLAIM.
	batch_add tap "$board-kill-held" \
		"guest-unload dray_test_stream dray && insmod /guest/modules/dray.ko ${GUEST_PARAMETERS/hold=0/hold=1} && ./kill --kills 40"
	(progress_follow "$BATCH/output" batch_guest "$title" "$board" "$series")
	batch_count "$title"
}

# kill_add_streams ARCHITECTURE SERIES: the last node has streams
kill_add_streams()
{
	local kernel engine

	kernel=$(kernel_make "$1" "$2") || return 1
	engine=$(module_test engine "$kernel") || return 1
	cp "$engine/dray_test_stream.ko" "$BATCH/job"
}
