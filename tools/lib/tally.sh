# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Counts results of tests from TAP, last words or an exit status.  A program with
# fewer results than planned, or none, has failed; so has a suite that ran nothing.

# Programs to run, a regular expression or empty for all; whether one of the suite
# matched; and the parts of the expression that matched none yet.
PATTERN=''
TALLY_MATCHED=no
TALLY_UNMATCHED=()

TALLY_PASSED=0
TALLY_FAILED=0
TALLY_SKIPPED=0
TALLY_FAILURES=()
TALLY_SUITE=''

# tally_is_pattern TEXT: whether it is an extended regular expression
tally_is_pattern()
{
	local status=0

	[[ '' =~ $1 ]] 2>/dev/null || status=$?
	[ "$status" -lt 2 ]
}

# tally_wants NAME: tells whether to run this program
tally_wants()
{
	[ -z "$PATTERN" ] || [[ $1 =~ $PATTERN ]] || return
	tally_matched "$1"
}

# tally_matched NAME: notes that a program of this name runs
tally_matched()
{
	local i

	TALLY_MATCHED=yes
	for i in "${!TALLY_UNMATCHED[@]}"; do
		[[ ! $1 =~ ${TALLY_UNMATCHED[i]} ]] || unset "TALLY_UNMATCHED[i]"
	done
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

# tally_status NAME STATUS LOG: counts a check that passes if STATUS is 0
tally_status()
{
	if [ "$2" -eq 0 ]; then
		tally_add "$1" 1 0 0
	else
		tail -n 100 "$3" >&2
		tally_add "$1" 0 1 0
	fi
}

# tally_run NAME COMMAND...: runs a command and counts its exit status
tally_run()
{
	local name=$1 log status=0

	shift
	log=$(mktemp -p "$SCRATCH")
	"$@" >"$log" 2>&1 </dev/null || status=$?
	tally_status "$name" "$status" "$log"
	rm -f "$log"
	return "$status"
}

# tally_check NAME COMMAND...: the same if NAME is to run
tally_check()
{
	! tally_wants "$1" || tally_run "$@"
}

# tally_fetch NAME VARIABLE COMMAND...: reads its output into the variable and counts
# its exit status
tally_fetch()
{
	local name=$1 status=0
	local -n tally_printed=$2

	shift 2
	tally_printed=$("$@") || status=$?
	tally_add "$name" $((status == 0)) $((status != 0)) 0
	return "$status"
}

# tally_tap NAME STATUS LOG: counts a program that writes TAP
tally_tap()
{
	local counts passed failed skipped planned ran broke=''

	counts=$(awk '
		/^1\.\.0 # SKIP/ { skipped++ }
		/^1\.\.[0-9]+/ { split($1, plan, "\\."); planned += plan[3] }
		/^ {4}/ { next }
		# cmocka prints "not ok" for a skipped test.
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
	[ -z "$broke" ] || failed=$((failed ? failed : 1))
	[ "$failed" -eq 0 ] || tally_tap_show "$3" >&2
	[ -z "$broke" ] || echo "$broke; the exit status is $2" >&2
	tally_add "$1" "$passed" "$failed" "$skipped"
	sed -nE 's/^[ \t]*(not )?ok .*# *[Ss][Kk][Ii][Pp][: ]*(.*)$/\2/p' "$3" |
		LC_ALL=C sort | uniq -c | while read -r count reason; do
		log_note "         skipped $count: $reason"
	done
}

# Prints the end of a log without its passed tests.  The cause may stand before the
# last "ok" if output was buffered.
tally_tap_show()
{
	awk '
		/^[ \t]*ok / || toupper($0) ~ /OK .*# *SKIP/ { next }
		/^# +RUN / { run = $0 "\n"; next }
		/^# +OK / { run = ""; next }
		{ printf "%s%s\n", run, $0; run = "" }
		END { printf "%s", run }
	' "$1" | tail -n 200
}

# tally_counts NAME STATUS LOG: counts a runner by its last words "N passed", "N
# failed", "N skipped", as pytest and tally_end print them
tally_counts()
{
	local number word passed=0 failed=0 skipped=0

	while read -r number word; do
		case $word in
		passed) passed=$number ;;
		failed | error | errors) failed=$((failed + number)) ;;
		skipped | xfailed) skipped=$((skipped + number)) ;;
		esac
	done < <(grep -E '^[0-9]+ (passed|x?failed|skipped|deselected|errors?)(,| in [0-9])' \
		"$3" | tail -n 1 | grep -oE '[0-9]+ [a-z]+')
	if [ "$failed" -eq 0 ] &&
	   { [ "$2" -ne 0 ] || [ "$passed" -eq 0 ]; }; then
		echo "exit status $2, $passed passed" >>"$3"
		failed=1
	fi
	[ "$failed" -eq 0 ] || tail -n 100 "$3" >&2
	tally_add "$1" "$passed" "$failed" "$skipped"
}

# tally_save FILE: writes the counts of this shell
tally_save()
{
	{
		echo "$TALLY_PASSED $TALLY_FAILED $TALLY_SKIPPED"
		printf 'unmatched %s\n' "${TALLY_UNMATCHED[@]}"
		printf 'failure %s\n' "${TALLY_FAILURES[@]}"
	} >"$1"
}

# tally_load FILE...: adds the counts of other shells
tally_load()
{
	local file passed failed skipped word text unmatched=()

	for file; do
		{
			read -r passed failed skipped
			TALLY_PASSED=$((TALLY_PASSED + passed))
			TALLY_FAILED=$((TALLY_FAILED + failed))
			TALLY_SKIPPED=$((TALLY_SKIPPED + skipped))
			while read -r word text; do
				case $word$text in
				unmatched?*) unmatched+=("$text") ;;
				failure?*) TALLY_FAILURES+=("$text") ;;
				esac
			done
		} <"$file"
	done
	# No suite had a program for these.
	mapfile -t TALLY_UNMATCHED < <(printf '%s\n' "${unmatched[@]}" | sed '/^$/d' |
		sort | uniq -c | sed -n "s/^ *$# //p")
}

# Prints the last line; fails if a test failed.
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
