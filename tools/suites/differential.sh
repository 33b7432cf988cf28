# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash

ABOUT_DIFFERENTIAL="random operations on random arrays, and calls of ufuncs, by dray and by \
NumPy 2 from PyPI, which must agree, and loops, casts and indices of all types; with --full NumPy's own tests of \
indices, iterators and ufuncs over dray.Array; with --long a million operations and calls"
PACKAGES_DIFFERENTIAL=("${PACKAGES_BUILD[@]}" "${PACKAGES_PYPI[@]}" python3-pytest)

DIFFERENTIAL_CASES=20000
DIFFERENTIAL_CASES_LONG=1000000

suite_differential()
{
	local requirements=$TREE/tests/numpy/requirements.txt packages
	local cases=$DIFFERENTIAL_CASES seed

	[ "$LONG" = no ] || cases=$DIFFERENTIAL_CASES_LONG
	tally_fetch "fetches NumPy 2" packages pypi_set numpy "$requirements" ||
		return 0
	tally_run "builds for NumPy 2" build_numpy numpy2 "$packages" || return 0
	! tally_wants library || differential_library "$1"
	! tally_wants tests || python_count "finds and shrinks a difference" numpy2 \
		"$1/tests" /usr/bin/python3 "$packages" -m pytest -q --color=no \
		-p no:cacheprovider "$TREE/tests/differential"
	if [ "$FULL" = yes ] && tally_wants own; then
		python_count "NumPy's own tests of indices, iterators and ufuncs" numpy2 \
			"$1/own" /usr/bin/python3 "$packages" \
			"$TREE/tests/numpy-own/run"
		differential_notes '^(answered|differ)' "$1/own"
	fi
	tally_wants cases || tally_wants ufuncs || return 0
	seed=1
	[ "$LONG" = no ] || seed=$(date +%s)
	seed=${DRAY_DIFFERENTIAL_SEED:-$seed}
	log_note "DRAY_DIFFERENTIAL_SEED=$seed repeats the cases"
	! tally_wants ufuncs || differential_cases "$cases calls of ufuncs" \
		"$1/ufuncs" --ufuncs
	! tally_wants cases ||
		differential_cases "$cases random cases" "$1/cases"
	[ "$LONG" = no ] || ! tally_wants ufuncs ||
		differential_sanitized "$1/ufuncs-sanitized"
}

# differential_library FOLDER: with each library for products of matrices, of which none
# is installed
differential_library()
{
	local blas

	tally_fetch "fetches OpenBLAS and BLIS" blas foreign_set \
		"$(dpkg --print-architecture)" alone blas libblas3 \
		libopenblas0-pthread libblis4-pthread libgfortran5 libgomp1 \
		libquadmath0 || return 0
	python_count "the library's own comparisons" numpy2 "$1/library" env \
		"$packages" "DRAY_TEST_BLAS=$blas" \
		"DRAY_BUILD=$(build_folder numpy2)" /usr/bin/python3 -m pytest \
		-q --color=no -p no:cacheprovider "$TREE"/tests/unit/test_*numpy*.py
}

# differential_sanitized LOG: calls of ufuncs with the address and the
# undefined-behaviour sanitizer
differential_sanitized()
{
	local DRAY_DIFFERENTIAL_CASES=$DIFFERENTIAL_CASES kind=numpy2-sanitized

	tally_run "builds with sanitizers for NumPy 2" build_numpy "$kind" \
		"$packages" -Dwerror=false -Db_sanitize=address,undefined \
		-Db_lundef=false || return 0
	differential_cases "$DIFFERENTIAL_CASES calls of ufuncs (sanitized)" "$1" \
		--ufuncs
}

# differential_cases NAME LOG [OPTION]: runs cases, with the caller's variables
differential_cases()
{
	local name=$1 log=$2

	shift 2
	# shellcheck disable=SC2154 # the suite sets them
	python_count "$name" "${kind:-numpy2}" "$log" /usr/bin/python3 \
		"$packages" "$TREE/tests/differential/run" --seed "$seed" \
		--cases "${DRAY_DIFFERENTIAL_CASES:-$cases}" \
		--jobs "$(nproc)" "$@"
	differential_notes accepted "$log"
}

# differential_notes PATTERN LOG: shows lines of a log
differential_notes()
{
	grep -E "$1" "$2" | while read -r line; do
		log_note "         $line"
	done
}
