# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash

# interop_dpctl SCRATCH: Intel's dpctl on the CPU, 1.6 GB
interop_dpctl()
{
	local numpy libraries

	tally_wants dpctl || return 0
	if [ "$(uname -m)" != x86_64 ]; then
		tally_add "tests/interop (dpctl): PyPI has it for x86-64 only" 0 0 1
		return
	fi
	tally_fetch "fetches NumPy 2" numpy pypi_set numpy \
		"$TREE/tests/numpy/requirements.txt" &&
		tally_fetch "fetches dpctl" libraries pypi_prefix dpctl \
			"$TREE/tests/interop/requirements-dpctl.txt" || return 0
	tally_run "builds for NumPy 2" build_numpy numpy2 "$numpy" || return 0
	LD_LIBRARY_PATH=$libraries OCL_ICD_FILENAMES=$libraries/libintelocl.so \
		python_count "tests/interop (dpctl)" numpy2 "$1/dpctl" \
		/usr/bin/python3 "$libraries/python3.11/dist-packages:$numpy" \
		-m pytest -q --color=no -p no:cacheprovider \
		"$TREE/tests/interop/test_dpctl.py"
}
