#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# dmactl trace with the module: known programs do known things, and the log says so.  Prints TAP.
#
#	with-trace.sh DMACTL HOLDER REPLAY [FULL]
#
# FULL: "yes" adds facts that need more followers.  Needs: all that with-module.sh
# needs; python3; tracefs; the built dray-replay; timeout.  A wait that takes too
# long ends by SIGKILL and is a failed fact.  Starts few programs, since the emulated
# board is slow.

# shellcheck source=tests/fact.sh
. "$(dirname "$0")/../fact.sh"
# shellcheck source=tests/dmactl/hold.sh
. "$(dirname "$0")/hold.sh"
dmactl=$1
holder=$2
replay=$3
full=${4:-no}
export DRAY_TEST_NODE=kernel
tracing=/sys/kernel/tracing
longest=60 # seconds of a wait
chmod 755 "$folder"

# instances: the instances of dmactl that are there
instances()
{
	(cd $tracing/instances && echo dmactl-*)
}

# await PID: waits for it, and ends it after a while; $status is its exit code
await()
{
	(sleep $longest; kill -9 "$1") >"$folder/rest" 2>&1 3>&- 4<&- &
	watch=$!
	wait "$1" 2>"$folder/rest"
	status=$?
	kill $watch 2>"$folder/rest"
}

# until_true COMMAND...: repeats it until it succeeds, $tracer ends or time is over
until_true()
{
	tries=0
	until "$@" 2>"$folder/rest"; do
		tries=$((tries + 1))
		[ $tries -lt $((longest * 10)) ] || return 1
		kill -0 "$tracer" 2>"$folder/rest" || return 1
		sleep 0.1
	done
}

# follow NAME ARGUMENT...: starts dmactl trace, $tracer, with its output in the file
# NAME and its errors in NAME.error, and waits until it follows.  It enables
# $last_event last.
last_event=dray_frame_complete
follow()
{
	log=$folder/$1
	shift
	"$dmactl" trace "$@" >"$log" 2>"$log.error" 3>&- 4<&- &
	tracer=$!
	until_true grep -q 1 \
		$tracing/instances/dmactl-$tracer/events/dray/$last_event/enable
}

# unfollow SIGNAL PID NAME: ends it in order; $ended is its exit code and its errors
unfollow()
{
	kill "-$1" "$2"
	await "$2"
	ended="$status $(cat "$folder/$3.error")"
}

# run_holder ARGUMENT...: a holder that gives everything back at once; its ids are in
# $ids, it is $pid
run_holder()
{
	"$holder" "$@" </dev/null >"$folder/ids" 2>"$folder/holder.error" &
	pid=$!
	await $pid
	# shellcheck disable=SC2046
	set -- $(sed '/ready/d' "$folder/ids")
	ids=$*
}

