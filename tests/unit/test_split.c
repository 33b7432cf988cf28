// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * split: small requests go to another handler, and whatever happens to a block
 * happens where it came from.
 */
#include "failing_calloc.h"
#include "pool.h"

#define LIMIT ((size_t)1000)

/* The C library's heap as others bring it: it counts, and may say no. */
static struct {
	int out;
	bool full;
} heap;

static void *heap_malloc(void *ctx, size_t size)
{
	assert_true(size > 0);
	heap.out += !heap.full;
	return heap.full ? NULL : malloc(size);
}

static void *heap_calloc(void *ctx, size_t count, size_t size)
{
	void *block = heap_malloc(ctx, count * size);

	return block ? memset(block, 0, count * size) : NULL;
}

static void *heap_realloc(void *ctx, void *block, size_t size)
{
	assert_non_null(block);
	assert_true(size > 0);
	return heap.full ? NULL : realloc(block, size);
}

static void heap_free(void *ctx, void *block, size_t size)
{
	heap.out--;
	free(block);
}

static const struct dray_handler heap_handler = {
	.name = "heap",
	.version = DRAY_HANDLER_VERSION,
	.allocator = {
		.malloc = heap_malloc,
		.calloc = heap_calloc,
		.realloc = heap_realloc,
		.free = heap_free,
	},
};

static const struct dray_handler *open_split(struct dray_pool *pool,
					     const struct dray_handler *small)
{
	const struct dray_handler *handler;

	assert_works(dray_handler_split(pool, LIMIT, small, &handler));
	return handler;
}

static unsigned char *get(const struct dray_handler *handler, size_t size)
{
	unsigned char *block =
		handler->allocator.malloc(handler->allocator.ctx, size);

	if (!block)
		fail_msg("%zu bytes: %s", size, dray_last_error());
	memset(block, 7, size);
	return block;
}

static unsigned char *resize(const struct dray_handler *handler, void *block,
			     size_t size)
{
	return handler->allocator.realloc(handler->allocator.ctx, block, size);
}

/* With a size that says the opposite of the truth. */
static void put(const struct dray_handler *handler, void *block)
{
	bool large = dray_handler_behind(handler, block) != &heap_handler;

	handler->allocator.free(handler->allocator.ctx, block,
				large ? 1 : 100 * LIMIT);
}

static bool in_pool(struct dray_pool *pool, const void *block)
{
	struct dray_location where;

	return !dray_locate(block, &where) && where.pool == pool;
}

POOL_FACT(small_ones_come_from_the_other_handler)
{
	const struct dray_handler *handler = open_split(*state, &heap_handler);
	static const size_t sizes[] = { 0,     1,	  LIMIT - 1,
					LIMIT, LIMIT + 1, 100 * LIMIT };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		unsigned char *block = get(handler, sizes[i]);
		bool small = sizes[i] < LIMIT;

		assert_int_equal(in_pool(*state, block), !small);
		assert_int_equal(heap.out, small);
		assert_ptr_equal(dray_handler_behind(handler, block),
				 small ? &heap_handler
				       : dray_handler_for(*state));
		put(handler, block);
		assert_int_equal(heap.out, 0);
		assert_int_equal(stats_of(*state).blocks, 0);
	}
	assert_works(dray_handler_split_end(handler));
}

POOL_FACT(calloc_clears_and_checks_its_product)
{
	const struct dray_handler *handler = open_split(*state, &heap_handler);
	const struct dray_allocator *a = &handler->allocator;
	unsigned char *block = a->calloc(a->ctx, LIMIT / 10, 9);

	assert_true(all_bytes_are(block, 0, LIMIT / 10 * 9));
	assert_false(in_pool(*state, block));
	put(handler, block);
	put(handler, get(handler, 10 * LIMIT));
	block = a->calloc(a->ctx, LIMIT, 10);
	assert_true(all_bytes_are(block, 0, LIMIT * 10));
	assert_true(in_pool(*state, block));
	put(handler, block);
	put(handler, a->calloc(a->ctx, 0, 8));
	put(handler, a->calloc(a->ctx, 8, 0));
	assert_int_equal(heap.out, 0);
	errno = 0;
	assert_null(a->calloc(a->ctx, SIZE_MAX / 2 + 2, 2));
	assert_int_equal(errno, ENOMEM);
	assert_non_null(strstr(dray_last_error(), "do not fit any memory"));
	assert_works(dray_handler_split_end(handler));
}

