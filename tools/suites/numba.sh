# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash

ABOUT_NUMBA="Numba's own tests of memory, with its manager and with dray.numba, over \
a stand-in for the CUDA driver: there is no GPU; its tests of arrays with dray.Array; its cfunc as a loop of dray.ufunc; and its njit over dray.Array"
PACKAGES_NUMBA=("${PACKAGES_BUILD[@]}" python3-numba python3-pytest)

suite_numba()
{
	tally_wants numba || return 0
	tally_run "builds as a release" build_native || return 0
	numba_tests native "$1"
	python_count "Numba's dummyarray, by dray.Array" native "$1/dummyarray" \
		/usr/bin/python3 '' -m pytest -q --color=no -p no:cacheprovider \
		"$TREE/tests/numba/test_dummyarray.py"
	python_count "Numba's cfunc as a loop" native "$1/cfunc" \
		/usr/bin/python3 '' -m pytest -q --color=no -p no:cacheprovider \
		"$TREE/tests/numba/test_cfunc.py"
	python_count "Numba's njit over dray.Array" native "$1/njit" \
		/usr/bin/python3 '' -m pytest -q --color=no -p no:cacheprovider \
		"$TREE/tests/numba/test_njit.py"
	[ "$LONG" = yes ] || return 0
	tally_run "builds with sanitizers" build_sanitized || return 0
	numba_tests sanitized "$1"
}

# numba_tests KIND SCRATCH
numba_tests()
{
	local options=()

	[ "$FULL" = yes ] || options=(--quick)
	python_count "Numba's own tests ($1)" "$1" "$2/$1" /usr/bin/python3 '' \
		"$TREE/tests/numba/run" "${options[@]}" "$(build_folder "$1")"
}
