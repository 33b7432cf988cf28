#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# The fragments of kernels to build: the tree has each, and a missing fragment is an error.
TREE=$(cd "$(dirname "$0")/../.." && pwd -P)
# shellcheck source=tests/fact.sh
. "$TREE/tests/fact.sh"
export DRAY_CACHE=$folder/cache
# shellcheck source=tools/load.sh
. "$TREE/tools/load.sh"

# fragments: the names that kernel_fragments prints, for all kernels
fragments()
{
	local pattern architecture

	declare -f kernel_fragments | sed -n 's/^ *\([^ ]*\))$/\1/p' |
		while read -r pattern; do
			for architecture in amd64 arm64 armhf; do
				kernel_fragments "${pattern/#\*/$architecture}"
			done
		done
}

is 'git knows the fragments of all kernels, and no other' \
	"$(fragments | tr ' ' '\n' | sed 's|.*|tools/kernels/&.config|' | LC_ALL=C sort -u)" \
	"$(git -C "$TREE" -c "safe.directory=$TREE" ls-files tools/kernels)"

# What a build would fetch and run
packages_need() { :; }
kernel_build_run() { mkdir "${@: -1}"; }
kernel_fragments() { echo common absent; }
status=0
(kernel_build arm64-6.12 >"$folder/made" 2>"$folder/said") || status=$?
is 'a missing fragment: the status' "$status" 125
is 'a missing fragment: no kernel' "$(cat "$folder/made")" ''
is 'a missing fragment: the message' "$(cat "$folder/said")" \
	"${0##*/}: the kernel arm64-6.12 needs tools/kernels/absent.config, and the tree lacks it"
finish
