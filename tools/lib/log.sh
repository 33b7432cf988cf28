# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Messages of the front doors.  Progress goes to standard error: standard output
# carries results only.  Colours appear on terminals only.

if [ -t 2 ] && [ -z "${NO_COLOR:-}" ]; then
	LOG_BOLD=$'\e[1m' LOG_RED=$'\e[31m' LOG_GREEN=$'\e[32m'
	LOG_DIM=$'\e[2m' LOG_PLAIN=$'\e[0m'
else
	LOG_BOLD='' LOG_RED='' LOG_GREEN='' LOG_DIM='' LOG_PLAIN=''
fi

LOG_SUITE=''	# a suite beside others: its steps go to descriptor 6 at once

# Announces a step that takes time.
log_step()
{
	[ -z "$LOG_SUITE" ] ||
		printf '%s    %s: %s%s\n' "$LOG_DIM" "$LOG_SUITE" "$*" "$LOG_PLAIN" >&6
	printf '%s==> %s%s%s\n' "$LOG_BOLD" "$(plan_left)" "$*" "$LOG_PLAIN" >&2
}

# Prints a fact on the side, such as a download.
log_note()
{
	printf '%s    %s%s\n' "$LOG_DIM" "$*" "$LOG_PLAIN" >&2
}

log_good()
{
	printf '%s%s%s\n' "$LOG_GREEN" "$*" "$LOG_PLAIN" >&2
}

log_bad()
{
	printf '%s%s%s\n' "$LOG_RED" "$*" "$LOG_PLAIN" >&2
}

# Ends the program if something that it needs is missing.
die()
{
	log_bad "${0##*/}: $*"
	exit 125
}

# Runs a command quietly; shows its whole output if it fails.
log_quietly()
{
	local out status=0

	out=$(mktemp -p "${SCRATCH:-/tmp}")
	"$@" >"$out" 2>&1 </dev/null || status=$?
	if [ "$status" -ne 0 ]; then
		log_bad "failed with $status: $*"
		cat "$out" >&2
	fi
	rm -f "$out"
	return "$status"
}
