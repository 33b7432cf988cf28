// SPDX-License-Identifier: Apache-2.0 OR MIT
/* watch: what a program sees of the calls of pools' handlers. */
#include "pool.h"

#define MOST 16

/* What the watch saw. */
static struct {
	struct dray_handler_event events[MOST];
	int count;
	bool allocates; /* from the same handler, in the middle */
	const struct dray_handler *handler;
} seen;

static void watch(const struct dray_handler_event *event)
{
	void *block;

	if (seen.count < MOST)
		seen.events[seen.count++] = *event;
	errno = EBADF;
	if (!seen.allocates)
		return;
	seen.allocates = false;
	block = dray_handler_alloc(seen.handler, 1);
	dray_handler_free(seen.handler, block, 1);
}

static int watch_setup(void **state)
{
	unsetenv("DRAY_HANDLER");
	pool_setup(state);
	/* So that no call needs memory of the node. */
	dray_handler_free(dray_handler_for(*state),
			  dray_handler_alloc(dray_handler_for(*state), 5000),
			  5000);
	memset(&seen, 0, sizeof(seen));
	seen.handler = dray_handler_for(*state);
	dray_watch_add(watch);
	return 0;
}

static int watch_teardown(void **state)
{
	dray_watch_remove(watch);
	return pool_teardown(state);
}

#define WATCH_FACT(name) FACT_WITH(name, watch_setup, watch_teardown)

static void assert_event(int at, uint32_t action, const void *block,
			 uint64_t asked, uint64_t bytes)
{
	const struct dray_handler_event *event = &seen.events[at];

	assert_true(at < seen.count);
	assert_int_equal(event->action, action);
	assert_ptr_equal(event->block, block);
	assert_int_equal(event->asked, asked);
	assert_int_equal(event->bytes, bytes);
}

WATCH_FACT(a_block_is_seen_from_before_its_allocation_until_after_its_free)
{
	void *block = dray_handler_alloc(seen.handler, 100);
	size_t usable = dray_usable_size(block);

	/* Runtimes free with wrong sizes. */
	dray_handler_free(seen.handler, block, 1);
	assert_int_equal(seen.count, 4);
	assert_event(0, DRAY_HANDLER_ALLOCATES, NULL, 100, 0);
	assert_event(1, DRAY_HANDLER_ALLOCATED, block, 100, usable);
	assert_event(2, DRAY_HANDLER_FREES, block, 1, usable);
	assert_event(3, DRAY_HANDLER_FREED, block, 1, usable);
	assert_ptr_equal(seen.events[0].pool, *state);
}

WATCH_FACT(a_resize_is_a_free_and_an_allocation)
{
	void *block = dray_handler_zalloc(seen.handler, 100);
	size_t before = dray_usable_size(block);
	void *moved = dray_handler_realloc(seen.handler, block, 3000);

	assert_int_equal(seen.count, 6);
	assert_event(2, DRAY_HANDLER_FREES, block, before, before);
	assert_event(3, DRAY_HANDLER_FREED, block, before, before);
	assert_event(4, DRAY_HANDLER_ALLOCATES, NULL, 3000, 0);
	assert_event(5, DRAY_HANDLER_ALLOCATED, moved, 3000,
		     dray_usable_size(moved));
	dray_handler_free(seen.handler, moved, 3000);
}

WATCH_FACT(a_resize_that_fails_leaves_the_block_as_it_was)
{
	void *block = dray_handler_alloc(seen.handler, 100);
	size_t usable = dray_usable_size(block);

	assert_null(dray_handler_realloc(seen.handler, block, SIZE_MAX));
	assert_int_equal(errno, ENOMEM);
	assert_non_null(strstr(dray_last_error(), "a block of"));
	assert_int_equal(seen.count, 8);
	assert_event(5, DRAY_HANDLER_ALLOCATED, NULL, SIZE_MAX, 0);
	assert_event(7, DRAY_HANDLER_ALLOCATED, block, usable, usable);
	dray_handler_free(seen.handler, block, 100);
}

WATCH_FACT(a_failure_keeps_its_errno_and_its_sentence)
{
	assert_null(seen.handler->allocator.calloc(seen.handler->allocator.ctx,
						   SIZE_MAX, 2));
	assert_int_equal(errno, ENOMEM);
	assert_non_null(strstr(dray_last_error(), "elements"));
	assert_event(1, DRAY_HANDLER_ALLOCATED, NULL, SIZE_MAX, 0);
}

WATCH_FACT(growth_is_seen_by_the_thread_whose_block_needs_it)
{
	const size_t size = (size_t)64 << 20;
	void *block = dray_handler_alloc(seen.handler, size);

	assert_int_equal(seen.count, 3);
	assert_int_equal(seen.events[1].action, DRAY_HANDLER_GREW);
	assert_true(seen.events[1].bytes >= size / 2);
	assert_int_equal(seen.events[1].asked, size);
	dray_handler_free(seen.handler, block, size);
}

WATCH_FACT(a_watch_may_use_the_handler)
{
	seen.allocates = true;
	dray_handler_free(seen.handler, dray_handler_alloc(seen.handler, 1), 1);
	assert_int_equal(seen.count, 8);
}

WATCH_FACT(wrong_frees_and_frees_of_nothing_are_not_seen)
{
	int wrong;

	dray_handler_free(seen.handler, NULL, 8);
	assert_int_equal(stats_of(*state).bad_frees, 0);
	dray_handler_free(seen.handler, &wrong, 8);
	assert_null(dray_handler_realloc(seen.handler, &wrong, 8));
	assert_int_equal(seen.count, 0);
	assert_int_equal(stats_of(*state).bad_frees, 2);
}

static int idle_calls;

#define IDLE(number)                                                      \
	static void idle_##number(const struct dray_handler_event *event) \
	{                                                                 \
		idle_calls++;                                             \
	}                                                                 \
	struct unit_fact
IDLE(1);
IDLE(2);
IDLE(3);
IDLE(4);
IDLE(5);
IDLE(6);
IDLE(7);
IDLE(8);

WATCH_FACT(eight_functions_watch_and_no_more)
{
	dray_watch *const idle[] = { idle_1, idle_2, idle_3, idle_4,
				     idle_5, idle_6, idle_7 };
	void *block;
	size_t i;

	for (i = 0; i < 7; i++)
		assert_int_equal(dray_watch_add(idle[i]), 0);
	assert_int_equal(dray_watch_add(idle_8), -ENOSPC);
	assert_int_equal(dray_watch_add(NULL), -EINVAL);
	block = dray_handler_alloc(seen.handler, 1);
	assert_int_equal(idle_calls, 7 * 2);
	for (i = 0; i < 7; i++)
		assert_int_equal(dray_watch_remove(idle[i]), 0);
	dray_handler_free(seen.handler, block, 1);
	assert_int_equal(idle_calls, 7 * 2);
	assert_int_equal(seen.count, 4);
}

WATCH_FACT(nothing_is_seen_after_the_watch_ended)
{
	void *block = dray_handler_alloc(seen.handler, 1);
	int count = seen.count;

	/* Once more is once. */
	assert_int_equal(dray_watch_add(watch), 0);
	assert_int_equal(dray_watch_remove(watch), 0);
	assert_int_equal(dray_watch_remove(watch), -ENOENT);
	assert_int_equal(dray_watch_remove(NULL), -EINVAL);
	dray_handler_free(seen.handler, block, 1);
	assert_int_equal(seen.count, count);
}
