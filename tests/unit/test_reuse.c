// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * reuse: memory that is freed while an engine writes or reads it goes to
 * nobody else before the engine is done.  On a node with an engine: the
 * board's, which is quick and gets a descriptor for each row, and the test
 * engine (tests/engine), which takes its time for each, so that
 * DRAY_TEST_ENGINE_LATE asks for one row.  Elsewhere there is nothing to see.
 *
 * The pool is so small that what is freed would be given out again.
 */
#include "node.h"

#define BLOCK (256u << 10)
#define BLOCKS 8u
#define ROW 64 /* of which every second one is copied */
#define ROUNDS 20u
#define OLD 0xee
#define NEW 0x11

static struct dray_node *node;
static struct dray_pool *pool;
static struct dray_queue *queue;
static bool has_engine;

static int set_up(void **state)
{
	struct dray_pool_options options = { .initial = BLOCKS * BLOCK,
					     .limit = BLOCKS * BLOCK };
	struct dray_info info;

	node = open_shareable_node();
	assert_works(dray_node_info(node, &info, sizeof(info)));
	has_engine = (info.flags & DRAY_NODE_SUBMIT) && info.channel_count;
	assert_works(dray_pool_create(node, &options, &pool));
	assert_works(dray_queue_create(node, NULL, &queue));
	return 0;
}

static int tear_down(void **state)
{
	struct dray_pool_stats stats = { .size = sizeof(stats) };

	dray_queue_destroy(queue);
	assert_works(dray_pool_stats(pool, &stats));
	assert_int_equal(stats.blocks, 0);
	assert_int_equal(stats.parked, 0);
	dray_pool_close(pool);
	dray_node_unref(node);
	return 0;
}

static unsigned char *block_of(int byte)
{
	unsigned char *bytes = dray_pool_alloc(pool, BLOCK, 0);

	assert_non_null(bytes);
	memset(bytes, byte, BLOCK);
	return bytes;
}

/* Half of @src to @dst, on its way: a descriptor for each row. */
static struct dray_fence *begin(unsigned char *dst, unsigned char *src)
{
	const int64_t row = getenv("DRAY_TEST_ENGINE_LATE") ? BLOCK / 2 : ROW;
	const int64_t shape[] = { BLOCK / (2 * row), row };
	const int64_t strides[] = { 2 * row, 1 };
	struct dray_view to, from;
	struct dray_fence *fence = NULL;

	assert_works(dray_view_init(&to, dst, u1, 2, shape, strides));
	assert_works(dray_view_init(&from, src, u1, 2, shape, strides));
	assert_works(dray_copy(queue, &to, &from, DRAY_COPY_ENGINE, &fence));
	return fence;
}

/* @most blocks, or what the pool still gives, each byte NEW; how many. */
static unsigned int take(unsigned char *blocks[BLOCKS], unsigned int most)
{
	unsigned int count = 0;

	while (count < most &&
	       (blocks[count] = dray_pool_alloc(pool, BLOCK, 0)))
		memset(blocks[count++], NEW, BLOCK);
	return count;
}

static unsigned int bytes_not(const unsigned char *block, int byte)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < BLOCK; i++)
		count += block[i] != byte;
	return count;
}

/* One round: whether the engine was at work until all blocks were given. */
static bool freed_in_flight(void)
{
	unsigned char *dst = block_of(0), *src = block_of(OLD);
	unsigned char *after = block_of(0), *blocks[BLOCKS];
	struct dray_fence *fence = begin(dst, src);
	struct dray_pool_stats stats = { .size = sizeof(stats) };
	unsigned int count;
	bool at_work;

	dray_pool_free(pool, dst);
	dray_pool_free(pool, src);
	/* No engine uses it; its user says when it is done with. */
	assert_works(dray_free_after(after, fence));
	/* All but what was freed: for that the pool would wait. */
	count = take(blocks, BLOCKS - 3);
	assert_works(dray_pool_stats(pool, &stats));
	at_work = dray_fence_status(fence) == 0;
	assert_int_equal(count, BLOCKS - 3);
	if (at_work) {
		assert_int_equal(stats.parked, 3 * BLOCK);
		for (unsigned int i = 0; i < count; i++) {
			assert_ptr_not_equal(blocks[i], dst);
			assert_ptr_not_equal(blocks[i], src);
			assert_ptr_not_equal(blocks[i], after);
		}
	}
	assert_works(dray_fence_wait(fence, DEADLINE * 1000));
	dray_fence_unref(fence);
	for (unsigned int i = 0; i < count; i++) {
		assert_int_equal(bytes_not(blocks[i], NEW), 0);
		dray_pool_free(pool, blocks[i]);
	}
	return at_work;
}

FACT(what_an_engine_uses_is_not_given_out)
{
	unsigned int at_work = 0;

	if (!has_engine)
		skip();
	for (unsigned int i = 0; i < ROUNDS; i++)
		at_work += freed_in_flight();
	print_message("# the engine was at work in %u of %u rounds\n", at_work,
		      ROUNDS);
	/* A busy machine may be slower than the engine. */
	becomes_true(at_work || freed_in_flight());
}

/* What was freed last comes first: without a hold the round would fail. */
FACT(what_no_engine_uses_is_given_out_at_once)
{
	unsigned char *dst = block_of(0), *src = block_of(OLD);
	unsigned char *blocks[BLOCKS] = { NULL };
	unsigned int count;

	dray_pool_free(pool, dst);
	dray_pool_free(pool, src);
	count = take(blocks, 2);
	assert_int_equal(count, 2);
	assert_true(blocks[0] == dst || blocks[0] == src);
	assert_true(blocks[1] == dst || blocks[1] == src);
	while (count)
		dray_pool_free(pool, blocks[--count]);
}

/* What an engine has written is there when its fence says so. */
FACT(what_is_kept_holds_what_the_engine_wrote)
{
	unsigned char *dst, *src;
	struct dray_fence *fence;

	if (!has_engine)
		skip();
	dst = block_of(0);
	src = block_of(OLD);
	fence = begin(dst, src);
	dray_pool_free(pool, src);
	assert_works(dray_fence_wait(fence, DEADLINE * 1000));
	dray_fence_unref(fence);
	assert_int_equal(bytes_not(dst, OLD), BLOCK / 2);
	dray_pool_free(pool, dst);
}

FACTS_SHARE(set_up, tear_down)
