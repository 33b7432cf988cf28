# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# A batch is a list of test programs that run in turn in one guest.  Each writes
# its output on the guest's serial port between two marks, so that a crash can be
# assigned to a program; the kernel's log has the program's name at its start.

# batch_begin FOLDER: starts an empty batch in FOLDER
batch_begin()
{
	BATCH=$1
	rm -rf "$BATCH"
	mkdir -p "$BATCH/job" "$BATCH/results" "$BATCH/logs"
	: >"$BATCH/kinds"
	BATCH_PROGRAMS=0
	cp "$TREE/tools/lib/guest-batch" "$BATCH/job"
}

# batch_add KIND NAME COMMAND: adds a line for the guest's shell in /job.  KIND is
# tap, counts, status or step; a step prepares later programs and always
# runs.
batch_add()
{
	if [ "$1" != step ]; then
		tally_wants "$2" || return 0
		BATCH_PROGRAMS=$((BATCH_PROGRAMS + 1))
	fi
	printf '%s %s\n' "$1" "$2" >>"$BATCH/kinds"
	printf '%s\t%s\n' "$2" "$3" >>"$BATCH/job/batch"
}

# batch_libraries FILE...: copies the libraries of programs and plug-ins of this machine
# into $BATCH/lib, for GUEST_ROOTS; libraries of a build into /usr/lib, as the guest has a
# /tmp of its own
batch_libraries()
{
	local file folder

	ldd "$@" | grep -oE '/[^ ]+ ' | sort -u | while read -r file; do
		# /lib is a link in the guest, too.
		folder=$(realpath "${file%/*}")
		folder=$BATCH/lib${folder/#"$CACHE"*//usr/lib}
		mkdir -p "$folder"
		cp -L "$file" "$folder" || return 1
	done
}

# batch_boot TITLE: runs the batch in the guest described by GUEST_* and keeps the
# output in the folder.  A program may take BATCH_LIMIT seconds (1800).
batch_boot()
{
	local status=0

	if [ -n "$PATTERN" ] && [ "$BATCH_PROGRAMS" -eq 0 ]; then
		return
	fi
	log_step "Running $(wc -l <"$BATCH/kinds") programs: $1"
	# A subshell keeps these settings to this boot.
	(
		GUEST_FILES=("$BATCH/job")
		GUEST_RESULTS=$BATCH/results
		GUEST_DMESG=$BATCH/dmesg
		guest_run env "LIMIT=${BATCH_LIMIT:-1800}" sh guest-batch
	) >"$BATCH/output" 2>"$BATCH/guest" || status=$?
	echo "$status" >"$BATCH/status"
}

# batch_guest TITLE BOARD SERIES [VARIABLE=VALUE|MODULE]...: boots the batch for
# tests of the kernel interface, for an hour at most; sets variables of guest.sh and
# inserts further modules of the kernel
batch_guest()
{
	local title=$1 word

	GUEST_MODULES=("${SELFTESTS_MODULES[@]}")
	GUEST_BOARD=$2 GUEST_SERIES=$3 GUEST_LIMIT=3600
	for word in "${@:4}"; do
		case $word in
		*=*) declare -g "$word" ;;
		*) GUEST_MODULES+=("$word") ;;
		esac
	done
	batch_boot "$title"
}

# batch_together TITLE ...: does the same in the background, for a guest that needs
# another beside it
batch_together()
{
	batch_start_by batch_guest "$@"
}

# batch_aside TITLE ...: does the same in the background.  As many guests run at a
# time as there are processors: most tests keep a processor busy.  batch_count_aside waits
# for all and counts them.
batch_aside()
{
	batch_aside_by batch_guest "$@"
}

# batch_start_by COMMAND TITLE ...: the same by another command than batch_guest, at once;
# batch_aside_by: in turn
BATCH_ASIDE=()

batch_start_by()
{
	# Without the traps, background jobs would survive Ctrl-C.
	(trap 'exit 130' INT TERM; "$@") &
	BATCH_ASIDE+=("$BATCH" "$2")
}

batch_aside_by()
{
	batch_start_by "$@"
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

# batch_count TITLE: counts the results of the programs and of the kernel
batch_count()
{
	local kind name log status

	[ -e "$BATCH/status" ] || return 0
	mkdir -p "$CACHE/times"
	awk -F '\t' -v into="$BATCH/logs/" -v suite="$TALLY_SUITE" \
		-v "times=$CACHE/times/programs" '
		$1 == "@begin" { file = into $2; printf "" >file; next }
		$1 == "@end" {
			print $3 >(file ".status")
			print $4, suite, $2 >>times
			file = ""
			next
		}
		file { print >file }
	' "$BATCH/output"
	while read -r kind name; do
		log=$BATCH/logs/$name
		if [ ! -s "$log.status" ]; then
			echo "it did not finish" >>"$log"
			tally_status "$name" 1 "$log"
			continue
		fi
		"tally_${kind/step/status}" "$name" "$(cat "$log.status")" "$log"
	done <"$BATCH/kinds"
	{
		grep "^$GUEST_TWICE" "$BATCH/guest"
		sed -n 's/^@note\t/         /p' "$BATCH/output"
	} | while IFS= read -r name; do log_note "$name"; done
	status=$(cat "$BATCH/status")
	[ "$status" -eq 0 ] || tail -n 20 "$BATCH/output" >>"$BATCH/guest"
	tally_status "$1: the kernel reports no fault" "$status" \
		"$BATCH/guest"
}
