# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# A session is a list of test programs that run one after the other in one
# guest.  Each writes its output on the guest's serial port between two
# marks, so that when the machine dies the host knows in which program, and
# the kernel's log has the program's name where it started.

# session_begin FOLDER: an empty session, kept in FOLDER
session_begin()
{
	SESSION=$1
	rm -rf "$SESSION"
	mkdir -p "$SESSION/job" "$SESSION/results" "$SESSION/logs"
	: >"$SESSION/kinds"
	cp "$TREE/tools/lib/guest-session" "$SESSION/job"
}

# session_add KIND NAME COMMAND: KIND is tap, pytest, counts or status; the
# COMMAND is a line for the guest's shell and runs in /job
session_add()
{
	printf '%s %s\n' "$1" "$2" >>"$SESSION/kinds"
	printf '%s\t%s\n' "$2" "$3" >>"$SESSION/job/session"
}

# session_boot TITLE: runs it in the guest that GUEST_* describe; what comes
# out is kept in the folder
session_boot()
{
	local status=0

	log_step "Running $(wc -l <"$SESSION/kinds") programs: $1"
	# A shell of its own: what is set here is for this boot alone.
	(
		GUEST_FILES=("$SESSION/job")
		GUEST_RESULTS=$SESSION/results
		GUEST_DMESG=$SESSION/dmesg
		guest_run sh guest-session
	) >"$SESSION/output" 2>"$SESSION/guest" || status=$?
	echo "$status" >"$SESSION/status"
}

# session_count TITLE: counts what the programs and the kernel said
session_count()
{
	local kind name log status

	awk -F '\t' -v into="$SESSION/logs/" '
		$1 == "@begin" { file = into $2; printf "" >file; next }
		$1 == "@end" { print $3 >(file ".status"); file = ""; next }
		file { print >file }
	' "$SESSION/output"
	while read -r kind name; do
		log=$SESSION/logs/$name
		if [ ! -s "$log.status" ]; then
			echo "it did not finish" >>"$log"
			tally_status "$name" 1 "$log"
			continue
		fi
		"session_$kind" "$name" "$(cat "$log.status")" "$log"
	done <"$SESSION/kinds"
	status=$(cat "$SESSION/status")
	[ "$status" -eq 0 ] || tail -n 20 "$SESSION/output" >>"$SESSION/guest"
	tally_status "$1: the kernel has nothing to complain of" "$status" \
		"$SESSION/guest"
}

# What the kinds mean.
session_tap()
{
	tally_tap "$@"
}

session_status()
{
	tally_status "$@"
}

session_counts()
{
	tally_counts "$@"
}

session_pytest()
{
	tally_pytest "$@" "$SESSION/results/$1.xml"
}
