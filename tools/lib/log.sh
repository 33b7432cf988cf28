# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# What the front doors say while they work.  Progress goes to standard error,
# so that standard output carries results only; colours appear on terminals
# and nowhere else.

if [ -t 2 ] && [ -z "${NO_COLOR:-}" ]; then
	LOG_BOLD=$'\e[1m' LOG_RED=$'\e[31m' LOG_GREEN=$'\e[32m'
	LOG_DIM=$'\e[2m' LOG_PLAIN=$'\e[0m'
else
	LOG_BOLD='' LOG_RED='' LOG_GREEN='' LOG_DIM='' LOG_PLAIN=''
fi

# A step that the person waits for.
log_step()
{
	printf '%s==> %s%s\n' "$LOG_BOLD" "$*" "$LOG_PLAIN" >&2
}

# A fact on the side: what is fetched, what is built.
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

# Ends the program: something that the front door needs is not there.
die()
{
	log_bad "${0##*/}: $*"
	exit 125
}

# Runs a command quietly and shows all that it said when it fails.
log_quietly()
{
	local out status=0

	out=$(mktemp)
	"$@" >"$out" 2>&1 </dev/null || status=$?
	if [ "$status" -ne 0 ]; then
		log_bad "failed with $status: $*"
		cat "$out" >&2
	fi
	rm -f "$out"
	return "$status"
}
