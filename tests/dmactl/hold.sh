# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=sh disable=SC2154 # folder: fact.sh
#
# Processes that hold memory while a test looks at it.  A test sources this file after
# ../fact.sh.  Descriptor 3 leads to the process, and 4 from it: it prints words, then
# "ready", and ends with its input.

hold_limit= # options of read
# A process that says nothing must not stop the test.  Some shells know no -t.
# shellcheck disable=SC3045
if (echo | read -r -t 1 _) 2>"$folder/rest"; then
	hold_limit="-t 60"
fi

# hold COMMAND...: starts a process, $pid, and waits until it is ready; the words that
# it prints before are in $ids, each after a space
hold()
{
	rm -f "$folder/in" "$folder/out"
	mkfifo "$folder/in" "$folder/out"
	"$@" <"$folder/in" >"$folder/out" &
	pid=$!
	exec 3>"$folder/in" 4<"$folder/out"
	ids=
	line=
	# shellcheck disable=SC2086 # two words or none
	while read -r ${hold_limit?} line <&4 && [ "$line" != ready ]; do
		ids="$ids $line"
	done
	[ "$line" != ready ] || return 0
	echo "# it failed: $*"
	kill -9 "$pid" 2>"$folder/rest"
}

# Ends it in order, and waits until it has given everything back.
release()
{
	exec 3>&-
	cat <&4 >"$folder/rest"
	exec 4<&-
	wait "$pid"
}

kill_holder()
{
	kill -9 "$pid"
	wait "$pid" 2>"$folder/rest"
	exec 3>&- 4<&-
}

as_nobody() # COMMAND LINE
{
	su nobody -s /bin/sh -c "$1"
}
