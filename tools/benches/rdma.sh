# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Suite rdma: messages of views between two processes by UCX, by dray's plan, beside
# contiguous messages and UCX's generic datatype, on shared memory and TCP; a peer that stops.

ABOUT_BENCH_RDMA="views of three layouts as messages of UCX, beside contiguous messages and \
the generic datatype; a dead peer"
PACKAGES_BENCH_RDMA=("${PACKAGES_BUILD[@]}" "${PACKAGES_PYPI[@]}" libucx-dev)
DOCUMENT_BENCH_RDMA=docs/scale-out.md

bench_rdma()
{
	local ucx folder transport name

	build_native || return 1
	printf 'target\tthis machine, Linux %s, two processes\n' "$(uname -r)" >"$1"
	log_note "measuring: half a minute"
	for ucx in debian pypi; do
		folder=$(ucx_set "$ucx") &&
			ucx_compile "$folder" gcc -std=gnu11 -o "$2/times-$ucx" \
				"$TREE/tests/bench/rdma_times.c" "$TREE/tests/rdma/pair.c" ||
			return 1
		for transport in shm tcp; do
			name=$([ $transport = tcp ] && echo TCP || echo 'shared memory')
			ucx_in "$folder" $transport "$2/times-$ucx" "$name" >"$2/said" ||
				return 1
			grep -E '^(row|sample)' "$2/said" >>"$1"
		done
	done
}
