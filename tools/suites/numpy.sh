# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Compares each test with a run without the handler.  With --long, also on a Python
# without a GIL.

ABOUT_NUMPY="NumPy's own tests with every array in dray memory, private and \
shareable: Debian's NumPy, and NumPy 2 from PyPI"
PACKAGES_NUMPY=(
	"${PACKAGES_BUILD[@]}" "${PACKAGES_PYPI[@]}"
	python3-hypothesis python3-pytest
)

suite_numpy()
{
	local requirements=$TREE/tests/numpy/requirements.txt packages
	local both=host,host:shareable

	tally_wants numpy || return 0
	tally_run "builds as a release" build_native || return 0
	if [ "$FULL" = no ]; then
		compare_tests numpy "Debian's NumPy" native "$1" \
			/usr/bin/python3 '' --once \
			--selection "$TREE/tests/numpy/board.txt"
		return
	fi
	compare_tests numpy "Debian's NumPy" native "$1" /usr/bin/python3 '' \
		--backends "$both"
	tally_fetch "fetches NumPy 2" packages pypi_set numpy "$requirements" ||
		return 0
	tally_run "builds for NumPy 2" build_numpy numpy2 "$packages" || return 0
	compare_tests numpy "NumPy 2" numpy2 "$1" /usr/bin/python3 "$packages" \
		--backends "$both"
	[ "$LONG" = no ] || numpy_free "$1"
}

# NumPy 2 on a Python without a GIL.
numpy_free()
{
	local python packages

	free_ready || return 0
	compare_tests numpy "NumPy 2 without a GIL" free "$1" \
		"$python/bin/python3" "$packages" --backends host,host:shareable
}
