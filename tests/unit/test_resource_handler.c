// SPDX-License-Identifier: Apache-2.0 OR MIT
/* resource: behind the functions of NEP 49, and with its pages fetched. */
#include <sys/mman.h>

#include "resource.h"

static const struct dray_handler *serve(struct dray_resource *resource)
{
	const struct dray_handler *handler = NULL;

	assert_works(dray_resource_handler(resource, &handler));
	return handler;
}

/* Over a limit of @bytes, which sees the sizes that it is told. */
static const struct dray_handler *serve_limited(struct dray_pool *pool,
						uint64_t bytes,
						struct dray_resource **limit)
{
	*limit = STACK(pool, dray_resource_limit(upstream, bytes, &top));
	return serve(*limit);
}

static uint64_t left(struct dray_resource *limit)
{
	struct dray_capacity capacity;

	assert_works(dray_resource_capacity(limit, &capacity));
	return capacity.free;
}

/* Ends a handler of a limit without blocks. */
static void limited_end(struct dray_resource *limit,
			const struct dray_handler *handler)
{
	assert_int_equal(left(limit), 1000);
	dray_resource_unref(limit);
	assert_works(dray_resource_handler_end(handler));
}

POOL_FACT(a_resource_is_told_true_sizes)
{
	struct dray_resource *limit;
	const struct dray_handler *handler =
		serve_limited(*state, 1000, &limit);
	char *block = dray_handler_alloc(handler, 400), *zero;

	assert_string_equal(handler->name, "dray resource limit");
	assert_int_equal(left(limit), 600);
	memset(block, 7, 400);
	block = dray_handler_realloc(handler, block, 500);
	assert_int_equal(left(limit), 500);
	assert_int_equal(block[399], 7);
	zero = dray_handler_zalloc(handler, 500);
	assert_int_equal(zero[499], 0);
	assert_null(dray_handler_alloc(handler, 1));
	assert_int_equal(errno, ENOMEM);
	assert_non_null(strstr(dray_last_error(), "the limit of 1000"));
	dray_handler_free(handler, block, 1);
	dray_handler_free(handler, zero, 99999);
	limited_end(limit, handler);
}

POOL_FACT(a_resize_that_fails_leaves_the_block)
{
	struct dray_resource *limit;
	const struct dray_handler *handler =
		serve_limited(*state, 1000, &limit);
	char *block = dray_handler_realloc(handler, NULL, 600);

	block[599] = 7;
	assert_null(dray_handler_realloc(handler, block, 601));
	assert_int_equal(block[599], 7);
	assert_null(
		handler->allocator.calloc(handler->allocator.ctx, SIZE_MAX, 2));
	dray_handler_free(handler, block, 600);
	limited_end(limit, handler);
}

POOL_FACT(wrong_blocks_never_reach_the_resource)
{
	struct dray_resource *heap;
	const struct dray_handler *handler;
	int wrong;

	assert_works(dray_resource_malloc(&heap));
	handler = serve(heap);
	dray_resource_unref(heap);
	dray_handler_free(handler, &wrong, 4);
	assert_non_null(strstr(dray_last_error(), "is not a block of handler"));
	dray_handler_free(handler, NULL, 4);
	assert_null(dray_handler_realloc(handler, &wrong, 8));
	assert_int_equal(errno, EINVAL);
	assert_works(dray_resource_handler_end(handler));
}

POOL_FACT(an_end_waits_for_the_last_block)
{
	struct dray_resource *resource = pool_resource(*state);
	const struct dray_handler *handler = serve(resource);
	void *block = dray_handler_alloc(handler, 0);

	dray_resource_unref(resource);
	assert_fails(dray_resource_handler_end(handler), -EBUSY,
		     "1 blocks of handler \"dray resource pool\" are out");
	dray_handler_free(handler, block, 0);
	assert_works(dray_resource_handler_end(handler));
	assert_fails(dray_resource_handler_end(dray_handler_default()), -EINVAL,
		     "not from dray_resource_handler()");
	assert_fails(dray_resource_handler_end(NULL), -EINVAL, "is not from");
	assert_fails(dray_resource_handler(NULL, &handler), -EINVAL, "NULL");
}

static struct dray_handler_event seen[8];
static size_t seen_count;

static void see(const struct dray_handler_event *event)
{
	seen[seen_count++ % 8] = *event;
}

POOL_FACT(a_watch_sees_true_sizes)
{
	static const uint32_t actions[] = {
		DRAY_HANDLER_ALLOCATES, DRAY_HANDLER_ALLOCATED,
		DRAY_HANDLER_ALLOCATES, DRAY_HANDLER_ALLOCATED,
		DRAY_HANDLER_FREES,	DRAY_HANDLER_FREED,
	};
	struct dray_resource *limit;
	const struct dray_handler *handler;
	void *block;

	/* So that no call needs memory of the node. */
	dray_pool_free(*state, take(*state, 60, 0));
	handler = serve_limited(*state, 100, &limit);
	assert_int_equal(dray_watch_add(see), 0);
	block = dray_handler_alloc(handler, 60);
	assert_null(dray_handler_alloc(handler, 50));
	dray_handler_free(handler, block, 1);
	dray_handler_free(handler, block, 60); /* wrong: not shown */
	dray_watch_remove(see);
	assert_int_equal(seen_count, 6);
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(seen[i].action, actions[i]);
		assert_null(seen[i].pool);
	}
	assert_ptr_equal(seen[1].block, block);
	assert_null(seen[3].block);
	assert_int_equal(seen[4].asked, 60);
	assert_int_equal(seen[5].bytes, 60);
	dray_resource_unref(limit);
	assert_works(dray_resource_handler_end(handler));
}

POOL_FACT(pages_are_there_before_the_first_touch)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = 64 * page;
	struct dray_resource *prefetch =
		STACK(*state, dray_resource_prefetch(upstream, &top));
	unsigned char there[64];
	void *out, *block = allocate(prefetch, size, page);

	assert_string_equal(dray_resource_name(prefetch), "prefetch");
	assert_int_equal(mincore(block, size, there), 0);
	for (size_t i = 0; i < 64; i++)
		assert_true(there[i] & 1);
	give_back(prefetch, block, size);
	give_back(prefetch, allocate(prefetch, 0, 0), 0);
	assert_fails(dray_resource_allocate(prefetch, PTRDIFF_MAX, 0, 0, &out),
		     -ENOMEM, "at most");
	dray_resource_unref(prefetch);
}
