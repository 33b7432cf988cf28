// SPDX-License-Identifier: Apache-2.0 OR MIT
/* cache: how much a thread keeps, and how it makes room for more. */
#include "pool.h"
#include "pool/cache.h"
#include "pool/pool.h"

#define MIB ((size_t)1 << 20)
#define SIZE FIXED_SIZE
#define BLOCKS 1000
#define SMALL_SIZES 64 /* multiples of 64 bytes, up to 4 KiB */

FACT(bounds_are_parts_of_what_the_pool_has)
{
	assert_int_equal(dray_cache_bound(256 * MIB), MIB);
	assert_int_equal(dray_cache_large_bound(0), 0);
	assert_int_equal(dray_cache_large_bound(4 * MIB), MIB / 4);
	assert_int_equal(dray_cache_large_bound(64 * MIB), 4 * MIB);
	assert_int_equal(dray_cache_large_bound(512 * MIB), 8 * MIB);
	assert_int_equal(dray_cache_large_bound(2048ull * MIB), 16 * MIB);
	assert_int_equal(dray_cache_large_bound(8192ull * MIB), 32 * MIB);
	assert_int_equal(dray_cache_block_bound(0), 0);
	assert_int_equal(dray_cache_block_bound(4 * MIB), MIB / 4);
	assert_int_equal(dray_cache_block_bound(1024 * MIB), 4 * MIB);
	assert_int_equal(dray_cache_block_bound(4096ull * MIB), 16 * MIB);
}

FIXED_POOL_FACT(a_thread_keeps_no_more_than_its_part)
{
	static void *blocks[BLOCKS];
	size_t i, size;

	for (size = 64; size <= MIB; size *= 2) {
		size_t count = size > SIZE / BLOCKS / 2 ? 16 : BLOCKS;

		for (i = 0; i < count; i++)
			blocks[i] = take(*state, size, 0);
		for (i = 0; i < count; i++)
			dray_pool_free(*state, blocks[i]);
	}
	assert_in_range(stats_of(*state).cached, 1,
			dray_cache_bound(SIZE) + dray_depot_bound(SIZE) +
				dray_cache_large_bound(SIZE));
	assert_int_equal(stats_of(*state).cached, 0);
}

/* As many of each size as a thread keeps, which all together are more. */
FIXED_POOL_FACT(of_small_blocks_it_keeps_a_256th_and_the_depot_a_512th)
{
	static void *blocks[SMALL_SIZES][DRAY_MAGAZINE_ROOM];
	size_t size, i;

	for (size = 0; size < SMALL_SIZES; size++)
		for (i = 0; i < DRAY_MAGAZINE_ROOM; i++)
			blocks[size][i] = take(*state, (size + 1) * 64, 0);
	for (size = 0; size < SMALL_SIZES; size++)
		for (i = 0; i < DRAY_MAGAZINE_ROOM; i++)
			dray_pool_free(*state, blocks[size][i]);
	assert_in_range(stats_of(*state).cached, 1, SIZE / 256 + SIZE / 512);
}

FIXED_POOL_FACT(an_array_of_a_small_pool_is_kept)
{
	size_t size = 100000 * sizeof(double);
	void *block = take(*state, size, 0);

	dray_pool_free(*state, block);
	assert_ptr_equal(take(*state, size, 0), block);
	dray_pool_free(*state, block);
	assert_in_range(stats_of(*state).cached, size, SIZE);
}

/* Blocks of one size, then of many: room for them is made of the largest. */
FIXED_POOL_FACT(the_largest_leave_first)
{
	static const size_t sizes[] = { 5000,  1 * MIB, 10000, MIB / 2,
					20000, MIB / 4, 5000 };
	const size_t count = sizeof(sizes) / sizeof(sizes[0]);
	void *blocks[7], *more;
	size_t i;

	if (on_kernel()) /* a thread keeps blocks of one size, for whole buffers */
		skip();
	more = take(*state, 3 * MIB / 4, 0);
	for (i = 0; i < count; i++)
		blocks[i] = take(*state, sizes[i], 0);
	for (i = 0; i < count; i++)
		dray_pool_free(*state, blocks[i]);
	dray_pool_free(*state, more);
	for (i = 0; i < count; i++)
		if (sizes[i] < MIB)
			assert_int_equal(dray_mark_of(blocks[i]),
					 DRAY_MARK_KEPT);
	assert_int_equal(dray_mark_of(more), DRAY_MARK_KEPT);
	assert_int_equal(dray_mark_of(blocks[1]), DRAY_MARK_NONE);
	assert_in_range(stats_of(*state).cached, MIB,
			dray_cache_large_bound(SIZE));
}

/* Bytes that the caller keeps. */
static uint64_t kept(const struct dray_pool *pool)
{
	const struct dray_cache *cache = dray_thread->caches[pool->number];

	return cache ? cache->most - cache->room : 0;
}

/* Blocks of all small sizes, each as many as a thread keeps of it. */
FIXED_POOL_FACT(room_is_made_for_a_few_blocks_at_a_time)
{
	static void *blocks[SMALL_SIZES][DRAY_MAGAZINE_ROOM];
	uint64_t before, now, shrunk = 0;
	size_t size, i;

	for (size = 0; size < SMALL_SIZES; size++)
		for (i = 0; i < DRAY_MAGAZINE_ROOM; i++)
			blocks[size][i] = take(*state, (size + 1) * 64, 0);
	for (size = SMALL_SIZES; size--;) {
		for (i = 0; i < DRAY_MAGAZINE_ROOM; i++) {
			before = kept(*state);
			dray_pool_free(*state, blocks[size][i]);
			now = kept(*state);
			assert_in_range(now, 0, dray_cache_bound(SIZE));
			if (now >= before)
				continue;
			shrunk++;
			assert_in_range(before - now, 1,
					DRAY_BLOCKS_MOST * 4160);
		}
	}
	assert_true(shrunk > 0);
}
