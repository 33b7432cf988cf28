# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# The usual run makes the same inputs each time.  A long run begins with a new seed, and
# with the inputs that earlier long runs have found, which the cache keeps.

ABOUT_LIBFUZZER="random bytes as indices, calls of ufuncs, texts of types, files, records and structs of \
exchange protocols, device trees, with address and undefined-behaviour sanitizers; with --long ten minutes each"
PACKAGES_LIBFUZZER=(
	"${PACKAGES_BUILD[@]}" clang device-tree-compiler libclang-rt-dev
)

# Inputs of each program in the usual run, ten seconds on one processor.
declare -A LIBFUZZER_RUNS=(
	[indices]=8000 [types]=12000 [files]=8000 [records]=40000
	[dlpack]=60000 [arrow]=60000 [strings]=40000 [published]=200000 [trees]=5000 [xclbin]=200000 [ufuncs]=20000
)
LIBFUZZER_NAMES=(indices types ufuncs files records dlpack arrow strings published trees xclbin)
LIBFUZZER_LONG_SECONDS=600
# Bytes of the longest input, if not 1024.
declare -A LIBFUZZER_LENGTHS=([trees]=6000)

suite_libfuzzer()
{
	local scratch=$1 seeds=$1/seeds name wanted=()

	tally_run "the fuzzers build" build_libfuzzer || return 0
	tally_run "makes inputs to start from" /usr/bin/python3 -B \
		"$TREE/tests/libfuzzer/seeds.py" "$seeds" || return 0
	for name in "${LIBFUZZER_NAMES[@]}"; do
		tally_wants "$name" || continue
		wanted+=("$name")
		libfuzzer_run "$name" "$scratch/$name.log" "$seeds/$name" &
		[ "$(jobs -r -p | wc -l)" -lt "$(nproc)" ] || wait -n
	done
	wait
	for name in "${wanted[@]}"; do
		libfuzzer_count "$name" "$scratch/$name.log"
	done
}

# libfuzzer_run NAME LOG SEEDS: leaves the exit status in LOG.status
libfuzzer_run()
{
	local name=$1 log=$2 seeds=$3 status=0 known options=()

	known=$CACHE/libfuzzer/$name
	mkdir -p "$known" "$CACHE/libfuzzer/found"
	if [ "$LONG" = no ]; then
		options=(-seed=1 "-runs=${LIBFUZZER_RUNS[$name]}" "$seeds")
	else
		options=("-max_total_time=$LIBFUZZER_LONG_SECONDS" "$known" "$seeds")
	fi
	[ ! -e "$TREE/tests/libfuzzer/$name.dict" ] ||
		options+=("-dict=$TREE/tests/libfuzzer/$name.dict")
	UBSAN_OPTIONS=print_stacktrace=1 \
		timeout --foreground $((2 * LIBFUZZER_LONG_SECONDS)) \
		"$(build_folder libfuzzer)/tests/libfuzzer/fuzz_$name" \
		"-max_len=${LIBFUZZER_LENGTHS[$name]:-1024}" -timeout=30 -print_final_stats=1 \
		"-artifact_prefix=$CACHE/libfuzzer/found/$name-" "${options[@]}" \
		>"$log" 2>&1 </dev/null || status=$?
	echo "$status" >"$log.status"
}

# libfuzzer_count NAME LOG
libfuzzer_count()
{
	tally_status "$1: $(sed -n 's/^stat::number_of_executed_units: *//p' "$2") inputs" \
		"$(cat "$2.status")" "$2"
}
