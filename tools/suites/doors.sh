# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash

ABOUT_DOORS="the front doors themselves: the demo, kernels of an invented archive that lacks a \
package or changes, fragments of kernels, failures, signals, the time to come, libraries of a \
guest, the files of a release, the table of tools/check --since, patterns, and budgets of suites"
PACKAGES_DOORS=(git kmod procps python3 python3-pip) # the demo installs its own

suite_doors()
{
	local name status

	tally_check "the demo" doors_demo "$1/demo"
	for name in archive kernels libraries plan release since stop suites; do
		tally_wants "$name" || continue
		status=0
		timeout --foreground 900 "$TREE/tests/doors/$name.sh" \
			>"$1/$name" 2>&1 </dev/null || status=$?
		tally_tap "$name" "$status" "$1/$name"
	done
}

# doors_demo FOLDER: the first command of the README; each check of its job passes
doors_demo()
{
	"$TREE/tools/demo" --output "$1" >"$1.said" 2>"$1.errors" || {
		tail -n 40 "$1.said" "$1.errors"
		return 1
	}
	[ -s "$1/overview.png" ] && [ -s "$1/tone.wav" ] &&
		[ "$(grep -c '^   ok ' "$1.said")" -ge 50 ] &&
		doors_time_falls "$1.errors"
}

# doors_time_falls LOG: the time left that a front door prints becomes less; steps side by
# side may print a little late
doors_time_falls()
{
	sed -nE 's/.*\[[0-9:]+, about ([0-9]+ (s|min)) left\].*/\1/p' "$1" | awk '
		{ left = $1 * ($2 == "min" ? 60 : 1) }
		NR == 1 { first = left }
		NR > 1 && left > last + 60 { grown = 1 }
		{ last = left; print "about", $0, "left" }
		END { exit !(NR && !grown && (first <= 60 || last < first)) }'
}
