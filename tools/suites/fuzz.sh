# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Suite fuzz: random calls on random objects by several processes, on the
# kernel with all checkers, guided by what they reach in the module.  What was
# found to be worth keeping is in tests/fuzz/corpus, and is done first.
#
# Of all that the kernel does meanwhile, kmemleak's records are half.  So a part
# of the calls is made with it, then it is asked, and the rest goes without.

# In all, over the machines, where DRAY_FUZZ_CALLS does not say otherwise.  Without
# --full there is the board alone: suite sanitize needs its kernel too.
FUZZ_CALLS=4000
FUZZ_CALLS_FULL=12000
FUZZ_CALLS_LONG=2000000

PACKAGES_FUZZ=("${PACKAGES_GUEST[@]}" qemu-system-x86)

suite_fuzz()
{
	local scratch=$1 calls=$FUZZ_CALLS limit=1500 seed machine architecture
	local machines=(zcu102)

	[ "$FULL" = no ] || calls=$FUZZ_CALLS_FULL machines=(pc zcu102)
	[ "$LONG" = no ] || calls=$FUZZ_CALLS_LONG limit=43200
	calls=$((${DRAY_FUZZ_CALLS:-$calls} / ${#machines[@]}))
	seed=${DRAY_FUZZ_SEED:-$(date +%s)000000}
	log_note "DRAY_FUZZ_SEED=$seed makes each thread begin as now"
	for machine in "${machines[@]}"; do
		architecture=arm64
		[ "$machine" = zcu102 ] || architecture=amd64
		tally_run "the fuzzer builds for the $machine" \
			program_build fuzz "$architecture" || return 0
		fuzz_batch "$scratch/$machine" "$machine" "$architecture" \
			"$calls" "$seed"
		batch_aside "$calls random calls on the $machine" \
			fuzz_boot "$scratch/$machine" "$machine" "$calls" "$limit"
	done
	batch_count_aside
	for machine in "${machines[@]}"; do
		fuzz_reached "$scratch/$machine" "$machine"
	done
}

# fuzz_batch FOLDER BOARD ARCHITECTURE CALLS SEED: what is to be run
fuzz_batch()
{
	local folder=$1 board=$2 architecture=$3 calls=$4 seed=$5
	local file known='' first=$(($4 / 20)) next=$(($5 + 500000))

	[ "$first" -ge 2000 ] || first=2000
	[ "$first" -le "$calls" ] || first=$calls
	batch_begin "$folder"
	cp "$(build_folder "fuzz-$architecture")/fuzz" \
		"$TREE/tools/lib/guest-checkers" "$BATCH/job"
	cp -r "$TREE/tests/fuzz/corpus" "$BATCH/job"
	for file in "$TREE"/tests/fuzz/corpus/*.txt; do
		known+=" --corpus corpus/${file##*/}"
	done
	batch_add tap "$board-fuzz-with-kmemleak" \
		"./fuzz --seed $seed --calls $first$known"
	batch_add status "$board-leaks" 'guest-checkers leaks'
	if [ "$calls" -gt "$first" ]; then
		batch_add status "$board-without-kmemleak" \
			'echo off >/sys/kernel/debug/kmemleak'
		# By then little is new.
		[ "$LONG" = no ] ||
			known+=" --guide 8 --save /results/$board.txt"
		batch_add tap "$board-fuzz" \
			"./fuzz --seed $next --calls $((calls - first))$known"
	fi
	batch_add status "$board-locks" 'guest-checkers locks'
}

# fuzz_boot FOLDER BOARD CALLS LIMIT
fuzz_boot()
{
	local engine

	(
		BATCH=$1 BATCH_LIMIT=$4
		GUEST_MODULES=(loop vgem)
		GUEST_BOARD=$2 GUEST_SERIES=checked GUEST_LIMIT=$4
		GUEST_PARAMETERS=watchdog_ms=60000
		if [ "$2" = pc ]; then
			engine=$(module_test engine \
				"$(kernel_make amd64 checked)") ||
				die "no engine for tests"
			GUEST_EXTRA=("$engine/dray_test_engine.ko")
			GUEST_PARAMETERS+=' nodes=2 channels=2'
			# Its processors run in turns anyway.
			GUEST_COUNTED=yes
		else
			# The checker of mappings takes a page that was pinned
			# twice for one that was not, where caches are
			# maintained.
			GUEST_APPEND=dma_debug=off
			# Some calls by processors that run at the same time,
			# or many by those that run in turns
			GUEST_COUNTED=$LONG
		fi
		progress_follow "$BATCH/output" batch_boot \
			"$3 random calls on the $2"
	)
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
