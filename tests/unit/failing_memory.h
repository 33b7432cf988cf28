/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Memory that fails: calls of malloc() too, and work that is tried without each of them. */
#ifndef DRAY_TESTS_FAILING_MEMORY_H
#define DRAY_TESTS_FAILING_MEMORY_H

#include "failing_calloc.h"

static int others_to_go = -1; /* mallocs until one fails; below 0: none will */

static inline bool fails_now(void)
{
	if (others_to_go < 0 || others_to_go--)
		return false;
	errno = ENOMEM;
	return true;
}

WRAPPED(void *, malloc, (size_t size))
{
	return fails_now() ? NULL : __real_malloc(size);
}

/*
 * Lets allocations fail one after the other, until @work needs no more; returns how
 * often it has failed.
 */
static inline int fails_cleanly(int (*work)(void))
{
	int failures, kind, all = 0;

	for (kind = 0; kind < 2; kind++) {
		int *const left = kind ? &others_to_go : &to_go;
		int ret = -ENOMEM;

		for (failures = 0; ret; failures++) {
			*left = failures;
			ret = work();
			*left = -1;
			if (ret && ret != -ENOMEM)
				fail_msg("%d: %s", ret, dray_last_error());
			assert_true(failures < 200);
			all += !!ret;
		}
	}
	return all;
}

#endif /* DRAY_TESTS_FAILING_MEMORY_H */
