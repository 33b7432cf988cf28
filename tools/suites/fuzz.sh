# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Several processes are guided by their coverage of the module.  Valuable inputs are in
# tests/fuzz/corpus and run first.
#
# The records of kmemleak cost half of the time.  So a part of the calls runs with them
# before a scan for leaks, the rest without.

ABOUT_FUZZ="random calls on random objects; with --full on kernels with all checkers, \
guided by coverage"

# Total of all machines, unless DRAY_FUZZ_CALLS is set.  Without --full, the board runs
# Debian's kernel, which checks little and
# records no coverage.
FUZZ_CALLS=2000
FUZZ_CALLS_FULL=12000
FUZZ_CALLS_LONG=2000000

PACKAGES_FUZZ=("${PACKAGES_GUEST[@]}" qemu-system-x86)

suite_fuzz()
{
	local scratch=$1 calls=$FUZZ_CALLS limit=1500 seed machine architecture
	local machines=(zcu102) FUZZ_SERIES=6.1

	[ "$FULL" = no ] || calls=$FUZZ_CALLS_FULL machines=(pc zcu102) \
		FUZZ_SERIES=checked
	[ "$LONG" = no ] || calls=$FUZZ_CALLS_LONG limit=43200
	calls=$((${DRAY_FUZZ_CALLS:-$calls} / ${#machines[@]}))
	seed=${DRAY_FUZZ_SEED:-$(date +%s)000000}
	log_note "DRAY_FUZZ_SEED=$seed repeats the start of each thread"
	for machine in "${machines[@]}"; do
		architecture=arm64
		[ "$machine" = zcu102 ] || architecture=amd64
		tally_run "the fuzzer builds for the $machine" \
			program_build fuzz "$architecture" || return 0
		fuzz_batch "$scratch/$machine" "$machine" "$architecture" \
			"$calls" "$seed"
		batch_aside_by fuzz_boot "$calls random calls on the $machine" \
			"$machine" "$limit"
	done
	batch_count_aside
	for machine in "${machines[@]}"; do
		fuzz_reached "$scratch/$machine" "$machine"
	done
}

# fuzz_batch FOLDER BOARD ARCHITECTURE CALLS SEED: makes the batch
fuzz_batch()
{
	local folder=$1 board=$2 architecture=$3 calls=$4 seed=$5
	local file known='' first=$(($4 / 20)) next=$(($5 + 500000))
	# Prints the place where a process of the fuzzer broke.
	# shellcheck disable=SC2016 # the guest's shell replaces it
	local end='status=$?; dmesg | grep -A 30 "fatal signal"; exit $status'

	[ "$first" -ge 2000 ] || first=2000
	[ "$first" -le "$calls" ] || first=$calls
	batch_begin "$folder"
	tally_run "streams for the $board" fuzz_add_streams "$board" \
		"$architecture" || return 0
	batch_add step "$board-maps-twice" \
		'echo "dray test: memory is mapped twice" >/dev/kmsg && echo 1 >/proc/sys/kernel/print-fatal-signals'
	cp "$(build_folder "fuzz-$architecture")/fuzz" \
		"$TREE"/tools/lib/guest-{checkers,unload} "$BATCH/job"
	cp -r "$TREE/tests/fuzz/corpus" "$BATCH/job"
	for file in "$TREE"/tests/fuzz/corpus/*.txt; do
		known+=" --corpus corpus/${file##*/}"
	done
	batch_add tap "$board-fuzz-with-kmemleak" \
		"./fuzz --seed $seed --calls $first$known; $end"
	[ "$FUZZ_SERIES" != checked ] ||
		batch_add status "$board-leaks" 'guest-checkers leaks'
	if [ "$calls" -gt "$first" ]; then
		batch_add status "$board-without-kmemleak" \
			'echo off >/sys/kernel/debug/kmemleak'
		# Guides rarely: little is new by then.
		[ "$LONG" = no ] ||
			known+=" --guide 8 --save /results/$board.txt"
		batch_add tap "$board-fuzz" \
			"./fuzz --seed $next --calls $((calls - first))$known; $end"
	fi
	# Its senders repeat rows until others replace them, at a vertical sync.
	batch_add step "$board-display" \
		'guest-unload dray_test_stream && insmod dray_test_stream.ko shows=1'
	batch_add tap "$board-fuzz-display" \
		"(while usleep 10000; do echo 1 >/sys/module/dray_test_stream/parameters/sync; done) & ./fuzz --seed $((next + 500000)) --calls $((first / 2))$known; status=\$?; kill \$!; (exit \$status); $end"
	[ "$FUZZ_SERIES" != checked ] ||
		batch_add status "$board-locks" 'guest-checkers locks'
}

# fuzz_add_streams BOARD ARCHITECTURE: adds streams to the last node, on the PC by an
# engine with all quirks
fuzz_add_streams()
{
	local kernel engine options=frame_us=5000

	[ "$1" != pc ] || options+=' axidma=1'
	kernel=$(kernel_make "$2" "$FUZZ_SERIES") || return 1
	engine=$(module_test engine "$kernel") || return 1
	cp "$engine/dray_test_stream.ko" "$BATCH/job"
	batch_add step "$1-streams" "insmod dray_test_stream.ko $options"
}

# fuzz_boot TITLE BOARD LIMIT
fuzz_boot()
{
	GUEST_PARAMETERS=watchdog_ms=60000
	if [ "$2" = pc ]; then
		pc_take_engine checked 2
		# Its processors run in turns anyway.
		GUEST_COUNTED=yes
	else
		# On this board the checker of mappings mistakes a page that is
		# pinned twice for an unpinned page.
		GUEST_APPEND=dma_debug=off
		# Few calls by processors in parallel, or many in turns
		GUEST_COUNTED=$LONG
	fi
	progress_follow "$BATCH/output" batch_guest "$1" "$2" "$FUZZ_SERIES" \
		"GUEST_LIMIT=$3" "BATCH_LIMIT=$3"
}

# fuzz_reached FOLDER BOARD
fuzz_reached()
{
	local BATCH=$1 reached

	grep -hE '^# [0-9]+ places reached' "$BATCH/logs/$2"-fuzz* |
		while read -r _ reached; do
		log_note "$2: $reached"
	done
	if [ "$LONG" = yes ] && [ -s "$BATCH/results/$2.txt" ]; then
		log_note "inputs worth keeping: $CACHE/corpus/$2.txt"
		mkdir -p "$CACHE/corpus"
		cp "$BATCH/results/$2.txt" "$CACHE/corpus"
	fi
}