POOL_FACT(realloc_across_the_limit_keeps_the_bytes)
{
	const struct dray_handler *handler = open_split(*state, &heap_handler);
	unsigned char *block = get(handler, 600);

	block = resize(handler, block, 900);
	assert_false(in_pool(*state, block));
	assert_true(all_bytes_are(block, 7, 600));
	memset(block, 8, 900);
	block = resize(handler, block, LIMIT);
	assert_true(in_pool(*state, block));
	assert_true(all_bytes_are(block, 8, 900));
	assert_int_equal(heap.out, 0);
	memset(block, 9, LIMIT);
	block = resize(handler, block, 50 * LIMIT);
	assert_true(all_bytes_are(block, 9, LIMIT));
	block = resize(handler, block, LIMIT);
	block = resize(handler, block, LIMIT - 1);
	assert_false(in_pool(*state, block));
	assert_true(all_bytes_are(block, 9, LIMIT - 1));
	assert_int_equal(stats_of(*state).blocks, 0);
	block = resize(handler, block, 0);
	assert_non_null(block);
	block = resize(handler, block, 2 * LIMIT);
	block = resize(handler, block, 0);
	assert_non_null(block);
	assert_false(in_pool(*state, block));
	put(handler, block);
	put(handler, resize(handler, NULL, 5));
	put(handler, resize(handler, NULL, 5 * LIMIT));
	assert_int_equal(heap.out, 0);
	assert_int_equal(stats_of(*state).blocks, 0);
	assert_works(dray_handler_split_end(handler));
}

POOL_FACT(a_realloc_that_fails_leaves_the_block)
{
	const struct dray_handler *handler = open_split(*state, &heap_handler);
	unsigned char *small = get(handler, 600), *large = get(handler, 5000);

	errno = 0;
	assert_null(resize(handler, small, SIZE_MAX));
	assert_int_equal(errno, ENOMEM);
	errno = 0;
	assert_null(resize(handler, large, SIZE_MAX / 2));
	assert_int_equal(errno, ENOMEM);
	heap.full = true;
	errno = 0;
	assert_null(resize(handler, small, 700));
	assert_int_equal(errno, ENOMEM);
	assert_non_null(strstr(dray_last_error(), "a block of 700 bytes"));
	assert_null(resize(handler, small, 7000));
	assert_null(resize(handler, large, 70));
	assert_null(handler->allocator.malloc(handler->allocator.ctx, 1));
	assert_null(handler->allocator.calloc(handler->allocator.ctx, 1, 1));
	heap.full = false;
	assert_int_equal(stats_of(*state).blocks, 1);
	assert_true(all_bytes_are(small, 7, 600));
	assert_true(all_bytes_are(large, 7, 5000));
	assert_true(in_pool(*state, large));
	put(handler, small);
	put(handler, large);
	assert_int_equal(heap.out, 0);
	assert_works(dray_handler_split_end(handler));
}

POOL_FACT(without_memory_for_its_books_nothing_is_left)
{
	const struct dray_handler *handler = NULL, *later;
	void *block;

	to_go = 0;
	assert_fails(dray_handler_split(*state, 1, &heap_handler, &handler),
		     -ENOMEM, "a handler's object");
	assert_null(handler);
	handler = open_split(*state, &heap_handler);
	/* So that the pool has what it takes for the block. */
	later = dray_handler_for(*state);
	later->allocator.free(later->allocator.ctx, get(later, 5000), 1);
	to_go = 0;
	errno = 0;
	assert_null(handler->allocator.malloc(handler->allocator.ctx, 5000));
	assert_int_equal(errno, ENOMEM);
	assert_int_equal(to_go, -1);
	assert_int_equal(stats_of(*state).blocks, 0);
	block = get(handler, 600);
	to_go = 0;
	assert_null(resize(handler, block, 5000));
	assert_int_equal(to_go, -1);
	assert_true(all_bytes_are(block, 7, 600));
	put(handler, block);
	assert_int_equal(stats_of(*state).blocks, 0);
	assert_works(dray_handler_split_end(handler));
}

