# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Suite dask: an array from a worker of Dask to another, by dray.dask and by distributed
# on TCP; with --long, on x86, also on UCX, whose packages for CUDA have 270 MB.

ABOUT_BENCH_DASK="an array from a worker of Dask to another, by dray.dask, TCP and, with --long, UCX"
PACKAGES_BENCH_DASK=("${PACKAGES_BUILD[@]}" "${PACKAGES_PYPI[@]}" python3-numpy)
DOCUMENT_BENCH_DASK=docs/scale-out.md

bench_dask()
{
	local needs newest ucx=''

	needs=$(pypi_set dask "$TREE/tests/dask/requirements.txt") &&
		newest=$(pypi_set dask-newest "$TREE/tests/dask/requirements-newest.txt") &&
		build_native || return 1
	[ "$LONG" = no ] || [ "$(uname -m)" != x86_64 ] ||
		ucx=$(pypi_set dask-ucx "$TREE/tests/dask/requirements-ucx.txt") || return 1
	log_note "measuring: one minute"
	printf 'target\tthis machine, Linux %s (%s)\n' "$(uname -r)" \
		"$(sed -n 's/==/ /p' "$TREE/tests/dask/requirements-newest.txt" |
			grep '^distributed')" >"$1"
	UCX_NET_DEVICES=lo PYTHONPATH=${ucx:+$ucx:}$newest:$needs:$(build_folder native)/userspace/python \
		DRAY_BACKEND=host PYTHONDONTWRITEBYTECODE=1 DASK_LOGGING__DISTRIBUTED=error \
		/usr/bin/python3 "$TREE/tools/benches/dask_workers.py" \
		${ucx:+ucx} >>"$1"
}
