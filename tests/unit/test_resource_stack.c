// SPDX-License-Identifier: Apache-2.0 OR MIT
/* resource: limits, statistics, and whom to ask when memory runs out. */
#include "resource.h"

POOL_FACT(a_limit_is_met_to_the_byte)
{
	struct dray_resource *limit =
		STACK(*state, dray_resource_limit(upstream, 1000, &top));
	void *block = allocate(limit, 999, 0), *last, *out = NULL;

	assert_fails(dray_resource_allocate(limit, 2, 0, 0, &out), -ENOMEM,
		     "2 bytes asked, the limit of 1000 leaves 1");
	last = allocate(limit, 0, 0);
	assert_fails(dray_resource_allocate(limit, 0, 0, 0, &out), -ENOMEM,
		     "leaves 0");
	assert_null(out);
	assert_int_equal(stats_of(*state).blocks, 2);
	give_back(limit, last, 0);
	give_back(limit, block, 999);
	give_back(limit, allocate(limit, 1000, 0), 1000);
	dray_resource_unref(limit);
}

POOL_FACT(a_limit_survives_what_upstream_refuses)
{
	struct dray_resource *limit =
		STACK(*state, dray_resource_limit(upstream, UINT64_MAX, &top));
	void *out, *block;

	assert_int_equal(dray_resource_allocate(limit, PTRDIFF_MAX, 0, 0, &out),
			 -ENOMEM);
	assert_int_equal(dray_resource_allocate(limit, PTRDIFF_MAX, 0, 0, &out),
			 -ENOMEM);
	assert_int_equal(dray_resource_allocate(limit, PTRDIFF_MAX, 0, 0, &out),
			 -ENOMEM);
	block = allocate(limit, 10, 0);
	assert_fails(dray_resource_deallocate(limit, state, 10, 0), -EINVAL,
		     "not a block");
	give_back(limit, block, 10);
	dray_resource_unref(limit);
}

POOL_FACT(a_wrong_size_never_gives_more_than_the_limit)
{
	struct dray_resource *limit =
		STACK(*state, dray_resource_limit(upstream, 100, &top));
	struct dray_capacity capacity;

	give_back(limit, allocate(limit, 10, 0), 99);
	assert_works(dray_resource_capacity(limit, &capacity));
	assert_int_equal(capacity.total, 100);
	assert_int_equal(capacity.free, 100);
	dray_resource_unref(limit);
}

POOL_FACT(a_limit_of_0_is_none_to_get_past)
{
	struct dray_resource *limit =
		STACK(*state, dray_resource_limit(upstream, 0, &top));
	void *out;

	assert_fails(dray_resource_allocate(limit, 0, 0, 0, &out), -ENOMEM,
		     "the limit of 0");
	dray_resource_unref(limit);
}

#define THREADS 4

static void *churn(void *resource)
{
	void *block;

	for (int i = 0; i < 3000; i++) {
		if (dray_resource_allocate(resource, 60, 0, 0, &block))
			continue;
		memset(block, i, 60);
		if (dray_resource_deallocate(resource, block, 60, 0))
			abort();
	}
	return NULL;
}

static void churn_in_threads(struct dray_resource *resource)
{
	pthread_t threads[THREADS];
	int i;

	for (i = 0; i < THREADS; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, churn, resource), 0);
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
}

static struct dray_statistics numbers_of(struct dray_resource *resource)
{
	struct dray_statistics numbers = { .size = sizeof(numbers) };

	assert_works(dray_statistics_get(resource, &numbers));
	return numbers;
}

POOL_FACT(threads_together_keep_to_a_limit)
{
	struct dray_resource *below =
		STACK(*state, dray_resource_statistics(upstream, &top));
	struct dray_resource *limit = NULL;
	struct dray_capacity capacity;

	assert_works(dray_resource_limit(below, 100, &limit));
	churn_in_threads(limit);
	assert_int_equal(numbers_of(below).bytes.peak, 60);
	assert_int_equal(numbers_of(below).blocks.now, 0);
	assert_works(dray_resource_capacity(limit, &capacity));
	assert_int_equal(capacity.free, 100);
	dray_resource_unref(limit);
	dray_resource_unref(below);
}

