// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * copy_faults: what arrays and transfers allocate fails, one after the other;
 * each time there is a code and a sentence, and nothing is left held, parked
 * or open.  The engine is the simulated one.
 */
#include <dray/array.h>

#include "simulated_engine.h"

static int to_go = -1; /* allocations until one fails; below 0: none will */
static bool failed;

static bool fails_now(void)
{
	if (to_go < 0 || to_go--)
		return false;
	failed = true;
	errno = ENOMEM;
	return true;
}
WRAPPED(void *, calloc, (size_t count, size_t size))
{
	return fails_now() ? NULL : __real_calloc(count, size);
}
WRAPPED(void *, malloc, (size_t size))
{
	return fails_now() ? NULL : __real_malloc(size);
}

static struct dray_node *node;
static struct dray_pool *pool;
static struct dray_view dst, src; /* two squares, and a third */
static void *third;
static int ends[2];

static int make_an_array(void)
{
	struct dray_array *array;
	int error = dray_array_create(pool, u1, 1, DIMS(100), &array);

	if (!error)
		dray_array_unref(array);
	return error;
}

static int make_a_queue(void)
{
	struct dray_queue *queue;
	int error = dray_queue_create(node, NULL, &queue);

	if (!error)
		dray_queue_destroy(queue);
	return error;
}

static int copy_and_free_after(void)
{
	int armed = to_go, error;
	struct dray_queue *queue;
	struct dray_fence *fence;

	to_go = -1; /* queues have their own case */
	assert_works(dray_queue_create(node, NULL, &queue));
	to_go = armed;
	error = dray_copy(queue, &dst, &src, 0, &fence);
	if (!error) {
		error = dray_free_after(third, fence);
		if (!error) {
			to_go = -1;
			assert_works(dray_fence_wait(fence, -1));
			third = dray_pool_alloc(pool, 4096, 0);
		}
		dray_fence_unref(fence);
	}
	to_go = -1;
	dray_queue_destroy(queue);
	return error;
}

static int shift_in_place(void)
{
	struct dray_view turned;

	assert_works(dray_view_transpose(&dst, NULL, &turned));
	return dray_view_assign(&dst, &turned);
}

static int pass_an_array(void)
{
	struct dray_array *array;
	int error;

	assert_works(dray_view_send(ends[0], &dst));
	error = dray_array_receive(ends[1], NULL, &array);
	if (!error)
		dray_array_unref(array);
	return error;
}

static int open_descriptors(void)
{
	int open = 0;

	for (int fd = 0; fd < 100; fd++)
		open += fcntl(fd, F_GETFD) >= 0;
	return open;
}

/* Every allocation of @work fails once; there are at least @least. */
static void fail_each(int (*work)(void), int least)
{
	struct dray_pool_stats before = { .size = sizeof(before) };
	struct dray_pool_stats after = { .size = sizeof(after) };
	int descriptors = open_descriptors(), n = 0, failures = 0;

	assert_int_equal(work(), 0);
	assert_works(dray_pool_stats(pool, &before));
	do {
		int error;

		failed = false;
		to_go = n++;
		error = work();
		to_go = -1;
		if (error) {
			assert_true(failed);
			assert_int_equal(error, -ENOMEM);
			assert_true(strlen(dray_last_error()) > 0);
			failures++;
		}
		assert_works(dray_pool_stats(pool, &after));
		assert_int_equal(after.blocks, before.blocks);
		assert_int_equal(after.parked, 0);
		assert_int_equal(open_descriptors(), descriptors);
	} while (failed);
	assert_true(failures >= least);
}

static void set_up(void)
{
	engine_reset();
	node = open_node("host:shareable");
	assert_works(dray_pool_create(node, NULL, &pool));
	third = dray_pool_alloc(pool, 4096, 0);
	assert_works(dray_view_init(&dst, dray_pool_calloc(pool, 1, 4096), u1,
				    2, DIMS(64, 64), NULL));
	assert_works(dray_view_init(&src, dray_pool_calloc(pool, 1, 4096), u1,
				    2, DIMS(64, 64), NULL));
	assert_int_equal(
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
}

static void tear_down(void)
{
	dray_pool_free(pool, third);
	dray_pool_free(pool, dst.data);
	dray_pool_free(pool, src.data);
	dray_pool_close(pool);
	dray_node_unref(node);
	close(ends[0]);
	close(ends[1]);
}

FACT(nothing_is_left_when_memory_ends)
{
	set_up();
	fail_each(make_an_array, 1);
	fail_each(make_a_queue, 1);
	fail_each(copy_and_free_after, 2);
	fail_each(shift_in_place, 1);
	fail_each(pass_an_array, 2);
	tear_down();
}
