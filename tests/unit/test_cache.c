// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * cache: what a thread keeps is used again, and is nothing else meanwhile; a
 * wrong free of it is noticed as any other.
 */
#include "pool.h"
#include "pool/busy.h"
#include "pool/cache.h"

#define MIB ((size_t)1 << 20)
#define SIZE FIXED_SIZE

FIXED_POOL_FACT(what_was_freed_last_is_used_first)
{
	static const size_t sizes[] = { 1, 64, 100, 4096, 4097, 50000 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		void *first = take(*state, sizes[i], 0);
		void *second = take(*state, sizes[i], 0);

		dray_pool_free(*state, first);
		dray_pool_free(*state, second);
		assert_ptr_equal(take(*state, sizes[i], 0), second);
		assert_ptr_equal(take(*state, sizes[i], 0), first);
		dray_pool_free(*state, first);
		dray_pool_free(*state, second);
	}
	assert_int_equal(stats_of(*state).used, 0);
	assert_int_equal(stats_of(*state).largest_free, SIZE);
}

FIXED_POOL_FACT(large_blocks_of_several_sizes_are_kept)
{
	static const size_t sizes[] = { 5000, 70000, 20000, 100000, 9000 };
	const size_t count = sizeof(sizes) / sizeof(sizes[0]);
	void *blocks[5], *more[40];
	size_t i;

	if (on_kernel()) /* a thread keeps blocks of one size, for whole buffers */
		skip();
	for (i = 0; i < count; i++)
		blocks[i] = take(*state, sizes[i], 0);
	for (i = 0; i < count; i++)
		dray_pool_free(*state, blocks[i]);
	assert_true(stats_of(*state).cached >= 204000);
	for (i = 0; i < count; i++)
		assert_ptr_equal(take(*state, sizes[i], 0), blocks[i]);
	/* Many return to the pool, a few together. */
	for (i = 0; i < 40; i++)
		more[i] = take(*state, 10000 + 100 * i, 0);
	for (i = 0; i < 40; i++)
		dray_pool_free(*state, more[i]);
	assert_in_range(stats_of(*state).cached, 1,
			5 * DRAY_SHELF_ROOM * 14080);
	for (i = 0; i < count; i++)
		dray_pool_free(*state, blocks[i]);
	assert_int_equal(stats_of(*state).largest_free, SIZE);
}

/* Of a block of 90,000 bytes, by a request of another size. */
FIXED_POOL_FACT(a_large_block_serves_a_size_that_is_a_little_smaller)
{
	static const struct {
		size_t size;
		bool kept, full;
	} rows[] = {
		{ 90000, true, false },	 { 90000, true, true },
		{ 89000, true, false },	 { 89000, false, true },
		{ 80100, true, false },	 { 79000, false, false },
		{ 90100, false, false }, { 45000, false, false },
	};

	if (on_kernel()) /* a thread keeps blocks of one size, for whole buffers */
		skip();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		void *filling = take(*state, rows[i].full ? SIZE / 2 : 64, 0);
		void *block = take(*state, 90000, 0), *other;

		dray_pool_free(*state, block);
		other = take(*state, rows[i].size, 0);
		assert_int_equal(dray_usable_size(other),
				 rows[i].kept ? 90048
					      : (rows[i].size + 63) / 64 * 64);
		dray_pool_free(*state, other);
		dray_pool_free(*state, filling);
		assert_int_equal(stats_of(*state).used, 0);
	}
}

/* Its marks did not say its size: of so small a pool it was no block to keep. */
FACT(a_block_from_before_the_pool_grew_is_kept)
{
	struct dray_pool_options options = { .initial = 4 * MIB };
	struct dray_pool *pool = open_pool(test_spec(), &options);
	void *block = take(pool, MIB, 0), *more = take(pool, 28 * MIB, 0);
	int i;

	for (i = 0; i < 3; i++) {
		dray_pool_free(pool, block);
		assert_ptr_equal(take(pool, MIB, 0), block);
		assert_int_equal(dray_usable_size(block), MIB);
	}
	dray_pool_free(pool, block);
	assert_int_equal(stats_of(pool).cached, MIB);
	dray_pool_free(pool, more);
	assert_int_equal(stats_of(pool).used, 0);
	dray_pool_close(pool);
}

FIXED_POOL_FACT(a_kept_block_is_cleared_for_calloc)
{
	unsigned char *block = take(*state, 3000, 0);

	memset(block, 0xff, 3000);
	dray_pool_free(*state, block);
	assert_ptr_equal(dray_pool_calloc(*state, 3, 1000), block);
	assert_true(all_bytes_are(block, 0, 3000));
	dray_pool_free(*state, block);
}

FIXED_POOL_FACT(a_kept_block_is_no_block_to_anybody_else)
{
	static const size_t sizes[] = { 128, 4096, 65536 };
	struct dray_location where;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char *block = take(*state, sizes[i], 0);

		assert_works(dray_locate(block + 63, &where));
		assert_int_equal(dray_usable_size(block), sizes[i]);
		dray_pool_free(*state, block);
		assert_int_equal(dray_usable_size(block), 0);
		assert_fails(dray_locate(block + 63, &where), -ENOENT, "0x");
		assert_fails(dray_block_hold(block), -ENOENT, "0x");
		assert_null(dray_pool_realloc(*state, block, 10));
		assert_int_equal(errno, EINVAL);
	}
}

