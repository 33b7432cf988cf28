# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Suite python: time and memory of programs with NumPy, with its own memory and with
# dray's.

ABOUT_BENCH_PYTHON="NumPy's own memory and dray's, in programs that have run for a while"
PACKAGES_BENCH_PYTHON=("${PACKAGES_BENCH_ALLOC[@]}")
DOCUMENT_BENCH_PYTHON=docs/alloc.md

bench_python()
{
	build_bench || return 1
	log_note "measuring: three minutes"
	# shellcheck disable=SC2016 # dpkg-query replaces it
	printf 'target\tthis machine, Linux %s (%s)\n' "$(uname -r)" \
		"$(dpkg-query -W -f 'NumPy ${Version}' python3-numpy)" >"$1"
	/usr/bin/python3 -B "$TREE/tools/benches/python.py" \
		"$(build_folder bench)/userspace/python" >>"$1"
}
