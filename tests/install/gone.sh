#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Builds dmactl as docs/memory-is-gone.md says, and looks for dma-bufs without the
# module.  Prints TAP.
#
#	gone.sh
#
# Needs: a copy of the tree as the current folder, in which the build leaves its
# files; a Debian whose packages apt can fetch; root.  Installs packages, so a copy of
# a root.

# shellcheck source=tests/install/block.sh
. tests/install/block.sh
export DEBIAN_FRONTEND=noninteractive
page=docs/memory-is-gone.md

install_block 'sudo apt-get install'
for command in cma why leaks top trace; do
	run "dmactl_has_$command" sh -c "dmactl help $command >$folder/help"
done
block 'awk' >"$folder/block"
is the_page_looks_by_two_commands "$(wc -l <"$folder/block")" 2
while read -r line; do
	run_line "$line"
done <"$folder/block"
like it_counts_dma_bufs "$(cat "$folder/said")" '*total: * dma-buf*'
finish
