# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# The seconds that suites may need, by the table tools/suites/budgets.  A slow suite does
# not fail: a report names it.

# budget_of SUITE: prints its seconds, or -
budget_of()
{
	awk -v suite="$1" '$1 == suite { print $2 }' "$TREE/tools/suites/budgets"
}

# budget_report JUDGED: reads lines "SECONDS SUITE", and prints the ten slowest suites; if
# JUDGED is yes, also each beyond its budget
budget_report()
{
	local seconds suite budget over number=0

	while read -r seconds suite; do
		number=$((number + 1)) budget=$(budget_of "$suite") over=''
		[ "$1" = no ] || [ "$budget" = - ] || [ "$seconds" -le "$budget" ] ||
			over=", more than its budget of $budget s"
		[ "$number" -le 10 ] || [ -n "$over" ] || continue
		log_note "$(printf '%6d s  %s%s' "$seconds" "$suite" "$over")"
	done < <(LC_ALL=C sort -rn)
}
