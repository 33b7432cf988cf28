// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * pool: blocks with a larger alignment than the heap gives its buffers, as that
 * of the CMA area does, which knows none above a bound of the kernel's.  What
 * such a block lies in is as large as block and alignment together.
 */
#include "pool.h"
#include "pool/fit.h"
#include "stand_in.h"

#define ALIGNMENT ((size_t)2 << 20)
#define FIRST (4 * MIB) /* what a pool of the kernel's has at first */
#define ROOM (64 * MIB)

static bool nothing_fits;
WRAPPED(uint32_t, dray_fit_take,
	(struct dray_fit * fit, uint32_t size, uint64_t alignment,
	 uint64_t origin, bool thoroughly))
{
	if (nothing_fits)
		return 0;
	return __real_dray_fit_take(fit, size, alignment, origin, thoroughly);
}

static struct dray_pool *pool_of(struct dray_node *node, uint64_t limit)
{
	struct dray_pool_options options = { .limit = limit };
	struct dray_pool *pool = NULL;

	module.alignment_most = MIB;
	module.room = ROOM;
	assert_works(dray_pool_create(node, &options, &pool));
	return pool;
}

/* Takes @count blocks, of which each is aligned, and gives them back. */
static void take_aligned(struct dray_pool *pool, size_t size, size_t alignment,
			 int count)
{
	char *blocks[16];

	for (int i = 0; i < count; i++) {
		blocks[i] = take(pool, size, alignment);
		assert_int_equal((uintptr_t)blocks[i] % alignment, 0);
		memset(blocks[i], i, size);
	}
	for (int i = 0; i < count; i++) {
		assert_true(all_bytes_are(blocks[i], i, size));
		dray_pool_free(pool, blocks[i]);
	}
}

STAND_IN_FACT(a_small_block_is_found_in_what_was_added_for_it)
{
	struct dray_pool *pool = pool_of(*state, 0);

	take_aligned(pool, 4096, ALIGNMENT, 8);
	/* Not a region for each: the rest of one is there for the next. */
	assert_in_range(stats_of(pool).regions, 1, 4);
	assert_true(module.taken <= 2 * 8 * ALIGNMENT);
	dray_pool_close(pool);
}

STAND_IN_FACT(a_block_is_found_however_much_its_alignment_adds)
{
	struct dray_pool *pool;

	for (size_t size = 128; size <= 4 * MIB; size *= 4) {
		module.taken = 0;
		pool = pool_of(*state, 0);
		take_aligned(pool, size, 8 * ALIGNMENT, 1);
		dray_pool_close(pool);
	}
}

/* A quarter of the next region, which had one of its own, and is less of it. */
STAND_IN_FACT(a_large_block_has_its_own_region_only_where_it_fills_it)
{
	struct dray_pool *pool = pool_of(*state, 0);
	void *first = take(pool, FIRST, 0), *block, *small;

	block = take(pool, MIB, 4 * ALIGNMENT);
	/* What is left of it is of use. */
	small = take(pool, MIB, 0);
	assert_int_equal(stats_of(pool).regions, 2);
	dray_pool_free(pool, small);
	dray_pool_free(pool, block);
	dray_pool_free(pool, first);
	dray_pool_close(pool);
}

STAND_IN_FACT(a_limit_ends_the_search)
{
	struct dray_pool *pool = pool_of(*state, 2 * FIRST);
	void *blocks[16];
	int n = 0;

	while ((blocks[n] = dray_pool_alloc(pool, 4096, ALIGNMENT)))
		assert_true(++n < 16);
	assert_int_equal(errno, ENOMEM);
	assert_non_null(strstr(dray_last_error(), "the limit of 8388608"));
	assert_in_range(n, 2, 4);
	while (n--)
		dray_pool_free(pool, blocks[n]);
	dray_pool_close(pool);
}

STAND_IN_FACT(a_full_heap_ends_the_search)
{
	struct dray_pool *pool = pool_of(*state, 0);
	void *blocks[64];
	int n = 0;

	while ((blocks[n] = dray_pool_alloc(pool, 4096, ALIGNMENT)))
		assert_true(++n < 64);
	assert_int_equal(errno, ENOMEM);
	/* Each place but a few at the ends of regions, and the last, is used. */
	assert_in_range(n, ROOM / ALIGNMENT / 2, ROOM / ALIGNMENT);
	while (n--)
		dray_pool_free(pool, blocks[n]);
	dray_pool_close(pool);
}

STAND_IN_FACT(memory_that_is_of_no_use_is_added_twice_at_most)
{
	struct dray_pool *pool = pool_of(*state, 0);
	uint64_t before = stats_of(pool).regions;

	nothing_fits = true;
	assert_null(dray_pool_alloc(pool, 4096, 0));
	assert_int_equal(errno, ENOMEM);
	assert_non_null(strstr(dray_last_error(), "find no place"));
	assert_non_null(strstr(dray_last_error(), "the largest free run has"));
	assert_null(dray_pool_alloc(pool, 4096, ALIGNMENT));
	nothing_fits = false;
	assert_in_range(stats_of(pool).regions, before, before + 4);
	dray_pool_free(pool, take(pool, 4096, 0));
	dray_pool_close(pool);
}
