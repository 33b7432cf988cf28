# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Downloads 2 MB from PyPI, and NumPy 2; with --full SciPy, 36 MB, and
# scikit-learn, 12 MB.

ABOUT_ARRAYAPI="dray.xp beside array-api-strict, each function of the array-API standard with \
random arrays of hypothesis, for NumPy 2; with --full in more cases, for Debian's NumPy, too, and SciPy's and scikit-learn's tests of the standard"
PACKAGES_ARRAYAPI=("${PACKAGES_BUILD[@]}" "${PACKAGES_PYPI[@]}" python3-numpy
	python3-pytest)

suite_arrayapi()
{
	local numpy packages

	tally_fetch "fetches NumPy 2" numpy pypi_set numpy \
		"$TREE/tests/numpy/requirements.txt" &&
		tally_fetch "fetches the oracle" packages pypi_set arrayapi \
			"$TREE/tests/arrayapi/requirements.txt" || return 0
	! tally_wants numpy2 ||
		! tally_run "builds for NumPy 2" build_numpy numpy2 "$numpy" ||
		arrayapi_tests numpy2 "$1" "$packages:$numpy"
	[ "$FULL" = no ] || ! tally_wants scipy ||
		arrayapi_scipy "$1" "$numpy"
	[ "$FULL" = no ] || ! tally_wants sklearn ||
		arrayapi_sklearn "$1" "$numpy"
	[ "$FULL" = no ] || ! tally_wants debian ||
		! tally_run "builds as a release" build_native ||
		arrayapi_tests native "$1" "$packages"
}

# arrayapi_tests KIND SCRATCH PACKAGES
arrayapi_tests()
{
	local examples=

	[ "$FULL" = no ] || examples=200
	DRAY_ARRAYAPI_EXAMPLES=$examples \
		python_count "tests/arrayapi ($1)" "$1" "$2/$1" /usr/bin/python3 \
		"$3" -m pytest -q --color=no -p no:cacheprovider \
		"$TREE/tests/arrayapi"
}

# arrayapi_scipy SCRATCH NUMPY: SciPy's own tests of the standard.  test_device expects
# a list of devices, a tuple since 2025.12; test_rank17 sets flags.writeable.
arrayapi_scipy()
{
	local modules=(constants differentiate cluster fft integrate ndimage
		optimize spatial special) packages

	tally_fetch "fetches SciPy" packages pypi_set arrayapi-scipy \
		"$TREE/tests/arrayapi/requirements-scipy.txt" &&
		tally_run "builds for NumPy 2" build_numpy numpy2 "$2" ||
		return 0
	SCIPY_ARRAY_API='["array_api_strict"]' python_count "SciPy's tests" \
		numpy2 "$1/scipy" /usr/bin/python3 \
		"$TREE/tests/arrayapi/stand-in:$packages:$2" -m pytest -q \
		--color=no -p no:cacheprovider -W ignore -m array_api_backends \
		-k "array_api_strict and not test_device and not test_rank17" \
		--pyargs "${modules[@]/#/scipy.}"
}

# arrayapi_sklearn SCRATCH NUMPY: scikit-learn's own tests of the standard
arrayapi_sklearn()
{
	local files packages

	tally_fetch "fetches scikit-learn" packages pypi_set arrayapi-sklearn \
		"$TREE/tests/arrayapi/requirements-sklearn.txt" &&
		tally_run "builds for NumPy 2" build_numpy numpy2 "$2" ||
		return 0
	mapfile -t files < <(grep -rlE 'yield_(namespace|mixed_namespace)' \
		--include='test_*.py' "$packages/sklearn")
	SCIPY_ARRAY_API=1 python_count "scikit-learn's tests" numpy2 "$1/sklearn" \
		/usr/bin/python3 "$TREE/tests/arrayapi/plugin:$TREE/tests/arrayapi/stand-in:$packages:$2" \
		-m pytest -q --color=no -p no:cacheprovider -p dray_sklearn \
		-W ignore -k "dray.xp" "${files[@]}"
}
