# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=sh
#
# For the programs of this folder: the README's commands, as facts.

# shellcheck source=tests/fact.sh
. tests/fact.sh

# run_line COMMAND LINE: a line of the README succeeds; the fact is named after it
run_line()
{
	run "$(echo "$1" | tr -c 'a-zA-Z0-9\n' _)" sh -c "$1"
}

# block COMMAND: the lines of the block in the README that begins with it
block()
{
	awk -v first="$1" '
		!on && index($0, "    " first) == 1 { on = 1 }
		on && !/^    / { exit }
		on { print substr($0, 5) }
	' README.md
}

# Is it the README's, word for word?
readme_has()
{
	grep -qF -e "\`$1\`" -e "    $1" README.md
}