POOL_FACT(they_nest)
{
	struct dray_pool *other = open_pool(test_spec(), NULL);
	const struct dray_handler *outer = open_split(other, &heap_handler);
	const struct dray_handler *inner;
	unsigned char *blocks[3];

	assert_works(dray_handler_split(*state, 10 * LIMIT, outer, &inner));
	blocks[0] = get(inner, 10);
	blocks[1] = get(inner, 5 * LIMIT);
	blocks[2] = get(inner, 50 * LIMIT);
	assert_true(in_pool(other, blocks[1]));
	assert_true(in_pool(*state, blocks[2]));
	assert_ptr_equal(dray_handler_behind(inner, blocks[0]), &heap_handler);
	assert_ptr_equal(dray_handler_behind(inner, blocks[1]),
			 dray_handler_for(other));
	assert_ptr_equal(dray_handler_behind(inner, blocks[2]),
			 dray_handler_for(*state));
	blocks[0] = resize(inner, blocks[0], 50 * LIMIT);
	assert_true(in_pool(*state, blocks[0]));
	assert_true(all_bytes_are(blocks[0], 7, 10));
	blocks[2] = resize(inner, blocks[2], 5 * LIMIT);
	assert_true(in_pool(other, blocks[2]));
	put(inner, blocks[0]);
	put(inner, blocks[1]);
	put(inner, blocks[2]);
	assert_int_equal(heap.out, 0);
	assert_works(dray_handler_split_end(inner));
	assert_works(dray_handler_split_end(outer));
	assert_int_equal(stats_of(other).blocks, 0);
	dray_pool_close(other);
}

/* Closes a pool of which a checking handler keeps the blocks freed last. */
static int close_kept(void **state)
{
	dray_pool_close(*state);
	return 0;
}

/* The same pool under both, directly and with guards. */
FACT_WITH(what_is_small_may_come_from_the_same_pool, pool_setup, close_kept)
{
	const struct dray_handler *small[] = { dray_handler_for(*state), NULL };
	struct dray_check numbers = { .size = sizeof(numbers) };

	assert_works(dray_handler_check(small[0], NULL, &small[1]));
	for (size_t i = 0; i < 2; i++) {
		const struct dray_handler *handler =
			open_split(*state, small[i]);
		unsigned char *block = get(handler, 10);

		assert_ptr_equal(dray_handler_behind(handler, block), small[i]);
		block = resize(handler, block, 5 * LIMIT);
		assert_ptr_equal(dray_handler_behind(handler, block), small[0]);
		assert_true(all_bytes_are(block, 7, 10));
		block = resize(handler, block, 10);
		put(handler, block);
		put(handler, get(handler, 5 * LIMIT));
		assert_works(dray_handler_split_end(handler));
	}
	assert_works(dray_check_get(small[1], &numbers));
	assert_int_equal(numbers.blocks, 0);
	assert_int_equal(numbers.bad_frees + numbers.double_frees, 0);
	assert_int_equal(stats_of(*state).bad_frees, 0);
}

POOL_FACT(a_wrong_free_never_reaches_a_heap_that_trusts)
{
	const struct dray_handler *handler = open_split(*state, &heap_handler);
	unsigned char *block = get(handler, 5000);

	put(handler, block + 64);
	put(handler, NULL);
	errno = 0;
	assert_null(resize(handler, block + 64, 10));
	assert_int_equal(errno, EINVAL);
	assert_null(resize(handler, block + 64, 10000));
	put(handler, block);
	put(handler, block);
	assert_int_equal(heap.out, 0);
	assert_int_equal(stats_of(*state).bad_frees, 4);
	assert_int_equal(stats_of(*state).blocks, 0);
	assert_works(dray_handler_split_end(handler));
}

