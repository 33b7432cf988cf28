// SPDX-License-Identifier: Apache-2.0 OR MIT
/* manager: views, which are parts of memory that they keep. */
#include "manager.h"

#define MANY 1000000 /* calls, each inside of the one before, fit no stack */

MANAGER_FACT(a_view_keeps_its_base_and_does_not_finalize_it)
{
	struct dray_memory *view = NULL, *inner = NULL;
	struct dray_memory *memory;
	int finalized = 0;

	assert_works(dray_manager_set_pending(*state, 0, 0));
	memory = counted_memory(*state, 100, &finalized);
	assert_works(dray_memory_view(memory, 10, 90, &view));
	assert_works(dray_memory_view(view, 90, 0, &inner));
	assert_int_equal(manager_stats(*state).bytes, 100);
	assert_int_equal(manager_stats(*state).objects, 3);
	dray_memory_unref(view);
	assert_int_equal(finalized, 0);
	dray_memory_unref(memory);
	assert_int_equal(finalized, 0);
	dray_memory_unref(inner);
	assert_int_equal(finalized, 1);
}

MANAGER_FACT(a_view_that_leaves_its_base_is_refused)
{
	struct dray_memory *memory = memalloc(*state, 100), *view = NULL;

	assert_fails(dray_memory_view(memory, 101, 0, &view), -EINVAL,
		     "0 bytes at 101");
	assert_fails(dray_memory_view(memory, 50, 51, &view), -EINVAL,
		     "51 bytes at 50, the memory has 100");
	assert_fails(dray_memory_view(memory, 1, SIZE_MAX, &view), -EINVAL,
		     "has 100");
	assert_null(view);
	dray_memory_unref(memory);
}

/* As a program makes them that cuts off what it is done with. */
MANAGER_FACT(views_of_views_hang_on_the_memory_alone)
{
	size_t count = (size_t)rounds(MANY), i;
	struct dray_memory *view, *next = NULL;
	int finalized = 0;

	assert_works(dray_manager_set_pending(*state, 0, 0));
	view = counted_memory(*state, count + 1, &finalized);
	for (i = 0; i < count; i++) {
		assert_works(dray_memory_view(view, 1, count - i, &next));
		dray_memory_unref(view);
		view = next;
	}
	assert_int_equal(manager_stats(*state).objects, 2);
	assert_int_equal(dray_memory_describe(view)->bytes, 1);
	assert_int_equal(finalized, 0);
	dray_memory_unref(view);
	assert_int_equal(finalized, 1);
	assert_int_equal(manager_stats(*state).objects, 0);
}
