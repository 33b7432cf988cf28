# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# A batch is a list of test programs that run one after the other in one
# guest.  Each writes its output on the guest's serial port between two
# marks, so that when the machine dies the host knows in which program, and
# the kernel's log has the program's name where it started.

# batch_begin FOLDER: an empty batch, kept in FOLDER
batch_begin()
{
	BATCH=$1
	rm -rf "$BATCH"
	mkdir -p "$BATCH/job" "$BATCH/results" "$BATCH/logs"
	: >"$BATCH/kinds"
	BATCH_PROGRAMS=0
	cp "$TREE/tools/lib/guest-batch" "$BATCH/job"
}

# batch_add KIND NAME COMMAND: KIND is tap, pytest, counts, status or step; the
# COMMAND is a line for the guest's shell and runs in /job.  A step leads to the
# programs after it, and runs whichever of them are chosen.
batch_add()
{
	if [ "$1" != step ]; then
		tally_wants "$2" || return 0
		BATCH_PROGRAMS=$((BATCH_PROGRAMS + 1))
	fi
	printf '%s %s\n' "$1" "$2" >>"$BATCH/kinds"
	printf '%s\t%s\n' "$2" "$3" >>"$BATCH/job/batch"
}

# batch_boot TITLE: runs it in the guest that GUEST_* describe; what comes
# out is kept in the folder.  A program has BATCH_LIMIT seconds (1800).
batch_boot()
{
	local status=0

	if [ -n "$PATTERN" ] && [ "$BATCH_PROGRAMS" -eq 0 ]; then
		return
	fi
	log_step "Running $(wc -l <"$BATCH/kinds") programs: $1"
	# A shell of its own: what is set here is for this boot alone.
	(
		GUEST_FILES=("$BATCH/job")
		GUEST_RESULTS=$BATCH/results
		GUEST_DMESG=$BATCH/dmesg
		guest_run env "LIMIT=${BATCH_LIMIT:-1800}" sh guest-batch
	) >"$BATCH/output" 2>"$BATCH/guest" || status=$?
	echo "$status" >"$BATCH/status"
}

# batch_aside TITLE COMMAND...: runs the command, which boots the batch, beside what
# follows, as many at a time as there are processors: most tests keep one busy.
# batch_count_aside waits for all and counts them.
BATCH_ASIDE=()

batch_aside()
{
	local title=$1

	shift
	# What runs in the background would go on at Ctrl-C.
	(trap 'exit 130' INT; "$@") &
	BATCH_ASIDE+=("$BATCH" "$title")
	while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do
		wait -n || true
	done
}

batch_count_aside()
{
	local batches=("${BATCH_ASIDE[@]}") i

	wait
	BATCH_ASIDE=()
	for ((i = 0; i < ${#batches[@]}; i += 2)); do
		BATCH=${batches[i]}
		batch_count "${batches[i + 1]}"
	done
}

# batch_count TITLE: counts what the programs and the kernel said
batch_count()
{
	local kind name log status

	[ -e "$BATCH/status" ] || return 0
	awk -F '\t' -v into="$BATCH/logs/" '
		$1 == "@begin" { file = into $2; printf "" >file; next }
		$1 == "@end" { print $3 >(file ".status"); file = ""; next }
		file { print >file }
	' "$BATCH/output"
	while read -r kind name; do
		log=$BATCH/logs/$name
		if [ ! -s "$log.status" ]; then
			echo "it did not finish" >>"$log"
			tally_status "$name" 1 "$log"
			continue
		fi
		"batch_$kind" "$name" "$(cat "$log.status")" "$log"
	done <"$BATCH/kinds"
	grep "^$GUEST_TWICE" "$BATCH/guest" |
		while IFS= read -r name; do log_note "$name"; done
	sed -n 's/^@note\t/         /p' "$BATCH/output" |
		while IFS= read -r name; do log_note "$name"; done
	status=$(cat "$BATCH/status")
	[ "$status" -eq 0 ] || tail -n 20 "$BATCH/output" >>"$BATCH/guest"
	tally_status "$1: the kernel has nothing to complain of" "$status" \
		"$BATCH/guest"
}

# What the kinds mean.
batch_tap()
{
	tally_tap "$@"
}

batch_step()
{
	tally_status "$@"
}

batch_status()
{
	tally_status "$@"
}

batch_counts()
{
	tally_counts "$@"
}

batch_pytest()
{
	tally_pytest "$@" "$BATCH/results/$1.xml"
}
