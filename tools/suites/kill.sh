# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Suite kill: processes of a mixed load are killed at random points, on the
# board with its engine, and on the PC with one that is slow, so that kills
# come while transfers are in flight.  Then nothing may be left of them; what
# a node holds on purpose RECLAIM gives back, in a shorter round.

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
	local architecture=arm64 slow='' engine=''
	# addresses are asked for, and no device uses them
	local parameters='watchdog_ms=60000 hold=0'

	batch_begin "$folder"
	if [ "$board" = pc ]; then
		architecture=amd64
		slow='echo 2 >/sys/module/dray_test_engine/parameters/delay_ms && '
		engine=$(module_test engine "$(kernel_make amd64 "$series")") ||
			die "no engine for tests"
		parameters+=' nodes=1 channels=2'
	fi
	cp "$(build_folder "kill-$architecture")/kill" \
		"$TREE/tools/lib/guest-unload" "$BATCH/job"
	batch_add tap "$board-kill" "$slow./kill --kills $kills"
	# Addresses that the dead knew, until RECLAIM
	batch_add tap "$board-kill-held" \
		"guest-unload dray && insmod /guest/modules/dray.ko ${parameters/hold=0/hold=1} && ./kill --kills 40"
	(
		GUEST_MODULES=(loop vgem)
		GUEST_BOARD=$board GUEST_SERIES=$series GUEST_LIMIT=3600
		GUEST_PARAMETERS=$parameters
		[ "$board" != pc ] ||
			GUEST_EXTRA=("$engine/dray_test_engine.ko")
		progress_follow "$BATCH/output" batch_boot "$title"
	)
	batch_count "$title"
}
