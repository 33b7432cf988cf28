// SPDX-License-Identifier: Apache-2.0 OR MIT
/* pool: what it may be, where its memory comes from, and when it goes back. */
#include <sys/utsname.h>

#include "memory/window.h"
#include "pool.h"

#define MIB ((size_t)1 << 20)

FACT(the_granule_can_be_chosen)
{
	struct dray_pool_options options = { .granule = 4096 };
	struct dray_pool *pool = open_pool(test_spec(), &options);
	void *a = take(pool, 1, 0), *b = take(pool, 1, 0);

	assert_int_equal(dray_usable_size(a), 4096);
	assert_int_equal((uintptr_t)a % 4096, 0);
	assert_int_equal((uintptr_t)b % 4096, 0);
	dray_pool_free(pool, a);
	dray_pool_free(pool, b);
	dray_pool_close(pool);
}

FACT(a_granule_may_be_larger_than_a_page)
{
	struct dray_pool_options options = { .granule = 1 << 20, .initial = 1 };
	struct dray_pool *pool = open_pool(test_spec(), &options);
	char *block = take(pool, 1, 0);

	assert_int_equal(dray_usable_size(block), MIB);
	assert_int_equal((uintptr_t)block % MIB, 0);
	memset(block, 1, MIB);
	dray_pool_free(pool, block);
	assert_int_equal(dray_pool_trim(pool), MIB);
	dray_pool_close(pool);
}

FACT(a_limit_of_odd_bytes_is_kept)
{
	struct dray_pool_options options = { .limit = 100001 };
	struct dray_pool *pool = open_pool(test_spec(), &options);
	void *first = dray_pool_alloc(pool, 1, 0);

	while (dray_pool_alloc(pool, 64, 0))
		;
	assert_in_range(stats_of(pool).reserved, 65536, 100001);
	/* What is still alive keeps its pool; it all goes at once here. */
	for (char *block = first; stats_of(pool).blocks; block += 64)
		dray_pool_free(pool, block);
	dray_pool_close(pool);
}

/* The limit less the gap behind a block, from a pool that had and freed others. */
static void gives_its_limit(const char *spec, size_t limit)
{
	struct dray_pool_options options = { .limit = limit };
	struct dray_pool *pool = open_pool(spec, &options);
	size_t sizes[] = { limit / 2 + MIB, limit - MIB, limit - 256, 1 };

	for (size_t i = 0; i < 4; i++) {
		char *block = take(pool, sizes[i], 0);

		block[0] = 1;
		block[sizes[i] - 1] = 1;
		assert_in_range(stats_of(pool).reserved, sizes[i], limit);
		dray_pool_free(pool, block);
	}
	dray_pool_close(pool);
}

FACT(an_empty_pool_gives_its_limit_in_a_single_block)
{
	static const char *const hosts[] = { "host", "host:shareable" };

	if (on_kernel()) {
		gives_its_limit(test_spec(), 8 * MIB);
		return;
	}
	for (size_t i = 0; i < 2; i++)
		for (size_t limit = 8; limit <= 512; limit *= 2)
			gives_its_limit(hosts[i], limit * MIB);
	gives_its_limit("host", 48 * MIB);
	gives_its_limit("host", 96 * MIB);
}

FACT(a_pool_with_a_block_at_its_start_gives_the_rest)
{
	struct dray_pool_options options = { .limit = 64 * MIB };
	struct dray_pool *pool;
	void *first, *rest;

	if (on_kernel())
		skip();
	pool = open_pool(test_spec(), &options);
	first = take(pool, MIB, 0);
	rest = take(pool, 63 * MIB - 256, 0);
	dray_pool_free(pool, first);
	dray_pool_free(pool, rest);
	dray_pool_close(pool);
}

