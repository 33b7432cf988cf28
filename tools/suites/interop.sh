# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Downloads 340 MB from PyPI, with NumPy 2, and 137 MB from Debian, for torch, which
# PyPI offers only with CUDA.

ABOUT_INTEROP="arrays of dray in the hands of NumPy 2, JAX, apache-tvm-ffi, pyarrow, \
nanoarrow, pandas and Polars from PyPI, NIXL with rows of views, and of Debian's torch, and \
theirs in its hands; with --full also in random cases, and of dpctl, 1.6 GB"
PACKAGES_INTEROP=(
	"${PACKAGES_BUILD[@]}" "${PACKAGES_PYPI[@]}"
	g++ python3-pytest python3-torch
)

suite_interop()
{
	tally_run "builds as a release" build_native || return 0
	interop_debian "$1"
	interop_pypi "$1"
	! tally_wants nixl || interop_nixl "$1"
	[ "$FULL" = no ] || interop_full "$1"
}

# interop_debian SCRATCH: torch and NumPy 1.24, in Debian's Python
interop_debian()
{
	! tally_wants debian || interop_tests debian native "$1" ''
}

# interop_pypi SCRATCH
interop_pypi()
{
	local numpy packages

	tally_wants layouts || tally_wants arrow-pool || tally_wants pypi ||
		tally_wants random || return 0
	tally_fetch "fetches NumPy 2" numpy pypi_set numpy \
		"$TREE/tests/numpy/requirements.txt" &&
		tally_fetch "fetches the libraries" packages pypi_set interop \
			"$TREE/tests/interop/requirements.txt" || return 0
	! tally_wants layouts || interop_layouts "$1" "$packages"
	! tally_wants arrow-pool || interop_arrow_pool "$1" "$packages/pyarrow"
	tally_wants pypi || tally_wants random || return 0
	tally_run "builds for NumPy 2" build_numpy numpy2 "$numpy" || return 0
	! tally_wants pypi || interop_tests pypi numpy2 "$1" "$packages:$numpy"
	[ "$FULL" = no ] || ! tally_wants random ||
		interop_random "$1" "$packages:$numpy"
}

# interop_random SCRATCH PACKAGES: compares with NumPy in random cases, also with their
# arrays as operands, values and indices
interop_random()
{
	local seed=${DRAY_DIFFERENTIAL_SEED:-1}

	log_note "DRAY_DIFFERENTIAL_SEED=$seed repeats the cases"
	python_count "20000 random cases with their arrays" numpy2 "$1/random" \
		/usr/bin/python3 "$2" "$TREE/tests/differential/run" \
		--seed "$seed" --cases 20000 --jobs "$(nproc)"
}

# interop_layouts SCRATCH PACKAGES: compares dray's structures with their published layout
interop_layouts()
{
	interop_layout "$1" dlpack "$2/tvm_ffi/include"
	interop_layout "$1" arrow "$2/pyarrow/include"
}

# interop_layout SCRATCH NAME HEADERS
interop_layout()
{
	tally_run "structures of $2 as published" gcc -std=gnu11 -Wall -Wextra \
		-Werror -o "$1/$2_layout" "-I$TREE/include" \
		"-I$TREE/include/uapi" "-isystem$3" \
		"$TREE/tests/interop/$2_layout.c"
}

# interop_arrow_pool SCRATCH PYARROW: builds and runs examples/memory_pool.cc
interop_arrow_pool()
{
	local library arrow=("$2"/libarrow.so.*)

	library=$(build_folder native)/userspace
	tally_run "builds a MemoryPool of Apache Arrow" g++ -std=c++20 -O2 -Wall \
		-Wextra -Werror -o "$1/memory_pool" "$TREE/examples/memory_pool.cc" \
		"-I$TREE/include" "-I$TREE/include/uapi" "-isystem$2/include" \
		"-L$library/core" "-L$library/array" -ldray-array -ldray \
		"-Wl,-rpath,$library/core:$library/array" "-L$2" \
		"-l:${arrow[0]##*/}" "-Wl,-rpath,$2" || return 0
	tally_run "an array of Apache Arrow lies in dray's memory, which comes back" \
		interop_pool_says "$1/memory_pool"
	tally_run "a checking handler finds no leak in it" interop_checked \
		"$1/memory_pool" "$1/memory_pool.log"
}

# interop_pool_says PROGRAM: checks the output of a run
interop_pool_says()
{
	local said

	said=$(DRAY_BACKEND=host "$1") || return 1
	echo "$said"
	grep -q '^100000 numbers at byte 0 of a line, .*; the first is null$' \
		<<<"$said" &&
		grep -q ': 0 bytes are left .*, in 0 blocks$' <<<"$said"
}

# interop_checked PROGRAM LOG: runs it; the handler writes on standard error
interop_checked()
{
	DRAY_HANDLER=check DRAY_BACKEND=host "$1" 2>"$2" || return 1
	cat "$2"
	[ ! -s "$2" ]
}

# interop_tests WHERE KIND SCRATCH PACKAGES
interop_tests()
{
	DRAY_INTEROP=$1 DRAY_BUILD=$(build_folder native) python_count "tests/interop ($1)" "$2" "$3/$1" \
		/usr/bin/python3 "$4" -m pytest -q --color=no \
		-p no:cacheprovider "$TREE/tests/interop"
}

# interop_nixl SCRATCH: NIXL without the packages that it names
interop_nixl()
{
	local packages

	tally_fetch "fetches NIXL" packages pypi_set nixl \
		"$TREE/tests/interop/requirements-nixl.txt" || return 0
	DRAY_INTEROP=nixl python_count "tests/interop (nixl)" native "$1/nixl" \
		/usr/bin/python3 "$packages" -m pytest -q --color=no \
		-p no:cacheprovider "$TREE/tests/interop/test_nixl.py"
}

# interop_full SCRATCH: libraries too large for each run
interop_full()
{
	! tally_wants dpctl || interop_dpctl "$1"
}

# interop_dpctl SCRATCH: Intel's dpctl on the CPU, 1.6 GB
interop_dpctl()
{
	local numpy libraries

	if [ "$(uname -m)" != x86_64 ]; then
		tally_add "tests/interop (dpctl): PyPI has it for x86-64 only" 0 0 1
		return
	fi
	tally_fetch "fetches NumPy 2" numpy pypi_set numpy \
		"$TREE/tests/numpy/requirements.txt" &&
		tally_fetch "fetches dpctl" libraries pypi_prefix dpctl \
			"$TREE/tests/interop/requirements-dpctl.txt" || return 0
	tally_run "builds for NumPy 2" build_numpy numpy2 "$numpy" || return 0
	DRAY_INTEROP=dpctl LD_LIBRARY_PATH=$libraries \
		OCL_ICD_FILENAMES=$libraries/libintelocl.so \
		python_count "tests/interop (dpctl)" numpy2 "$1/dpctl" \
		/usr/bin/python3 "$(echo "$libraries"/python3.*/dist-packages):$numpy" \
		-m pytest -q --color=no -p no:cacheprovider \
		"$TREE/tests/interop/test_dpctl.py"
}
