# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# The front doors on another host than Debian 12, with its compilers, its emulator,
# its Python and its NumPy.  It has nothing but git, and keeps what they install.

ABOUT_HOSTS="both front doors, the demo and the check, from an empty cache in a \
Debian 13 with nothing but git: gcc 14, Python 3.13, NumPy 2.2"
PACKAGES_HOSTS=(git mmdebstrap util-linux)

suite_hosts()
{
	local DEBIAN_RELEASE=trixie DEBIAN_PACKAGES=(ca-certificates git)
	local DEBIAN_KEPT=$1/kept

	mkdir "$DEBIAN_KEPT"
	hosts_clone "$1/tree" || die "cannot copy the tree"
	hosts_door demo "$1" tools/demo
	hosts_door check "$1" tools/check
}

# hosts_clone FOLDER: with the changes that are not committed
hosts_clone()
{
	git -c safe.directory='*' clone -q "$TREE" "$1" && install_tree "$1"
}

# hosts_door NAME FOLDER COMMAND...
hosts_door()
{
	local name=$1 log=$2/$1.log status=0

	tally_wants "$name" || return 0
	debian_run "$2/tree" "${@:3}" >"$log" 2>&1 </dev/null || status=$?
	case $name in
	check) tally_counts "$name" "$status" "$log" ;;
	*) tally_status "$name" "$status" "$log" ;;
	esac
}
