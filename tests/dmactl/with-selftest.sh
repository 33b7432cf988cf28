#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# The self-test of a board, with the module and an engine.  Prints TAP.
#
#	with-selftest.sh DMACTL
#
# Needs: ../fact.sh; root; dray.ko loaded, with a node /dev/dray0 that has a channel;
# busybox or the usual programs.  With the engine of ../engine, that makes mistakes
# when told to.

# shellcheck source=tests/fact.sh
. "$(dirname "$0")/../fact.sh"
dmactl=$1
knobs=/sys/module/dray_test_engine/parameters
report=$folder/report

# outcome TEST: PASS, FAIL or SKIP
outcome()
{
	sed -n "s/^\\([A-Z]*\\)  $1: .*/\\1/p" "$report" | sort -u | tr '\n' ' '
}

# selftest [OPTION...]: its report and its exit code, 124 if it does not end
selftest()
{
	timeout 300 "$dmactl" test -n dray0 --size 2M --quick --seed 5 "$@" >"$report" 2>&1
	code=$?
}

left()
{
	"$dmactl" list --no-header | wc -l
}

before=$(left)
selftest
is a_good_board_passes "$code" 0
[ "$code" -eq 0 ] || sed 's/^/# /' "$report"
like the_memory_test_covers_the_size "$(grep '^PASS  memory: ' "$report")" \
	'PASS  memory: 2.0M in *, 6 patterns, seed 5: 0 faults*'
is addresses_are_below_the_mask "$(outcome mask)" "PASS "
is each_channel_copies "$(outcome 'copy .*')" "PASS "
is each_channel_takes_the_alignment_that_it_says "$(outcome 'alignment .*')" \
	"PASS "
like coherence_is_not_a_failure "$(outcome coherence)" '[PS]??? '
is rates_are_measured "$(outcome rates)" "PASS "
is each_size_has_its_four_rates "$(grep -c \
	': *copy .*/s  fill .*/s  memcpy .*/s  memset .*/s$' "$report")" 3
is latency_is_measured "$(outcome latency)" "PASS "
is the_test_leaves_no_buffer "$(left)" "$before"
is the_test_holds_no_memory \
	"$("$dmactl" heaps -n dray0 --bytes --json | grep '"held": [1-9]')" ""
channels=$("$dmactl" nodes --no-header -n dray0 | awk 'NR == 1 { print $8 }')
is the_report_lists_the_channels "$(grep -c '^channel: ' "$report")" "$channels"

# A signal in the middle: a test of all free memory takes far longer.
for signal in HUP TERM KILL; do
	"$dmactl" test -n dray0 -o "$report" &
	pid=$!
	deadline=$(($(date +%s) + 60))
	while taken=$(left) && [ "$taken" -le "$before" ] &&
		[ "$(date +%s)" -lt $deadline ]; do :; done
	kill -s $signal $pid
	wait $pid
	[ $? -gt 128 ] && [ "$taken" -gt "$before" ]
	ok $? "a_signal_${signal}_ends_the_test"
	is "a_signal_${signal}_leaves_no_buffer" "$(left)" "$before"
done 2>"$folder/rest"

# fault KNOB [VALUE]: lets the engine make the mistake during a self-test
fault()
{
	echo "${2:-1}" >"$knobs/$1"
	selftest
	echo 0 >"$knobs/$1"
}

# patience MILLISECONDS: of the module with an engine
patience()
{
	echo "$1" >/sys/module/dray/parameters/watchdog_ms
}

# line TEST: the first line of the report that begins so
line()
{
	grep "^$1" "$report" | sed 1q
}

# give_back NAME: waits until a dead channel's memory is back, and reopens the channels
give_back()
{
	deadline=$(($(date +%s) + 60))
	while [ "$(left)" != "$before" ] && [ "$(date +%s)" -lt $deadline ]; do
		:
	done
	is "$1_leaves_no_buffer" "$(left)" "$before"
	for channel in 0 1; do
		echo $channel >/sys/class/misc/dray0/reopen
	done
	selftest
	is "a_good_engine_passes_after_$1" "$code" 0
}

if [ -d "$knobs" ]; then
	fault fail
	is an_engine_that_fails_is_found "$code" 1
	like the_failure_has_its_error "$(line 'FAIL  copy')" \
		'FAIL  copy *: copies no * bytes: *'
	is a_failure_of_the_engine_is_none_of_the_memory "$(outcome memory)" \
		"PASS "
	is the_coherence_test_says_that_the_engine_failed \
		"$(outcome coherence)" "FAIL "
	fault idle
	is an_engine_that_copies_nothing_is_found "$code" 1
	like wrong_bytes_have_their_place "$(line 'FAIL  copy')" \
		'FAIL  copy *: * bytes from offset * to offset *: at offset * expected 0x??, found 0xa5'
	is the_test_leaves_no_buffer_after_failures "$(left)" "$before"
	fault delay_ms 20
	is a_slow_engine_passes "$code" 0
	like its_latency_has_the_delay "$(line 'PASS  latency')" \
		'PASS  latency: a copy of 1 bytes takes [2-9][0-9]*ms, at worst *'

	# done, without a callback: the module looks when its time is over
	patience 1000
	fault mute
	patience 30000
	is an_engine_without_interrupts_is_found "$code" 1
	is each_channel_is_late "$(grep -c '^FAIL  copy .*: is late: 1 bytes take [0-9.]*s at best; maybe its interrupt does not come$' "$report")" 2
	is a_late_engine_tests_no_coherence "$(line '....  coherence')" \
		'SKIP  coherence: cannot be told: no channel of the node copies in time'
	is a_late_engine_has_no_rates "$(line '....  rates')" \
		'PASS  rates: by the CPU alone'
	give_back a_late_engine
	patience 3000
	fault stuck
	patience 30000
	is a_channel_that_hangs_is_found "$code" 1
	like it_is_the_only_one "$(grep '^....  copy' "$report")" \
		'FAIL  copy copy0: copies no 1 bytes: * Connection timed out
PASS  copy copy1: *'
	is the_other_one_tells_of_coherence "$(outcome coherence)" "PASS "
	give_back a_channel_that_hangs
	echo 1 >"$knobs/hang"
	patience 3000
	selftest
	patience 30000
	is an_engine_that_hangs_is_found "$code" 1
	is each_channel_times_out "$(grep -c '^FAIL  copy copy.: copies no 1 bytes: .* Connection timed out$' "$report")" 2
	is the_memory_is_tested_all_the_same \
		"$(outcome memory)$(outcome rates)" "PASS PASS "
	selftest
	is a_dead_engine_is_found_again "$code $(grep -c '^FAIL  channel .: is dead: ' "$report")" "1 2"
	echo 0 >"$knobs/hang"
	give_back an_engine_that_hangs
	selftest --json
	is a_good_engine_passes_again "$code" 0
fi
finish
