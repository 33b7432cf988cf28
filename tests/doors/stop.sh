#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# A front door that fails or gets a signal ends at once, with all that it has started,
# and leaves nothing half made.
TREE=$(cd "$(dirname "$0")/../.." && pwd -P)
# shellcheck source=tests/fact.sh
. "$TREE/tests/fact.sh"
export DRAY_CACHE=$folder/cache DRAY_DOOR=$folder

# door NAME: makes a front door whose work is standard input
door()
{
	{
		printf '%s\n' '#!/bin/bash' 'set -euo pipefail' "TREE='$TREE'" \
			". \"\$TREE/tools/load.sh\""
		# shellcheck disable=SC2016 # the door replaces them
		echo 'make() { mkdir -p "$1"; touch "$1/file"; touch "$DRAY_DOOR/up"; "$DRAY_DOOR/slow"; }'
		echo 'work() {'
		cat
		echo '}; front_run work'
	} >"$folder/$1"
	chmod +x "$folder/$1"
}

# A program that ends by itself only after the test's limit, as a child of its own.
cat >"$folder/slow" <<-'SLOW'
#!/bin/sh
sleep 1000 &
wait
SLOW
chmod +x "$folder/slow"

# left: processes that a door has started
left()
{
	pgrep -af "$folder|sleep 1000" | grep -v pgrep
}

# ends NAME STATUS [SIGNAL [group]]: the door NAME ends with the status, when it gets the
# signal, or all of its group do as from a terminal
ends()
{
	local status=0 started=$SECONDS what="$1${3:+, SIG$3}${4:+ to its group}"

	rm -f "$folder/up"
	# In the background a shell ignores SIGINT, and nohup SIGHUP.
	setsid env --default-signal=HUP,INT "$folder/$1" >"$folder/said" 2>&1 &
	until [ -e "$folder/up" ]; do
		kill -0 $! 2>/dev/null || break
		sleep 0.05
	done
	[ -z "${3:-}" ] || kill "-$3" -- "${4:+-}$!"
	wait $! || status=$?
	is "$what: its status" "$status" "$2"
	# The parent of the door ends before it.
	until [ "$1" != wrapped ] || [ -z "$(left)" ] || [ $((SECONDS - started)) -ge 60 ]; do
		sleep 0.1
	done
	[ $((SECONDS - started)) -lt 60 ]
	ok $? "$what: at once"
	is "$what: no process is left" "$(left)" ''
	is "$what: nothing half made stays" \
		"$(find "$DRAY_CACHE"/{partial,things} -mindepth 1 2>&1)" ''
}

mkdir -p "$DRAY_CACHE/things" "$DRAY_CACHE/partial"
door foreground <<-'WORK'
	cache_make things/one make
WORK
door background <<-'WORK'
	cache_make things/one make &
	wait
WORK
door tasks <<-'WORK'
	tasks_start cache_make things/one make
	tasks_start "$DRAY_DOOR/slow"
	tasks_wait
WORK
for signal in INT:130 TERM:143 HUP:129; do
	for name in foreground background tasks; do
		ends "$name" "${signal#*:}" "${signal%:*}"
		ends "$name" "${signal#*:}" "${signal%:*}" group
	done
done

# A child that ends while its parent starts the next leaves their number as it was.
touch "$folder/stops"
(
	# shellcheck source=tools/lib/tasks.sh
	. "$TREE/tools/lib/tasks.sh"
	kill() { [ "$1" != -STOP ] || echo "${*:2}" >>"$folder/stops"; }
	tasks_tree() { printf '%s\n' 1 $(($(wc -l <"$folder/stops") > 0 ? 3 : 2)); }
	tasks_alive() { :; }
	tasks_end 1
)
is 'a child in the place of another is stopped' "$(cat "$folder/stops")" $'1 2\n1 3'

# A nested door, whose parent ends.
door nested <<-'WORK'
	"$DRAY_DOOR/foreground"
WORK
cat >"$folder/wrapped" <<-'WRAPPED'
#!/bin/sh
"$DRAY_DOOR/nested" &
wait
WRAPPED
chmod +x "$folder/wrapped"
ends wrapped 143 TERM group

door failure <<-'WORK'
	tasks_start cache_make things/one make
	tasks_start die "no package of that name"
	tasks_wait
WORK
ends failure 125
like 'failure: the message of the task that failed' "$(cat "$folder/said")" \
	'*no package of that name*'

door success <<-'WORK'
	make() { echo fine >"$1"; }
	tasks_start cache_make things/one make
	tasks_start true
	tasks_wait && cat "$CACHE/things/one"
WORK
is 'success: the last word of the work' "$("$folder/success" 2>&1)" fine
rm -r "$DRAY_CACHE/things"

# The real ones, without a network.
proxy=http://127.0.0.1:1
for command in 'demo:125' 'check iommu:1'; do
	started=$SECONDS status=0 wanted=${command#*:} command=${command%:*}
	# shellcheck disable=SC2086 # words
	DRAY_CACHE=$folder/empty http_proxy=$proxy https_proxy=$proxy \
		"$TREE"/tools/$command >"$folder/said" 2>&1 </dev/null ||
		status=$?
	is "tools/$command without a network: its status" "$status" "$wanted"
	[ $((SECONDS - started)) -lt 120 ]
	ok $? "tools/$command without a network fails soon"
	is "tools/$command: nothing half made stays" \
		"$(ls "$folder/empty/partial")" ''
	rm -rf "$folder/empty"
done
finish
