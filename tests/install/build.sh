#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Builds the module as docs/board.md says, by hand and with DKMS: both have to give
# the same module, which modprobe finds by the alias of a node.  Prints TAP.
#
#	build.sh
#
# Needs: a copy of the tree as the current folder, in which the build leaves its
# files; a Debian with the headers of the kernel that `uname -r` names, a
# compiler and DKMS; root.  Installs the module there, and takes it away again.

# shellcheck source=tests/install/block.sh
. tests/install/block.sh
kernel=$(uname -r)
modules=/lib/modules/$kernel
tree=/var/lib/dkms/dray
version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"$/\1/p' dkms.conf)
find /var/lib/dkms "$modules" | sort >"$folder/before"

field() # FILE NAME
{
	modinfo -F "$2" "$1"
}

# Neither the compiler nor the linker has a remark.
quiet() # LOG
{
	! grep -inE 'warning|error' "$1"
}

make=$(block 'make -C')
make=$(echo "$make" | sed 1q)
run_line "$make"
cp "$folder/said" "$folder/make"
run the_build_has_no_remarks quiet "$folder/make"
is it_is_for_this_kernel "$(field driver/dray.ko vermagic | cut -d ' ' -f 1)" \
	"$kernel"
is it_says_its_version "$(field driver/dray.ko version)" "$version"

block 'dkms add' >"$folder/block"
while read -r line; do
	run_line "$line"
done <"$folder/block"
is dkms_has_installed_it "$(dkms status)" \
	"dray/$version, $kernel, $(uname -m): installed"
run dkms_has_no_remarks quiet "$tree/$version/$kernel/$(uname -m)/log/make.log"
found=$(modprobe --set-version "$kernel" --show-depends dray |
	sed -n 's/^insmod \([^ ]*\).*/\1/p')
is modprobe_finds_it "$found" "$modules/updates/dkms/dray.ko"
alias=$(block 'modprobe --resolve-alias')
# For the kernel of the headers, not the one that runs.
is the_alias_of_a_node_is_that_of_the_module \
	"$(eval "$alias --set-version $kernel")" dray
for name in version vermagic srcversion; do
	is "dkms_builds_the_same_$name" "$(field "$found" $name)" \
		"$(field driver/dray.ko $name)"
done

remove="dkms remove dray/$version --all"
run the_page_says_how_it_is_removed page_has "$remove"
run_line "$remove"
# What depmod makes anew, and a key for the next module, stay.
find /var/lib/dkms "$modules" | grep -v -e "$modules/modules\." \
	-e '/mok\.' | sort >"$folder/after"
is nothing_of_it_is_left "$(comm -13 "$folder/before" "$folder/after")" ''
finish
