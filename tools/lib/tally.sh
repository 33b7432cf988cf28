# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Counts what tests say, whatever words they say it in: TAP, pytest's XML, or
# an exit status.  A program that says less than it planned, or nothing, has
# failed; so has a suite in which nothing ran.

# Programs to run: a regular expression, or nothing for all; and whether one was
# found.
PATTERN=''
TALLY_MATCHED=no

TALLY_PASSED=0
TALLY_FAILED=0
TALLY_SKIPPED=0
TALLY_FAILURES=()
TALLY_SUITE=''

# tally_wants NAME: is this program to run?
tally_wants()
{
	[ -z "$PATTERN" ] || [[ $1 =~ $PATTERN ]] || return
	TALLY_MATCHED=yes
}

# tally_add NAME PASSED FAILED SKIPPED
tally_add()
{
	TALLY_PASSED=$((TALLY_PASSED + $2))
	TALLY_FAILED=$((TALLY_FAILED + $3))
	TALLY_SKIPPED=$((TALLY_SKIPPED + $4))
	if [ "$3" -gt 0 ]; then
		TALLY_FAILURES+=("$TALLY_SUITE: $1")
		log_bad "  FAILED $1 ($2 passed, $3 failed, $4 skipped)"
	elif [ $(($2 + $4)) -gt 1 ]; then
		log_good "  ok     $1 ($2 passed$([ "$4" -eq 0 ] || echo ", $4 skipped"))"
	elif [ "$4" -gt 0 ]; then
		log_note "skip   $1"
	else
		log_good "  ok     $1"
	fi
}

# tally_status NAME STATUS LOG: a check that is passed when STATUS is 0
tally_status()
{
	if [ "$2" -eq 0 ]; then
		tally_add "$1" 1 0 0
	else
		tail -n 100 "$3" >&2
		tally_add "$1" 0 1 0
	fi
}

# tally_run NAME COMMAND...: runs it and counts its exit status
tally_run()
{
	local name=$1 log status=0

	shift
	log=$(mktemp)
	"$@" >"$log" 2>&1 </dev/null || status=$?
	tally_status "$name" "$status" "$log"
	rm -f "$log"
	return "$status"
}

# tally_check NAME COMMAND...: the same, where NAME is to run
tally_check()
{
	! tally_wants "$1" || tally_run "$@"
}

# tally_fetch NAME VARIABLE COMMAND...: what it prints, into the variable; its
# exit status is counted
tally_fetch()
{
	local name=$1 status=0
	local -n tally_printed=$2

	shift 2
	tally_printed=$("$@") || status=$?
	tally_add "$name" $((status == 0)) $((status != 0)) 0
	return "$status"
}

# tally_tap NAME STATUS LOG: a program that writes TAP
tally_tap()
{
	local counts passed failed skipped planned ran broke=''

	counts=$(awk '
		/^1\.\.0 # SKIP/ { skipped++ }
		/^1\.\.[0-9]+/ { split($1, plan, "\\."); planned += plan[3] }
		/^ {4}/ { next }
		# cmocka says "not ok" of what it skips.
		/^[ \t]*(not )?ok / && toupper($0) ~ /# *SKIP/ { skipped++; next }
		/^[ \t]*not ok / { failed++; next }
		/^[ \t]*ok / { passed++ }
		END { print passed + 0, failed + 0, skipped + 0, planned + 0 }
	' "$3")
	read -r passed failed skipped planned <<<"$counts"
	ran=$((passed + failed + skipped))
	if [ "$ran" -eq 0 ]; then
		broke="nothing ran"
	elif [ "$ran" -lt "$planned" ]; then
		broke="$planned were planned, $ran ran"
	elif [ "$2" -ge 124 ]; then
		broke="it was ended"
	elif [ "$failed" -eq 0 ] && [ "$2" -ne 0 ] && [ "$2" -ne 4 ]; then
		broke="all is ok"
	fi
	if [ -n "$broke" ]; then
		tally_tap_rest "$3" >&2
		echo "$broke; the exit status is $2" >&2
		[ "$failed" -ne 0 ] || failed=1
	elif [ "$failed" -ne 0 ]; then
		tally_tap_show "$3" >&2
	fi
	tally_add "$1" "$passed" "$failed" "$skipped"
	sed -nE 's/^[ \t]*(not )?ok .*# *[Ss][Kk][Ii][Pp][: ]*(.*)$/\2/p' "$3" |
		LC_ALL=C sort | uniq -c | while read -r count reason; do
		log_note "         skipped $count: $reason"
	done
}

# What was said about failed tests, before or after their line, and the end.
tally_tap_show()
{
	awk '
		/^[ \t]*ok / { said = ""; after = 0; next }
		toupper($0) ~ /OK .*# *SKIP/ { said = ""; after = 0; next }
		/^[ \t]*not ok / { printf "%s%s\n", said, $0; said = ""
			after = 1; next }
		after { print; next }
		{ said = said $0 "\n" }
	' "$1" | head -n 200
	tail -n 12 "$1"
}

# What a program said that broke, but for what went well: its reason may stand
# before the last "ok", which a buffer held back.  The end says most.
tally_tap_rest()
{
	awk '
		/^[ \t]*ok / { next }
		/^# +RUN / { run = $0 "\n"; next }
		/^# +OK / { run = ""; next }
		{ printf "%s%s\n", run, $0; run = "" }
		END { printf "%s", run }
	' "$1" | tail -n 200
}

# tally_pytest NAME STATUS LOG XML: pytest with --junitxml
tally_pytest()
{
	local counts passed failed skipped

	counts=$(/usr/bin/python3 - "$4" 2>/dev/null <<-'PYTHON'
	import sys
	import xml.etree.ElementTree as tree
	total = failed = skipped = 0
	for suite in tree.parse(sys.argv[1]).iter("testsuite"):
	    total += int(suite.get("tests"))
	    failed += int(suite.get("failures")) + int(suite.get("errors"))
	    skipped += int(suite.get("skipped"))
	print(total - failed - skipped, failed, skipped)
	PYTHON
	) || counts='0 0 0'
	read -r passed failed skipped <<<"$counts"
	tally_runner "$1" "$2" "$3" "$passed" "$failed" "$skipped"
}

# tally_runner NAME STATUS LOG PASSED FAILED SKIPPED: a runner that ended so
tally_runner()
{
	local passed=$4 failed=$5 skipped=$6

	if [ "$failed" -eq 0 ] &&
	   { [ "$2" -ne 0 ] || [ "$passed" -eq 0 ]; }; then
		echo "exit status $2, $passed passed" >>"$3"
		failed=1
	fi
	[ "$failed" -eq 0 ] || tail -n 100 "$3" >&2
	tally_add "$1" "$passed" "$failed" "$skipped"
}

# tally_counts NAME STATUS LOG: a runner that ends with the words of tally_end
tally_counts()
{
	local passed failed skipped

	read -r passed failed skipped < <(sed -nE \
		's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p' \
		"$3" | tail -n 1)
	tally_runner "$1" "$2" "$3" "${passed:-0}" "${failed:-0}" \
		"${skipped:-0}"
}

# The last line, and the exit status of the whole.
tally_end()
{
	local failure

	for failure in "${TALLY_FAILURES[@]}"; do
		log_bad "failed: $failure"
	done
	printf '%d passed, %d failed, %d skipped\n' "$TALLY_PASSED" \
		"$TALLY_FAILED" "$TALLY_SKIPPED"
	[ "$TALLY_FAILED" -eq 0 ] && [ "$TALLY_PASSED" -gt 0 ]
}
