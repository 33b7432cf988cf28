// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * publish: threads allocate and free while snapshots are made.  Each snapshot is
 * whole, and says nothing wrong of any block.
 */
#include <dray/array.h>

#include "pool.h"
#include "published.h"

#define THREADS 4
#define KEPT 64
#define SNAPSHOTS 2000

static _Atomic bool ends;

/* Its extents and its type belong together. */
static struct dray_array *make(struct dray_pool *pool, struct dice *dice)
{
	int64_t rows = 1 + (int64_t)roll(dice, 60);
	struct dray_array *array;

	if (dray_array_create(pool, rows % 2 ? DRAY_INT32 : DRAY_FLOAT64, 2,
			      (int64_t[]){ rows, rows + 1 }, &array))
		return NULL;
	return array;
}

static void *churn(void *argument)
{
	static _Atomic uint64_t seed = 20261126;
	struct dice dice = { .state = atomic_fetch_add(&seed, 7919) };
	struct dray_pool *pool = argument;
	struct dray_array *arrays[KEPT] = { 0 };
	void *blocks[KEPT] = { 0 };
	size_t i;

	while (!atomic_load_explicit(&ends, memory_order_relaxed)) {
		i = roll(&dice, KEPT);
		dray_array_unref(arrays[i]);
		arrays[i] = make(pool, &dice);
		i = roll(&dice, KEPT);
		dray_pool_free(pool, blocks[i]);
		blocks[i] = dray_pool_alloc(
			pool, 1 + roll(&dice, i % 8 ? 3000 : 200000), 0);
	}
	for (i = 0; i < KEPT; i++) {
		dray_array_unref(arrays[i]);
		dray_pool_free(pool, blocks[i]);
	}
	return NULL;
}

static size_t check_arrays(const struct snapshot_read *seen)
{
	size_t arrays = 0;

	for (size_t i = 0; i < seen->count; i++) {
		const struct seen_block *block = &seen->blocks[i];
		uint64_t elements =
			(uint64_t)(block->shape[0] * block->shape[1]);
		bool odd = block->shape[0] % 2;

		if (!(block->fixed.flags & DRAY_PUBLISH_ARRAY))
			continue;
		assert_int_equal(block->fixed.ndim, 2);
		assert_int_equal(block->shape[1], block->shape[0] + 1);
		assert_string_equal(block->type, odd ? "<i4" : "<f8");
		assert_int_equal(block->fixed.asked, elements * (odd ? 4 : 8));
		assert_true(block->fixed.asked <= block->fixed.size);
		assert_int_equal(block->fixed.state, DRAY_PUBLISH_USED);
		arrays++;
	}
	return arrays;
}

POOL_FACT(each_snapshot_is_whole_while_threads_allocate)
{
	pthread_t threads[THREADS];
	size_t arrays = 0;
	int i, snapshots = rounds(SNAPSHOTS);

	assert_works(dray_publish_start());
	atomic_store(&ends, false);
	for (i = 0; i < THREADS; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, churn, *state), 0);
	for (i = 0; i < snapshots; i++) {
		struct snapshot_read seen = published();

		assert_int_equal(seen.pools, 1);
		arrays += check_arrays(&seen);
		published_drop(&seen);
	}
	atomic_store(&ends, true);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_true(arrays > 0);
	dray_publish_stop();
}

static void *fork_often(void *argument)
{
	while (!atomic_load(&ends)) {
		pid_t child = fork();

		if (!child)
			_exit(published_connect(getpid()) == -ECONNREFUSED ? 0
									   : 1);
		if (child < 0 || waitpid(child, argument, 0) != child ||
		    *(int *)argument)
			break;
	}
	return NULL;
}

POOL_FACT(a_process_may_fork_while_it_publishes)
{
	pthread_t churner, forker;
	int status = 0;

	SKIP_IF_MALLOC_STAYS_LOCKED();
	assert_works(dray_publish_start());
	atomic_store(&ends, false);
	assert_int_equal(pthread_create(&churner, NULL, churn, *state), 0);
	assert_int_equal(pthread_create(&forker, NULL, fork_often, &status), 0);
	for (int i = 0; i < rounds(1000); i++) {
		struct snapshot_read seen = published();

		published_drop(&seen);
	}
	atomic_store(&ends, true);
	pthread_join(forker, NULL);
	pthread_join(churner, NULL);
	assert_int_equal(status, 0);
	dray_publish_stop();
}
