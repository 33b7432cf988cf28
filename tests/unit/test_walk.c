// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * walk: every block of a pool is shown once, as it is, and whoever looks may
 * use the pool.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "pool.h"
#include "pool/busy.h"

#define BLOCKS 1000
#define KEPT (3 * 64 * 30) /* by three threads, of all sizes */

struct seen {
	struct dray_pool *pool;
	struct dray_pool_block blocks[BLOCKS + KEPT];
	size_t count;
	size_t most; /* ends the walk with 7 */
};

static int note(void *argument, const struct dray_pool_block *block)
{
	struct seen *seen = argument;

	if (seen->count == seen->most)
		return 7;
	seen->blocks[seen->count++] = *block;
	return 0;
}

static struct seen *walk(struct dray_pool *pool)
{
	static struct seen seen;

	seen.count = 0;
	seen.most = BLOCKS + KEPT;
	assert_int_equal(dray_pool_walk(pool, note, &seen), 0);
	return &seen;
}

static const struct dray_pool_block *shown(const struct seen *seen,
					   const void *address)
{
	for (size_t i = 0; i < seen->count; i++)
		if (seen->blocks[i].address == address)
			return &seen->blocks[i];
	fail_msg("%p was not shown", address);
	return NULL;
}

BRIEF(POOL_FACT(an_empty_pool_shows_nothing),
      assert_int_equal(walk(*state)->count, 0));

POOL_FACT(every_block_is_shown_once_and_in_order)
{
	static void *blocks[BLOCKS];
	struct dray_location where;
	const struct seen *seen;
	struct dice dice = { .state = 20261122 };
	size_t i;

	/* Larger ones than any thread keeps are in between. */
	for (i = 0; i < BLOCKS; i++)
		blocks[i] =
			take(*state, 1 + roll(&dice, i % 50 ? 3000 : 40000), 0);
	for (i = 0; i < BLOCKS; i += 3) {
		dray_pool_free(*state, blocks[i]);
		blocks[i] = NULL;
	}
	stats_of(*state); /* takes back what was kept */
	seen = walk(*state);
	assert_int_equal(seen->count, BLOCKS - (BLOCKS + 2) / 3);
	for (i = 1; i < seen->count; i++)
		assert_true((char *)seen->blocks[i - 1].address +
				    seen->blocks[i - 1].size <=
			    (char *)seen->blocks[i].address);
	for (i = 0; i < BLOCKS; i++) {
		const struct dray_pool_block *block;

		if (!blocks[i])
			continue;
		block = shown(seen, blocks[i]);
		assert_works(dray_locate(blocks[i], &where));
		assert_int_equal(block->size, where.block_size);
		assert_ptr_equal(block->buffer, where.buffer);
		assert_int_equal(block->holds, 0);
		assert_int_equal(block->state, DRAY_POOL_BLOCK_USED);
		dray_pool_free(*state, blocks[i]);
	}
}

POOL_FACT(what_a_thread_keeps_is_shown_as_such)
{
	char *used = take(*state, 1000, 0), *kept = take(*state, 1000, 0);
	const struct seen *seen;

	dray_pool_free(*state, kept);
	seen = walk(*state);
	assert_int_equal(shown(seen, used)->state, DRAY_POOL_BLOCK_USED);
	assert_int_equal(shown(seen, kept)->state, DRAY_POOL_BLOCK_CACHED);
	dray_pool_free(*state, used);
}

POOL_FACT(what_an_engine_uses_is_shown_as_such)
{
	char *busy = take(*state, 1000, 0), *parked = take(*state, 1000, 0);
	const struct seen *seen;

	assert_works(dray_block_hold(busy + 999));
	assert_works(dray_block_hold(busy));
	assert_works(dray_block_hold(parked));
	dray_pool_free(*state, parked);
	seen = walk(*state);
	assert_int_equal(shown(seen, busy)->state, DRAY_POOL_BLOCK_USED);
	assert_int_equal(shown(seen, busy)->holds, 2);
	assert_int_equal(shown(seen, parked)->state, DRAY_POOL_BLOCK_PARKED);
	assert_int_equal(shown(seen, parked)->holds, 1);
	dray_block_release(parked);
	dray_block_release(busy);
	dray_block_release(busy);
	dray_pool_free(*state, busy);
}

