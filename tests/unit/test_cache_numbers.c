// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * cache: threads keep blocks of 63 pools at once, however many there were
 * before, and what was said of a pool that has ended leads to no other one.
 */
#include <pthread.h>

#include "child.h"
#include "manager.h"
#include "pool/cache.h"
#include "pool/pool.h"
#include "resource.h"

#define MIB ((size_t)1 << 20)
#define MANY (2 * DRAY_CACHED_POOLS)

static struct dray_pool *small_pool(void)
{
	struct dray_pool_options options = { .initial = MIB };

	return open_pool(test_spec(), &options);
}

/* Bytes that the caller keeps of @pool after it freed a block. */
static uint64_t kept_of(struct dray_pool *pool)
{
	dray_pool_free(pool, take(pool, 64, 0));
	return stats_of(pool).cached;
}

static void assert_threads_keep_blocks(void)
{
	struct dray_pool *pool = small_pool();

	assert_in_range(kept_of(pool), 64, MIB);
	dray_pool_close(pool);
}

/* A pool whose handler somebody has, when it has ended. */
static const struct dray_handler *ended_handler(uint32_t *number)
{
	struct dray_pool *pool = small_pool();
	const struct dray_handler *handler = dray_handler_for(pool);
	void *block = handler->allocator.malloc(handler->allocator.ctx, 64);

	assert_non_null(block);
	*number = atomic_load(&pool->number);
	dray_pool_close(pool);
	handler->allocator.free(handler->allocator.ctx, block, 64);
	return handler;
}

/* The pool that gets @number, after as many others as there are numbers. */
static struct dray_pool *pool_of_number(uint32_t number)
{
	struct dray_pool *pools[DRAY_CACHED_POOLS];
	int i, last = -1;

	do
		pools[++last] = small_pool();
	while (atomic_load(&pools[last]->number) != number &&
	       last < DRAY_CACHED_POOLS - 1);
	assert_int_equal(atomic_load(&pools[last]->number), number);
	for (i = 0; i < last; i++)
		dray_pool_close(pools[i]);
	return pools[last];
}

FACT(managers_leave_their_numbers_to_others)
{
	struct dray_manager *manager;
	struct dray_memory *memory;

	for (int i = 0; i < MANY; i++) {
		manager = open_manager(test_spec(), NULL, NULL);
		assert_works(dray_manager_memalloc(manager, 100, 0, &memory));
		dray_memory_unref(memory);
		dray_manager_unref(manager);
	}
	assert_threads_keep_blocks();
}

FACT(handlers_of_pools_that_ended_use_up_no_numbers)
{
	uint32_t number;

	for (int i = 0; i < MANY; i++)
		ended_handler(&number);
	assert_threads_keep_blocks();
}

FACT(a_handler_says_no_when_its_number_is_anothers)
{
	uint32_t number;
	const struct dray_handler *handler = ended_handler(&number);
	const struct dray_allocator *allocator = &handler->allocator;
	struct dray_pool *pool = pool_of_number(number);
	void *block = take(pool, 64, 0);

	dray_pool_free(pool, block);
	assert_null(allocator->malloc(allocator->ctx, 64));
	assert_null(allocator->calloc(allocator->ctx, 1, 64));
	assert_null(allocator->malloc(allocator->ctx, 65536));
	assert_ptr_equal(take(pool, 64, 0), block);
	dray_pool_free(pool, block);
	assert_in_range(stats_of(pool).cached, 64, MIB);
	dray_pool_close(pool);
}

FACT(a_resource_says_no_when_other_pools_come)
{
	struct dray_pool *pools[MANY], *pool = small_pool();
	struct dray_resource *resource = pool_resource(pool);
	void *block = allocate(resource, 64, 0);
	int i;

	dray_pool_close(pool);
	give_back(resource, block, 64);
	for (i = 0; i < MANY; i++) {
		pools[i] = small_pool();
		assert_ptr_not_equal(pools[i], pool);
	}
	assert_fails(dray_resource_allocate(resource, 64, 0, 0, &block),
		     -ENOMEM, "closed");
	dray_resource_unref(resource);
	for (i = 0; i < MANY; i++)
		dray_pool_close(pools[i]);
	assert_threads_keep_blocks();
	/* With the last resource its object is free for others. */
	pool = small_pool();
	resource = pool_resource(pool);
	dray_resource_unref(resource);
	assert_int_equal(pool->pins, 0);
	dray_pool_close(pool);
}

struct keeper {
	pthread_barrier_t step;
	struct dray_pool *pool;
};

/* Keeps a block of one pool, then of the one that has its number. */
static void *keep(void *argument)
{
	struct keeper *keeper = argument;

	for (int round = 0; round < 2; round++) {
		void *block = dray_pool_alloc(keeper->pool, 64, 0);

		dray_pool_free(keeper->pool, block);
		pthread_barrier_wait(&keeper->step);
		pthread_barrier_wait(&keeper->step);
	}
	return NULL;
}

FACT(another_threads_cache_passes_on_with_the_number)
{
	struct keeper keeper;
	struct dray_cache *cache;
	pthread_t thread;
	uint32_t number;

	pthread_barrier_init(&keeper.step, NULL, 2);
	keeper.pool = small_pool();
	dray_handler_for(keeper.pool);
	number = atomic_load(&keeper.pool->number);
	assert_works(pthread_create(&thread, NULL, keep, &keeper));
	pthread_barrier_wait(&keeper.step);
	cache = keeper.pool->caches;
	assert_non_null(cache);
	dray_pool_close(keeper.pool);
	keeper.pool = pool_of_number(number);
	assert_ptr_equal(keeper.pool->caches, cache);
	pthread_barrier_wait(&keeper.step);
	pthread_barrier_wait(&keeper.step);
	assert_ptr_equal(keeper.pool->caches, cache);
	assert_in_range(dray_cache_held(cache), 64, MIB);
	pthread_barrier_wait(&keeper.step);
	assert_works(pthread_join(thread, NULL));
	/* It has gone with the thread, and its blocks are back. */
	assert_ptr_not_equal(keeper.pool->caches, cache);
	assert_int_equal(stats_of(keeper.pool).largest_free, MIB);
	dray_pool_close(keeper.pool);
	pthread_barrier_destroy(&keeper.step);
}

static int use_a_number_again(uint32_t number)
{
	struct dray_pool *pool = pool_of_number(number);

	if (pool->caches)
		return 1;
	return kept_of(pool) < 64 ? 2 : 0;
}

FACT(a_child_uses_a_number_again)
{
	uint32_t number;
	pid_t child;

#ifdef __SANITIZE_THREAD__
	/* It follows 64 locks of a thread, and fork() takes those of all pools. */
	skip();
#endif
	ended_handler(&number);
	child = fork();
	if (!child)
		_exit(use_a_number_again(number));
	assert_int_equal(status_of(child), 0);
}
