# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=sh
#
# For the programs of this folder: the README's commands, and TAP.

number=0
failures=0
folder=$(mktemp -d)

ok() # STATUS NAME
{
	number=$((number + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $number - $2"
	else
		failures=$((failures + 1))
		echo "not ok $number - $2"
	fi
}

is() # NAME VALUE EXPECTED
{
	[ "$2" = "$3" ]
	ok $? "$1"
	[ "$2" = "$3" ] || printf '%s\n' "is:" "$2" "should be:" "$3" |
		sed 's/^/# /'
}

# run NAME COMMAND...: a fact that it succeeds; what it says is in $folder/said
run()
{
	name=$1
	shift
	if "$@" >"$folder/said" 2>&1; then
		ok 0 "$name"
	else
		ok 1 "$name"
		sed 's/^/# /' "$folder/said"
	fi
}

# run_line COMMAND LINE: the same of a line of the README, named after it
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
