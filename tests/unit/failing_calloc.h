/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The linker sends the library's calls of calloc() here (meson.build has the
 * list of programs), and one of them fails when a test says so.
 */
#ifndef DRAY_TESTS_FAILING_CALLOC_H
#define DRAY_TESTS_FAILING_CALLOC_H

#include "unit.h"

static int to_go = -1; /* callocs until one fails; below 0: none will */
WRAPPED(void *, calloc, (size_t count, size_t size))
{
	if (to_go < 0 || to_go--)
		return __real_calloc(count, size);
	errno = ENOMEM;
	return NULL;
}

#endif /* DRAY_TESTS_FAILING_CALLOC_H */