POOL_FACT(wrong_options_are_refused)
{
	struct dray_node *node = dray_pool_node(*state);
	struct dray_pool_options options = { .granule = 96 };
	struct dray_pool *pool = (void *)1;

	assert_fails(dray_pool_create(node, &options, &pool), -EINVAL,
		     "granule of 96 bytes");
	options.granule = 8;
	assert_fails(dray_pool_create(node, &options, &pool), -EINVAL,
		     "granule of 8 bytes");
	options.granule = 1u << 22;
	assert_fails(dray_pool_create(node, &options, &pool), -EINVAL,
		     "granule of 4194304 bytes");
	options = (struct dray_pool_options){ .flags = 4 };
	assert_fails(dray_pool_create(node, &options, &pool), -EINVAL,
		     "unknown flags 0x4");
	options = (struct dray_pool_options){ .initial = 8192, .limit = 4096 };
	assert_fails(dray_pool_create(node, &options, &pool), -EINVAL,
		     "8192 bytes at first, above the limit of 4096");
	options = (struct dray_pool_options){ .initial = 36864,
					      .limit = 36864,
					      .granule = 16384 };
	assert_fails(dray_pool_create(node, &options, &pool), -EINVAL,
		     "above the limit of 36864: regions are whole pages or "
		     "granules, here of 16384");
	options = (struct dray_pool_options){ .limit = 100 };
	assert_fails(dray_pool_create(node, &options, &pool), -EINVAL,
		     "limit of 100 bytes, below a page");
	options = (struct dray_pool_options){ .granule = MIB, .limit = 65536 };
	assert_fails(dray_pool_create(node, &options, &pool), -EINVAL,
		     "or granule of 1048576");
	options = (struct dray_pool_options){ .heap = "nowhere" };
	assert_fails(dray_pool_create(node, &options, &pool), -EINVAL,
		     "no heap \"nowhere\"");
	options.heap = "a name that is longer than any heap's name can be";
	assert_fails(dray_pool_create(node, &options, &pool), -EINVAL,
		     "no heap \"a name");
	options = (struct dray_pool_options){ .initial = 1ull << 50 };
	assert_int_not_equal(dray_pool_create(node, &options, &pool), 0);
	assert_ptr_equal(pool, (void *)1);
	/* None of them left a buffer behind. */
	assert_int_equal(buffers_of(node), 1);
}

FACT(a_limit_is_kept_and_named)
{
	struct dray_pool_options options = { .initial = MIB,
					     .limit = 2 * MIB,
					     .name = "small" };
	struct dray_pool *pool = open_pool(test_spec(), &options);
	void *blocks[64];
	int n = 0;

	assert_int_equal(stats_of(pool).reserved, MIB);
	while ((blocks[n] = dray_pool_alloc(pool, 65536, 0)))
		assert_true(++n < 64);
	assert_int_equal(errno, ENOMEM);
	assert_non_null(strstr(dray_last_error(), "\"small\""));
	assert_non_null(strstr(dray_last_error(), "the limit of 2097152"));
	/* All of it was used. */
	assert_int_equal(n, 32);
	assert_int_equal(stats_of(pool).reserved, 2 * MIB);
	assert_int_equal(stats_of(pool).largest_free, 0);
	/* What lies between blocks is told, and too short. */
	dray_pool_free(pool, blocks[3]);
	dray_pool_free(pool, blocks[7]);
	dray_pool_free(pool, blocks[8]);
	assert_null(dray_pool_alloc(pool, 3 * 65536, 0));
	assert_non_null(
		strstr(dray_last_error(), "the largest free run has 131072"));
	while (n--)
		if (n != 3 && n != 7 && n != 8)
			dray_pool_free(pool, blocks[n]);
	dray_pool_close(pool);
}

FACT(a_region_can_be_filled_to_the_last_granule)
{
	struct dray_pool_options options = { .initial = MIB, .limit = MIB };
	struct dray_pool *pool = open_pool(test_spec(), &options);
	void *whole = take(pool, MIB, 0);

	assert_null(dray_pool_alloc(pool, 1, 0));
	dray_pool_free(pool, whole);
	assert_int_equal(stats_of(pool).largest_free, MIB);
	dray_pool_close(pool);
}

/* A pool takes an eighth of the window at first. */
static void skip_in_a_small_window(void)
{
	if (dray_window_size() / MIB < 8192)
		skip();
}

FACT_ON(on_host, a_host_pool_grows_in_one_piece, pool_setup, pool_teardown)
{
	struct dray_pool_stats stats = { .size = sizeof(stats) };
	void *a, *b;

	skip_in_a_small_window();
	a = take(*state, 100 * MIB, 0);
	b = take(*state, 300 * MIB, 0);
	stats = stats_of(*state);
	assert_int_equal(stats.regions, 1);
	dray_pool_free(*state, a);
	dray_pool_free(*state, b);
	stats = stats_of(*state);
	assert_int_equal(stats.largest_free, stats.reserved);
	/* So the next can be as large as both. */
	a = take(*state, 400 * MIB, 0);
	assert_int_equal(stats_of(*state).reserved, stats.reserved);
	dray_pool_free(*state, a);
}

