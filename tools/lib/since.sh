# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# The suites that a change can touch, by the table tools/since.

# since_files COMMIT: prints the files that differ from the commit, or are new
since_files()
{
	local git=(git -C "$TREE" -c "safe.directory=$TREE")

	"${git[@]}" diff --name-only --no-renames "$1" -- || return 1
	"${git[@]}" ls-files -o --exclude-standard
}

# since_suites COMMIT VARIABLE: sets the array to the suites, in their order
since_suites()
{
	local -n since_chosen=$2
	local files found suite

	git -C "$TREE" -c "safe.directory=$TREE" rev-parse -q --verify \
		"$1^{commit}" >/dev/null 2>&1 || die "git does not know the commit $1"
	files=$(since_files "$1") || die "git cannot compare with $1"
	[ -n "$files" ] || die "nothing has changed since $1"
	found=$(while read -r files; do since_suites_of "$files"; done <<<"$files" |
		sort -u)
	since_chosen=()
	for suite in "${SUITES[@]}"; do
		! grep -qx -- "$suite" <<<"$found" || since_chosen+=("$suite")
	done
}

# since_suites_of FILE: prints the suites of its line; @ is the suite that has the name of
# the file, or of its directory
since_suites_of()
{
	local file=$1 pattern suites suite

	while read -r pattern suites; do
		case $pattern in
		'' | '#'*) continue ;;
		esac
		pattern=${pattern//./\\.}
		[[ $file =~ ^${pattern//\*/.*}$ ]] || continue
		for suite in $suites; do
			case $suite,$file in
			@,tools/*) suite=$(basename "$file" .sh) ;;
			@,*) suite=${file#tests/} suite=${suite%%/*} ;;
			esac
			echo "$suite"
		done
		return
	done <"$TREE/tools/since"
}
