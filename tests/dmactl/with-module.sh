#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# dmactl with the module shows the memory that programs hold.  Prints TAP.
#
#	with-module.sh DMACTL HOLDER
#
# Needs: ../fact.sh and hold.sh; root; dray.ko loaded, with a node /dev/dray0 and no buffer in
# use by anybody else; the built programs dmactl and dmactl-holder (they need
# libdray.so.0, and dmactl libjansson.so.4, on the LD_LIBRARY_PATH); busybox or
# the usual programs (awk, sed, grep, mkfifo, su; the user nobody in
# /etc/passwd), all readable for nobody; python3 if there is one.  Changes the
# mode of /dev/dray0 and sets it back.

# shellcheck source=tests/fact.sh
. "$(dirname "$0")/../fact.sh"
# shellcheck source=tests/dmactl/hold.sh
. "$(dirname "$0")/hold.sh"
dmactl=$1
holder=$2
export DRAY_TEST_NODE=kernel
chmod 755 "$folder"

# row ID: the words of its row
row()
{
	"$dmactl" list --bytes --no-header | awk -v id="$1" '$1 == id'
}

# heap_words COLUMN...: of the first heap, in bytes
heap_words()
{
	"$dmactl" heaps --bytes --no-header -n dray0 | sed 1q |
		awk -v columns="$*" '{
			count = split(columns, c, " ")
			for (i = 1; i <= count; i++)
				printf "%s%s", $c[i], i < count ? " " : "\n"
		}'
}

is list_is_empty_at_first "$("$dmactl" list | sed -n '$p')" \
	"total: 0 buffers, 0B"
is nothing_to_list_exits_0 \
	"$("$dmactl" list --no-header 2>&1 && echo "exit $?")" "exit 0"

heap=$(heap_words 2)
type=$(heap_words 3)
# BUFFERS USED QUARANTINE, and what others cannot change: FREE
before=$(heap_words 4 6 8)
free_before=$(heap_words 7)
if [ "$type" = reserved ]; then
	is reserved_heap_adds_up "$(heap_words 5)" \
		"$(heap_words 6 7 8 | awk '{ print $1 + $2 + $3 }')"
fi
is first_node_is_dray0 \
	"$("$dmactl" nodes --no-header | awk 'NR == 1 { print $1 }')" dray0
is node_may_be_a_path "$("$dmactl" nodes -n /dev/dray0)" \
	"$("$dmactl" nodes -n dray0)"

hold "$holder" "$heap" frame 65536 'two words' 8192 "$(printf 'esc\033[2J')" 4096
# shellcheck disable=SC2086 # one word each
set -- $ids
comm=$(tr ' ' _ <"/proc/$pid/comm" | cut -c 1-15)
is three_buffers_are_held $# 3
is row_shows_the_buffer "$(row "$1" | awk '{ $11 = "AGE"; print }')" \
	"$1 65536 $heap cached $pid $comm root 1 0 0 AGE frame"
is name_keeps_its_spaces "$(row "$2" | sed 's/.*  //')" "two words"
is control_characters_are_escaped "$(row "$3" | awk '{ print $12 }')" \
	'esc\x1b[2J'
is ids_are_sorted \
	"$("$dmactl" list --no-header | awk '{ printf " %s", $1 }')" "$ids"
is total_is_the_sum "$("$dmactl" list --bytes | sed -n '$p')" \
	"total: 3 buffers, 77824 bytes"
is heap_counts_the_buffers "$(heap_words 4)" \
	"$(echo "$before" | awk '{ print $1 + 3 }')"
used=$(($(heap_words 6) - $(echo "$before" | cut -d ' ' -f 2)))
[ "$used" -ge 77824 ]
ok $? heap_counts_the_bytes
is show_has_every_fact \
	"$("$dmactl" show "$1" | sed 's/^age: .*/age/;s/^sync.*: .*/sync/
		s/descriptor [0-9]*$/descriptor N/')" \
"id:          $1
name:        frame
size:        64.0K (65536 bytes)
heap:        $heap, number 0 of dray0
mode:        cached
owner:       $comm, pid $pid
user:        root, uid 0
command:     $holder $heap frame 65536 two words 8192 esc\\x1b[2J 4096
mapped:      1
attached:    0
busy:        0 transfers in flight
age
sync
sync
held by:     $comm, pid $pid, file descriptor N
mapped by:   $comm, pid $pid, 1 mapping"
is json_has_exact_values \
	"$("$dmactl" show --json "$3" | grep -E '^  "(id|name|size|pid)":')" \
"  \"id\": $3,
  \"name\": \"esc\\u001B[2J\",
  \"size\": 4096,
  \"pid\": $pid,"
is json_names_the_holder_too \
	"$("$dmactl" show --json "$1" | grep -c "^ *\"pid\": $pid,$")" 3
if python=$(command -v /usr/bin/python3); then
	for command in list heaps nodes; do
		"$dmactl" "$command" --json | "$python" -c '
import json, sys
document = json.load(sys.stdin)
rows = document["buffers" if sys.argv[1] == "list" else sys.argv[1]]
assert rows, document
assert sys.argv[1] != "list" or document["total"] == {
	"buffers": 3, "size": 77824, "attachments": 0, "attached": 0}, document
