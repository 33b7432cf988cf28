# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash

ABOUT_UNIT="the library on the host back end as a release, and a part of it by clang with \
address and undefined-behaviour sanitizers; with --full all of it with sanitizers, by clang \
and with the thread sanitizer; dmactl, dray-replay and the programs of the README"
PACKAGES_UNIT=(
	"${PACKAGES_BUILD[@]}" "${PACKAGES_OPENCL[@]}" "${PACKAGES_VERILOG[@]}" abigail-tools clang device-tree-compiler libclang-rt-dev
	mandoc python3-libfdt python3-matplotlib python3-pytest
)

suite_unit()
{
	local scratch=$1

	tally_run "builds as a release without a warning" build_native ||
		return 0
	if [ "$QUICK" = yes ]; then
		unit_programs native "$scratch" "$(unit_names native -slow)"
		return
	fi
	unit_programs native "$scratch"
	[ "$FULL" = yes ] || {
		unit_part "$scratch"
		return
	}
	tally_run "builds with sanitizers" build_sanitized &&
		unit_programs sanitized "$scratch" &&
		unit_programs sanitized "$scratch" \
			"$(unit_names sanitized vectors)" AVX-512 env \
			-u GLIBC_TUNABLES \
			ASAN_OPTIONS=detect_stack_use_after_return=0 setarch -R
	tally_run "builds by clang without a warning" build_clang &&
		unit_programs clang "$scratch"
	tally_run "builds with the thread sanitizer" build_races &&
		unit_programs races "$scratch" "$(unit_names races threads)"
	[ "$LONG" = no ] || unit_long "$scratch"
}

# unit_part FOLDER: the same build has the fuzzers of suite libfuzzer
unit_part()
{
	local names targets

	names=$(unit_names native lives)
	IFS='|' read -ra targets <<<"$names"
	tally_run "builds with sanitizers" build_libfuzzer \
		"${targets[@]/#/tests/unit/test_}" &&
		unit_programs libfuzzer "$1" "$names"
}

# unit_tests KIND: lists name and program of each test
unit_tests()
{
	/usr/bin/meson introspect --tests "$(build_folder "$1")" |
		/usr/bin/python3 -c '
import json, sys
for test in json.load(sys.stdin):
    print(test["name"].replace(" ", "-"), *test["cmd"])'
}

# unit_names KIND LABEL...: the names of tests with any of these labels of meson, but for
# those with a label after "-"; all others if each label is after "-"
unit_names()
{
	/usr/bin/meson introspect --tests "$(build_folder "$1")" |
		/usr/bin/python3 -c '
import json, sys
wanted = {label for label in sys.argv[1:] if label[0] != "-"}
barred = {label[1:] for label in sys.argv[1:] if label[0] == "-"}
print("|".join(
    test["name"].replace(" ", "-") for test in json.load(sys.stdin)
    for labels in [{label.rpartition(":")[2] for label in test["suite"]}]
    if not labels & barred and (not wanted or labels & wanted)))' "${@:2}"
}

# unit_programs KIND FOLDER [NAMES [TITLE COMMAND...]]: runs all tests or those that
# the expression names, under a command with a title if there is one.  Meson
# runs as many at a time as there are processors.
unit_programs()
{
	local kind=$1 scratch=$2 names=${3:-.*} what=${4:-$1} name program log words
	local chosen=() status said=$2/said-${4:-$1} folder

	shift "$(($# < 4 ? $# : 4))"
	[ $# -gt 0 ] || set -- setarch -R
	folder=$(build_folder "$kind")
	while read -r name program; do
		[[ $name =~ ^($names)$ ]] && tally_wants "$name" &&
			chosen+=("$name")
	done < <(unit_tests "$kind")
	[ "${#chosen[@]}" -gt 0 ] || {
		[ -n "$PATTERN" ] || tally_add "there are tests ($what)" 0 1 0
		return 0
	}
	rm -f "$folder/meson-logs/said-$TALLY_SUITE"*
	# GCC 12 does not align vectors of 64 bytes in frames that are checked after their
	# end (its bug 110027): with detect_stack_use_after_return=1, a function ends by
	# SIGSEGV if it stores two vectors to local arrays of 64 bytes and passes their
	# addresses on, at -O1 -mavx512f -fsanitize=address; without, or by clang, it works.
	[ "$kind" != sanitized ] ||
		local -x GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F
	# The log has all results: ignore the exit status.
	CMOCKA_MESSAGE_OUTPUT=TAP DRAY_TEST_NODE=host DRAY_TEST_OPENCL=1 \
		ASAN_OPTIONS=strict_string_checks=1:detect_stack_use_after_return=1 \
		UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
		TSAN_OPTIONS=halt_on_error=1 \
		PATH=/usr/bin:$PATH /usr/bin/meson test -C "$folder" \
		--no-rebuild --logbase "said-$TALLY_SUITE" \
		--wrapper "$*" "${chosen[@]}" </dev/null >"$said" 2>&1
	# Meson adds the name of the wrapper.
	/usr/bin/python3 "$TREE/tools/lib/meson-logs.py" \
		"$folder/meson-logs/said-$TALLY_SUITE"*.json "$scratch/${what// /-}" \
		>"$said.logs" || tail -n 20 "$said" >&2
	while read -r words name status log; do
		"tally_$words" "$name ($what)" "$status" "$log"
	done <"$said.logs"
	[ "$(wc -l <"$said.logs")" -eq "${#chosen[@]}" ] ||
		tally_add "every program of $what ran" 0 1 0
}

# Compares 10^8 random operations on pools, a fifth in each mode of the program, and as
# many on a manager with their models.
unit_long()
{
	unit_operations "$1" random 20000000
	unit_operations "$1" manager_random 100000000
	unit_ulps "$1"
}

# unit_ulps FOLDER: compares elementary functions with MPFR's, at a million arguments for
# each type
unit_ulps()
{
	local log=$1/long-ulp status=0

	tally_wants ulp || return 0
	progress_follow "$log" unit_measure "$log" || status=$?
	tally_tap "ulp, 1000000 points" "$status" "$log"
}

unit_measure()
{
	timeout --foreground 7200 "$(build_folder native)/tests/elementary/ulp" \
		--points 1000000 --page "$TREE/docs/elementary.md" \
		>>"$1" 2>&1 </dev/null
}

# unit_operations FOLDER NAME OPERATIONS
unit_operations()
{
	local log=$1/long-$2 status=0

	tally_wants "$2" || return 0
	progress_follow "$log" unit_operate "$2" "$3" "$log" || status=$?
	tally_tap "$2, $3 operations" "$status" "$log"
}

unit_operate()
{
	DRAY_TEST_OPERATIONS=$2 CMOCKA_MESSAGE_OUTPUT=TAP DRAY_TEST_NODE=host \
		timeout --foreground 7200 "$(build_folder native)/tests/unit/test_$1" \
		>>"$3" 2>&1 </dev/null
}
