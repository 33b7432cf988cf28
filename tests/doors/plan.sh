#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# How far a front door is, and how long it will still take.
TREE=$(cd "$(dirname "$0")/../.." && pwd -P)
# shellcheck source=tests/fact.sh
. "$TREE/tests/fact.sh"
export DRAY_CACHE=$folder/cache
# shellcheck source=tools/load.sh
. "$TREE/tools/load.sh"

# The table has the time.
unset SECONDS

is 'no plan: nothing' "$(plan_left)" ''
mkdir -p "$CACHE/times"
# Columns: the author's seconds, steps that run at a time, seconds of the steps a and b last
# time, the seconds of the start of steps, the time.
while IFS=, read -r total beside a b started SECONDS wanted; do
	PLAN_SECONDS=() PLAN_STARTED=()
	: >"$CACHE/times/run"
	[ -z "$a" ] || echo "$a a" >>"$CACHE/times/run"
	[ -z "$b" ] || echo "$b b" >>"$CACHE/times/run"
	plan_begin run "$total" "$beside" a b
	[ -z "$started" ] || PLAN_STARTED[a]=$started
	is "$total, $beside, $a, $b, $started, $SECONDS" "$(plan_left)" "$wanted "
done <<TABLE
0,1,,,,65,[1:05]
1350,1,,,,0,[0:00, about 23 min left]
1350,1,,,,1400,[23:20, about 10 s left]
1350,1,60,,,100,[1:40, about 21 min left]
0,1,60,,,100,[1:40]
0,1,60,200,,0,[0:00, about 4 min left]
0,2,60,200,,0,[0:00, about 3 min left]
0,2,300,200,0,240,[4:00, about 3 min left]
0,1,60,29,,0,[0:00, about 90 s left]
0,1,60,30,,0,[0:00, about 2 min left]
0,1,60,20,0,50,[0:50, about 30 s left]
0,1,60,20,0,500,[8:20, about 20 s left]
0,1,1,1,,0,[0:00, about 10 s left]
TABLE

# The times of steps that end stay for the next run, also those of others.
echo '30 c' >"$CACHE/times/run"
SECONDS=7 PLAN_SECONDS=() PLAN_STARTED=()
plan_begin run 0 1 a b
plan_end a 100
is 'a step of unknown length is left' "$(plan_left)" '[0:07] '
plan_end b 50
plan_start c
SECONDS=52
plan_end c
is 'a step without seconds took those since its start' "${PLAN_SECONDS[c]}" 45
SECONDS=7
is 'the end' "$(plan_left)" '[0:07, about 10 s left] '
PLAN_SECONDS=()
plan_begin run 0 1 a b c
is 'the next run' "$(log_step Builds 2>&1)" '==> [0:07, about 3 min left] Builds'
finish
