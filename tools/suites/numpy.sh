# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Suite numpy: NumPy's own tests with every array in dray memory of the host,
# compared one by one with a run without the handler.

PACKAGES_NUMPY=("${PACKAGES_BUILD[@]}" python3-pytest python3-hypothesis)

suite_numpy()
{
	local status=0 options=()

	tally_run "builds as a release" build_native || return 0
	if [ "$QUICK" = yes ]; then
		options=(--selection "$TREE/tests/numpy/board.txt" --once)
	fi
	(cd "$1" && DRAY_BACKEND=host \
		PYTHONPATH=$(build_folder native)/userspace/python \
		timeout 1800 /usr/bin/python3 "$TREE/tests/numpy/run" \
		"${options[@]}" </dev/null) >"$1/log" 2>&1 || status=$?
	tally_counts "NumPy's own tests" "$status" "$1/log"
}