static void assert_count(struct dray_count count, int64_t now, int64_t peak,
			 int64_t total)
{
	assert_int_equal(count.now, now);
	assert_int_equal(count.peak, peak);
	assert_int_equal(count.total, total);
}

POOL_FACT(statistics_count_bytes_and_blocks)
{
	struct dray_resource *resource =
		STACK(*state, dray_resource_statistics(upstream, &top));
	void *first = allocate(resource, 100, 0);
	void *second = allocate(resource, 50, 0), *out;

	give_back(resource, first, 100);
	first = allocate(resource, 10, 0);
	assert_count(numbers_of(resource).bytes, 60, 150, 160);
	assert_count(numbers_of(resource).blocks, 2, 2, 3);
	/* What does not happen is not counted. */
	assert_int_equal(dray_resource_allocate(resource, PTRDIFF_MAX, 0, 0,
						&out),
			 -ENOMEM);
	assert_int_equal(dray_resource_deallocate(resource, state, 10, 0),
			 -EINVAL);
	assert_count(numbers_of(resource).blocks, 2, 2, 3);
	give_back(resource, first, 10);
	give_back(resource, second, 50);
	assert_count(numbers_of(resource).bytes, 0, 150, 160);
	dray_resource_unref(resource);
}

/* Each number worked out by hand. */
POOL_FACT(scopes_nest_and_add_up)
{
	struct dray_resource *resource =
		STACK(*state, dray_resource_statistics(upstream, &top));
	struct dray_statistics inner = { .size = sizeof(inner) };
	void *before = allocate(resource, 100, 0), *within;

	assert_works(dray_statistics_push(resource));
	assert_count(numbers_of(resource).bytes, 0, 0, 0);
	within = allocate(resource, 30, 0);
	give_back(resource, before, 100);
	assert_count(numbers_of(resource).bytes, -70, 30, 30);

	assert_works(dray_statistics_push(resource));
	give_back(resource, allocate(resource, 500, 0), 500);
	assert_works(dray_statistics_pop(resource, &inner));
	assert_count(inner.bytes, 0, 500, 500);
	/* It stood on -70. */
	assert_count(numbers_of(resource).bytes, -70, 430, 530);

	assert_works(dray_statistics_pop(resource, NULL));
	assert_count(numbers_of(resource).bytes, 30, 530, 630);
	assert_count(numbers_of(resource).blocks, 1, 2, 3);
	assert_fails(dray_statistics_pop(resource, &inner), -EINVAL,
		     "without its begin");
	give_back(resource, within, 30);
	/* What is still open ends with the resource. */
	assert_works(dray_statistics_push(resource));
	dray_resource_unref(resource);
}

POOL_FACT(threads_are_all_counted)
{
	struct dray_resource *resource =
		STACK(*state, dray_resource_statistics(upstream, &top));

	churn_in_threads(resource);
	assert_int_equal(numbers_of(resource).blocks.total, THREADS * 3000);
	assert_int_equal(numbers_of(resource).bytes.now, 0);
	dray_resource_unref(resource);
}

POOL_FACT(calls_for_another_kind_are_refused)
{
	struct dray_resource *resource = pool_resource(*state);
	struct dray_statistics numbers = { .size = sizeof(numbers) };
	struct dray_tracking tracking = { .size = sizeof(tracking) };

	assert_fails(dray_statistics_get(resource, &numbers), -EINVAL,
		     "\"pool\" is not of kind \"statistics\"");
	assert_int_equal(dray_statistics_push(resource), -EINVAL);
	assert_int_equal(dray_statistics_pop(resource, NULL), -EINVAL);
	assert_fails(dray_tracking_get(resource, &tracking), -EINVAL,
		     "not of kind \"tracking\"");
	dray_resource_unref(resource);
}

