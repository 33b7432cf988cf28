# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Suite interop: exchanges of one array with other libraries, by DLPack and Arrow, and
# the same by NumPy's arrays; SYCL's interface, and rows.

ABOUT_BENCH_INTEROP="exchanges of an array by DLPack, Arrow and SYCL's interface, of dray and \
of NumPy"
PACKAGES_BENCH_INTEROP=("${PACKAGES_BENCH_ARRAY[@]}")
DOCUMENT_BENCH_INTEROP=docs/interop.md

bench_interop()
{
	local numpy packages folder

	numpy=$(pypi_set numpy "$TREE/tests/numpy/requirements.txt") &&
		packages=$(pypi_set interop \
			"$TREE/tests/interop/requirements.txt") || return 1
	build_array "$numpy" || return 1
	folder=$(build_folder array)
	log_note "measuring: one minute"
	printf 'target\tthis machine, Linux %s (%s)\n' "$(uname -r)" "$(
		cat "$TREE"/tests/{numpy,interop}/requirements.txt |
			sed -n 's/^\(numpy\|jax\|apache-tvm-ffi\|pyarrow\|polars\)==/\1 /p' |
			paste -sd, | sed 's/,/, /g')" >"$1"
	PYTHONPATH=$packages:$numpy:$folder/tests/bench/array:$folder/tests/bench/interop:$folder/userspace/python \
		DRAY_BACKEND=host JAX_PLATFORMS=cpu \
		/usr/bin/python3 -B "$TREE/tools/benches/interop_rows.py" >>"$1"
}