' "$command"
		ok $? "json_of_${command}_parses"
	done
fi

error=$("$dmactl" show 4294967296 2>&1)
is no_such_buffer_exits_1 $? 1
is no_such_buffer_is_a_sentence "$error" \
"dmactl: no buffer or attachment 4294967296; visible on any node: $1, $2, $3"
error=$("$dmactl" list -n dray999 2>&1)
is no_such_node_exits_1 $? 1
like no_such_node_is_a_sentence "$error" \
	"dmactl: no node 'dray999': there *dray0*"

mode=$(stat -c %a /dev/dray0)
chmod 600 /dev/dray0
error=$(as_nobody "$dmactl list -n dray0" 2>&1)
is no_permission_exits_1 $? 1
is no_permission_says_who_may "$error" \
"dmactl: no permission to open /dev/dray0: it belongs to user $(stat -c %U /dev/dray0) and group $(stat -c %G /dev/dray0) with mode 0600, and you have uid 65534"
chmod 666 /dev/dray0
is others_see_their_own_only \
	"$(as_nobody "$dmactl list -n dray0" | sed -n '$p')" \
	"total: 0 buffers, 0B"
error=$(as_nobody "$dmactl show -n dray0 $1" 2>&1)
is a_buffer_of_another_user_is_not_there "$error" \
"dmactl: no buffer or attachment $1; none is visible on dray0"

# One of a user's own, which root sees too.
first=$1
first_pid=$pid
exec 5>&3 6<&4
hold su nobody -s /bin/sh -c "exec $holder $heap mine 4096"
# shellcheck disable=SC2086
set -- $ids
is own_buffer_is_seen "$(as_nobody "$dmactl list -n dray0 --no-header" |
	awk '{ print $1, $7, $12 }')" "$1 nobody mine"
is root_sees_all "$("$dmactl" list | sed -n '$p')" "total: 4 buffers, 80.0K"
as_nobody "$dmactl show -n dray0 $1" |
	grep -q '^hidden: .* processes that you may not inspect$'
ok $? processes_that_are_not_looked_into_are_counted
release
set -- "$first"
pid=$first_pid
exec 3>&5 4<&6 5>&- 6<&-
chmod "$mode" /dev/dray0

kill_holder
is list_is_empty_after_kill "$("$dmactl" list --no-header)" ""
is heap_is_as_before "$(heap_words 4 6 8)" "$before"
[ "$type" != reserved ] ||
	is free_bytes_are_as_before "$(heap_words 7)" "$free_before"

hold "$holder" --orphan "$heap" left 4096
# shellcheck disable=SC2086
set -- $ids
wait "$pid"
keeper=$("$dmactl" show "$1" | sed -n 's/^held by:.* pid \([0-9]*\),.*/\1/p')
[ "$keeper" != "$pid" ] && [ -d "/proc/$keeper/fd" ] && [ -n "$keeper" ]
ok $? the_keeper_is_shown
is an_owner_that_ended_is_gone "$(row "$1" | awk '{ print $5, $6 }')" \
	"gone $comm"
like show_says_that_the_owner_is_gone "$("$dmactl" show "$1" | grep ^owner:)" \
	'*gone'
release
is orphan_is_freed_with_its_last_user "$("$dmactl" list --no-header)" ""

hold "$holder" --read-only "$heap" shared 4096
# shellcheck disable=SC2086
set -- $ids
is show_tells_which_descriptor_is_read_only \
	"$("$dmactl" show "$1" | sed -n 's/^held by: .*, //p' |
		sed 's/[0-9][0-9]*/N/g')" "file descriptors N N (read-only)"
is json_tells_it_too "$("$dmactl" show --json "$1" | tr -d ' \n' |
	sed -n 's/.*\("read_only":[^]]*\].\).*/\1/p' |
	sed 's/[0-9][0-9]*/N/g')" '"read_only":[N]}'
release

# dmactl was told the address, and has ended when the buffer is freed.
hold "$holder" "$heap" known 65536
# shellcheck disable=SC2086
set -- $ids
like show_tells_the_segments "$("$dmactl" show --segments "$1" |
	grep ^segment:)" 'segment:     0x*, 65536 bytes'
is without_the_option_it_tells_none \
	"$("$dmactl" show "$1" | grep -c ^segment:)" 0
release
is memory_that_dmactl_knew_is_held "$(row "$1" | awk '{ print $5 }')" held
is memory_that_dmactl_knew_is_reclaimed "$("$dmactl" reclaim "$1")" \
	"reclaimed: 1 buffer, 64.0K"

# A process that was told an address is killed.
hold "$holder" --address "$heap" told 65536 "not told" 4096
# shellcheck disable=SC2086
set -- $ids
kill_holder
is held_memory_is_listed "$(row "$1" | awk '{ print $5, $12 }')" "held told"
is other_memory_is_gone "$(row "$2")" ""
is json_says_that_it_is_held \
	"$("$dmactl" show --json "$1" | grep -E '^  "held":')" '  "held": true,'
