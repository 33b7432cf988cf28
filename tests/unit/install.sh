#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What is installed is enough to build a program against and run it.
# usage: install.sh BUILD_FOLDER
set -eu
echo 1..3

build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root

meson install -C "$build" --destdir "$root" --no-rebuild --quiet \
	>"$work/log" 2>&1 || {
	cat "$work/log"
	echo "not ok 1 - it is installed into a folder"
	exit 1
}
echo "ok 1 - it is installed into a folder"

PKG_CONFIG_PATH=$(dirname "$(find "$root" -name dray.pc)")
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR="$root"
libraries=$(dirname "$(find "$root" -name libdray.so)")
cat >"$work/program.c" <<'PROGRAM'
#include <stdio.h>
#include <string.h>
#include <dray/dray.h>

int main(void)
{
	struct dray_node *node;
	struct dray_pool *pool;
	char *block;

	if (dray_node_open("host", &node) ||
	    dray_pool_create(node, NULL, &pool))
		return 1;
	block = dray_pool_calloc(pool, 10, 100);
	if (!block)
		return 1;
	strcpy(block, dray_version());
	puts(block);
	dray_pool_free(pool, block);
	dray_pool_close(pool);
	dray_node_unref(node);
	return 0;
}
PROGRAM
# shellcheck disable=SC2046 # words on purpose
if ! ${CC:-cc} -Wall -Werror -o "$work/program" "$work/program.c" \
	$(pkg-config --cflags --libs dray); then
	echo "not ok 2 - a program builds with what pkg-config says"
	exit 1
fi
echo "ok 2 - a program builds with what pkg-config says"

version=$(LD_LIBRARY_PATH=$libraries "$work/program") || version=failed
if [ "$version" != "$(pkg-config --modversion dray)" ]; then
	echo "'$version' is not the version of the package"
	echo "not ok 3 - the program runs, and the versions agree"
	exit 1
fi
echo "ok 3 - the program runs, and the versions agree"
