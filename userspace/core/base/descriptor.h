/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * File descriptors of the library are never 0, 1 or 2: a program may have closed
 * these, and then writes its messages into whatever has them.
 *
 * Each call that returns a new descriptor passes it through dray_descriptor();
 * tests/unit/test_library.py searches for others.
 */
#ifndef DRAY_BASE_DESCRIPTOR_H
#define DRAY_BASE_DESCRIPTOR_H

#include <dirent.h>
#include <stdio.h>

#include "base/shared.h"

#define DRAY_DESCRIPTOR_LOWEST 3

/*
 * Returns @fd, or closes it and returns a copy of it above 2.  Below 0: an error,
 * with errno; @fd below 0 is returned as it is.  All are closed by execve().
 */
DRAY_PRIVATE int dray_descriptor(int fd);

/* Returns a copy of @fd above 2; below 0: an error, with errno. */
int dray_descriptor_copy(int fd);

/* As fopen(@path, "r"). */
DRAY_PRIVATE FILE *dray_descriptor_file(const char *path);

/* As opendir(). */
DIR *dray_descriptor_folder(const char *path);

#endif /* DRAY_BASE_DESCRIPTOR_H */
