#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Builds, installs, uses and uninstalls user space as README.md says.  Prints TAP.
#
#	readme.sh
#
# Needs: a copy of the tree as the current folder, in which the build leaves its
# files; a Debian whose packages apt can fetch; root.  Installs packages, so a copy of
# a root.

# shellcheck source=tests/install/block.sh
. tests/install/block.sh
export DEBIAN_FRONTEND=noninteractive DRAY_BACKEND=host
page=README.md

files()
{
	find /usr/local | sort
}

files >"$folder/before"
install_block 'sudo apt-get install'
is dmactl_runs "$(dmactl --version | cut -d ' ' -f 1 | sed 1q)" dmactl
for command in top dt trace; do
	run "dmactl_has_$command" sh -c "dmactl help $command >$folder/help"
done
is python_finds_the_package "$(cd / && python3 -c '
import dray, numpy
with dray.memory():
    print(dray.handler_name(numpy.zeros(9)))')" 'dray host'
page=docs/c.md
awk '/^```c$/ { on = 1; next } /^```$/ && on { exit } on' "$page" >example.c
# shellcheck disable=SC2016 # as the page has it
run_line "$(sed -n 's/.*with `\(cc example.c [^`]*\)`.*/\1/p' "$page")"
like the_example_allocates "$(./a.out)" 'dray host: 8294464 bytes at offset *'
page=README.md
run the_page_says_how_it_is_removed page_has 'sudo ninja -C build uninstall'
run it_is_removed ninja -C build uninstall
files >"$folder/after"
is no_file_of_it_is_left "$(comm -13 "$folder/before" "$folder/after" |
	grep -v -e /__pycache__ -e '/dray$' | while read -r path; do
		[ -d "$path" ] || echo "$path"; done)" ''
finish
