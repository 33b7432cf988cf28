# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Loads all of tools/lib for a front door, which sets TREE.

. "$TREE/tools/lib/log.sh"
for file in "$TREE"/tools/lib/*.sh; do
	# shellcheck source=/dev/null
	. "$file"
done
