# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Processes of a front door.  It runs its work as a child and itself only waits, so
# that a signal ends the work at once, also in the middle of a command.  Tasks are steps that
# run side by side: the first that fails ends the others.

# front_run FUNCTION [ARGUMENT...]: runs the work and exits with its status; at a
# signal, ends all its processes first
front_run()
{
	local work status=0

	# shellcheck disable=SC2064 # SIGINT is ignored in the background
	for status in INT:130 TERM:143 HUP:129; do
		trap "front_stop ${status#*:}" "${status%:*}"
	done
	"$@" <&0 &
	work=$!
	status=0
	wait "$work" || status=$?
	exit "$status"
}

front_stop()
{
	trap '' INT TERM HUP
	# Some processes have ended before they are asked to.
	set +e
	log_bad "${0##*/}: stopped"
	# shellcheck disable=SC2046 # words
	tasks_end $(jobs -p) $(tasks_orphans)
	# Parents that have ended meanwhile left theirs.
	# shellcheck disable=SC2046 # words
	tasks_end $(tasks_orphans)
	exit "$1"
}

TASKS=()

# tasks_start COMMAND...: starts a task
tasks_start()
{
	"$@" &
	TASKS+=($!)
}

# tasks_wait: waits for all tasks; if a task fails, ends the others and returns its status
tasks_wait()
{
	tasks_room 1
}

# tasks_room COUNT: the same, but until fewer than COUNT tasks run
tasks_room()
{
	local task i status

	while [ "${#TASKS[@]}" -ge "$1" ]; do
		status=0
		wait -n -p task "${TASKS[@]}" || status=$?
		for i in "${!TASKS[@]}"; do
			[ "${TASKS[i]}" != "$task" ] || unset "TASKS[i]"
		done
		[ "$status" -ne 0 ] || continue
		tasks_end "${TASKS[@]}"
		TASKS=()
		return "$status"
	done
}

# tasks_end PROCESS...: ends the processes and all below them; kills after five seconds
tasks_end()
{
	local all=() known tries

	# Stopped, none starts another that would be missed.  Their number is not enough: a
	# process may have ended while its parent started the next.
	until known=${all[*]} && mapfile -t all < <(tasks_tree "$@") &&
	      [ "${all[*]}" = "$known" ]; do
		kill -STOP "${all[@]}" 2>/dev/null
	done
	kill "${all[@]}" 2>/dev/null
	kill -CONT "${all[@]}" 2>/dev/null
	for ((tries = 0; tries < 50; tries++)); do
		mapfile -t all < <(tasks_alive "${all[@]}")
		[ "${#all[@]}" -gt 0 ] || return 0
		sleep 0.1
	done
	kill -KILL "${all[@]}" 2>/dev/null
	return 0
}

# tasks_stat: prints process, parent, state and process group of all processes
tasks_stat()
{
	cat /proc/[0-9]*/stat 2>/dev/null |
		sed -n 's/^\([0-9]*\) (.*) \([A-Z]\) \([0-9]*\) \([0-9]*\) .*/\1 \3 \2 \4/p'
}

# tasks_orphans: prints processes without a parent, of the group that this shell leads
tasks_orphans()
{
	tasks_stat | awk -v own=$$ '
		{ parent[$1] = $2; group[$1] = $4 }
		END {
			for (process in group)
				if (group[process] == own && process != own &&
				    parent[process] == 1)
					print process
		}'
}

# tasks_alive PROCESS...: prints the processes that run; a zombie does not
tasks_alive()
{
	tasks_stat | awk -v list=" $* " '$3 != "Z" && index(list, " " $1 " ") {
		print $1 }'
}

# tasks_tree PROCESS...: prints the processes and all below them
tasks_tree()
{
	tasks_stat | awk -v roots="$*" '
		BEGIN { count = split(roots, tree, " ") }
		{ children[$2] = children[$2] " " $1 }
		END {
			for (i = 1; i <= count; i++) {
				print tree[i]
				more = split(children[tree[i]], list, " ")
				for (j = 1; j <= more; j++)
					tree[++count] = list[j]
			}
		}'
}
