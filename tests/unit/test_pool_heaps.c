// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * pool: what it takes of each heap of its node, and on the kernel's back end
 * its buffers, which cannot grow.
 */
#include "pool.h"

#define MIB ((size_t)1 << 20)
#define ALIGNMENT (2 * MIB)
#define BLOCKS 4

/* More than the first region has places for, which is 4 MiB. */
static void check_aligned_blocks_of(struct dray_node *node, const char *heap)
{
	struct dray_pool_options options = { .heap = heap, .limit = 24 * MIB };
	char *blocks[BLOCKS];
	struct dray_pool *pool;

	assert_works(dray_pool_create(node, &options, &pool));
	for (int i = 0; i < BLOCKS; i++) {
		blocks[i] = take(pool, 4096, ALIGNMENT);
		assert_int_equal((uintptr_t)blocks[i] % ALIGNMENT, 0);
		memset(blocks[i], i, 4096);
	}
	for (int i = 0; i < BLOCKS; i++) {
		assert_true(all_bytes_are(blocks[i], i, 4096));
		dray_pool_free(pool, blocks[i]);
	}
	dray_pool_close(pool);
}

/* Also one that knows no such alignment, as that of the CMA area. */
NODE_FACT(aligned_blocks_come_from_each_heap)
{
	struct dray_heap_info heap;
	struct dray_info info;

	assert_works(dray_node_info(*state, &info, sizeof(info)));
	for (uint32_t i = 0; i < info.heap_count; i++) {
		assert_works(dray_node_heap(*state, i, &heap, sizeof(heap)));
		/* Which has no cached memory, as pools want it. */
		if (heap.type != DRAY_HEAP_CARVEOUT)
			check_aligned_blocks_of(*state, heap.name);
	}
	assert_true(info.heap_count > 0);
}

FACT_ON(on_kernel, a_kernel_pool_gives_large_blocks_a_buffer_of_their_own,
	pool_setup, pool_teardown)
{
	struct dray_node *node = dray_pool_node(*state);
	void *first, *large, *again;
	size_t before;

	/* What is left of the first region is too small for another. */
	first = take(*state, 3 * MIB, 0);
	before = buffers_of(node);
	large = take(*state, 3 * MIB, 0);
	assert_int_equal(buffers_of(node), before + 1);
	/* One that becomes free is kept for the next. */
	dray_pool_free(*state, large);
	assert_int_equal(buffers_of(node), before + 1);
	again = take(*state, 3 * MIB, 0);
	assert_ptr_equal(again, large);
	/* Small blocks stay out of it. */
	dray_pool_free(*state, again);
	dray_pool_free(*state, take(*state, 100, 0));
	assert_true(dray_pool_trim(*state) >= 3 * MIB);
	assert_int_equal(buffers_of(node), before);
	dray_pool_free(*state, first);
}

FACT_ON(on_kernel, a_kernel_pool_does_not_keep_many_empty_buffers, pool_setup,
	pool_teardown)
{
	struct dray_node *node = dray_pool_node(*state);
	size_t before = buffers_of(node);
	void *blocks[8];

	for (int i = 0; i < 8; i++)
		blocks[i] = take(*state, 4 * MIB, 0);
	assert_true(buffers_of(node) >= before + 7);
	for (int i = 0; i < 8; i++)
		dray_pool_free(*state, blocks[i]);
	assert_true(stats_of(*state).reserved <= 16 * MIB);
	assert_true(buffers_of(node) < before + 5);
}

FACT_ON(on_kernel, memory_that_is_missing_is_taken_from_what_is_kept, NULL,
	NULL)
{
	struct dray_pool_options options = { .initial = MIB, .limit = 5 * MIB };
	struct dray_pool *pool = open_pool(test_spec(), &options);
	void *block = take(pool, 3 * MIB, 0);

	dray_pool_free(pool, block);
	/* With the 3 MiB that are kept the limit would not allow it. */
	block = take(pool, 4 * MIB, 0);
	assert_true(stats_of(pool).reserved <= 5 * MIB);
	dray_pool_free(pool, block);
	dray_pool_close(pool);
}
