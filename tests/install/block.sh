# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=sh
#
# For the programs of this folder: the commands of a page, as facts.

# shellcheck source=tests/fact.sh
. tests/fact.sh

# The page of which these are, from the tree's root.
page=docs/board.md

# run_line COMMAND LINE: a line of the page succeeds; the fact is named after it
run_line()
{
	run "$(echo "$1" | tr -c 'a-zA-Z0-9\n' _)" sh -c "$1"
}

# block COMMAND: the lines of the block in the page that begins with it
block()
{
	awk -v first="$1" '
		!on && index($0, "    " first) == 1 { on = 1 }
		on && !/^    / { exit }
		on { print substr($0, 5) }
	' "$page"
}

# install_block COMMAND: runs the block, which installs packages first, in a root that may
# lack sudo; each line is a fact
install_block()
{
	# shellcheck disable=SC2317 # the lines call it
	command -v sudo >/dev/null || sudo() { "$@"; }
	# As root's in a new Debian, for what meson installs
	PATH=$PATH:/usr/local/bin
	run apt_has_its_lists apt-get update
	block "$1" | sed -e :a -e '/\\$/N; s/\\\n *//; ta' \
		-e 's/apt-get \(install\|build-dep\) \(-y \)\?/apt-get \1 -y /' \
		>"$folder/block"
	while read -r line; do
		run "$(echo "$line" | tr -c 'a-zA-Z0-9\n' _)" eval "$line"
	done <"$folder/block"
}

# save NAME: makes that file of the block which the page saves under this name
save()
{
	awk -v name="\`$1\`" '
		index($0, "ave this as " name) { on = 1 }
		on == 2 && /^```$/ { exit }
		on == 2 { print }
		on == 1 && /^```/ { on = 2 }
	' "$page" >"$1"
}

# Is it the page's, word for word?
page_has()
{
	grep -qF -e "\`$1\`" -e "    $1" "$page"
}
