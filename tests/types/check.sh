#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Runs mypy --strict, pyright and stubtest over the package of a build, and the former two
# over programs of users: those of programs/, and those of the pages.  Prints TAP.
#
#	tests/types/check.sh [BUILD]
#
# Needs: Debian's python3-venv; PyPI; a build for the NumPy of requirements.txt, with
# -Dpython=enabled, by default in the directory build.

build=$(realpath "${1:-$(dirname "$0")/../../build}") || exit 2
cd "$(dirname "$0")" || exit 2
# shellcheck source=tests/fact.sh
. ../fact.sh
trap 'rm -rf "$folder"' EXIT

PYTHONPATH=$build/userspace/python
MYPYPATH=$PYTHONPATH
MYPY_CACHE_DIR=$folder/cache
PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH MYPYPATH MYPY_CACHE_DIR PYTHONDONTWRITEBYTECODE
[ -f "$PYTHONPATH/dray/_dray.pyi" ] || {
	echo "$build has no Python package: meson setup -Dpython=enabled" >&2
	exit 2
}
python=$folder/venv/bin/python

# errors COMMAND...: the count of lines with an error
errors()
{
	"$@" 2>&1 | grep -c ' error: '
}

# pages: writes each program of a page into $folder/pages, a block that imports dray
pages()
{
	mkdir "$folder/pages"
	(cd ../.. && awk -v folder="$folder/pages" '
		FNR == 1 { name = FILENAME; gsub(/[^a-zA-Z]/, "_", name); into = "" }
		/^```/ {
			fenced = $0 == "```python"
			into = fenced ? folder "/" name FNR ".py" : ""
			next
		}
		into && /^[^ ]/ && !fenced { into = "" }
		/^    import dray(,|$)/ && !into { into = folder "/" name FNR ".py" }
		into { print fenced ? $0 : substr($0, 5) > into }
	' README.md docs/*.md userspace/python/README.md)
	grep -L '^import dray' "$folder"/pages/* | xargs -r rm
}

# shellcheck disable=SC2016 # the inner shell replaces them
run checkers_are_fetched bash -c '/usr/bin/python3 -m venv "$1" &&
	TREE=$(realpath ../..) SCRATCH=$(dirname "$1") && . "$TREE/tools/load.sh" &&
	pypi_install requirements.txt --target "$(echo "$1"/lib/python3*/site-packages)"' \
	"$0" "$folder/venv"
run mypy_accepts_the_package "$python" -m mypy --config-file mypy.ini -p dray
run the_stubs_are_those_of_the_extension "$python" -m mypy.stubtest dray \
	--mypy-config-file mypy.ini --allowlist stubtest-allowlist.txt
run pyright_accepts_the_package "$python" -m pyright --pythonpath "$python" \
	"$PYTHONPATH/dray"
pages
run mypy_accepts_programs "$python" -m mypy --config-file mypy.ini programs/*.py
run pyright_accepts_programs "$python" -m pyright --pythonpath "$python" programs
run pages_have_programs test -n "$(ls "$folder/pages")"
for page in "$folder"/pages/*.py; do
	run "mypy_accepts_$(basename "$page" .py)" "$python" -m mypy \
		--config-file mypy.ini --allow-untyped-defs "$page"
done
run pyright_accepts_those_of_pages "$python" -m pyright --pythonpath "$python" \
	"$folder/pages"
is mypy_finds_each_mistake \
	"$(errors "$python" -m mypy --config-file mypy.ini mistakes.py)" 7
is pyright_finds_each_mistake \
	"$(errors "$python" -m pyright --pythonpath "$python" mistakes.py)" 7
finish
