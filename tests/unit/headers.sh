#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
# Each public header alone is C11 and C++11, without a warning of those that
# programs turn on; with a second compiler for C++ where there is one.
# usage: headers.sh INCLUDE_FOLDER HEADER...
set -eu

include=$1
shift
warnings='-Wall -Wextra -Wshadow -Wpedantic -Werror'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0
status=0

# headers COMPILER LANGUAGE STANDARD HEADER...
headers()
{
	compiler=$1 language=$2 standard=$3
	shift 3
	n=$((n + 1))
	fact="$compiler takes each header as $standard"
	if ! command -v "$compiler" >/dev/null; then
		echo "ok $n - $fact # SKIP there is no $compiler"
		return
	fi
	for header; do
		name=dray/${header##*/}
		# Twice: it has a guard.
		printf '#include <%s>\n#include <%s>\nint main(void) { return 0; }\n' \
			"$name" "$name" >"$work/program"
		# shellcheck disable=SC2086 # several words
		"$compiler" -x "$language" "-std=$standard" $warnings \
			"-I$include" "-I$include/uapi" -fsyntax-only \
			"$work/program" 2>>"$work/said" && continue
		echo "# $name"
	done >"$work/wrong"
	if [ -s "$work/wrong" ]; then
		cat "$work/wrong"
		sed 's/^/# /' "$work/said"
		echo "not ok $n - $fact"
		status=1
		return
	fi
	echo "ok $n - $fact"
}

echo 1..4
headers gcc c c11 "$@"
headers g++ c++ c++11 "$@"
headers g++ c++ c++20 "$@"
headers clang++ c++ c++11 "$@"
exit "$status"
