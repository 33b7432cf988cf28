/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The library as it was built, beside the objects that a test has: two copies
 * in one process, as two packages bring them.
 */
#ifndef DRAY_TESTS_SECOND_COPY_H
#define DRAY_TESTS_SECOND_COPY_H

#include <dlfcn.h>

#include "unit.h"

static inline void *second_copy(void)
{
	static const char *const paths[] = { "userspace/core/libdray.so.0",
					     "libdray.so.0" };
	void *copy = NULL;

	for (size_t i = 0; i < 2 && !copy; i++)
		copy = dlopen(paths[i], RTLD_NOW | RTLD_LOCAL);
	if (!copy)
		fail_msg("%s", dlerror());
	return copy;
}

#endif /* DRAY_TESTS_SECOND_COPY_H */