FIXED_POOL_FACT(wrong_frees_leave_the_magazines_as_they_are)
{
	static const size_t sizes[] = { 128, 4096, 65536 };
	uint64_t wrong = 0;
	size_t i, inside;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char *block = take(*state, sizes[i], 0), *other;

		/* Every line of it, and a byte that begins no line. */
		for (inside = 64; inside < sizes[i]; inside += 64, wrong++)
			dray_pool_free(*state, block + inside);
		dray_pool_free(*state, block + 1);
		dray_pool_free(*state, block);
		dray_pool_free(*state, block);
		wrong += 2;
		block = take(*state, sizes[i], 0);
		other = take(*state, sizes[i], 0);
		assert_ptr_not_equal(block, other);
		dray_pool_free(*state, block);
		dray_pool_free(*state, other);
	}
	assert_int_equal(stats_of(*state).bad_frees, wrong);
	assert_int_equal(stats_of(*state).largest_free, SIZE);
}

FIXED_POOL_FACT(a_held_block_is_not_kept)
{
	void *block = take(*state, 4096, 0), *other;

	assert_works(dray_block_hold(block));
	dray_pool_free(*state, block);
	assert_int_equal(stats_of(*state).parked, 4096);
	other = take(*state, 4096, 0);
	assert_ptr_not_equal(other, block);
	dray_block_release(block);
	assert_int_equal(stats_of(*state).blocks, 1);
	dray_pool_free(*state, other);
}

FIXED_POOL_FACT(a_block_is_kept_again_once_nobody_holds_it)
{
	void *block = take(*state, 4096, 0);

	assert_works(dray_block_hold(block));
	dray_block_release(block);
	dray_pool_free(*state, block);
	assert_in_range(stats_of(*state).cached, 4096, SIZE);
}

FIXED_POOL_FACT(an_aligned_block_stays_aligned_and_out_of_magazines)
{
	char *block = take(*state, 64, 4096);

	dray_pool_free(*state, block);
	assert_int_equal(stats_of(*state).cached, 0);
	block = dray_pool_realloc(*state, take(*state, 64, 4096), MIB);
	assert_int_equal((uintptr_t)block % 4096, 0);
	dray_pool_free(*state, block);
}

FIXED_POOL_FACT(a_resized_block_is_kept_by_its_new_size)
{
	char *block = take(*state, 4096, 0), *other;

	assert_ptr_equal(dray_pool_realloc(*state, block, 128), block);
	assert_int_equal(dray_usable_size(block), 128);
	dray_pool_free(*state, block);
	assert_ptr_equal(take(*state, 128, 0), block);
	other = take(*state, 4096, 0);
	assert_true(other >= block + 128 || other + 4096 <= block);
	dray_pool_free(*state, block);
	dray_pool_free(*state, other);
}

/* Larger ones than small blocks may be: less than a granule is a large block. */
FACT(blocks_of_large_granules_are_used_again)
{
	struct dray_pool_options options = { .granule = 8192,
					     .initial = FIXED_SIZE,
					     .limit = FIXED_SIZE };
	struct dray_pool *pool = open_pool(test_spec(), &options);
	void *block = take(pool, 100, 0), *other = take(pool, 100, 0);
	static const size_t sizes[] = { 1, 100, 4096, 4097, 8192 };

	dray_pool_free(pool, block);
	dray_pool_free(pool, other);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		/* Without the thread's own it would be the lower one. */
		assert_ptr_equal(take(pool, sizes[i], 0), other);
		dray_pool_free(pool, other);
	}
	assert_int_equal(stats_of(pool).cached, 2 * 8192);
	dray_pool_close(pool);
}

FACT(a_closed_pool_gives_nothing_more)
{
	struct dray_pool_options options = { .initial = SIZE };
	struct dray_pool *pool = open_pool(test_spec(), &options);
	const struct dray_handler *handler = dray_handler_for(pool);
	void *block = take(pool, 64, 0), *kept = take(pool, 64, 0);

	dray_pool_free(pool, kept);
	dray_pool_close(pool);
	assert_null(handler->allocator.malloc(pool, 64));
	assert_null(handler->allocator.calloc(pool, 8, 8));
	handler->allocator.free(pool, block, 64);
	handler->allocator.free(pool, kept, 64);
	assert_null(handler->allocator.malloc(pool, 64));
}

/* Pools' objects are used again, and what threads knew of them with them. */
FACT(a_new_pool_takes_nothing_from_an_older_one)
{
	static const uint32_t granules[] = { 128, 4096, 128, 256 };
	size_t i, round;

	for (i = 0; i < sizeof(granules) / sizeof(granules[0]); i++) {
		struct dray_pool_options options = {
			.initial = SIZE,
			.granule = granules[i],
		};
		struct dray_pool *pool = open_pool(test_spec(), &options);

		for (round = 0; round < 100; round++) {
			void *block = take(pool, 100, 0);

			assert_in_range(dray_usable_size(block), 100,
					granules[i] < 128 ? 128 : granules[i]);
			dray_pool_free(pool, block);
		}
		assert_int_equal(stats_of(pool).used, 0);
		dray_pool_close(pool);
	}
}

FACT(more_pools_than_have_caches_work)
{
	struct dray_pool *pools[DRAY_CACHED_POOLS + 8];
	struct dray_pool_options options = { .initial = MIB };
	size_t i;

	for (i = 0; i < DRAY_CACHED_POOLS + 8; i++) {
		pools[i] = open_pool(test_spec(), &options);
		dray_pool_free(pools[i], take(pools[i], 64, 0));
	}
	for (i = 0; i < DRAY_CACHED_POOLS + 8; i++) {
		assert_int_equal(stats_of(pools[i]).largest_free, MIB);
		dray_pool_close(pools[i]);
	}
}
