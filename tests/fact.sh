# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=sh
#
# TAP for tests in shell, also busybox's.  A test sources this file, states facts, and
# ends with finish, whose status is that of the test.

number=0
failures=0
folder=$(mktemp -d)

ok() # STATUS NAME
{
	number=$((number + 1))
	[ "$1" -eq 0 ] || {
		failures=$((failures + 1))
		printf 'not '
	}
	echo "ok $number - $2"
}

is() # NAME VALUE EXPECTED
{
	[ "$2" = "$3" ]
	ok $? "$1"
	[ "$2" = "$3" ] || printf '%s\n' "is:" "$2" "should be:" "$3" |
		sed 's/^/# /'
}

like() # NAME VALUE PATTERN
{
	# shellcheck disable=SC2254 # a pattern
	case $2 in
	$3) ok 0 "$1" ;;
	*) is "$1" "$2" "$3" ;;
	esac
}

# run NAME COMMAND...: a fact that it succeeds; its output is in $folder/said
run()
{
	name=$1
	shift
	"$@" >"$folder/said" 2>&1
	status=$?
	ok $status "$name"
	[ $status -eq 0 ] || sed 's/^/# /' "$folder/said"
}

finish()
{
	rm -rf "$folder"
	echo "1..$number"
	[ "$failures" -eq 0 ]
}
