# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Any report is a failure.  An emulated processor lacks caches, but with copies for
# mappings, missing or wrong maintenance shows as wrong bytes.  The search for races
# waits at accesses, so it runs on a kernel of its own.

ABOUT_SANITIZE="the board with a copy for each mapping; with --full pc and board on \
kernels that check memory, locks, mappings and leaks"
PACKAGES_SANITIZE=("${PACKAGES_GUEST[@]}" "${PACKAGES_BUILD[@]}" qemu-system-x86)

# Without --long: with copies, tests that find missing maintenance; on the board, paths
# with the most locks and possible leaks; on both a device of another driver.
SANITIZE_COPIES_PART=(
	sync sync_overlap submit_copy submit_random export export_engine leaks
)
SANITIZE_BOARD_PART=(
	submit_queue submit_fence attach_dmabuf attach_fences attach_held
	lifetime heap_map fdinfo leaks
)

# Tests of dmactl there: leaks, also by io_uring, which accepts a mapping from 6.5 on.
# With --long all but the test with a thousand calls.
SANITIZE_DMACTL_PART=(leaks)
SANITIZE_DMACTL=(leaks module map calls trace arrays selftest)

# Tests that move bytes or maintain caches.  Memory cannot be attached for a device with
# copies, with bounce=1 or without: only the refusal is tested.
SANITIZE_COPIES=(
	info alloc mmap address sync sync_refuse sync_overlap structs mode mode_map
	mode_device
	submit_copy submit_random submit_fill submit_refuse submit_bounds
	submit_queue submit_fence cancel export export_map export_engine
	export_calls attach_copies lifetime consumers io_uring import unbind_sync
	leaks
)

# Faults that tests/checkers commits, and words of the expected report.  KASAN is last:
# it switches the lock validator off.
SANITIZE_FAULTS=(
	'sleep-in-atomic BUG: sleeping function called'
	'rcu-without-lock WARNING: suspicious RCU usage'
	'shift UBSAN: shift-out-of-bounds'
	'index UBSAN: array-index-out-of-bounds'
	'free-active-timer ODEBUG: free active'
	'list-delete-twice list_del corruption'
	'reference-from-none refcount_t: addition on 0'
	'sync-of-unmapped tries to sync DMA memory it has not allocated'
	'leak '
	'lock-order possible circular locking dependency'
	'use-after-free BUG: KASAN: slab-use-after-free'
)

# A second fault for the lock validator, which is off after its first report.
SANITIZE_SIGNALLING=(
	'memory-before-signalling possible circular locking dependency'
)

# The fault for the kernel that finds races.
SANITIZE_RACES=('race BUG: KCSAN: data-race')

# Random calls on that kernel.
SANITIZE_RACES_CALLS=40000

# Output of guest-checkers after the faults.
SANITIZE_FOUND=(
	'unreferenced object'
	'the DMA API debugger counted 1, of which 0 are known'
	'the lock validator is off'
)

suite_sanitize()
{
	local scratch=$1 copies=("${SANITIZE_COPIES_PART[@]}")
	local board=("${SANITIZE_BOARD_PART[@]}")

	[ "$LONG" = no ] || copies=("${SANITIZE_COPIES[@]}") board=()
	tally_run "selftests build for the board" program_build selftests arm64 ||
		return 0
	[ "$FULL" = yes ] || {
		sanitize_copies "$scratch/copies" 6.1 "${copies[@]}"
		batch_count_aside
		return
	}
	[ "$FULL" = no ] || [ -n "$PATTERN" ] || {
		sanitize_awake "$scratch/awake" checked "${SANITIZE_FAULTS[@]}"
		sanitize_found "$scratch/awake"
		sanitize_awake "$scratch/signalling" checked \
			"${SANITIZE_SIGNALLING[@]}"
	}
	sanitize_copies "$scratch/copies" checked "${copies[@]}"
	sanitize_board "$scratch/board" checked "the board, checked" '' '' "${board[@]}"
	[ "$LONG" = no ] || {
		sanitize_pc "$scratch/pc"
		sanitize_races "$scratch/races"
	}
	batch_count_aside
}

