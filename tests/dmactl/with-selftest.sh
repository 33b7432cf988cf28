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

# selftest [OPTION...]: its report and its exit code
selftest()
{
	"$dmactl" test -n dray0 --size 2M --quick --seed 5 "$@" >"$report" 2>&1
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

# fault KNOB: lets the engine make the mistake during a self-test
fault()
{
	echo 1 >"$knobs/$1"
	selftest
	echo 0 >"$knobs/$1"
}

if [ -d "$knobs" ]; then
	fault fail
	is an_engine_that_fails_is_found "$code" 1
	like the_failure_has_its_error "$(grep '^FAIL  copy' "$report" | sed 1q)" \
		'FAIL  copy *: copies no * bytes: *'
	is a_failure_of_the_engine_is_none_of_the_memory "$(outcome memory)" \
		"PASS "
	is the_coherence_test_says_that_the_engine_failed \
		"$(outcome coherence)" "FAIL "
	fault idle
	is an_engine_that_copies_nothing_is_found "$code" 1
	like wrong_bytes_have_their_place \
		"$(grep '^FAIL  copy' "$report" | sed 1q)" \
		'FAIL  copy *: * bytes from offset * to offset *: at offset * expected 0x??, found 0xa5'
	is the_test_leaves_no_buffer_after_failures "$(left)" "$before"
	selftest --json
	is a_good_engine_passes_again "$code" 0
fi
finish
