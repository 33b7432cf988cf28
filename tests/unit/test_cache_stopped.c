// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * cache: an owner that is stopped inside of its cache, as one whose processor
 * somebody else has, while others want what it keeps.  It says itself that it
 * is in there, and comes out when it is told.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

#include "../selftests/step.h"
#include "child.h"
#include "pool.h"
#include "pool/cache.h"
#include "pool/pool.h"

#define BLOCKS 8
#define LONGEST 300000000 /* ns that anybody waits */

/* The owner, which knows one pool, and another that is made meanwhile. */
static struct {
	pthread_t thread;
	sem_t stopped, go_on, left, end;
	struct dray_pool *pool;
	struct dray_pool *other;
	struct dray_cache *cache;
	void *block; /* freed by the owner after it left */
} owner;

static struct {
	int pauses;
	int last; /* pauses after which the owner is out, 0: never */
	int64_t waited; /* ns */
} patience;

/* Nobody really sleeps, so that the owner comes out when it has to. */
WRAPPED(int, nanosleep, (const struct timespec *time, struct timespec *left))
{
	/* As the real one does where the thread is cancelled. */
	pthread_testcancel();
	patience.waited += (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
	if (++patience.pauses == patience.last)
		atomic_store(&owner.cache->busy, 0);
	return 0;
}

static void wait_for(sem_t *sign)
{
	while (sem_wait(sign))
		;
}

static void use(struct dray_pool *pool)
{
	void *blocks[BLOCKS];

	for (int i = 0; i < BLOCKS; i++)
		blocks[i] = dray_pool_alloc(pool, 256, 0);
	for (int i = 0; i < BLOCKS; i++)
		dray_pool_free(pool, blocks[i]);
}

static void *own(void *unused)
{
	use(owner.pool);
	owner.cache = dray_thread->caches[dray_pool_number(owner.pool)];
	if (owner.cache)
		atomic_store(&owner.cache->busy, 1);
	sem_post(&owner.stopped);
	wait_for(&owner.go_on);
	if (owner.cache)
		atomic_store(&owner.cache->busy, 0);
	if (owner.other)
		use(owner.other);
	dray_pool_free(owner.other, owner.block);
	sem_post(&owner.left);
	wait_for(&owner.end);
	return NULL;
}

/* Stops it for @last pauses of whoever waits. */
static void stop_owner(struct dray_pool *pool, int last)
{
	memset(&owner, 0, sizeof(owner));
	memset(&patience, 0, sizeof(patience));
	patience.last = last;
	owner.pool = pool;
	sem_init(&owner.stopped, 0, 0);
	sem_init(&owner.go_on, 0, 0);
	sem_init(&owner.left, 0, 0);
	sem_init(&owner.end, 0, 0);
	assert_int_equal(pthread_create(&owner.thread, NULL, own, NULL), 0);
	wait_for(&owner.stopped);
	assert_non_null(owner.cache);
}

static void let_owner_go_on(void)
{
	sem_post(&owner.go_on);
	wait_for(&owner.left);
}

static void end_owner(void)
{
	sem_post(&owner.end);
	pthread_join(owner.thread, NULL);
}

FACT(who_closes_waits_a_moment)
{
	struct dray_node *node = open_node(test_spec());
	size_t before = buffers_of(node);
	struct dray_pool *pool;

	assert_works(dray_pool_create(node, NULL, &pool));
	stop_owner(pool, 5);
	dray_pool_close(pool);
	assert_int_equal(buffers_of(node), before);
	assert_int_equal(patience.pauses, 5);
	let_owner_go_on();
	end_owner();
	dray_node_unref(node);
}

static void *close_cancelled(void *pool)
{
	pthread_cancel(pthread_self());
	dray_pool_close(pool);
	return NULL;
}

/* It would leave the pool's lock taken. */
FACT(who_is_cancelled_closes_all_the_same)
{
	struct dray_node *node = open_node(test_spec());
	size_t before = buffers_of(node);
	struct dray_pool *pool;
	pthread_t thread;

	assert_works(dray_pool_create(node, NULL, &pool));
	stop_owner(pool, 5);
	assert_int_equal(pthread_create(&thread, NULL, close_cancelled, pool),
			 0);
	pthread_join(thread, NULL);
	assert_int_equal(buffers_of(node), before);
	let_owner_go_on();
	end_owner();
	dray_node_unref(node);
}

/* What an owner has that stays where it is; @visit is what it does then. */
static void check_a_visit(void (*visit)(struct dray_node *node))
{
	struct dray_node *node = open_node(test_spec());
	size_t before = buffers_of(node);
	struct dray_pool *pool;

	assert_works(dray_pool_create(node, NULL, &pool));
	stop_owner(pool, 0);
	dray_pool_close(pool);
	assert_in_range(patience.waited, 1, LONGEST);
	assert_true(buffers_of(node) > before);
	visit(node);
	assert_int_equal(buffers_of(node), before);
	end_owner();
	dray_node_unref(node);
}

static void use_another_pool(struct dray_node *node)
{
	assert_works(dray_pool_create(node, NULL, &owner.other));
	let_owner_go_on();
	dray_pool_close(owner.other);
}

static void free_in_another_pool(struct dray_node *node)
{
	struct dray_pool *pool;

	assert_works(dray_pool_create(node, NULL, &pool));
	owner.block = take(pool, 256, 0);
	let_owner_go_on();
	dray_pool_close(pool);
}

static void free_a_large_block(struct dray_node *node)
{
	struct dray_pool *pool;

	assert_works(dray_pool_create(node, NULL, &pool));
	owner.block = take(pool, 100000, 0);
	let_owner_go_on();
	dray_pool_close(pool);
}

FACT(an_owner_that_comes_later_ends_the_pool)
{
	check_a_visit(use_another_pool);
	check_a_visit(free_in_another_pool);
	check_a_visit(free_a_large_block);
}

/* Its last block alive ends the pool: that is freed before or after. */
FACT(a_block_of_the_closed_pool_is_a_visit_too)
{
	struct dray_node *node = open_node(test_spec());
	size_t before = buffers_of(node);
	struct dray_pool *pool;

	assert_works(dray_pool_create(node, NULL, &pool));
	owner.block = NULL;
	stop_owner(pool, 0);
	owner.block = take(pool, 256, 0);
	dray_pool_close(pool);
	assert_true(buffers_of(node) > before);
	let_owner_go_on();
	assert_int_equal(buffers_of(node), before);
	end_owner();
	dray_node_unref(node);
}

FIXED_POOL_FACT(memory_is_not_missing_because_an_owner_is_stopped)
{
	void *all;

	stop_owner(*state, 3);
	all = take(*state, FIXED_SIZE, 0);
	assert_int_equal(patience.pauses, 3);
	dray_pool_free(*state, all);
	let_owner_go_on();
	end_owner();
}

FIXED_POOL_FACT(who_waits_for_memory_gives_up_in_the_end)
{
	stop_owner(*state, 0);
	assert_null(dray_pool_alloc(*state, FIXED_SIZE, 0));
	assert_int_equal(errno, ENOMEM);
	assert_non_null(strstr(dray_last_error(), "the limit of"));
	assert_in_range(patience.waited, 1, LONGEST);
	let_owner_go_on();
	end_owner();
	dray_pool_free(*state, take(*state, FIXED_SIZE, 0));
}

/* Which that one will never come back to in the child. */
static int has_nothing(struct dray_pool *pool)
{
	struct dray_pool_stats stats = { .size = sizeof(stats) };

	STEP_EQ(0, dray_pool_stats(pool, &stats));
	STEP_EQ(0, stats.blocks);
	STEP_EQ(0, stats.used);
	return 0;
}

FIXED_POOL_FACT(a_child_takes_back_what_an_owner_kept)
{
	pid_t child;

	stop_owner(*state, 0);
	child = fork();
	if (!child)
		_exit(has_nothing(*state));
	assert_int_equal(status_of(child), 0);
	let_owner_go_on();
	end_owner();
}