POOL_FACT(whoever_looks_can_end_the_walk)
{
	struct seen seen = { .most = 70 };
	void *blocks[100];

	for (size_t i = 0; i < 100; i++)
		blocks[i] = take(*state, 64, 0);
	assert_int_equal(dray_pool_walk(*state, note, &seen), 7);
	assert_int_equal(seen.count, 70);
	for (size_t i = 0; i < 100; i++)
		dray_pool_free(*state, blocks[i]);
}

static int free_it(void *argument, const struct dray_pool_block *block)
{
	if (block->state == DRAY_POOL_BLOCK_USED)
		dray_pool_free(argument, block->address);
	return 0;
}

POOL_FACT(whoever_looks_may_free)
{
	for (size_t i = 0; i < BLOCKS; i++)
		take(*state, 64 + i % 7 * 1000, 0);
	assert_int_equal(dray_pool_walk(*state, free_it, *state), 0);
	assert_int_equal(stats_of(*state).blocks, 0);
	assert_int_equal(stats_of(*state).bad_frees, 0);
}

static int free_and_close(void *argument, const struct dray_pool_block *block)
{
	struct seen *seen = argument;

	if (!seen->count++)
		dray_pool_close(seen->pool);
	dray_pool_free(seen->pool, block->address);
	return 0;
}

FACT(whoever_looks_may_end_the_pool)
{
	struct dray_node *node = open_node(test_spec());
	struct seen seen = { .count = 0 };
	size_t before = buffers_of(node), i;

	assert_works(dray_pool_create(node, NULL, &seen.pool));
	for (i = 0; i < 200; i++)
		take(seen.pool, 64, 0);
	assert_int_equal(dray_pool_walk(seen.pool, free_and_close, &seen), 0);
	/* The thread kept none of them: they were the pool's last. */
	assert_int_equal(buffers_of(node), before);
	dray_node_unref(node);
}

static int compare_addresses(const void *a, const void *b)
{
	const char *left = *(char *const *)a, *right = *(char *const *)b;

	return left < right ? -1 : left > right;
}

static _Atomic bool over;

static void *come_and_go(void *pool)
{
	struct dice dice = { .state = 7 };
	void *blocks[64] = { NULL };
	size_t i;

	while (!atomic_load(&over)) {
		i = roll(&dice, 64);
		dray_pool_free(pool, blocks[i]);
		blocks[i] = dray_pool_alloc(pool, roll(&dice, 9000), 0);
	}
	for (i = 0; i < 64; i++)
		dray_pool_free(pool, blocks[i]);
	return NULL;
}

POOL_FACT(what_stays_is_shown_once_while_others_come_and_go)
{
	struct dray_pool *pool = *state;
	static void *blocks[BLOCKS];
	pthread_t threads[2];
	size_t i, j, n;

	atomic_store(&over, false);
	for (i = 0; i < BLOCKS; i++)
		blocks[i] = take(pool, 100 + i % 5 * 700, 0);
	qsort(blocks, BLOCKS, sizeof(blocks[0]), compare_addresses);
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, come_and_go,
						pool),
				 0);
	for (n = 0; n < 50; n++) {
		const struct seen *seen = walk(pool);

		for (i = 0, j = 0; i < seen->count && j < BLOCKS; i++)
			j += seen->blocks[i].address == blocks[j];
		if (j < BLOCKS)
			fail_msg("block %zu of %d was not shown", j, BLOCKS);
	}
	atomic_store(&over, true);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < BLOCKS; i++)
		dray_pool_free(pool, blocks[i]);
	assert_int_equal(stats_of(pool).used, 0);
}
