#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# A board that was booted with an overlay.  Prints TAP.
#
#	with-tree.sh DMACTL KIND SIZE
#
# KIND is the kind of the heap, and SIZE its bytes.  Needs: ../fact.sh; root; dray.ko
# loaded, with the overlay's node as /dev/dray0; the built program dmactl, with
# libdray.so.0 and its other libraries on the LD_LIBRARY_PATH; busybox or the usual
# programs (awk, grep, su; the user nobody in /etc/passwd), all readable for nobody.

# shellcheck source=tests/fact.sh
. "$(dirname "$0")/../fact.sh"
dmactl=$1
kind=$2
size=$3

[ -c /dev/dray0 ]
ok $? dray_binds_to_the_node_of_the_overlay
is the_first_heap_is_the_region "$("$dmactl" heaps --bytes --no-header -n dray0 |
	awk 'NR == 1 { print $2, $3, $5 }')" "$kind $kind $size"
is the_node_has_its_channels "$("$dmactl" nodes --no-header -n dray0 |
	awk 'NR == 1 { print $8 }')" 2

said=$("$dmactl" dt check live)
is the_running_tree_has_no_error $? 0
like the_check_ends_with_totals "$(echo "$said" | sed -n '$p')" "0 errors, *"
is the_map_has_the_region_and_its_user "$("$dmactl" dt show --bytes --no-header live |
	awk '$4 == "region" && $7 == "/dray" { print $3, $5 }')" "$size $kind"
is everybody_may_see_the_map \
	"$(su nobody -s /bin/sh -c "$dmactl dt show --no-header live" 2>&1)" \
	"$("$dmactl" dt show --no-header live)"
is a_directory_of_nodes_gives_the_same \
	"$("$dmactl" dt show --no-header /proc/device-tree)" \
	"$("$dmactl" dt show --no-header /sys/firmware/fdt)"

finish
