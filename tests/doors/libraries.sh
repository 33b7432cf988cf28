#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Libraries for a guest: the cache may lie in a folder of this machine that the guest replaces.
TREE=$(cd "$(dirname "$0")/../.." && pwd -P)
# shellcheck source=tests/fact.sh
. "$TREE/tests/fact.sh"
export DRAY_CACHE=$folder/cache
# shellcheck source=tools/load.sh
. "$TREE/tools/load.sh"

# A library of a build comes before the system's.
libc=$(ldd /bin/true | grep -oE '/[^ ]*/libc\.so\.6')
mapfile -t replaced < <(sed -n 's|^mount -t [a-z]* [a-z]* /|/|p' "$TREE/tools/lib/guest-init")
is 'the guest replaces folders' "$(printf '%s\n' "${replaced[@]}" | grep -cxE '/(tmp|dev/shm)')" 2
for place in /tmp /dev/shm /var/tmp; do
	CACHE=$(mktemp -d -p "$place" 'dray[1]XXXXXX') BATCH=$folder/batch
	mkdir -p "$CACHE/build/x"
	cp -L "$libc" "$CACHE/build/x"
	LD_LIBRARY_PATH=$CACHE/build/x batch_libraries /bin/true
	is "a cache below $place: the guest has the library" \
		"$(cd "$BATCH/lib" && find . -name libc.so.6)" ./usr/lib/libc.so.6
	is "a cache below $place: no library lies where the guest mounts" \
		"$(cd "$BATCH/lib" && find . -type f | grep -E "^\.($(IFS='|'; echo "${replaced[*]}"))/")" ''
	rm -rf "$CACHE" "$BATCH"
done
finish
