# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Downloads 270 MB from PyPI, with NumPy 2, and 137 MB from Debian, for torch, which
# PyPI has only with CUDA.

ABOUT_INTEROP="arrays of dray in the hands of NumPy 2, JAX, apache-tvm-ffi, pyarrow, \
nanoarrow, pandas and Polars from PyPI, and of Debian's torch, and theirs in its hands"
PACKAGES_INTEROP=(
	"${PACKAGES_BUILD[@]}" "${PACKAGES_PYPI[@]}"
	python3-pytest python3-torch
)

suite_interop()
{
	tally_run "builds as a release" build_native || return 0
	interop_debian "$1"
	interop_pypi "$1"
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

	tally_wants layouts || tally_wants pypi || return 0
	tally_fetch "fetches NumPy 2" numpy pypi_set numpy \
		"$TREE/tests/numpy/requirements.txt" &&
		tally_fetch "fetches the libraries" packages pypi_set interop \
			"$TREE/tests/interop/requirements.txt" || return 0
	! tally_wants layouts || interop_layouts "$1" "$packages"
	tally_wants pypi || return 0
	tally_run "builds for NumPy 2" build_numpy numpy2 "$numpy" || return 0
	interop_tests pypi numpy2 "$1" "$packages:$numpy"
}

# interop_layouts SCRATCH PACKAGES: compares dray's structures with the published ones
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

# interop_tests WHERE KIND SCRATCH PACKAGES
interop_tests()
{
	DRAY_INTEROP=$1 DRAY_BUILD=$(build_folder native) python_count "tests/interop ($1)" "$2" "$3/$1" \
		/usr/bin/python3 "$4" -m pytest -q --color=no \
		-p no:cacheprovider "$TREE/tests/interop"
}

# interop_full SCRATCH: libraries too large for each run
interop_full()
{
	:
}
