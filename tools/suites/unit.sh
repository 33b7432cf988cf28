# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Suite unit: the library's tests on the host back end, with the sanitizers
# (that of threads for those with threads) and as a release, the README's
# programs, and what the front doors report.

PACKAGES_UNIT=("${PACKAGES_BUILD[@]}" device-tree-compiler g++)

suite_unit()
{
	local scratch=$1

	tally_run "builds with sanitizers" build_sanitized &&
		unit_programs sanitized "$scratch"
	[ "$QUICK" = no ] || return 0
	# Those with threads, but records, records_faults, fork_locks and cancel:
	# they count threads, of which the sanitizer has one, or start some in a
	# child, which it does not let them.
	tally_run "builds with the thread sanitizer" build_races &&
		unit_programs races "$scratch" \
			'lock|(.*_)?threads|cache.*|walk|pressure|random|split|busy|fixed|log|resource_stack|manager_(pending|plugin)|pool_unlocked|handler|error|fork|ipc_halting|records_(handover|cheats)|copy|copy_fences'
	tally_run "builds as a release without a warning" build_native ||
		return 0
	unit_programs native "$scratch"
	[ "$LONG" = no ] || unit_long "$scratch"
	tally_run "what is counted" "$TREE/tests/tally/run"
}

# unit_tests KIND: name and program of each test, one a line
unit_tests()
{
	/usr/bin/meson introspect --tests "$(build_folder "$1")" |
		/usr/bin/python3 -c '
import json, sys
for test in json.load(sys.stdin):
    print(test["name"].replace(" ", "-"), *test["cmd"])'
}

unit_any()
{
	unit_tests "$1" | grep .
}

# unit_programs KIND FOLDER [NAMES [WHAT COMMAND...]]: all, or those that the
# expression names; under a command where there is one, which WHAT says
unit_programs()
{
	local kind=$1 scratch=$2 names=${3:-.*} what=${4:-$1} name program log
	local status

	shift "$(($# < 4 ? $# : 4))"
	[ $# -gt 0 ] || set -- setarch -R
	tally_run "there are tests ($what)" unit_any "$kind"
	while read -r name program; do
		[[ $name =~ ^($names)$ ]] || continue
		log=$scratch/${what// /-}-$name
		status=0
		# shellcheck disable=SC2086 # a program and its arguments
		(cd "$(build_folder "$kind")" &&
			CMOCKA_MESSAGE_OUTPUT=TAP DRAY_TEST_NODE=host \
			ASAN_OPTIONS=strict_string_checks=1:detect_stack_use_after_return=1 \
			UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
			TSAN_OPTIONS=halt_on_error=1 \
			timeout 300 "$@" $program </dev/null) >"$log" 2>&1 ||
			status=$?
		tally_tap "$name ($what)" "$status" "$log"
	done < <(unit_tests "$kind")
}

# 10^8 random operations on pools, a fifth of them in each of the ways that the
# program has, and as many on a manager, against their models.
unit_long()
{
	unit_operations "$1" random 20000000
	unit_operations "$1" manager_random 100000000
}

# unit_operations FOLDER NAME OPERATIONS
unit_operations()
{
	local log=$1/long-$2 status=0

	progress_follow "$log" unit_operate "$2" "$3" "$log" || status=$?
	tally_tap "$2, $3 operations" "$status" "$log"
}

unit_operate()
{
	DRAY_TEST_OPERATIONS=$2 CMOCKA_MESSAGE_OUTPUT=TAP DRAY_TEST_NODE=host \
		timeout 7200 "$(build_folder native)/tests/unit/test_$1" \
		>>"$3" 2>&1 </dev/null
}
