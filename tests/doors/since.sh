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
	since_suites_of "$file" | sed "s|^|$file |"
done | sort -u >"$folder/pairs"
cut -d ' ' -f 2 "$folder/pairs" | sort -u >"$folder/named"
# Each has a licence, and sources are formatted, layered, and read by analysers.
is 'style is among the suites of each file' \
	"$("${git[@]}" ls-files | sed 's/$/ style/' | grep -vxF -f "$folder/pairs")" ''

is 'all suites of all files exist' \
	"$(grep -vxF -f <(printf '%s\n' "${SUITES[@]}") "$folder/named")" ''
is 'each suite can be touched' \
	"$(printf '%s\n' "${SUITES[@]}" | grep -vxF -f "$folder/named")" ''

# named SCRIPT...: the files that their code names, or that lie in a folder that it names;
# the name of a program means its source
named()
{
	awk '!/^[ \t]*#/ || /source=/' "$@" |
		grep -oE '\<(docs|examples|tests|tools)/[-A-Za-z0-9_./*{},]+' | sort -u |
		while read -r word; do eval "printf '%s\n' $word"; done |
		while read -r word; do
			"${git[@]}" ls-files -- "$word" "$word.c"
		done | grep -v '/README\.md$'
}

# uses: suites, and files that their scripts name, scripts of tests/ that these run, or in
# which functions lie that these call.  Tables of tests/doors name files of others.
uses()
{
	local suite file names scripts

	for suite in "${SUITES[@]}"; do
		mapfile -t scripts < <(named "tools/suites/$suite.sh" |
			grep '^tests/.*\.sh$' | grep -v '^tests/doors/')
		named "tools/suites/$suite.sh" "${scripts[@]}" | sed "s/\$/ $suite/"
	done
	for file in tools/suites/*.sh tools/lib/*.sh; do
		names=$(sed -n 's/^\([a-z0-9_]*\)()$/\1/p' "$file" | paste -sd '|')
		grep -lwE "$names" tools/suites/*.sh |
			sed "s|^.*/\(.*\)\.sh|$file \1|"
	done
}

cd "$TREE" || exit
uses >"$folder/uses"
# By a name, by a script of tests/, by a function.
is 'scripts use files' "$(grep -cxE 'tests/fact.sh (pc|builders)|tools/lib/python.sh interop' \
	"$folder/uses")" 3
# Excludes files that all suites use, and a title.
is 'a change of a file selects the suites that use it' "$(sort -u "$folder/uses" |
	grep -vE '^tools/((load|lib/(build|cache|foreign|log|packages|tally))\.sh|bench board$)' |
	grep -vxF -f "$folder/pairs")" ''

while read -r file wanted; do
	is "$file" "$(suites "$file")" "$wanted"
done <<-TABLE
	tools/suites/kill.sh doors kill style
	tests/kill/kill.c kill streams style
	tests/doors/since.sh doors style
	tools/replay/log.c board style unit
	docs/arrays.md board differential interop python style unit
	docs/board.md install python style unit
	tools/fpga.d/main.c doors streams style unit
	tools/demo.d/job.py doors style
	tools/wheels install style unit
	tests/engine/turns.c board pc sanitize streams style
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
