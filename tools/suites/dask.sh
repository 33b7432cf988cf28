# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Downloads 10 MB from PyPI: two versions of distributed, and what they need.  Workers are
# processes of this machine; the test of a network namespace needs root.

ABOUT_DASK="dray.dask with PyPI's newest distributed, and with --full the oldest that works: \
records between workers, bytes to clients, other machines and a network namespace, killed workers; the tutorial, as a notebook"
PACKAGES_DASK=(
	"${PACKAGES_BUILD[@]}" "${PACKAGES_PYPI[@]}" iproute2 python3-ipykernel
	python3-matplotlib python3-nbclient python3-numpy python3-pytest
)

suite_dask()
{
	tally_run "builds as a release" build_native || return 0
	! tally_wants newest || dask_tests newest "$1"
	[ "$FULL" = no ] || ! tally_wants oldest || dask_tests oldest "$1"
}

# dask_tests AGE SCRATCH
dask_tests()
{
	local needs versions

	tally_fetch "fetches what distributed needs" needs pypi_set dask \
		"$TREE/tests/dask/requirements.txt" &&
		tally_fetch "fetches the $1 distributed" versions pypi_set "dask-$1" \
			"$TREE/tests/dask/requirements-$1.txt" || return 0
	DASK_LOGGING__DISTRIBUTED=error python_count "tests/dask ($1)" native "$2/$1" \
		/usr/bin/python3 "$versions:$needs" -m pytest -q --color=no \
		-p no:cacheprovider "$TREE/tests/dask"
}
