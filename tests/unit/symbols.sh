#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
# The library exports every function that its headers declare with DRAY_API,
# under a version, and nothing else; and test_null.c and test_null_array.c know
# each of them.
# usage: symbols.sh LIBRARY HEADER...
set -eu
echo 1..3

library=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

nm -D --defined-only --with-symbol-versions "$library" |
	awk '$2 != "A" { print $3 }' | sort >"$work/exported"
if grep -v '^dray_[a-z0-9_]*@@DRAY_[0-9.]*$' "$work/exported"; then
	echo "not ok 1 - all exported symbols are dray_ and have a version"
	exit 1
fi
echo "ok 1 - all exported symbols are dray_ and have a version"
sed 's/@@.*//' "$work/exported" >"$work/names"

# A declaration runs from DRAY_API to its ';', over lines.
cat "$@" | tr '\n' ' ' | grep -o 'DRAY_API [^;]*;' |
	grep -o 'dray_[a-z0-9_]*(' | tr -d '(' | sort -u >"$work/declared"
[ -s "$work/declared" ]
if ! diff "$work/declared" "$work/names"; then
	echo "not ok 2 - what is declared (<) is what is exported (>)"
	exit 1
fi
echo "ok 2 - what is declared is what is exported"

cat "$(dirname "$0")"/test_null*.c | grep -o 'dray_[a-z0-9_]*' | sort -u >"$work/tested"
if comm -23 "$work/declared" "$work/tested" | grep .; then
	echo "not ok 3 - what becomes of NULL is tested of each function"
	exit 1
fi
echo "ok 3 - what becomes of NULL is tested of each function"
