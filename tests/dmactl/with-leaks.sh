#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# dmactl leaks with the module finds memory that real processes leak, and the
# processes that keep it.  Prints TAP.
#
#	with-leaks.sh DMACTL HOLDER LEAKER
#
# Needs: ../fact.sh and hold.sh; root; dray.ko loaded, with a node /dev/dray0 whose first heap
# is a reserved one that is not in use; the built programs dmactl, dmactl-holder and
# dmactl-leaker (the first two need libdray.so.0, and dmactl libjansson.so.4, on
# the LD_LIBRARY_PATH); busybox or the usual programs, and the user nobody in
# /etc/passwd.  Changes the mode of /dev/dray0 and sets it back.

# shellcheck source=tests/fact.sh
. "$(dirname "$0")/../fact.sh"
# shellcheck source=tests/dmactl/hold.sh
. "$(dirname "$0")/hold.sh"
dmactl=$1
holder=$2
leaker=$3
export DRAY_TEST_NODE=kernel
chmod 755 "$folder"
mode=$(stat -c %a /dev/dray0)

# leak WAY: its buffer is $id, and $keeper keeps it
leak()
{
	hold "$leaker" "$1" "$heap" 65536
	# shellcheck disable=SC2086 # one word each
	set -- $ids
	id=$1
	keeper=$2
	# An owner that has ended is gone when it was waited for.
	[ "$keeper" = "$pid" ] || wait "$pid"
}

leaks() # ARGUMENT...
{
	"$dmactl" leaks --bytes --no-header "$@"
}

# row WHY ARGUMENT...: id and size of such leaks, and how they are freed
row()
{
	why=$1
	shift
	leaks "$@" | awk -v why="$why" '$1 == why {
		line = $2 " " $3
		sub(/.*  /, "")
		print line ": " $0
	}'
}

heap=$("$dmactl" heaps --no-header -n dray0 | awk 'NR == 1 { print $2 }')
is nothing_leaks_at_first "$(leaks --check 2>&1; echo "exit $?")" "exit 0"

leak descriptor
is an_orphan_is_found_with_its_keeper "$(row orphan)" \
	"$id 65536: when process $keeper (dmactl-leaker) closes 1 descriptor"
leaks --check >"$folder/rest"
is check_exits_3 $? 3
leaks >"$folder/rest"
is without_check_it_exits_0 $? 0
chmod 666 /dev/dray0
is others_do_not_see_it "$(as_nobody "$dmactl leaks --no-header -n dray0")" ""
like others_are_told_so "$(as_nobody "$dmactl leaks -n dray0")" \
	"*not seen: buffers of other users, 64.0K: ask root*"
chmod "$mode" /dev/dray0
release
is with_its_keeper_it_is_gone "$(leaks)" ""

leak mapping
is a_mapping_without_a_descriptor_keeps_it "$(row orphan)" \
	"$id 65536: when process $keeper (dmactl-leaker) unmaps 1 mapping, to judge by size and name"
release

leak message
is a_message_in_flight_keeps_it "$(row orphan)" \
	"$id 65536: when a message in flight with its descriptor is received or dropped"
release

leak pipe
is a_page_in_a_pipe_is_quarantined \
	"$(row quarantine | sed 's/^- [0-9]*/- BYTES/')" \
	"- BYTES: when the I/O ends that has its pages"
release
is without_the_pipe_it_is_free "$(leaks)" ""

# Before 6.5, io_uring registers no mapping of a file.
case $(uname -r) in
[0-5].* | 6.[0-4].*) ;;
*)
	leak ring
	is pages_of_a_ring_are_quarantined "$(row quarantine)" \
		"- 65536: when the I/O ends that has its pages"
	release
	# The kernel lets go of them some time later.
	deadline=$(($(date +%s) + 60))
	while [ -n "$(leaks)" ] && [ "$(date +%s)" -lt $deadline ]; do :; done
	is without_the_ring_they_are_free "$(leaks)" ""
	;;
esac

hold "$holder" --address "$heap" told 65536
kill_holder
# shellcheck disable=SC2086 # one word each
set -- $ids
is held_memory_is_found "$(row held)" \
	"$1 65536: by dmactl reclaim $1, if no device writes it"
"$dmactl" reclaim "$1" >"$folder/rest"
is reclaimed_it_is_gone "$(leaks)" ""

hold "$holder" --attach "$heap" frame 65536
kill_holder
# shellcheck disable=SC2086 # one word each
set -- $ids
is a_held_attachment_is_found "$(row held)" \
	"$2 65536: by dmactl reclaim $2, if no device writes it"
"$dmactl" reclaim --all >"$folder/rest"

leak idle
is a_buffer_that_lives_is_no_leak "$(leaks)" ""
is unless_idle_ones_are_asked_for "$(row idle --idle 0 --for 50ms)" \
	"$id 65536: when process $keeper (dmactl-leaker) frees it"
is a_young_one_is_not_idle "$(row idle --idle 10d --for 50ms)" ""
release
leak busy
# An emulated processor may stall for that long, but not each time.
round=0
while idle=$(row idle --idle 0 --for 1s) && [ -n "$idle" ] &&
	[ $round -lt 20 ]; do
	round=$((round + 1))
done
is one_that_is_synced_is_not_idle "$idle" ""
release
is nothing_leaks_at_the_end "$(leaks)" ""
finish
