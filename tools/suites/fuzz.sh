# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Suite fuzz: random calls on random objects by several processes, on the
# kernel with all checkers, guided by what they reach in the module.  What was
# found to be worth keeping is in tests/fuzz/corpus, and is done first.

# In all, over both machines
FUZZ_CALLS=12000
FUZZ_CALLS_LONG=2000000

PACKAGES_FUZZ=("${PACKAGES_GUEST[@]}" qemu-system-x86)

suite_fuzz()
{
	local scratch=$1 calls=$FUZZ_CALLS limit=1500

	if [ "$LONG" = yes ]; then
		calls=$FUZZ_CALLS_LONG limit=43200
	elif [ "$QUICK" = yes ]; then
		calls=4000
	fi
	tally_run "the fuzzer builds for the PC" program_build fuzz amd64 ||
		return 0
	fuzz_run "$scratch/pc" pc amd64 $((calls / 2)) "$limit"
	[ "$QUICK" = no ] || return 0
	tally_run "the fuzzer builds for the board" \
		program_build fuzz arm64 || return 0
	fuzz_run "$scratch/board" zcu102 arm64 $((calls / 2)) "$limit"
}

# fuzz_run FOLDER BOARD ARCHITECTURE CALLS LIMIT
fuzz_run()
{
	local folder=$1 board=$2 architecture=$3 calls=$4 limit=$5
	local file known='' engine='' title="$4 random calls on the $2"

	batch_begin "$folder"
	cp "$(build_folder "fuzz-$architecture")/fuzz" "$BATCH/job"
	cp -r "$TREE/tests/fuzz/corpus" "$BATCH/job"
	for file in "$TREE"/tests/fuzz/corpus/*.txt; do
		known+=" --corpus corpus/${file##*/}"
	done
	if [ "$board" = pc ]; then
		engine=$(module_test_engine "$(kernel_make amd64 checked)") ||
			die "no engine for tests"
	fi
	# By then little is new.
	[ "$LONG" = no ] || known+=" --guide 8 --save /results/$board.txt"
	batch_add tap "$board-fuzz" "./fuzz --calls $calls$known"
	(
		GUEST_MODULES=(loop vgem)
		GUEST_BOARD=$board GUEST_SERIES=checked GUEST_LIMIT=$limit
		GUEST_PARAMETERS=watchdog_ms=60000
		BATCH_LIMIT=$limit
		# The checker of mappings takes a page that was pinned twice for
		# one that was not, where caches are maintained.
		[ "$board" = pc ] || GUEST_APPEND=dma_debug=off
		if [ "$board" = pc ]; then
			GUEST_EXTRA=("$engine/dray_test_engine.ko")
			GUEST_PARAMETERS+=' nodes=2 channels=2'
		fi
		progress_follow "$BATCH/output" batch_boot "$title"
	)
	batch_count "$title"
	if [ "$LONG" = yes ]; then
		log_note "inputs worth keeping: $CACHE/corpus/$board.txt"
		mkdir -p "$CACHE/corpus"
		cp "$BATCH/results/$board.txt" "$CACHE/corpus"
	fi
}
