#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Runs the core in Verilog of docs/stream.md, with each command of the page.  Prints TAP.
#
#	tests/streams/page.sh
#
# Needs: a copy of the tree as the current folder, in which the page's files stay; root.

# shellcheck source=tests/install/block.sh
. tests/install/block.sh
page=docs/stream.md
# shellcheck disable=SC2317 # the lines call it
command -v sudo >/dev/null || sudo() { "$@"; }

save packet.py
block 'mkdir job' >"$folder/block"
is the_page_has_three_commands "$(wc -l <"$folder/block")" 3
while read -r line; do
	eval "$line" >"$folder/output" 2>"$folder/errors" </dev/null
	ok $? "$(echo "$line" | tr -c 'a-zA-Z0-9\n' _)"
done <"$folder/block"
tail -n 20 "$folder/errors" | sed 's/^/# /'
# shellcheck disable=SC2016 # as the page has it
printed=$(sed -n 's/^The same program now prints `\([^`]*\)`.*/\1/p' "$page")
is the_core_inverts "$(tr -d '\r' <"$folder/output")" "$printed"
finish
