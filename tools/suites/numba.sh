# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash

ABOUT_NUMBA="Numba's own tests of memory, with its manager and with dray.numba, over \
a stand-in for the CUDA driver: there is no GPU"
PACKAGES_NUMBA=("${PACKAGES_BUILD[@]}" python3-numba)

suite_numba()
{
	tally_wants numba || return 0
	tally_run "builds as a release" build_native || return 0
	numba_tests native "$1"
	[ "$LONG" = yes ] || return 0
	tally_run "builds with sanitizers" build_sanitized || return 0
	numba_tests sanitized "$1"
}

# numba_tests KIND SCRATCH
numba_tests()
{
	local kind=$1 log=$2/$1 status=0 preload='' options=()

	[ "$FULL" = yes ] || options=(--quick)
	if [ "$kind" = sanitized ]; then
		preload="$(gcc -print-file-name=libasan.so) $(gcc \
			-print-file-name=libubsan.so)"
	fi
	# Python keeps memory until it ends: not a leak of dray.
	(cd "$2" && LD_PRELOAD=$preload ASAN_OPTIONS=detect_leaks=0 \
		UBSAN_OPTIONS=halt_on_error=1 timeout 1800 /usr/bin/python3 \
		"$TREE/tests/numba/run" "${options[@]}" \
		"$(build_folder "$kind")" </dev/null) >"$log" 2>&1 || status=$?
	tally_counts "Numba's own tests ($kind)" "$status" "$log"
}
