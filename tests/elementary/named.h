/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Names of functions on a command line. */
#ifndef DRAY_TESTS_NAMED_H
#define DRAY_TESTS_NAMED_H

#include <stdbool.h>
#include <string.h>

/* Whether a function is wanted: without names, each is. */
static inline bool is_named(const char *name, int count, char **names)
{
	int i;

	for (i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return true;
	return !count;
}

#endif /* DRAY_TESTS_NAMED_H */
