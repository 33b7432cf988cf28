# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Downloads 43 MB from PyPI: UCX with its headers.  Both sides are processes of this
# machine; TCP is on 127.0.0.1.

ABOUT_RDMA="dray/ucx.h with Debian's UCX 1.13 and PyPI's 1.22, on shared memory and TCP: \
messages of views of any layout, puts and gets, tickets, deadlines, dead and stopped peers"
PACKAGES_RDMA=("${PACKAGES_BUILD[@]}" "${PACKAGES_PYPI[@]}" g++ libucx-dev python3-pytest)

suite_rdma()
{
	local ucx folder

	tally_run "builds as a release" build_native || return 0
	for ucx in debian pypi; do
		tally_wants "$ucx" || continue
		tally_fetch "finds the UCX of $ucx" folder ucx_set "$ucx" || continue
		rdma_tests "$ucx" "$folder" "$1"
	done
}

# rdma_tests UCX FOLDER SCRATCH
rdma_tests()
{
	local ucx=$1 folder=$2 program=$3/messages-$1 log=$3/log transport status

	tally_run "C++ compiles dray/ucx.h with the UCX of $ucx" ucx_compile "$folder" \
		g++ -std=c++11 -x c++ -fsyntax-only "$TREE/include/dray/ucx.h"
	tally_run "tests/rdma builds with the UCX of $ucx" ucx_compile "$folder" gcc \
		-std=gnu11 -o "$program" "$TREE"/tests/rdma/{messages,pair}.c || return 0
	for transport in shm tcp; do
		status=0
		ucx_in "$folder" $transport "$program" $transport >"$log" 2>&1 </dev/null || status=$?
		tally_tap "messages: UCX of $ucx, $transport" "$status" "$log"
	done
	[ "$ucx" = debian ] || return 0
	DRAY_BUILD=$(build_folder native) tally_run "the header's example runs" \
		ucx_in "$folder" tcp /usr/bin/python3 -m pytest -q -p no:cacheprovider \
		-k ucx.h "$TREE/tests/manuals/test_header_examples.py"
}