/* Frees one block of a list for each time it is asked. */
struct reserve {
	struct dray_resource *resource;
	void *blocks[3];
	int left, asked;
	size_t size;
};

#define PIECE ((size_t)1 << 20)

static bool give_one_up(void *ctx, size_t size, int error)
{
	struct reserve *reserve = ctx;

	reserve->asked++;
	reserve->size = size;
	assert_int_equal(error, -ENOMEM);
	if (!reserve->left)
		return false;
	give_back(reserve->resource, reserve->blocks[--reserve->left], PIECE);
	return true;
}

POOL_FACT(a_failure_asks_until_it_is_no_use)
{
	struct dray_resource *limit =
		STACK(*state, dray_resource_limit(upstream, 4 * PIECE, &top));
	struct reserve reserve = { .left = 3 };
	struct dray_resource *resource = NULL;
	void *block, *out;

	assert_works(dray_resource_on_failure(limit, give_one_up, &reserve,
					      &resource));
	dray_resource_unref(limit);
	reserve.resource = resource;
	for (int i = 0; i < 3; i++)
		reserve.blocks[i] = allocate(resource, PIECE, 0);
	assert_int_equal(reserve.asked, 0);
	block = allocate(resource, 3 * PIECE, 0);
	assert_int_equal(reserve.asked, 2);
	assert_int_equal(reserve.size, 3 * PIECE);
	assert_fails(dray_resource_allocate(resource, 2 * PIECE, 0, 0, &out),
		     -ENOMEM, "the limit");
	assert_int_equal(reserve.asked, 4);
	give_back(resource, block, 3 * PIECE);
	dray_resource_unref(resource);
}

/* With the pool's limit reached, too: neither asks while the other does. */
struct nested {
	struct dray_resource *resource;
	int asked;
};

static bool ask_again(void *argument, size_t size, int error)
{
	struct nested *nested = argument;
	void *block;

	nested->asked++;
	assert_int_equal(dray_resource_allocate(nested->resource, size, 0, 0,
						&block),
			 error);
	return false;
}

POOL_FACT(a_request_of_the_callback_asks_nobody)
{
	struct dray_resource *pool = pool_resource(*state);
	struct dray_resource *limit = NULL;
	struct nested nested = { .asked = 0 };
	void *block;

	assert_works(dray_resource_limit(pool, PIECE, &limit));
	assert_works(dray_resource_on_failure(limit, ask_again, &nested,
					      &nested.resource));
	dray_pool_set_pressure(*state, ask_again, &nested);
	assert_fails(dray_resource_allocate(nested.resource, 2 * PIECE, 0, 0,
					    &block),
		     -ENOMEM, "the limit of 1048576 leaves 1048576");
	assert_int_equal(nested.asked, 1);
	assert_int_equal(dray_resource_allocate(pool, SIZE_MAX - PIECE, 0, 0,
						&block),
			 -ENOMEM);
	assert_true(nested.asked <= 2);
	dray_pool_set_pressure(*state, NULL, NULL);
	dray_resource_unref(nested.resource);
	dray_resource_unref(limit);
	dray_resource_unref(pool);
}

POOL_FACT(a_stack_lives_as_long_as_its_blocks)
{
	struct dray_resource *limit =
		STACK(*state, dray_resource_limit(upstream, 1000, &top));
	struct dray_resource *statistics = NULL, *tracking = NULL;
	void *block;

	assert_works(dray_resource_statistics(limit, &statistics));
	assert_works(dray_resource_tracking(statistics, 4, &tracking));
	dray_resource_unref(statistics);
	dray_resource_unref(limit);
	block = allocate(tracking, 10, 0);
	dray_resource_unref(tracking);
	memset(block, 1, 10);
	give_back(tracking, block, 10);
}
