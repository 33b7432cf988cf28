#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# The suites of tools/check: a bad pattern starts none, and each has a budget of seconds.
TREE=$(cd "$(dirname "$0")/../.." && pwd -P)
# shellcheck source=tests/fact.sh
. "$TREE/tests/fact.sh"
export DRAY_CACHE=$folder/cache
# shellcheck source=tools/load.sh
. "$TREE/tools/load.sh"

mapfile -t SUITES < <("$TREE/tools/check" --list)

# A suite hands patterns to other programs, each with an idea of its own about a bad one.
while read -r suite pattern; do
	said=$(timeout 20 "$TREE/tools/check" "$suite" pool "$pattern" 2>&1 </dev/null)
	is "$suite: the pattern $pattern ends the check" "$? $said" \
		"125 check: the pattern $pattern is not an extended regular expression"
done < <(for suite in "${SUITES[@]}"; do
	echo "$suite ("
done
printf '%s\n' 'unit [' 'board a{2' 'pc +')
is 'nothing was begun' "$(ls -A "$DRAY_CACHE")" 'locks'

sed '/^#/d; /^$/d' "$TREE/tools/suites/budgets" >"$folder/budgets"
is 'each suite has a line in the table of budgets, in the order of the list' \
	"$(awk '{ print $1 }' "$folder/budgets")" "$(printf '%s\n' "${SUITES[@]}")"
is 'a budget is a number, or - for a suite that runs only if named' \
	"$(awk '!/^[a-z]+\t+[0-9]+$/ { print $1, $2 }' "$folder/budgets")" \
	$'packages -\nfaults -\nhosts -'
is 'only suites older than the table have more than 60 seconds' \
	"$(awk '$2 > 60 { print $1 }' "$folder/budgets" | paste -sd ' ')" \
	'doors unit differential pc board'
seconds=$(awk '{ all += $2 } END { print all / 2 }' "$folder/budgets")
[ "${seconds%.*}" -le 1500 ]
ok $? "two at a time, they end in 25 minutes: after $seconds s"

# slow: eleven suites that are slower than the last two
slow()
{
	echo "501 board"
	for number in 90 91 92 93 94 95 96 97 98 99; do echo "$number unit"; done
	echo "60 fuzz"
	echo "61 kill"
}
is 'a report has the ten slowest' "$(slow | budget_report no 2>&1 | sed 's/^ *//')" \
	"$(printf '%s\n' '501 s  board'
	for number in 99 98 97 96 95 94 93 92 91; do echo "$number s  unit"; done)"
is 'suites beyond their budget are named, however fast' \
	"$(slow | budget_report yes 2>&1 | sed -n 's/^ *\(.*more.*\)/\1/p')" \
	'501 s  board, more than its budget of 500 s
61 s  kill, more than its budget of 60 s'
finish
