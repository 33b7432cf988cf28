# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Compares each test with a run without the handler.

ABOUT_PACKAGES="tests of Debian's SciPy, pandas and scikit-learn with every array in \
dray memory, private and shareable; only with --full or if named"
PACKAGES_PACKAGES=(
	"${PACKAGES_BUILD[@]}"
	python3-hypothesis python3-pandas python3-pytest python3-scipy
	python3-sklearn
)

suite_packages()
{
	tally_wants packages || return 0
	tally_run "builds as a release" build_native || return 0
	compare_tests packages "SciPy, pandas and scikit-learn" native "$1" \
		/usr/bin/python3 '' --backends host,host:shareable
}
