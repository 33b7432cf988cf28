#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# The self-test of a board, where each mapping of memory is a copy: without a sync the
# device and the CPU see different bytes, as on a board with caches that is not
# coherent.  Prints TAP.
#
#	with-copies.sh DMACTL CLAIM
#
# CLAIM: the node claims to be "coherent" or "not-coherent".  Needs: ../fact.sh; root;
# dray.ko loaded with bounce=1 on a kernel with swiotlb=force, with a node /dev/dray0
# that has a channel; busybox or the usual programs.

# shellcheck source=tests/fact.sh
. "$(dirname "$0")/../fact.sh"
dmactl=$1
claim=$2
report=$folder/report

# selftest [OPTION...]: its report and its exit code
selftest()
{
	"$dmactl" test -n dray0 --size 2M --quick --seed 5 "$@" >"$report" 2>&1
	code=$?
}

is the_module_takes_copies "$(cat /sys/module/dray/parameters/bounce)" Y
if [ "$claim" = coherent ]; then
	claims=true status=1
	verdict='FAIL  coherence: not coherent, although the node says so'
else
	claims=false status=0
	verdict='PASS  coherence: not coherent, as the node says'
fi
selftest
is the_report_has_the_verdict "$(grep coherence: "$report")" \
	"$verdict: without syncs the engine read old bytes in 16 of 16 rounds, and the CPU in 16"
is only_a_wrong_claim_fails "$code $(grep -c ^FAIL "$report")" \
	"$status $status"
[ "$code" -eq "$status" ] || sed 's/^/# /' "$report"
like the_memory_test_takes_pieces_that_fit_a_copy \
	"$(grep '^[A-Z]*  memory:' "$report")" \
	'PASS  memory: 2.0M in 8 buffers, 6 patterns, seed 5: 0 faults'
selftest --json
is the_document_has_the_counts "$(sed -n \
	's/^ *"\(claims_coherent\|[a-z_]*_with_syncs\|[a-z]*_read_old\)": \([^,]*\),*$/\1 \2/p' \
	"$report")" \
"claims_coherent $claims
wrong_with_syncs 0
engine_read_old 16
cpu_read_old 16"
is the_test_leaves_no_buffer "$("$dmactl" list --no-header)" ""
finish
