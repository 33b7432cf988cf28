#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Makes the source archive and the wheels with tools/wheels, and uses each in clean venvs,
# without an installed libdray: with the oldest NumPy from 1.24 on that has a wheel for
# the Python, and with the newest.  Prints TAP.
#
#	tests/install/wheels.sh [FOLDER]
#
# FOLDER has wheels from before; MINORS in the environment, such as "10 12", names the
# Pythons to try.  Needs: what tools/wheels needs.

wheels=$(realpath "${1:-/nowhere}" 2>/dev/null)
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/install/package.sh
. tests/install/package.sh
trap 'rm -rf "$folder"' EXIT

# oldest_numpy NAME: installs it into the venv
oldest_numpy()
{
	for version in 1.24.0 1.25.0 1.26.0 2.0.0 2.1.0 2.2.0 2.3.0 2.3.2; do
		"$folder/$1/bin/pip" install --quiet --only-binary :all: \
			"numpy==$version" 2>/dev/null && return
	done
	return 1
}

# numpy_version PYTHON: the major and minor number of its NumPy
numpy_version()
{
	"$1" -c 'import numpy; print(*numpy.__version__.split(".")[:2], sep=".")'
}

# licences WHEEL: of the package, and a text for each library that it bundles
licences()
{
	/usr/bin/python3 - "$1" <<-'PYTHON'
	import re, sys, zipfile
	wheel = zipfile.ZipFile(sys.argv[1])
	names = wheel.namelist()
	info = next(name for name in names if name.endswith("/METADATA"))
	told = re.findall("^License-File: (.*)$", wheel.read(info).decode(), re.M)
	there = [name.partition("/licenses/")[2] for name in names if "/licenses/" in name]
	assert sorted(told) == sorted(there), (told, there)
	print(*sorted(told))
	PYTHON
}

if [ -z "$wheels" ]; then
	wheels=$folder/wheels
	run they_are_built tools/wheels "$wheels"
fi
run checkers_are_fetched venv checkers twine
run metadata_is_what_pypi_takes "$folder/checkers/bin/twine" check --strict "$wheels"/*
is the_page_has_no_relative_link \
	"$(grep -oE '\]\([^)h][^)]*\)' userspace/python/pypi.md)" ''
run the_source_has_both_licences sh -c "tar -tf '$wheels'/*.tar.gz |
	grep -cE 'LICENSES/(MIT|Apache-2.0)[.]txt$' | grep -qx 2"

for minor in ${MINORS:-10 11 12 13 14}; do
	cpython=cp3$minor
	python=$(tools/wheels --find "3.$minor")
	wheel=$(find "$wheels" -name "dray-*-$cpython-$cpython-manylinux_*_$(uname -m).whl")
	if [ -z "$python" ]; then
		number=$((number + 1))
		echo "ok $number - the_wheel_of_$cpython # SKIP no Python 3.$minor here"
		continue
	fi
	is "${cpython}_has_a_wheel_with_licences" "$(licences "$wheel")" \
		"LICENSES/Apache-2.0.txt LICENSES/MIT.txt libminizip1 libsleef3"
	run "${cpython}_installs_it" venv "$cpython" "$wheel"
	own=$folder/$cpython/bin/python
	run "${cpython}_works_with_the_newest_numpy" \
		works "$own" "$(numpy_version "$own")"
	is "${cpython}_has_a_library_of_its_own" "$(libraries "$own")" \
		"$(echo "$folder/$cpython"/lib/python3*/site-packages/dray/libdray*.so*)"
	run "${cpython}_shows_itself" env -C / "$own" -m dray
	run "${cpython}_has_the_oldest_numpy" oldest_numpy "$cpython"
	run "${cpython}_works_with_numpy_$(numpy_version "$own")" \
		works "$own" "$(numpy_version "$own")"
done
finish
