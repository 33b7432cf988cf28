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
	local handler=${3:-} files

	mapfile -t files < <(for file in "$TREE"/tests/python/test_*.py; do
		! tally_wants "$(basename "$file" .py)" || echo "$file"
	done)
	[ "${#files[@]}" -gt 0 ] || return 0
	TALLY_MATCHED=yes
	DRAY_HANDLER=$handler \
		python_count "tests/python ($1${handler:+, $handler})" "$1" \
		"$2/$1${3:+.$3}" "${4:-/usr/bin/python3}" "${5:-}" -m pytest \
		-q --color=no -p no:cacheprovider "${files[@]}"
}