POOL_FACT(trimming_gives_everything_back_and_the_pool_works_on)
{
	void *block = take(*state, 2 * MIB, 0);

	memset(block, 1, 2 * MIB);
	dray_pool_free(*state, block);
	assert_true(dray_pool_trim(*state) >= 2 * MIB);
	assert_int_equal(stats_of(*state).reserved, 0);
	assert_int_equal(stats_of(*state).regions, 0);
	assert_int_equal(dray_pool_trim(*state), 0);
	block = take(*state, 100, 0);
	dray_pool_free(*state, block);
}

FACT_ON(on_host, trimming_around_a_block_keeps_it_and_clears_the_rest,
	pool_setup, pool_teardown)
{
	char *a, *b;

	a = take(*state, MIB, 0);
	b = take(*state, MIB, 0);
	memset(a, 1, MIB);
	memset(b, 2, MIB);
	dray_pool_free(*state, a);
	assert_true(dray_pool_trim(*state) >= MIB);
	assert_true(all_bytes_are(b, 2, MIB));
	assert_true(all_bytes_are(a, 0, MIB));
	assert_int_equal(dray_pool_trim(*state), 0);
	dray_pool_free(*state, b);
}

FACT(pages_of_freed_blocks_go_back_but_for_a_few)
{
	static const struct {
		size_t count, size, used;
	} cases[] = {
		{ 1, 192 * MIB, 0 },
		{ 12, 16 * MIB, 0 },
		{ 12, 16 * MIB, 256 * MIB },
		{ 192, MIB, 0 }, /* threads keep some of these */
		{ 192 * 8, MIB / 8, 0 },
		{ 192 * 256, 4064, 0 },
	};
	struct dray_pool *pool;
	char **blocks = calloc(192 * 256, sizeof(*blocks)), *start, *used;
	size_t i, j;

	skip_in_a_small_window();
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		pool = open_pool("host:shareable", NULL);
		for (j = 0; j < cases[i].count; j++) {
			blocks[j] = take(pool, cases[i].size, 0);
			memset(blocks[j], 1, cases[i].size);
		}
		used = cases[i].used ? take(pool, cases[i].used, 0) : NULL;
		start = blocks[0];
		assert_true(resident(start, 192 * MIB) > 180 * MIB);
		while (j--)
			dray_pool_free(pool, blocks[j]);
		/* 32 MiB, frees since the last count, and kept blocks. */
		assert_true(resident(start, 192 * MIB) <= 62 * MIB);
		dray_pool_free(pool, used);
		dray_pool_close(pool);
	}
	free(blocks);
}

/* Linux makes them for the asking since 6.1, where that is not denied. */
static bool huge_pages_can_be_made(void)
{
	FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/shmem_enabled",
			   "re");
	char line[128] = "[deny]";
	struct utsname system;
	int major, minor;

	if (file) {
		assert_non_null(fgets(line, sizeof(line), file));
		fclose(file);
	}
	assert_int_equal(uname(&system), 0);
	assert_int_equal(sscanf(system.release, "%d.%d", &major, &minor), 2);
	return !strstr(line, "[deny]") &&
	       (major > 6 || (major == 6 && minor)) &&
	       sysconf(_SC_PAGESIZE) == 4096;
}

FACT(large_shareable_blocks_come_in_huge_pages)
{
	struct dray_pool *pool = open_pool("host:shareable", NULL);
	char *block;

	if (!huge_pages_can_be_made())
		skip();
	block = take(pool, 3 * MIB, 4 * MIB);
	assert_int_equal(resident(block, 4 * MIB), 4 * MIB);
	dray_pool_free(pool, block);
	/* Those that may stay untouched take no memory. */
	block = dray_pool_calloc(pool, 1, 128 * MIB);
	assert_true(resident(block, 128 * MIB) <= 4 * MIB);
	dray_pool_free(pool, block);
	block = take(pool, 512 * MIB, 4 * MIB);
	assert_true(resident(block, 512 * MIB) <= 4 * MIB);
	dray_pool_free(pool, block);
	dray_pool_close(pool);
}

