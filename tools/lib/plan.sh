# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Says how far a front door is, and roughly how long it will still take: as the steps
# took last time on this machine, or before the first run as its author measured.

PLAN=''			# the run's file of seconds and steps
PLAN_TOTAL=0		# seconds of all, if nothing is known of this machine
PLAN_BESIDE=1		# steps that run at a time
PLAN_STEPS=()		# those that are not over
declare -A PLAN_SECONDS=() PLAN_STARTED=()

# plan_begin NAME SECONDS BESIDE STEP...: SECONDS is the author's figure, or 0
plan_begin()
{
	local seconds step

	PLAN=$CACHE/times/$1 PLAN_TOTAL=$2 PLAN_BESIDE=$3 PLAN_STEPS=("${@:4}")
	mkdir -p "$CACHE/times"
	while read -r seconds step; do
		PLAN_SECONDS[$step]=$seconds
	done < <(cat "$PLAN" 2>/dev/null)
}

# plan_start STEP: the step begins
plan_start()
{
	PLAN_STARTED[$1]=$SECONDS
}

# plan_end STEP [SECONDS]: the step is over, after SECONDS, or the seconds since its start
plan_end()
{
	local i step

	[ -n "$PLAN" ] || return 0
	PLAN_SECONDS[$1]=${2:-$((SECONDS - PLAN_STARTED[$1]))}
	for i in "${!PLAN_STEPS[@]}"; do
		[ "${PLAN_STEPS[i]}" != "$1" ] || unset "PLAN_STEPS[i]"
	done
	for step in "${!PLAN_SECONDS[@]}"; do
		echo "${PLAN_SECONDS[$step]} $step"
	done >"$PLAN"
}

# plan_left: prints the time so far and the time to come, such as "[1:05, about 4 min
# left] "; nothing without a plan
plan_left()
{
	local step seconds left=0 longest=0

	[ -n "$PLAN" ] || return 0
	for step in "${PLAN_STEPS[@]}"; do
		[ -n "${PLAN_SECONDS[$step]:-}" ] || left=-100000
		seconds=${PLAN_SECONDS[$step]:-0}
		[ -z "${PLAN_STARTED[$step]:-}" ] ||
			seconds=$((seconds - SECONDS + PLAN_STARTED[$step]))
		left=$((left + (seconds > 0 ? seconds : 0)))
		longest=$((seconds > longest ? seconds : longest))
	done
	printf '[%d:%02d' $((SECONDS / 60)) $((SECONDS % 60))
	if [ "$left" -lt 0 ] && [ "$PLAN_TOTAL" -eq 0 ]; then
		printf '] '
		return
	fi
	if [ "$left" -lt 0 ]; then
		left=$((PLAN_TOTAL - SECONDS))
	else
		left=$((left / PLAN_BESIDE))
		left=$((left > longest ? left : longest))
	fi
	printf ', '
	if [ "$left" -ge 90 ]; then
		printf 'about %d min left] ' $(((left + 30) / 60))
	else
		printf 'about %d s left] ' $((left < 10 ? 10 : (left + 9) / 10 * 10))
	fi
}
