# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Runs the package as a release, under a checking handler, and with sanitizers in the
# library and the extension.  With --long, also on a Python without a GIL, whose build
# takes minutes.

ABOUT_PYTHON='the Python package on the host back end'
PACKAGES_PYTHON=(
	"${PACKAGES_BUILD[@]}" "${PACKAGES_PYPI[@]}"
	python3-pytest
)

suite_python()
{
	tally_run "builds as a release" build_native || return 0
	python_tests native "$1"
	[ "$QUICK" = no ] || return 0
	python_tests native "$1" check
	[ "$FULL" = yes ] || return 0
	[ "$LONG" = no ] || python_free "$1"
	tally_run "builds with sanitizers" build_sanitized || return 0
	python_tests sanitized "$1"
}

python_free()
{
	local python packages

	free_ready || return 0
	python_tests free "$1" '' "$python/bin/python3" "$packages"
}

# python_tests KIND SCRATCH [HANDLER [PYTHON PACKAGES]]
python_tests()
{
	local kind=$1 handler=${3:-} log=$2/$1${3:+.$3} status=0 preload=''
	local python=${4:-/usr/bin/python3} packages=${5:-} files

	mapfile -t files < <(cd "$TREE/tests/python" && for file in test_*.py; do
		! tally_wants "${file%.py}" || echo "$file"
	done)
	[ "${#files[@]}" -gt 0 ] || return 0
	TALLY_MATCHED=yes
	if [ "$kind" = sanitized ]; then
		preload="$(gcc -print-file-name=libasan.so) $(gcc \
			-print-file-name=libubsan.so)"
	fi
	# Python keeps memory until it ends: not a leak of dray.
	(cd "$TREE/tests/python" && DRAY_BACKEND=host DRAY_HANDLER=$handler \
		PYTHONPATH=${packages:+$packages:}$(build_folder "$kind")/userspace/python \
		PYTHONDONTWRITEBYTECODE=1 LD_PRELOAD=$preload \
		ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1 \
		timeout 2400 "$python" -m pytest -q --color=no \
		-p no:cacheprovider "${files[@]}" </dev/null) >"$log" 2>&1 ||
		status=$?
	tally_counts "tests/python ($kind${handler:+, $handler})" "$status" "$log"
}
