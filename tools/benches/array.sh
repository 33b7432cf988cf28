# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Suite array: calls of libdray and of NumPy 2's C API on the same arrays, from C, and
# methods of both from Python.

ABOUT_BENCH_ARRAY="arrays of dray and of NumPy 2, from C and from Python: \
copies, conversions, views, iterators, indexing, sorting"
PACKAGES_BENCH_ARRAY=("${PACKAGES_BENCH_ALLOC[@]}" "${PACKAGES_PYPI[@]}")
DOCUMENT_BENCH_ARRAY=docs/arrays.md

bench_array()
{
	local packages folder more=()

	packages=$(pypi_set numpy "$TREE/tests/numpy/requirements.txt") ||
		return 1
	build_array "$packages" || return 1
	folder=$(build_folder array)
	[ "$LONG" = no ] || more=(--long)
	log_note "measuring: two minutes, and six with --long"
	printf 'target\tthis machine, Linux %s (NumPy %s)\n' "$(uname -r)" \
		"$(sed -n 's/^numpy==//p' "$TREE/tests/numpy/requirements.txt")" \
		>"$1"
	PYTHONPATH=$packages:$folder/tests/bench/array:$folder/userspace/python \
		/usr/bin/python3 -B \
		"$TREE/tools/benches/array_rows.py" "${more[@]}" >>"$1"
}