# sanitize_copies FOLDER SERIES PROGRAM...: by default, a kernel reserves only 1 MiB for
# copies
sanitize_copies()
{
	SELFTESTS_OPTIONS='-V attach' \
		sanitize_board "$1" "$2" "the board, every mapping a copy" \
		bounce=1 swiotlb=24576,force "${@:3}"
}

# sanitize_board FOLDER SERIES TITLE PARAMETERS APPEND [PROGRAM...]
sanitize_board()
{
	local series=$2 title=$3 prefix=${1##*/}- programs=("${@:6}")
	local GUEST_PYTHON=no GUEST_ROOTS=() modules=(dray)

	sanitize_kernel arm64 "$series" || return 0
	batch_begin "$1"
	cp "$TREE"/tools/lib/guest-{checkers,unload} "$BATCH/job"
	selftests_add arm64 "$prefix" "${programs[@]}"
	# Probes of Debian's kernel count maintenance, which copies replace.
	[ "$series" = 6.1 ] || {
		tally_run "an importer for $title" \
			board_add_importers "$series" "$prefix" || return 0
		selftests_add arm64 "$prefix" suspend
		modules+=(dray_test_importer)
	}
	# With copies, buffers must be small.
	[ -n "$4" ] || sanitize_add_dmactl "$prefix" || return 0
	# Memory that only the module refers to leaks when it is unloaded.
	batch_add status "${prefix}the-modules-unload" \
		"guest-unload ${modules[*]}"
	# The engine for tests lacks copies for mappings.
	[ -n "$4" ] || tally_run "streams for $title" \
		sanitize_add_streams "$prefix" checked || return 0
	[ "$series" = 6.1 ] || batch_add status "${prefix}checkers" guest-checkers
	sanitize_aside "$title" zcu102 "$series" "$4" "$5"
}

# sanitize_add_dmactl PREFIX
sanitize_add_dmactl()
{
	local names=("${SANITIZE_DMACTL_PART[@]}")

	[ "$LONG" = no ] || names=("${SANITIZE_DMACTL[@]}")
	tally_run "user space builds for the board" build_board all || return 1
	GUEST_PYTHON=yes GUEST_ROOTS=("$(build_board_root)")
	board_add_dmactl "$(build_folder arm64)" "$1" "${names[@]}"
}

# sanitize_add_streams PREFIX SERIES: the engine of streams for tests
sanitize_add_streams()
{
	local prefix=$1 name names=(ends life ring races)

	[ "$LONG" = no ] || names+=(transfers timeline refused)
	program_build engine arm64 || return 1
	mkdir -p "$BATCH/job/engine"
	cp "$(module_test engine "$(kernel_make arm64 "$2")")/dray_test_stream.ko" \
		"$TREE/tools/lib/guest-unload" "$BATCH/job" || return 1
	for name in "${names[@]}"; do
		cp "$(build_folder engine-arm64)/stream_$name" "$BATCH/job/engine"
		pc_stream "${prefix}stream-$name" "stream_$name" '' \
			"DRAY_NODE=\$(ls /dev/dray* | tail -n 1)"
	done
	# It is stopped in a way of its own.
	pc_stream "${prefix}stream-ends-axidma" stream_ends axidma=1 \
		"DRAY_NODE=\$(ls /dev/dray* | tail -n 1)"
	batch_add status "${prefix}the-streams-unload" \
		'guest-unload dray_test_stream dray'
}

# sanitize_aside TITLE BOARD SERIES PARAMETERS APPEND.  A stalled host must neither
# fail a round nor end the wait for transfers before sleep.
sanitize_aside()
{
	batch_aside "$1" "$2" "$3" GUEST_LIMIT=6000 \
		"GUEST_PARAMETERS=watchdog_ms=60000 $4" "GUEST_APPEND=$5"
}

# sanitize_pc FOLDER: the programs of suite pc
sanitize_pc()
{
	local title='the PC, checked' PC_OPTIONS='-F reserved -V reserved'

	tally_run "selftests build for the PC" program_build selftests amd64 || return 0
	tally_run "programs for the test engine build" program_build engine amd64 ||
		return 0
	sanitize_kernel amd64 checked || return 0
	batch_begin "$1"
	cp "$TREE/tools/lib/guest-checkers" "$BATCH/job"
	tally_run "programs for $title" pc_programs checked || return 0
	batch_add status checked-checkers guest-checkers
	pc_stubborn checked
	sanitize_aside "$title" pc checked nodes=1 "$PC_APPEND"
}

# sanitize_races FOLDER: all tests, and random calls by several threads, on a kernel
# that reports unmarked concurrent accesses
sanitize_races()
{
	local title='the board, for races'

	sanitize_kernel arm64 races || return 0
	sanitize_awake "$1-awake" races "${SANITIZE_RACES[@]}"
	tally_run "the fuzzer builds for the board" program_build fuzz arm64 ||
		return 0
	batch_begin "$1"
	selftests_add arm64 races-
	tally_run "streams for $title" sanitize_add_streams races- races ||
		return 0
	cp "$(build_folder fuzz-arm64)/fuzz" "$BATCH/job"
	pc_stream races-fuzz \
		"../fuzz --seed ${DRAY_FUZZ_SEED:-$(date +%s)000000} --calls $SANITIZE_RACES_CALLS" \
		frame_us=5000
	sanitize_aside "$title" zcu102 races '' ''
}

# sanitize_awake FOLDER SERIES FAULT...: commits faults; checks that each is reported
# and counted
sanitize_awake()
{
	local folder=$1 module words fault faults=("${@:3}")
	local GUEST_BOARD=zcu102 GUEST_SERIES=$2 GUEST_LIMIT=1800
	local GUEST_DRAY=no GUEST_DMESG=$folder/dmesg GUEST_FILES=("$folder/job")

	sanitize_kernel arm64 "$2" || return 0
	mkdir -p "$folder/job"
	module=$(module_test checkers "$(kernel_make arm64 "$2")") ||
		die "no faults for checkers"
	cp "$module/dray_test_faults.ko" "$TREE/tools/lib/guest-checkers" \
		"$folder/job"
	cat >"$folder/job/commit" <<-'COMMIT'
	insmod dray_test_faults.ko || exit
	# This must excuse dray only.
	echo "dray test: memory is mapped twice" >/dev/kmsg
	for fault in "$@"; do
		echo "dray test fault: $fault" >/dev/kmsg
		echo "$fault" >/sys/module/dray_test_faults/parameters/commit
	done
	echo "dray test fault: none" >/dev/kmsg
	# A kernel with KCSAN lacks other checkers.
	[ -e /sys/kernel/debug/kcsan ] || sh guest-checkers
	COMMIT
	log_step "Committing ${#faults[@]} faults: the board, $2"
	(guest_run sh commit "${faults[@]%% *}") \
		>"$folder/output" 2>"$folder/guest"
	for words in "${faults[@]}"; do
		fault=${words%% *}
		[ "$fault" != leak ] || continue
		tally_run "a checker reports $fault" \
			sanitize_reported "$folder/dmesg" "$fault" "${words#* }"
	done
}

# sanitize_found FOLDER: checks the reports of guest-checkers
sanitize_found()
{
	local words

	for words in "${SANITIZE_FOUND[@]}"; do
		tally_run "guest-checkers prints: $words" \
			grep -F "$words" "$1/output"
	done
}

# sanitize_reported LOG FAULT WORDS: whether the guest would fail for it
sanitize_reported()
{
	guest_unwanted <"$1" | awk -v fault="$2" '
		/dray test fault: / { inside = $NF == fault; next }
		inside
	' | grep -aE "$GUEST_COMPLAINT" | grep -F "$3"
}

# sanitize_kernel ARCHITECTURE SERIES: makes the kernel before the guest runs, so that
# its messages are visible: a build may last minutes
sanitize_kernel()
{
	(kernel_make "$1" "$2" >/dev/null) && return
	tally_add "kernel $1-$2" 0 1 0
	return 1
}
