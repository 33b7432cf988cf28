#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
# The library exports every function that its headers declare with DRAY_API,
# under a version, and nothing else.
# usage: symbols.sh LIBRARY HEADER...
set -eu

library=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

nm -D --defined-only --with-symbol-versions "$library" |
	awk '$2 != "A" { print $3 }' | sort >"$work/exported"
if grep -v '^dray_[a-z0-9_]*@@DRAY_[0-9.]*$' "$work/exported"; then
	echo "exported without dray_ or without a version" >&2
	exit 1
fi
sed 's/@@.*//' "$work/exported" >"$work/names"

# A declaration runs from DRAY_API to its ';', over lines.
cat "$@" | tr '\n' ' ' | grep -o 'DRAY_API [^;]*;' |
	grep -o 'dray_[a-z0-9_]*(' | tr -d '(' | sort -u >"$work/declared"
[ -s "$work/declared" ]
diff "$work/declared" "$work/names" >"$work/difference" || {
	echo "declared (<) and exported (>) differ:" >&2
	cat "$work/difference" >&2
	exit 1
}
echo "$(wc -l <"$work/names") symbols"
