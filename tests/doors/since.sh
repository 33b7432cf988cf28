#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# The table of tools/check --since: each tracked file has suites, and each suite exists.
TREE=$(cd "$(dirname "$0")/../.." && pwd -P)
# shellcheck source=tests/fact.sh
. "$TREE/tests/fact.sh"
export DRAY_CACHE=$folder/cache
# shellcheck source=tools/load.sh
. "$TREE/tools/load.sh"

mapfile -t SUITES < <("$TREE/tools/check" --list)

# suites FILE: in one line
suites()
{
	since_suites_of "$1" | sort -u | paste -sd ' '
}

git=(git -C "$TREE" -c "safe.directory=$TREE")
"${git[@]}" ls-files | while read -r file; do
	since_suites_of "$file"
done | sort -u >"$folder/named"
# Sources are formatted, layered, and read by analysers.
"${git[@]}" ls-files 'userspace/*.[ch]' 'include/*.h' 'tools/*.[ch]' 'driver/*.[ch]' |
	while read -r file; do
		since_suites_of "$file" | grep -qx style || echo "$file"
	done >"$folder/unformatted"
is 'style is among the suites of each source' "$(cat "$folder/unformatted")" ''

is 'all suites of all files exist' \
	"$(grep -vxF -f <(printf '%s\n' "${SUITES[@]}") "$folder/named")" ''
is 'each suite can be touched' \
	"$(printf '%s\n' "${SUITES[@]}" | grep -vxF -f "$folder/named")" ''

while read -r file wanted; do
	is "$file" "$(suites "$file")" "$wanted"
done <<-TABLE
	tools/suites/kill.sh kill
	tests/kill/kill.c kill
	tests/doors/since.sh doors
	tools/replay/log.c style unit
	docs/arrays.md python style unit
	docs/board.md install python style unit
	tools/fpga.d/main.c streams style unit
	tools/demo.d/job.py doors style
	tools/wheels install style unit
	tests/engine/turns.c pc sanitize streams style
TABLE

mkdir -p "$folder"/tree/{docs,tools}
cp "$TREE/tools/since" "$folder/tree/tools"
tree=$TREE TREE=$folder/tree
git=(git -C "$TREE" -c user.name=x -c user.email=x@example.org)
"${git[@]}" init -q
echo one >"$TREE/docs/page.md"
"${git[@]}" add .
"${git[@]}" commit -qm one
is 'no change: it says so' "$( (since_suites HEAD chosen) 2>&1)" \
	"${0##*/}: nothing has changed since HEAD"
is 'an empty commit: it says so' "$("$tree/tools/check" --since '' 2>&1)" \
	'check: --since needs a commit'
is 'no commit: it says so' "$( (since_suites nowhere chosen) 2>&1 | tail -n 1)" \
	"${0##*/}: git does not know the commit nowhere"
echo two >"$TREE/docs/page.md"
echo new >"$TREE/Kbuild"
since_suites HEAD chosen
# shellcheck disable=SC2154 # since_suites sets it
is 'a change and a new file: suites in their order' "${chosen[*]}" \
	'style unit python targets install'
finish
