// SPDX-License-Identifier: Apache-2.0 OR MIT
/* pool: what is in its memory, which it clears and else leaves alone. */
#include "pool.h"

#define MIB ((size_t)1 << 20)

POOL_FACT(calloc_is_zero_whatever_was_there)
{
	struct dice dice = { 3 };
	void *blocks[32] = { NULL };

	for (int i = 0; i < 3000; i++) {
		size_t size = 1 + roll(&dice, 1ull << roll(&dice, 18));
		size_t j = roll(&dice, 32);

		dray_pool_free(*state, blocks[j]);
		if (roll(&dice, 2)) {
			blocks[j] = take(*state, size, 0);
		} else {
			blocks[j] = dray_pool_calloc(*state, 1, size);
			assert_non_null(blocks[j]);
			assert_true(all_bytes_are(blocks[j], 0, size));
		}
		memset(blocks[j], 0xff, dray_usable_size(blocks[j]));
		if (roll(&dice, 500) == 0)
			dray_pool_trim(*state);
	}
	for (int i = 0; i < 32; i++)
		dray_pool_free(*state, blocks[i]);
}

FACT(calloc_does_not_touch_what_is_clean)
{
	size_t size = 8 * MIB, page = (size_t)sysconf(_SC_PAGESIZE), i;
	struct dray_pool *pool;
	char *block;

	/* Whether pages are there can be asked for a memfd, page by page. */
	pool = open_pool("host:shareable", NULL);
	block = dray_pool_calloc(pool, size, 1);
	assert_int_equal(resident(block, size), 0);
	/* One that was written is cleared when its page is given out again. */
	block[5 * page] = 1;
	dray_pool_free(pool, block);
	block = dray_pool_calloc(pool, size, 1);
	assert_true(resident(block, size) <= 2 * MIB);
	for (i = 0; i < size; i++)
		assert_int_equal(block[i], 0);
	dray_pool_free(pool, block);
	dray_pool_close(pool);
}

FACT(calloc_gives_the_pages_of_a_large_block_back)
{
	size_t size = 48 * MIB;
	struct dray_pool *pool = open_pool("host:private", NULL);
	char *beside = take(pool, 1000, 0), *block = take(pool, size, 0),
	     *again;

	memset(beside, 1, 1000);
	memset(block, 1, size);
	dray_pool_free(pool, block);
	assert_true(resident(block - (uintptr_t)block % 4096, size) > 30 * MIB);
	again = dray_pool_calloc(pool, 1, size);
	assert_ptr_equal(again, block);
	assert_true(resident(block - (uintptr_t)block % 4096, size) <= 4 * MIB);
	assert_true(all_bytes_are(block, 0, size));
	assert_true(all_bytes_are(beside, 1, 1000));
	dray_pool_free(pool, beside);
	dray_pool_free(pool, block);
	dray_pool_close(pool);
}

/* In a row of blocks of zeros: whether the owner writes, and what stays of the pages. */
FACT(a_large_block_of_a_memfd_loses_its_pages_if_zeros_stay_untouched)
{
	static const struct {
		bool writes;
		size_t least, most;
	} rows[] = {
		{ true, 28 * MIB, 32 * MIB },
		{ false, 28 * MIB, 30 * MIB },
		{ false, 0, 0 },
		{ true, 0, 0 },
		{ true, 28 * MIB, 30 * MIB },
		{ false, 28 * MIB, 30 * MIB },
		{ false, 0, 0 },
	};
	size_t size = 32 * MIB;
	struct dray_pool *pool = open_pool("host:shareable", NULL);
	char *block = take(pool, size, 2 * MIB), *start = block;

	memset(block, 1, size);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		dray_pool_free(pool, block);
		block = dray_pool_calloc(pool, 1, size);
		assert_ptr_equal(block, start);
		assert_in_range(resident(block, size), rows[i].least,
				rows[i].most);
		if (rows[i].writes)
			memset(block, 1, size);
		else
			assert_true(all_bytes_are(block + size - 64, 0, 64));
	}
	assert_true(all_bytes_are(block, 0, size));
	dray_pool_free(pool, block);
	dray_pool_close(pool);
}

FACT(memory_that_others_saw_is_cleared_though_never_given_out)
{
	struct dray_location where;
	char *block, *outside;
	struct dray_pool *pool = open_pool("host:shareable", NULL);

	block = take(pool, 64, 0);
	assert_works(dray_locate(block, &where));
	outside = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_SHARED,
		       dray_buffer_fd(where.buffer), 0);
	assert_ptr_not_equal(outside, MAP_FAILED);
	memset(outside, 0x77, MIB);
	munmap(outside, MIB);
	dray_pool_free(pool, block);
	block = dray_pool_calloc(pool, MIB / 2, 1);
	assert_true(all_bytes_are(block, 0, MIB / 2));
	dray_pool_free(pool, block);
	dray_pool_close(pool);
}

/* Pages of a memfd may be there, but hold what they held. */
static void check_untouched(const char *spec, bool resides)
{
	struct dray_pool *pool = open_pool(spec, NULL);
	struct dice dice = { 5 };
	struct dray_location where;
	void *blocks[512] = { NULL };

	for (int i = 0; i < 20000; i++) {
		size_t j = roll(&dice, 512);

		dray_pool_free(pool, blocks[j]);
		blocks[j] = take(pool, roll(&dice, 16000), 0);
	}
	assert_works(dray_locate(blocks[0], &where));
	if (!resides)
		assert_int_equal(
			resident(dray_buffer_data(where.buffer), 16 * MIB), 0);
	assert_true(all_bytes_are(dray_buffer_data(where.buffer), 0, 16 * MIB));
	for (int i = 0; i < 512; i++)
		dray_pool_free(pool, blocks[i]);
	dray_pool_close(pool);
}

BRIEF(FACT(the_pool_never_touches_what_it_manages),
      check_untouched("host:private", false));
BRIEF(FACT(nor_what_others_may_see), check_untouched("host:shareable", true));

/* One number for each 8 bytes, as no books of a pool would hold it. */
static uint64_t pattern(size_t i)
{
	return (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

/* In private memory and a board's, whose pages nobody can ask for. */
FIXED_POOL_FACT(what_is_free_or_taken_keeps_what_was_written)
{
	/* Without it a board's region, all free, would be given back. */
	void *stays = take(*state, 64, 0), *blocks[512] = { NULL };
	size_t size = stats_of(*state).largest_free, i;
	uint64_t *all = take(*state, size, 0);
	struct dice dice = { 6 };
	int rest = rounds(40000);

	assert_in_range(size, FIXED_SIZE / 2, FIXED_SIZE);
	for (i = 0; i < size / sizeof(*all); i++)
		all[i] = pattern(i);
	dray_pool_free(*state, all);
	while (rest--) {
		size_t j = roll(&dice, 512);
		size_t some = roll(&dice, 1ull << roll(&dice, 17));

		dray_pool_free(*state, blocks[j]);
		blocks[j] = take(*state, some, (size_t)1 << roll(&dice, 14));
	}
	for (i = 0; i < 512; i++)
		dray_pool_free(*state, blocks[i]);
	assert_ptr_equal(take(*state, size, 0), all);
	for (i = 0; i < size / sizeof(*all); i++)
		if (all[i] != pattern(i))
			fail_msg("%#llx is written at byte %zu",
				 (unsigned long long)all[i], i * sizeof(*all));
	dray_pool_free(*state, all);
	dray_pool_free(*state, stays);
}