is reclaim_frees_one "$("$dmactl" reclaim "$1")" "reclaimed: 1 buffer, 64.0K"
is nothing_is_listed_after_reclaim "$("$dmactl" list --no-header)" ""
error=$("$dmactl" reclaim "$1" 2>&1)
is memory_that_is_not_held_is_not_reclaimed $? 1
[ -n "$error" ]
ok $? reclaim_says_why_not
is reclaim_of_nothing_frees_nothing "$("$dmactl" reclaim --all)" \
	"reclaimed: 0 buffers, 0B"
hold "$holder" --address "$heap" told 8192
kill_holder
is reclaim_frees_all "$("$dmactl" reclaim --all --bytes)" \
	"reclaimed: 1 buffer, 8192 bytes"

# Memory of a process that is pinned, while it lives and afterwards.
hold "$holder" --attach "$heap" frame 65536
# shellcheck disable=SC2086
set -- $ids
is attached_memory_is_a_row "$(row "$2" | awk '{ $11 = "AGE"; print }')" \
	"$2 65536 - pinned $pid $comm root - - 0 AGE -"
is attached_memory_has_its_own_total "$("$dmactl" list --bytes | sed -n '$p')" \
	"total: 1 buffer, 65536 bytes; 1 attachment, 65536 bytes"
is show_tells_who_holds_the_attachment "$("$dmactl" show "$2" |
	sed 's/^age: .*/age/;s/descriptor [0-9]*$/descriptor N/')" \
"id:          $2
name:        -
size:        64.0K (65536 bytes)
memory:      pinned pages of a process
attached to: dray0, which may write it
owner:       $comm, pid $pid
user:        root, uid 0
command:     $holder --attach $heap frame 65536
busy:        0 transfers in flight
age
held by:     $comm, pid $pid, file descriptor N"
"$dmactl" reclaim "$2" >"$folder/rest" 2>&1
is memory_in_use_is_not_reclaimed $? 1
release
is a_living_process_ends_its_attachment "$(row "$2")" ""
hold "$holder" --attach "$heap" frame 65536
# shellcheck disable=SC2086
set -- $ids
kill_holder
is pinned_memory_of_the_dead_is_listed \
	"$(row "$2" | awk '{ print $2, $4, $5 }')" "65536 pinned held"
is show_says_how_to_end_it "$("$dmactl" show "$2" | grep ^held:)" \
	"held:        a device may still write it; if none does: dmactl reclaim $2"
is reclaim_frees_one_attachment "$("$dmactl" reclaim "$2")" \
	"reclaimed: 1 attachment, 64.0K"
is nothing_is_pinned_after_reclaim "$("$dmactl" list --no-header)" ""

# Buffers come and go between LIST and BUFFER_INFO: never an error.
hold "$holder" --churn "$heap" a 4096 b 4096 c 4096 d 4096 e 4096 f 4096
errors=$folder/errors
: >"$errors"
round=0
while [ $round -lt 50 ]; do
	"$dmactl" list >"$folder/rest" 2>>"$errors" ||
		echo "exit $?" >>"$errors"
	round=$((round + 1))
done
release
is buffers_that_come_and_go_are_no_error "$(cat "$errors")" ""
is heap_is_as_before_at_the_end "$(heap_words 4 6 8)" "$before"

# channel_sum COLUMN: over all channels of the first node
channel_sum()
{
	"$dmactl" nodes --bytes --no-header -n dray0 |
		awk -v c="$1" 'channels { sum += $c } !NF { channels = 1 }
			END { print sum + 0 }'
}

channels=$("$dmactl" nodes --no-header -n dray0 | awk 'NR == 1 { print $8 }')
if [ "$channels" -gt 0 ]; then
	is each_channel_has_a_row "$("$dmactl" nodes --no-header -n dray0 |
		awk 'rows != "" { rows++ } !NF { rows = 0 }
			END { print rows }')" "$channels"
	submitted=$(channel_sum 6)
	bytes=$(channel_sum 7)
	hold "$holder" --copy "$heap" from 65536 to 65536
	is channels_count_transfers "$(channel_sum 6)" $((submitted + 1))
	is channels_count_bytes "$(channel_sum 7)" $((bytes + 65536))
	is channels_count_failures "$(channel_sum 8)" 0
	"$dmactl" nodes -n dray0 --no-header | grep -q ' open$'
	ok $? the_channel_that_was_used_is_open
	release
fi

# A module without a node: only where the node is a device that can be unbound.
driver=/sys/bus/platform/drivers/dray
if [ "$(find "$driver" -type l -name '*dray*' 2>/dev/null | wc -l)" -eq 1 ] &&
	! [ -e /dev/dray1 ]; then
	device=$(find "$driver" -type l -name '*dray*' | sed 's|.*/||')
	echo "$device" >"$driver/unbind"
	error=$("$dmactl" list 2>&1)
	is no_node_exits_1 $? 1
	echo "$device" >"$driver/bind"
	like no_node_is_a_sentence "$error" \
		'dmactl: the dray module is loaded but has no node: *'
fi

finish
