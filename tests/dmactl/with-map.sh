#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# dmactl map with the module: buffers of several processes, compared with list and
# heaps.  Prints TAP.
#
#	with-map.sh DMACTL HOLDER SCHEMA
#
# Needs: ../fact.sh and hold.sh; map_agrees.py and map_model.py beside it; root; dray.ko loaded,
# with a node /dev/dray0 whose first heap is a reserved one that nobody uses; the built
# programs dmactl and dmactl-holder (they need libdray.so.0, and dmactl
# libjansson.so.4, on the LD_LIBRARY_PATH); SCHEMA, the file map.json; python3 with
# NumPy and dray; busybox or the usual programs, and the user nobody in /etc/passwd.
# Changes the mode of /dev/dray0 and sets it back.

# shellcheck source=tests/fact.sh
. "$(dirname "$0")/../fact.sh"
# shellcheck source=tests/dmactl/hold.sh
. "$(dirname "$0")/hold.sh"
here=$(dirname "$0")
dmactl=$1
holder=$2
schema=$3
export DRAY_TEST_NODE=kernel
chmod 755 "$folder"
mode=$(stat -c %a /dev/dray0)
chmod 666 /dev/dray0
heap=$("$dmactl" heaps --no-header -n dray0 | awk 'NR == 1 { print $2 }')

# agrees NAME [ID]...: a fact
agrees()
{
	name=$1
	shift
	run "$name" /usr/bin/python3 -B "$here/map_agrees.py" "$dmactl" \
		"$heap" "$schema" "$@"
}

# count WORD: parts of the heap with that state
count()
{
	"$dmactl" map "$heap" --json | grep -c "^ *\"state\": \"$1\"" || :
}

agrees an_empty_heap_agrees
is an_empty_heap_is_one_free_run "$(count free) $(count buffer)" "1 0"

# Two holders, and NumPy's arrays in the memory of a third process.
hold "$holder" "$heap" frame 65536 small 4096 'two words' 200000
first=$ids
exec 5>&3 6<&4
first_pid=$pid
hold "$holder" "$heap" a 4096 b 4096 c 1048576 d 8192
second=$ids
exec 7>&3 8<&4
second_pid=$pid
hold /usr/bin/python3 -B -c '
import sys
import numpy
import dray
with dray.memory():
    frame = numpy.ones((1080, 1920), numpy.uint8)
    small = [numpy.arange(1000) for _ in range(50)]
print("ready", flush=True)
sys.stdin.read()
'
numpy_pid=$pid
third=$("$dmactl" list --no-header | awk -v pid="$numpy_pid" \
	'$5 == pid { printf " %s", $1 }')
[ -n "$third" ]
ok $? numpy_holds_buffers
# shellcheck disable=SC2086 # one word each
agrees three_processes_agree $first $second $third
is each_buffer_is_a_part "$(count buffer)" \
	"$(echo "$first$second$third" | wc -w | tr -d ' ')"
is the_legend_has_three_owners "$("$dmactl" map "$heap" |
	awk '$1 ~ /^[ABC]$/ { print $5 }' | sort | tr '\n' ' ')" \
	"$(printf '%s\n' "$first_pid" "$second_pid" "$numpy_pid" | sort |
		tr '\n' ' ')"
is by_user_there_is_one "$("$dmactl" map "$heap" --by user |
	awk '$1 == "A" { print $4 } $1 == "B" { print }')" root

# Users without rights.
others=$(as_nobody "$dmactl map $heap --json")
is others_are_anonymous "$(echo "$others" |
	grep -c '^ *"\(id\|pid\)": [0-9]')" 0
is others_are_told_of "$(echo "$others" | grep -c '"others_hidden": true')" 1
like others_are_a_line_of_the_legend "$(as_nobody "$dmactl map $heap" |
	grep '^o ')" 'o * others'
as_nobody "$dmactl map $heap" | grep -q CAP_SYS_ADMIN
ok $? they_are_told_why

# Everything in order: the last started first.
release
exec 3>&7 4<&8 7>&- 8<&-
pid=$second_pid
release
exec 3>&5 4<&6 5>&- 6<&-
pid=$first_pid
release
agrees nothing_is_left

hold su nobody -s /bin/sh -c "exec $holder $heap mine 4096"
# shellcheck disable=SC2086
set -- $ids
is own_buffers_are_known "$(as_nobody "$dmactl map $heap --json" |
	grep -c "^ *\"id\": $1,$")" 1
is own_buffers_have_a_letter "$(as_nobody "$dmactl map $heap" |
	awk '$1 == "A" { print $4, $6 }')" "dmactl-holder nobody"
release

# Memory that a device may still write.
hold "$holder" --address "$heap" told 65536
kill_holder
is held_memory_is_a_part "$(count held) $(count buffer)" "1 0"
"$dmactl" map "$heap" | grep -q '^#  *64.0K  *1  held$'
ok $? held_memory_is_a_line_of_the_legend
"$dmactl" reclaim --all >"$folder/rest"
is reclaimed_memory_is_free "$(count held) $(count free)" "0 1"

# Heaps that have no range.
pages=$("$dmactl" heaps --no-header -n dray0 |
	awk '$3 == "pages" { print $2; exit }')
if [ -n "$pages" ]; then
	"$dmactl" map "$pages" | grep -q 'no range'
	ok $? the_page_allocator_has_no_range
fi
"$dmactl" map >"$folder/all"
ok $? all_heaps_are_shown
is no_heap_is_shown_twice "$(grep ' of dray' "$folder/all" | sort | uniq -d)" ""

# Buffers come and go between the map and their owners.
hold "$holder" --churn "$heap" a 4096 b 4096 c 4096 d 4096 e 4096 f 4096
round=0
while [ $round -lt 50 ]; do
	"$dmactl" map "$heap" --json >"$folder/rest" || echo "exit $?"
	round=$((round + 1))
done >"$folder/errors" 2>&1
release
is buffers_that_come_and_go_are_no_error "$(cat "$folder/errors")" ""

chmod "$mode" /dev/dray0
finish
