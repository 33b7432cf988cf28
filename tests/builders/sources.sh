#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Parses all of both libraries with one compiler and the warnings of meson.build as
# errors, without code: in seconds.  Sources of optional libraries are left out.
#
#	sources.sh COMPILER [OPTION]...
#
# Needs: the tree as the current folder.

warnings=$(sed -n "/^add_project_arguments/,/language/p" meson.build |
	grep -oE "'-W[a-z-]+'" | tr -d "'" | xargs)
[ -n "$warnings" ] || exit 1
# shellcheck disable=SC2086 # several options
find userspace/core userspace/array -name '*.c' ! -name 'npz*.c' \
	! -name 'elementary_*avx*.c' ! -name 'elementary_sse2.c' \
	! -name 'elementary_neon*.c' -print0 |
	xargs -0 -n 1 -P "$(nproc)" "$@" -std=gnu11 -O1 -Wall -Wextra $warnings -Werror \
	-D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DDRAY_LOOPS_LEVEL= \
	-Iuserspace/core -Iuserspace/array -Iinclude -Iinclude/uapi -fsyntax-only