# start_holder ARGUMENT...: a holder, $pid, of one buffer, $ids, until end_holder
start_holder()
{
	hold "$holder" "$@"
	ids=${ids# }
}

end_holder()
{
	exec 3>&- 4<&-
	await $pid
}

# agree NAME FILE EXPRESSION: a fact that the expression is true of the JSON in the
# file; judge states all of them, by one Python.  There "events" is a list of the
# documents, "ids" are $ids and "pid" is $pid.
agree()
{
	cp "$folder/$2" "$folder/fact.$1"
	printf '%s\t%s\t%s\t%s\n' "$1" "$ids" "$pid" "$3" >>"$folder/facts"
}

judge()
{
	(cd "$folder" && timeout $longest /usr/bin/python3 -c '
import json, time
for line in open("facts"):
	name, ids, pid, expression = line.rstrip("\n").split("\t")
	text = open("fact." + name).read()
	shown = text[:2000]
	def of(event, *names):
		return [tuple(e[n] for n in names) for e in events if e["event"] == event]
	said = None
	try:
		events = []
		while text.strip():
			event, end = json.JSONDecoder().raw_decode(text)
			events.append(event)
			text = text[end:].lstrip()
		said = eval(expression, dict(globals(), events=events, of=of, pid=int(pid),
			ids=[int(i) for i in ids.split()]))
	except Exception as error:
		said = repr(error)
	print(name, said if said is True else f"{said}: {shown!r}")') \
		>"$folder/judged" 2>&1
	is all_facts_were_judged "$(wc -l <"$folder/judged")" \
		"$(wc -l <"$folder/facts")"
	while read -r name said; do
		is "$name" "$said" True
	done <"$folder/judged"
}

heap=$("$dmactl" heaps --no-header -n dray0 | awk 'NR == 1 { print $2 }')
channels=$("$dmactl" nodes --no-header -n dray0 | awk 'NR == 1 { print $8 }')
copy=
[ "$channels" -eq 0 ] || copy=--copy

# Five followers at a time: for people, as JSON, as a log of RMM, and selections.
follow text
text=$tracer
is the_instance_is_there "$(instances)" "dmactl-$text"
follow json --json
json=$tracer
last_event=dray_fail
follow csv --csv
csv=$tracer
last_event=dray_frame_complete
follow other --json --pid 1
other=$tracer
last_event=dray_free
follow heap --json --event alloc --event free --heap pages
of_heap=$tracer
last_event=dray_frame_complete
run_holder pages other 4096
small=$ids
# shellcheck disable=SC2086
run_holder $copy "$heap" from 65536 to 65536
"$holder" "$heap" big 1152921504606846976 </dev/null 2>"$folder/holder.error" &
loser=$!
await $loser
unfollow TERM $text text
is a_signal_is_no_failure_and_nothing_is_lost "$ended" "0 "
unfollow HUP $json json
is json_ends_in_order "$ended" "0 "
unfollow TERM $csv csv
is csv_ends_in_order "$ended" "0 "
unfollow TERM $other other
is nothing_is_of_another_process "$ended$(cat "$folder/other")" "0 "
unfollow TERM $of_heap heap
is a_follower_of_a_heap_ends_in_order "$ended" "0 "
is the_instances_are_gone "$(instances)" "dmactl-*"

# For people.
is the_header_has_the_columns "$(sed 1q "$folder/text" | tr -s ' ')" \
	"TIME PROCESS EVENT DETAILS"
# shellcheck disable=SC2086
set -- $ids
# said EVENT: its lines without their times, of $heap
said()
{
	awk -v event="$1" '$3 == event && !/pages/ { $1 = ""; print }' \
		"$folder/text" | sed 's/^ //;s/offset [0-9]*/offset N/'
}
is an_allocation_is_a_sentence "$(said alloc)" \
"dmactl-holder:$pid alloc buffer $1: 64.0K in $heap at offset N, \"from\"
dmactl-holder:$pid alloc buffer $2: 64.0K in $heap at offset N, \"to\""
is the_end_is_a_sentence "$(said free | sort)" \
"dmactl-holder:$pid free buffer $1: 64.0K back to $heap
dmactl-holder:$pid free buffer $2: 64.0K back to $heap"
like a_failure_has_its_reason "$(said fail)" \
	"*:$loser fail dray0: ALLOC of 1.0E in $heap failed: the size must be from 1 to * bytes"
if [ -n "$copy" ]; then
	like a_transfer_is_a_sentence "$(said submit)" \
		"dmactl-holder:$pid submit *: job *:1 of 1 transfers, 64.0K in * runs"
	like its_end_is_a_sentence "$(said complete)" \
		"dmactl-holder:$pid complete *: job *:1 done, 64.0K"
fi
(cd $tracing/events/dray && printf '%s\n' dray_*) | sort >"$folder/there"
is each_event_of_the_module_is_followed \
	"$("$dmactl" help --complete | sed -n 's/^option\ttrace\t--event\t\([^\t]*\)\t.*/\1/p' |
		tr '|' '\n' | sed 's/^/dray_/' | sort)" "$(cat "$folder/there")"

# JSON: the same in numbers.
agree json_has_the_allocations json \
	'[(e["id"], e["size"], e["pid"], e["comm"], e["heap"], e["name"]) for e in events if e["event"] == "alloc"][1:] == [(ids[0], 65536, pid, "dmactl-holder", "'"$heap"'", "from"), (ids[1], 65536, pid, "dmactl-holder", "'"$heap"'", "to")]'
agree json_has_the_ends json \
	'sorted(of("free", "id")) == sorted([('"$small"',)] + [(i,) for i in ids])'
agree json_is_in_the_order_of_times json \
	'[e["time_ns"] for e in events] == sorted(e["time_ns"] for e in events)'
agree nothing_else_was_allocated_and_ends_come_after_begins json \
	'[e["event"] for e in events if e["event"] in ("alloc", "free", "fail")] == ["alloc", "free", "alloc", "alloc", "free", "free", "fail"]'
agree the_times_are_of_the_day json \
	'abs(events[0]["time_ns"] / 1e9 - time.time()) < 3600'
agree offsets_are_places_in_the_heap json \
	'len(set(of("alloc", "offset")[1:])) == 2 and all(0 <= o < 1 << 32 for (o,) in of("alloc", "offset")[1:])'
if [ -n "$copy" ]; then
	agree a_transfer_has_one_number_at_both_ends json \
		'of("submit", "context", "seqno", "pid", "bytes") == of("complete", "context", "seqno", "pid", "bytes") != []'
	agree syncs_are_of_these_buffers json \
		'{i for (i,) in of("sync", "id")} <= set(ids + ['"$small"'])'
fi
agree only_events_of_the_heap_are_there heap \
	'[(e["event"], e["heap"]) for e in events] == [("alloc", "pages"), ("free", "pages")]'

# CSV: RMM's columns, which dray-replay plays.
is csv_has_rmms_columns "$(sed 1q "$folder/csv")" \
	"Thread,Time,Action,Pointer,Size,Stream"
# shellcheck disable=SC2086
is csv_has_the_actions "$(sed 1d "$folder/csv" | cut -d , -f 3-6 | sort)" \
"allocate failure,(nil),1152921504606846976,0
$(for i in "$small 4096" "$1 65536" "$2 65536"; do
	# shellcheck disable=SC2086
	printf 'allocate,0x%x,%d,0\nfree,0x%x,%d,0\n' $i $i
done | sort)"
timeout $longest "$replay" --rounds 1 "$folder/csv" >"$folder/replayed" \
	2>"$folder/replay.error"
is dray_replay_reads_it "$? $(cat "$folder/replay.error")" "0 "
like dray_replay_counts_the_events "$(cat "$folder/replayed")" "*3 allocations*"

# A buffer from before, and a number of events.
start_holder "$heap" held 4096
last_event=dray_free
follow older --json --pid $pid --event free
older=$tracer
last_event=dray_alloc
follow count --json --event alloc --count 1
last_event=dray_frame_complete
end_holder
unfollow TERM $older older
agree the_owner_of_an_older_buffer_is_known older 'of("free", "id") == [(ids[0],)]'
run_holder "$heap" one 65536 two 8192
await $tracer
is count_ends_it "$status" 0
agree count_counts count 'of("alloc", "id") == [(ids[0],)]'

# Ends of other kinds.
mkfifo "$folder/pipe"
"$dmactl" trace >"$folder/pipe" 2>"$folder/pipe.error" &
tracer=$!
# busybox's sed reads a line ahead
timeout $longest head -n 1 "$folder/pipe" >"$folder/rest"
run_holder "$heap" one 65536
await $tracer
is a_closed_pipe_ends_it "$status" 141
is a_closed_pipe_removes_the_instance "$(instances)" "dmactl-*"
follow killed
kill -9 $tracer
await $tracer
is a_killed_one_leaves_it "$(instances)" "dmactl-$tracer"
timeout $longest "$dmactl" trace --for 1ms >"$folder/next" 2>&1
is the_next_one_removes_it_and_time_ends_it \
	"$? $(instances) $(wc -l <"$folder/next")" "0 dmactl-* 1"

# Events that are lost are told: nobody reads meanwhile.
overrun()
{
	cat "$tracing/instances/dmactl-$tracer"/per_cpu/cpu*/stats |
		grep -q '^overrun: [1-9]'
}
follow lost --json --buffer-size 4K
kill -STOP $tracer
start_holder --churn "$heap" one 4096 two 4096
is nobody_reads_and_events_are_lost "$(until_true overrun; echo $?)" 0
end_holder
kill -CONT $tracer
unfollow TERM $tracer lost
like lost_events_are_a_failure_and_counted "$ended" \
	"1 {\"error\":\"[1-9]* events or more were lost, since the kernel's buffer was full: --buffer-size makes it larger\"}"

# Errors.
error=$(timeout $longest su nobody -s /bin/sh -c "$dmactl trace" 2>&1)
is others_may_not "$?" 1
like others_are_told_why "$error" \
	"dmactl: no permission to use *tracing: *, and you have uid 65534"
umount $tracing
timeout $longest "$dmactl" trace --for 1ms >"$folder/next" 2>&1
is tracefs_is_mounted_if_it_is_not "$? $(grep -c '^[^ ]* [^ ]* tracefs ' /proc/mounts)" "0 1"
# with debugfs, it is mounted there
[ -d $tracing/instances ] || mount -t tracefs tracefs $tracing

# Latencies, which the kernel measures.
latencies_are_measured()
{
	grep -q "dmactl_${tracer}_frame" $tracing/synthetic_events &&
		grep -q latency \
			$tracing/events/synthetic/dmactl_${tracer}_frame/hist
}
error=$(timeout $longest "$dmactl" trace --latency --for 1ms 2>&1)
if [ -e $tracing/synthetic_events ]; then
	is nothing_to_measure_is_no_failure "$error" \
		"no transfer began and ended meanwhile"
	if [ -n "$copy" ]; then
		"$dmactl" trace --latency --json >"$folder/latency" \
			2>"$folder/latency.error" &
		tracer=$!
		is latencies_are_measured \
			"$(until_true latencies_are_measured; echo $?)" 0
		is the_module_is_kept_meanwhile "$(
			for file in "/proc/$tracer/fd"/*; do
				readlink "$file"
			done | grep '^/dev/dray' | sort -u | wc -l)" \
			"$("$dmactl" nodes --json | grep -c '"device"')"
		for round in 1 2 3; do
			run_holder --copy "$heap" from 65536 to 65536
		done
		unfollow TERM $tracer latency
		is latencies_end_in_order "$ended" "0 "
		agree each_transfer_is_in_a_histogram latency \
			'[(h["kind"], sum(s["count"] for s in h["steps"]) == h["count"]) for h in events[0]["histograms"]] == [("transfer", True)] * len(events[0]["histograms"]) and sum(h["count"] for h in events[0]["histograms"]) == 3'
		if [ "$full" = yes ]; then
			"$dmactl" trace --latency >"$folder/rest" 2>&1 &
			tracer=$!
			until_true latencies_are_measured
			kill -9 $tracer
			await $tracer
			is a_killed_one_leaves_synthetic_events \
				"$(grep -c "^dmactl_${tracer}_" \
					$tracing/synthetic_events)" 2
			timeout $longest "$dmactl" trace --latency --for 1ms \
				>"$folder/rest" 2>&1
			is the_next_one_ends_in_order "$?" 0
		fi
		is the_synthetic_events_are_gone \
			"$(cat $tracing/synthetic_events)" ""
		is the_triggers_are_gone \
			"$(grep -v '^#' $tracing/events/dray/*/trigger)" ""
	fi
else
	like a_kernel_without_histograms_is_a_sentence "$error" \
		"dmactl: this kernel makes no histograms of latencies: *"
fi

judge
finish