/* Once, and again after the pages were returned. */
FACT(small_shareable_blocks_lie_in_huge_pages)
{
	struct dray_pool *pool = open_pool("host:shareable", NULL);
	static const size_t sizes[] = { 64, 5000, 100000, MIB - 64 };
	char *block;

	if (!huge_pages_can_be_made())
		skip();
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		block = take(pool, sizes[i], 2 * MIB);
		assert_int_equal(resident(block, 2 * MIB), 2 * MIB);
		dray_pool_free(pool, block);
		dray_pool_trim(pool);
		assert_int_equal(resident(block, 2 * MIB), 0);
		block = dray_pool_calloc(pool, 1, sizes[i]);
		assert_int_equal(resident(block, 2 * MIB), 2 * MIB);
		dray_pool_free(pool, block);
		dray_pool_trim(pool);
	}
	/* But not at the end of a small pool, where there is none. */
	dray_pool_close(pool);
	pool = open_pool("host:shareable",
			 &(struct dray_pool_options){ .initial = MIB,
						      .limit = MIB });
	block = take(pool, 100, 0);
	assert_true(resident(block, MIB) < MIB);
	dray_pool_free(pool, block);
	dray_pool_close(pool);
}

POOL_FACT(many_pools_leave_room_for_more)
{
	struct dray_node *node = dray_pool_node(*state);
	struct dray_pool *pools[100];
	struct dray_buffer *buffer;

	for (int i = 0; i < 100; i++)
		assert_works(dray_pool_create(
			node, &(struct dray_pool_options){ .initial = 65536 },
			&pools[i]));
	assert_works(dray_buffer_alloc(node, MIB, NULL, &buffer));
	dray_buffer_unref(buffer);
	for (int i = 0; i < 100; i++)
		dray_pool_close(pools[i]);
}

POOL_FACT(the_counters_add_up)
{
	struct dray_pool_stats stats = { .size = sizeof(stats) };
	void *a = take(*state, 1000, 0), *b = take(*state, 5000, 0);

	stats = stats_of(*state);
	assert_int_equal(stats.blocks, 2);
	assert_int_equal(stats.used, dray_usable_size(a) + dray_usable_size(b));
	assert_int_equal(stats.peak, stats.used + stats.cached);
	dray_pool_free(*state, b);
	assert_int_equal(stats_of(*state).peak, stats.peak);
	assert_int_equal(stats_of(*state).used, dray_usable_size(a));
	dray_pool_free(*state, a);
}

FACT(a_closed_pool_lives_until_its_last_block)
{
	struct dray_node *node = open_node(test_spec());
	const struct dray_handler *handler;
	struct dray_pool *pool;
	size_t before = buffers_of(node);
	char *a, *b;

	assert_works(dray_pool_create(node, NULL, &pool));
	handler = dray_handler_for(pool);
	a = take(pool, 100, 0);
	b = take(pool, 200, 0);
	dray_pool_close(pool);
	errno = 0;
	assert_null(dray_pool_alloc(pool, 1, 0));
	assert_int_equal(errno, ENOMEM);
	assert_non_null(strstr(dray_last_error(), "closed"));
	assert_null(handler->allocator.malloc(handler->allocator.ctx, 1));
	memset(a, 1, 100);
	memset(b, 1, 200);
	/* Freeing through the handler of the closed pool, as a runtime does. */
	handler->allocator.free(handler->allocator.ctx, a, 1);
	assert_int_equal(dray_usable_size(b) >= 200, 1);
	assert_true(buffers_of(node) > before);
	handler->allocator.free(handler->allocator.ctx, b, 200);
	assert_int_equal(buffers_of(node), before);
	dray_node_unref(node);
}

POOL_FACT(pools_come_and_go_without_a_trace)
{
	struct dray_node *node = dray_pool_node(*state);
	size_t before = buffers_of(node);
	struct dray_pool *pool;

	for (int i = 0; i < 200; i++) {
		assert_works(dray_pool_create(node, NULL, &pool));
		dray_pool_free(pool, take(pool, 1000, 0));
		dray_pool_close(pool);
	}
	assert_int_equal(buffers_of(node), before);
	dray_pool_close(NULL);
}
