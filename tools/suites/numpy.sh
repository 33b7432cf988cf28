# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Suite numpy: NumPy's own tests with every array in dray memory of the host,
# compared one by one with a run without the handler: Debian's NumPy and NumPy 2
# from PyPI, each in private memory and in shareable one; with --long NumPy 2 on a
# Python without a GIL too.

PACKAGES_NUMPY=(
	"${PACKAGES_BUILD[@]}" "${PACKAGES_PYPI[@]}"
	python3-hypothesis python3-pytest
)

suite_numpy()
{
	local requirements=$TREE/tests/numpy/requirements.txt packages
	local both=host,host:shareable

	tally_wants numpy || return 0
	tally_run "builds as a release" build_native || return 0
	if [ "$FULL" = no ]; then
		numpy_tests "Debian's NumPy" native "$1" /usr/bin/python3 '' \
			--selection "$TREE/tests/numpy/board.txt" --once
		return
	fi
	numpy_tests "Debian's NumPy" native "$1" /usr/bin/python3 '' \
		--backends "$both"
	tally_fetch "fetches NumPy 2" packages pypi_set numpy "$requirements" ||
		return 0
	tally_run "builds for NumPy 2" build_numpy numpy2 "$packages" || return 0
	numpy_tests "NumPy 2" numpy2 "$1" /usr/bin/python3 "$packages" \
		--backends "$both"
	[ "$LONG" = no ] || numpy_free "$1"
}

# Where Python has no GIL.
numpy_free()
{
	local python packages

	free_ready || return 0
	numpy_tests "NumPy 2 without a GIL" free "$1" "$python/bin/python3" \
		"$packages" --backends host,host:shareable
}

# numpy_tests NAME KIND SCRATCH PYTHON PACKAGES [OPTION]...
numpy_tests()
{
	local name=$1 kind=$2 log=$3/$2 python=$4 packages=$5 status=0

	shift 5
	(cd "${log%/*}" && DRAY_BACKEND=host \
		PATH=${packages:+$packages/bin:}$PATH \
		PYTHONPATH=${packages:+$packages:}$(build_folder "$kind")/userspace/python \
		timeout 3600 "$python" "$TREE/tests/numpy/run" "$@" \
		</dev/null) >"$log" 2>&1 || status=$?
	tally_counts "$name: its own tests" "$status" "$log"
	grep '^NumPy ' "$log" | while read -r line; do
		log_note "         $line"
	done
}
