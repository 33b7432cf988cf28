#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# dmactl trace --latency: the kernel's histograms count each transfer, or each frame of
# a ring, of a command.  Prints TAP.
#
#	with-latency.sh DMACTL KIND COMMAND [ARGUMENT]...
#
# KIND: transfer or frame.  Needs: ../fact.sh; root; dray.ko loaded; tracefs, on a
# kernel with histograms and synthetic events; busybox or the usual programs.

# shellcheck source=tests/fact.sh
. "$(dirname "$0")/../fact.sh"
dmactl=$1
kind=$2
shift 2
tracing=/sys/kernel/tracing
[ -d $tracing/instances ] || mount -t tracefs tracefs $tracing
if [ "$kind" = frame ]; then
	end=dray_frame_complete
else
	end=dray_complete
fi

"$dmactl" trace --latency >"$folder/latency" 2>"$folder/error" &
tracer=$!
deadline=$(($(date +%s) + 60))
until grep -qs latency $tracing/events/synthetic/dmactl_${tracer}_frame/hist; do
	[ "$(date +%s)" -lt $deadline ] || break
	kill -0 $tracer 2>"$folder/rest" || break
done
# Counts the same by the events themselves.
mkdir $tracing/instances/count
echo 8192 >$tracing/instances/count/buffer_size_kb
echo 1 >$tracing/instances/count/events/dray/$end/enable
"$@" </dev/null >"$folder/said" 2>&1
is the_command_succeeds $? 0
ends=$(grep -c " $end: " $tracing/instances/count/trace)
rmdir $tracing/instances/count
kill -TERM $tracer
wait $tracer
is it_ends_in_order "$? $(cat "$folder/error")" "0 "
[ "$ends" -gt 0 ]
ok $? the_command_makes_some
is each_is_in_a_histogram "$(sed -n \
	"s/^[^ ].*: \\([0-9]*\\) ${kind}s*, half of .*/\\1/p" "$folder/latency" |
	awk '{ sum += $1 } END { print sum + 0 }')" "$ends"
sed 's/^/# /' "$folder/latency"
is the_synthetic_events_are_gone "$(cat $tracing/synthetic_events)" ""
is the_triggers_are_gone \
	"$(cat $tracing/events/dray/*/trigger | grep -v '^#')" ""
finish