POOL_FACT(its_blocks_outlive_the_pool)
{
	struct dray_pool *pool = open_pool(test_spec(), NULL);
	const struct dray_handler *handler = open_split(pool, &heap_handler);
	unsigned char *block = get(handler, 5000);

	dray_pool_close(pool);
	assert_null(handler->allocator.malloc(handler->allocator.ctx, 5000));
	assert_non_null(strstr(dray_last_error(), "is closed"));
	put(handler, get(handler, 10));
	assert_fails(dray_handler_split_end(handler), -EBUSY,
		     "1 blocks of handler \"dray ");
	assert_true(all_bytes_are(block, 7, 5000));
	block = resize(handler, block, 500);
	assert_true(all_bytes_are(block, 7, 500));
	put(handler, block);
	assert_int_equal(heap.out, 0);
	assert_works(dray_handler_split_end(handler));
}

POOL_FACT(bad_arguments_are_refused)
{
	struct dray_handler later = heap_handler;
	const struct dray_handler *handler = NULL;
	char name[127];

	later.version = 2;
	assert_fails(dray_handler_split(NULL, 1, &heap_handler, &handler),
		     -EINVAL, "the pool, the handler");
	assert_fails(dray_handler_split(*state, 1, NULL, &handler), -EINVAL,
		     "the pool, the handler");
	assert_fails(dray_handler_split(*state, 1, &heap_handler, NULL),
		     -EINVAL, "result pointer is NULL");
	assert_fails(dray_handler_split(*state, 1, &later, &handler), -EINVAL,
		     "version 2, not 1");
	assert_null(handler);
	assert_fails(dray_handler_split_end(&heap_handler), -EINVAL,
		     "\"heap\" is not from dray_handler_split()");
	assert_fails(dray_handler_split_end(NULL), -EINVAL,
		     "not from dray_handler_split()");
	assert_ptr_equal(dray_handler_behind(&heap_handler, state),
			 &heap_handler);
	assert_works(dray_handler_split(*state, 0, &heap_handler, &handler));
	snprintf(name, sizeof(name), "dray %s from 0 bytes",
		 dray_node_backend(dray_pool_node(*state)));
	assert_string_equal(handler->name, name);
	put(handler, get(handler, 0));
	assert_int_equal(heap.out, 0);
	assert_works(dray_handler_split_end(handler));
}

static _Atomic(unsigned char *) slots[16];

static void *pass_around(void *handler)
{
	const struct dray_handler *with = handler;
	struct dice dice = { (uintptr_t)&dice | 1 };

	for (int i = 0; i < 5000; i++) {
		unsigned char *block = get(with, roll(&dice, 2 * LIMIT));

		if (roll(&dice, 2))
			block = resize(with, block, roll(&dice, 2 * LIMIT));
		block = atomic_exchange(&slots[roll(&dice, 16)], block);
		with->allocator.free(with->allocator.ctx, block, LIMIT);
	}
	return NULL;
}

POOL_FACT(threads_share_one)
{
	const struct dray_handler *handler =
		open_split(*state, dray_handler_default());
	pthread_t ids[4];
	size_t i;

	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&ids[i], NULL, pass_around,
						(void *)handler),
				 0);
	for (i = 0; i < 4; i++)
		pthread_join(ids[i], NULL);
	for (i = 0; i < 16; i++)
		handler->allocator.free(handler->allocator.ctx,
					atomic_exchange(&slots[i], NULL), 0);
	assert_int_equal(stats_of(*state).blocks, 0);
	assert_int_equal(stats_of(*state).bad_frees, 0);
	assert_works(dray_handler_split_end(handler));
}
