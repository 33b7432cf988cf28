#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Root and the group may open a node, and nobody else, on a board whose owner installs
# the udev rule as docs/board.md says.  Prints TAP.
#
#	node.sh
#
# Needs: root of a board that has udev, not running, a dray,node in its device
# tree, and dmactl; in the current folder docs/board.md, driver/ with the rule and
# dray.ko, and dmactl-holder; dray.ko not loaded.

# shellcheck source=tests/install/block.sh
. tests/install/block.sh
export DRAY_TEST_NODE=kernel

# as USER COMMAND LINE
as()
{
	su "$1" -s /bin/sh -c "$2" </dev/null 2>&1
}

# Whose the node is, once udev has done all it has to.
node()
{
	udevadm settle
	stat -c '%U:%G %a' /dev/dray0
}

# What a person does who wants memory: the identifier of a buffer is a number.
take='./dmactl-holder reserved mine 4096 | sed "s/[0-9][0-9]*/N/"'

/lib/systemd/systemd-udevd --daemon 2>&1
# The page's, and one who is in no group.
useradd alice && useradd bob || echo "# no users"

insmod driver/dray.ko
is without_the_rule_it_is_roots "$(node)" 'root:root 600'
guest-unload dray
# udev looks for new rules every three seconds at most, and at events: this is
# one, and so the page has it look.
udevadm settle

block 'make -C' | sed 1d >"$folder/block"
while read -r line; do
	run_line "$line"
done <"$folder/block"
is the_block_loads_the_module_and_shows_the_heaps \
	"$(sed -n 's/.* reserved .*/reserved/p' "$folder/said")" reserved
is with_the_rule_it_is_the_groups "$(node)" 'root:dray 660'
is a_member_of_the_group_has_memory "$(as alice "$take")" 'N
ready'
is another_user_gets_nothing "$(as bob "$take" | grep -o 'Permission denied')" \
	'Permission denied'
is nobody_gets_nothing "$(as nobody "$take" | grep -o 'Permission denied')" \
	'Permission denied'
is nothing_is_for_everyone "$(find /dev -name 'dray*' -perm /007)" ''
guest-unload dray
is the_node_goes_with_its_module "$(udevadm settle && ls /dev/dray* 2>&1)" \
	'ls: /dev/dray*: No such file or directory'
insmod driver/dray.ko
is the_next_time_it_is_the_groups_too "$(node)" 'root:dray 660'
guest-unload dray
udevadm control --exit
finish
