/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Settings that the module has in sysfs: the limits of a heap, and whether a
 * node holds memory.  Each returns 0 or a negative errno.
 */
#ifndef SELFTEST_SETTING_H
#define SELFTEST_SETTING_H

#include "system.h"

/* The path of @file ("limit", "user_limit") of the heap that is called @heap. */
void setting_of_heap(char path[PATH_MAX], const char *heap, const char *file);

/* The path of @file ("hold") of an open node. */
int setting_of_node(char path[PATH_MAX], int node, const char *file);

int setting_write(const char *path, uint64_t value);

#endif
