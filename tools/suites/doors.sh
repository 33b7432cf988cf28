# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash

ABOUT_DOORS="the front doors themselves: kernels of an invented archive that lacks a \
package or changes, failures, signals, and the table of tools/check --since"
PACKAGES_DOORS=(kmod procps python3)

suite_doors()
{
	local name status

	for name in archive stop since; do
		tally_wants "$name" || continue
		status=0
		"$TREE/tests/doors/$name.sh" >"$1/$name" 2>&1 </dev/null ||
			status=$?
		tally_tap "$name" "$status" "$1/$name"
	done
}
