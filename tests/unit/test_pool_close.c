// SPDX-License-Identifier: Apache-2.0 OR MIT
/* pool_close: what a closed pool holds on to while blocks of it are alive. */
#include "pool.h"

#define MIB ((size_t)1 << 20)
#define BLOCKS 8

static void check_pages_of(const char *spec)
{
	struct dray_pool *pool = open_pool(spec, NULL);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *whole = take(pool, BLOCKS * MIB, 0), *blocks[BLOCKS];

	memset(whole, 1, BLOCKS * MIB);
	dray_pool_free(pool, whole);
	for (int i = 0; i < BLOCKS; i++) {
		blocks[i] = take(pool, MIB, 0);
		assert_ptr_equal(blocks[i], whole + i * (ptrdiff_t)MIB);
	}
	dray_pool_free(pool, blocks[1]);
	dray_pool_free(pool, blocks[2]);
	dray_pool_free(pool, blocks[3]);
	/* Open, it keeps what may be wanted again. */
	assert_int_equal(resident(whole, BLOCKS * MIB), BLOCKS * MIB);
	dray_pool_close(pool);
	assert_in_range(resident(blocks[1], 3 * MIB), 0, 2 * page);
	assert_int_equal(resident(blocks[4], 4 * MIB), 4 * MIB);
	assert_true(all_bytes_are(blocks[4], 1, 4 * MIB));
	/* Closed, each that is freed goes. */
	dray_pool_free(pool, blocks[5]);
	assert_in_range(resident(blocks[5], MIB), 0, 2 * page);
	assert_true(all_bytes_are(blocks[6], 1, 2 * MIB));
	dray_pool_free(pool, blocks[0]);
	dray_pool_free(pool, blocks[4]);
	dray_pool_free(pool, blocks[6]);
	dray_pool_free(pool, blocks[7]);
}

FACT(pages_without_a_block_go_back_on_the_host)
{
	check_pages_of("host");
	check_pages_of("host:shareable");
}

/* Buffers go back whole, and the last block takes the last one along. */
FACT(buffers_without_a_block_go_back)
{
	struct dray_node *node = open_node(test_spec());
	size_t before = buffers_of(node), open;
	struct dray_pool *pool;
	void *large, *small;

	assert_works(dray_pool_create(node, NULL, &pool));
	small = take(pool, 100, 0);
	large = take(pool, 3 * MIB, 0);
	dray_pool_free(pool, take(pool, 3 * MIB, 0));
	open = buffers_of(node);
	assert_true(open > before);
	dray_pool_close(pool);
	if (on_kernel())
		assert_int_equal(buffers_of(node), open - 1);
	dray_pool_free(pool, small);
	assert_int_equal(buffers_of(node), before + 1);
	dray_pool_free(pool, large);
	assert_int_equal(buffers_of(node), before);
	dray_node_unref(node);
}

/* A trim on the way leaves it closed. */
FACT(nothing_comes_from_it_after_a_trim)
{
	struct dray_node *node = open_node(test_spec());
	size_t before = buffers_of(node);
	const struct dray_handler *handler;
	struct dray_location where;
	struct dray_pool *pool;
	void *first, *second;

	assert_works(dray_pool_create(node, NULL, &pool));
	handler = dray_handler_for(pool);
	first = take(pool, 100, 0);
	second = take(pool, 100, 0);
	dray_pool_close(pool);
	assert_works(dray_locate(first, &where));
	dray_pool_trim(where.pool);
	dray_pool_free(where.pool, second);
	assert_null(handler->allocator.malloc(handler->allocator.ctx, 100));
	assert_non_null(strstr(dray_last_error(), "closed"));
	dray_pool_free(where.pool, first);
	assert_int_equal(buffers_of(node), before);
	dray_node_unref(node);
}
