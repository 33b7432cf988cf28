// SPDX-License-Identifier: Apache-2.0 OR MIT
/* busy and locate: which block an address lies in, and blocks in use. */
#include "pool.h"
#include "pool/busy.h"
#include "pool/pool.h"

POOL_FACT(an_address_leads_to_its_block)
{
	char *a = take(*state, 1000, 0), *b = take(*state, 100000, 0);
	size_t size = dray_usable_size(b);
	struct dray_location where;

	for (size_t i = 0; i < size; i += i < 100 ? 1 : 997) {
		assert_works(dray_locate(b + i, &where));
		assert_ptr_equal(where.block, b);
		assert_int_equal(where.block_size, size);
		assert_ptr_equal(where.pool, *state);
		assert_ptr_equal((char *)dray_buffer_data(where.buffer) +
					 where.offset,
				 b + i);
	}
	assert_works(dray_locate(a + dray_usable_size(a) - 1, &where));
	assert_ptr_equal(where.block, a);
	dray_pool_free(*state, a);
	dray_pool_free(*state, b);
}

POOL_FACT(what_is_not_alive_is_not_found)
{
	char *a = take(*state, 1000, 0), *b = take(*state, 1000, 0);
	struct dray_location where = { .offset = 77 };
	int local;

	dray_pool_free(*state, a);
	assert_fails(dray_locate(a, &where), -ENOENT, "no memory of dray");
	assert_fails(dray_locate(a + 999, &where), -ENOENT, "no memory");
	assert_fails(dray_locate(&local, &where), -ENOENT, "no memory");
	assert_fails(dray_locate(NULL, &where), -ENOENT, "no memory");
	assert_fails(dray_locate((void *)UINTPTR_MAX, &where), -ENOENT, "no");
	assert_int_equal(where.offset, 77);
	dray_pool_free(*state, b);
}

POOL_FACT(a_bare_buffer_is_found_without_a_pool)
{
	struct dray_buffer *buffer;
	struct dray_location where;
	char *data;

	assert_works(
		dray_buffer_alloc(dray_pool_node(*state), 8192, NULL, &buffer));
	data = dray_buffer_data(buffer);
	assert_works(dray_locate(data + 8191, &where));
	assert_null(where.pool);
	assert_ptr_equal(where.buffer, buffer);
	assert_int_equal(where.offset, 8191);
	assert_ptr_equal(where.block, data);
	assert_int_equal(where.block_size, 8192);
	assert_fails(dray_locate(data + 8192, &where), -ENOENT, "no memory");
	assert_fails(dray_block_hold(data), -ENOENT, "no block of a pool");
	dray_block_release(data);
	dray_buffer_unref(buffer);
	assert_fails(dray_locate(data, &where), -ENOENT, "no memory");
}

FACT(a_buffer_kept_beyond_its_pool_is_found_alone)
{
	struct dray_pool *pool = open_pool(test_spec(), NULL);
	char *block = take(pool, 100, 0);
	struct dray_buffer *buffer;
	struct dray_location where;

	assert_works(dray_locate(block, &where));
	buffer = dray_buffer_ref(where.buffer);
	dray_pool_free(pool, block);
	dray_pool_close(pool);
	assert_works(dray_locate(block, &where));
	assert_null(where.pool);
	assert_ptr_equal(where.buffer, buffer);
	dray_buffer_unref(buffer);
}

POOL_FACT(a_busy_block_is_parked_until_the_last_release)
{
	char *block = take(*state, 1000, 0);
	size_t size = dray_usable_size(block);
	struct dray_location where;
	void *others[64];

	assert_works(dray_block_hold(block));
	assert_works(dray_block_hold(block + 500));
	dray_pool_free(*state, block);
	assert_int_equal(stats_of(*state).parked, size);
	assert_int_equal(stats_of(*state).bad_frees, 0);
	assert_fails(dray_locate(block, &where), -ENOENT, "was freed");
	assert_int_equal(dray_usable_size(block), 0);
	assert_fails(dray_block_hold(block), -ENOENT, "was freed");

	/* Nobody is given it meanwhile. */
	for (int i = 0; i < 64; i++) {
		others[i] = take(*state, 1000, 0);
		assert_ptr_not_equal(others[i], block);
	}
	dray_block_release(block + 999);
	assert_int_equal(stats_of(*state).parked, size);
	dray_block_release(block);
	assert_int_equal(stats_of(*state).parked, 0);
	assert_int_equal(stats_of(*state).blocks, 64);
	assert_ptr_equal(take(*state, 1000, 0), block);
	dray_pool_free(*state, block);
	for (int i = 0; i < 64; i++)
		dray_pool_free(*state, others[i]);
}

POOL_FACT(a_parked_block_cannot_be_freed_again)
{
	char *block = take(*state, 64, 0);

	assert_works(dray_block_hold(block));
	dray_pool_free(*state, block);
	dray_pool_free(*state, block);
	assert_int_equal(stats_of(*state).bad_frees, 1);
	assert_null(dray_pool_realloc(*state, block, 10));
	assert_int_equal(stats_of(*state).bad_frees, 2);
	dray_block_release(block);
}

POOL_FACT(a_block_that_was_released_is_freed_as_any)
{
	char *block = take(*state, 64, 0);

	assert_works(dray_block_hold(block));
	dray_block_release(block);
	/* One too many does nothing. */
	dray_block_release(block);
	assert_int_equal(stats_of(*state).blocks, 1);
	dray_pool_free(*state, block);
	assert_int_equal(stats_of(*state).blocks, 0);
	dray_block_release(block);
}

POOL_FACT(a_busy_block_never_shrinks)
{
	char *block = take(*state, 10000, 0), *next, *moved;
	size_t size = dray_usable_size(block);

	assert_works(dray_block_hold(block));
	assert_ptr_equal(dray_pool_realloc(*state, block, 10), block);
	assert_int_equal(dray_usable_size(block), size);
	/* Where it has to move, the old one stays for the engine. */
	next = take(*state, 64, 0);
	memset(block, 6, 10000);
	moved = dray_pool_realloc(*state, block, 1 << 20);
	assert_non_null(moved);
	assert_ptr_not_equal(moved, block);
	assert_int_equal(stats_of(*state).parked, size);
	assert_true(all_bytes_are(moved, 6, 10000));
	dray_block_release(block);
	assert_int_equal(stats_of(*state).parked, 0);
	dray_pool_free(*state, moved);
	dray_pool_free(*state, next);
}

POOL_FACT(holds_are_counted_up_to_a_limit)
{
	char *block = take(*state, 64, 0);
	struct dray_found found;

	assert_true(dray_find_start(block, &found));
	dray_found_piece(&found)->busy = UINT32_MAX - 1;
	pthread_mutex_unlock(&found.pool->lock);
	assert_fails(dray_block_hold(block), -EOVERFLOW, "4294967294 holds");
	dray_found_piece(&found)->busy = 0;
	dray_pool_free(*state, block);
}

FACT(a_closed_pool_waits_for_its_parked_blocks)
{
	struct dray_node *node = open_node(test_spec());
	struct dray_pool *pool;
	size_t before = buffers_of(node);
	char *block;

	assert_works(dray_pool_create(node, NULL, &pool));
	block = take(pool, 1000, 0);
	assert_works(dray_block_hold(block));
	dray_pool_free(pool, block);
	dray_pool_close(pool);
	assert_true(buffers_of(node) > before);
	memset(block, 1, 1000);
	dray_block_release(block);
	assert_int_equal(buffers_of(node), before);
	dray_node_unref(node);
}
