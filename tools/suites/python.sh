# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Runs the package as a release; with --full also under a checking handler, and with
# sanitizers in the library and the extension; programs with threads also with the thread
# sanitizer.  With --long, also on a Python without a GIL, which takes minutes to build.

ABOUT_PYTHON='the Python package on the host back end'
PACKAGES_PYTHON=(
	"${PACKAGES_BUILD[@]}" "${PACKAGES_OPENCL[@]}" "${PACKAGES_PYPI[@]}"
	python3-pytest python3-venv
)

# Programs with threads, for the thread sanitizer.  Under it a forked child cannot start
# a thread, so that programs that fork are left out.
PYTHON_THREADS='test_(threads|array.*|fence|memory|min_bytes|reentry|stream|stream_frames)'

# Without --quick: an executor that compiles, and waits
PYTHON_SLOW='test_(opencl|sharing|workers|xclbin|waiting|check|main|examples)'

suite_python()
{
	tally_run "builds as a release" build_native || return 0
	python_tests native "$1"
	[ "$FULL" = yes ] || return 0
	python_tests native "$1" check
	python_types "$1"
	[ "$LONG" = no ] || python_free "$1"
	! tally_run "builds with sanitizers" build_sanitized ||
		python_tests sanitized "$1"
	! tally_run "builds with the thread sanitizer" build_races ||
		PYTHON_NAMES=$PYTHON_THREADS python_tests races "$1"
}

# python_types FOLDER: mypy, pyright and stubtest over the package and programs
python_types()
{
	local packages status=0

	tally_wants types || return 0
	tally_fetch "fetches NumPy 2" packages pypi_set numpy \
		"$TREE/tests/numpy/requirements.txt" &&
		tally_run "builds for NumPy 2" build_numpy numpy2 "$packages" ||
		return 0
	"$TREE/tests/types/check.sh" "$(build_folder numpy2)" >"$1/types" 2>&1 \
		</dev/null || status=$?
	tally_tap types "$status" "$1/types"
}

python_free()
{
	local python packages

	free_ready || return 0
	python_tests free "$1" '' "$python/bin/python3" "$packages"
}

# python_tests KIND SCRATCH [HANDLER [PYTHON PACKAGES]]: runs the tests that match
# PYTHON_NAMES, or all
python_tests()
{
	local handler=${3:-} files file name

	mapfile -t files < <(for file in "$TREE"/tests/python/test_*.py; do
		name=$(basename "$file" .py)
		[[ $name =~ ^(${PYTHON_NAMES:-.*})$ ]] || continue
		[ "$QUICK" = no ] || ! [[ $name =~ ^($PYTHON_SLOW)$ ]] || continue
		! tally_wants "$name" || echo "$file"
	done)
	[ "${#files[@]}" -gt 0 ] || return 0
	for file in "${files[@]}"; do
		tally_matched "$(basename "$file" .py)"
	done
	DRAY_HANDLER=$handler DRAY_TEST_OPENCL=1 \
		python_count "tests/python ($1${handler:+, $handler})" "$1" \
		"$2/$1${3:+.$3}" "${4:-/usr/bin/python3}" "${5:-}" -m pytest \
		-q --color=no -p no:cacheprovider "${files[@]}"
}
