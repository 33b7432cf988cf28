// SPDX-License-Identifier: Apache-2.0 OR MIT
/* cache: what threads keep is there for whoever needs it, and ends with them. */
#include <semaphore.h>

#include "child.h"
#include "pool.h"

#define MIB ((size_t)1 << 20)
#define SIZE FIXED_SIZE
#define REGION (64 * MIB)
#define IDLE 4
#define MOST_IDLE 8

static struct dray_pool *shared;
static sem_t filled, done;

static void wait_for(sem_t *semaphore)
{
	while (sem_wait(semaphore))
		;
}

/* Keeps as much as it may, and then does nothing. */
static void *fill_and_idle(void *unused)
{
	void *blocks[64];
	size_t size, i;

	for (size = 64; size <= 4096; size += 64) {
		for (i = 0; i < 64; i++)
			blocks[i] = dray_pool_alloc(shared, size, 0);
		for (i = 0; i < 64; i++)
			dray_pool_free(shared, blocks[i]);
	}
	sem_post(&filled);
	wait_for(&done);
	return NULL;
}

/* Returns when each has said that it is ready. */
static void start_some(void *(*work)(void *), pthread_t *threads, int count,
		       struct dray_pool *pool)
{
	shared = pool;
	sem_init(&filled, 0, 0);
	sem_init(&done, 0, 0);
	for (int i = 0; i < count; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, NULL),
				 0);
	for (int i = 0; i < count; i++)
		wait_for(&filled);
}

static void end_some(pthread_t *threads, int count)
{
	for (int i = 0; i < count; i++)
		sem_post(&done);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

static void start_idle(pthread_t *threads, struct dray_pool *pool)
{
	start_some(fill_and_idle, threads, IDLE, pool);
}

static void end_idle(pthread_t *threads)
{
	end_some(threads, IDLE);
}

FIXED_POOL_FACT(what_idle_threads_keep_is_there_for_a_request)
{
	pthread_t threads[IDLE];
	void *all;

	start_idle(threads, *state);
	all = take(*state, SIZE, 0);
	dray_pool_free(*state, all);
	end_idle(threads);
}

/* By blocks of a page, however many threads keep some. */
FACT(a_region_is_filled_beside_idle_threads)
{
	static const int idle[] = { 1, IDLE, MOST_IDLE };
	static void *blocks[REGION / 4096 + 1];
	const struct dray_pool_options options = { .initial = REGION,
						   .limit = REGION };
	pthread_t threads[MOST_IDLE];
	size_t i;

	for (i = 0; i < sizeof(idle) / sizeof(idle[0]); i++) {
		struct dray_pool *pool = open_pool(test_spec(), &options);
		size_t count = 0, j;

		/* Nobody asks for numbers: that takes back what they keep. */
		start_some(fill_and_idle, threads, idle[i], pool);
		while ((blocks[count] = dray_pool_alloc(pool, 4096, 0)))
			count++;
		/* Blocks need not begin at a page: a few do not fit between. */
		assert_in_range(count, REGION / 4096 - REGION / 4096 / 100,
				REGION / 4096);
		for (j = 0; j < count; j++)
			dray_pool_free(pool, blocks[j]);
		dray_pool_free(pool, take(pool, REGION, 0));
		end_some(threads, idle[i]);
		dray_pool_close(pool);
	}
}

/* Bytes that threads still keep after others have worked with the pool. */
static uint64_t left_after_work(struct dray_pool *pool)
{
	size_t round;

	for (round = 0; round < 16; round++)
		dray_pool_free(pool, take(pool, 4 * MIB, 0));
	return stats_of(pool).cached;
}

/* Long before a request fails, so that it does not lie between blocks. */
FIXED_POOL_FACT(what_idle_threads_keep_comes_back_while_others_work)
{
	pthread_t threads[IDLE];
	uint64_t left;

	start_idle(threads, *state);
	left = left_after_work(*state);
	end_idle(threads);
	assert_int_equal(left, 0);
}

/* Takes some blocks, and frees them when it is told to. */
static void *free_late(void *unused)
{
	void *blocks[16];
	size_t i;

	for (i = 0; i < 16; i++)
		blocks[i] = dray_pool_alloc(shared, 4096, 0);
	sem_post(&filled);
	wait_for(&done);
	for (i = 0; i < 16; i++)
		dray_pool_free(shared, blocks[i]);
	sem_post(&filled);
	wait_for(&done);
	return NULL;
}

/* A drain found the cache empty: what its owner frees later comes back, too. */
FIXED_POOL_FACT(what_is_freed_after_a_drain_comes_back_while_others_work)
{
	pthread_t thread;
	uint64_t left;

	start_some(free_late, &thread, 1, *state);
	stats_of(*state);
	sem_post(&done);
	wait_for(&filled);
	left = left_after_work(*state);
	end_some(&thread, 1);
	assert_int_equal(left, 0);
}

FIXED_POOL_FACT(a_thread_that_ends_keeps_nothing)
{
	pthread_t threads[IDLE];

	start_idle(threads, *state);
	end_idle(threads);
	assert_int_equal(stats_of(*state).cached, 0);
	assert_int_equal(stats_of(*state).largest_free, SIZE);
}

/* More than a thread keeps, and than it keeps and the depot has room for. */
static const size_t passed[] = { 40, 200 };
static void *blocks_passed[200];
static size_t passed_count;

static void *free_passed(void *unused)
{
	for (size_t i = 0; i < passed_count; i++)
		dray_pool_free(shared, blocks_passed[i]);
	sem_post(&filled);
	wait_for(&done);
	return NULL;
}

/* The thread lives on: its magazine stays its own, the depot is for everybody. */
FIXED_POOL_FACT(what_another_thread_freed_is_used_again)
{
	pthread_t thread;
	size_t i, j;

	for (i = 0; i < 2; i++) {
		passed_count = passed[i];
		for (j = 0; j < passed_count; j++)
			blocks_passed[j] = take(*state, 256, 0);
		start_some(free_passed, &thread, 1, *state);
		for (j = 0; j < passed_count; j++) {
			blocks_passed[j] = dray_pool_calloc(*state, 1, 256);
			assert_int_equal(dray_usable_size(blocks_passed[j]),
					 256);
			memset(blocks_passed[j], 1 + (int)j, 256);
		}
		for (j = 0; j < passed_count; j++) {
			assert_true(all_bytes_are(blocks_passed[j], 1 + (int)j,
						  256));
			dray_pool_free(*state, blocks_passed[j]);
		}
		assert_in_range(stats_of(*state).cached, 256 * 40, 256 * 100);
		end_some(&thread, 1);
	}
}

static pthread_key_t late;

static void use_pool(void *block)
{
	/* Twice: the cache may end between two destructors of the program. */
	dray_pool_free(shared, block);
	block = dray_pool_alloc(shared, 128, 0);
	if (block && dray_usable_size(block) == 128)
		dray_pool_free(shared, block);
}

static void *leave_a_block(void *unused)
{
	pthread_setspecific(late, dray_pool_alloc(shared, 128, 0));
	return NULL;
}

FIXED_POOL_FACT(a_free_after_the_end_of_the_cache_works)
{
	pthread_t thread;

	/* The key is younger than the cache's: its destructor comes later. */
	shared = *state;
	assert_int_equal(pthread_key_create(&late, use_pool), 0);
	assert_int_equal(pthread_create(&thread, NULL, leave_a_block, NULL), 0);
	pthread_join(thread, NULL);
	pthread_key_delete(late);
	assert_int_equal(stats_of(*state).blocks, 0);
	assert_int_equal(stats_of(*state).bad_frees, 0);
}

static _Atomic bool over;
static _Atomic(void *) slot;
static _Atomic uint64_t strays;

static void *produce(void *unused)
{
	while (!atomic_load(&over)) {
		unsigned char *block = dray_pool_alloc(shared, 256, 0);
		void *none = NULL;

		if (!block)
			continue;
		memset(block, 7, 256);
		while (!atomic_compare_exchange_weak(&slot, &none, block) &&
		       !atomic_load(&over)) {
			none = NULL;
			sched_yield();
		}
		if (atomic_load(&over) && atomic_load(&slot) != block)
			dray_pool_free(shared, block);
	}
	return NULL;
}

/* Frees what the other allocates, and looks whether it was let alone. */
static void *consume(void *unused)
{
	for (int round = 0; round < 20000; round++) {
		void *block = atomic_exchange(&slot, NULL);

		if (block && !all_bytes_are(block, 7, 256))
			atomic_fetch_add(&strays, 1);
		if (block)
			memset(block, 8, 256);
		dray_pool_free(shared, block);
	}
	atomic_store(&over, true);
	return NULL;
}

FIXED_POOL_FACT(drains_take_nothing_that_is_in_use)
{
	pthread_t producer, consumer;

	shared = *state;
	atomic_store(&over, false);
	atomic_store(&strays, 0);
	assert_int_equal(pthread_create(&producer, NULL, produce, NULL), 0);
	assert_int_equal(pthread_create(&consumer, NULL, consume, NULL), 0);
	while (!atomic_load(&over))
		assert_in_range(stats_of(*state).used, 0, SIZE);
	pthread_join(producer, NULL);
	pthread_join(consumer, NULL);
	dray_pool_free(*state, atomic_exchange(&slot, NULL));
	assert_int_equal(atomic_load(&strays), 0);
	assert_int_equal(stats_of(*state).used, 0);
	assert_int_equal(stats_of(*state).bad_frees, 0);
}

/* One block of 64 bytes is in use, and nothing is kept. */
static int has_only(struct dray_pool *pool, void *block)
{
	struct dray_pool_stats stats = { .size = sizeof(stats) };

	alarm(DEADLINE);
	dray_pool_stats(pool, &stats);
	STEP_EQ(0, stats.cached);
	STEP_EQ(0, stats.bad_frees);
	/* Copies of private memory are all the child's. */
	if (!on_kernel())
		STEP_EQ(64, stats.used);
	dray_pool_free(pool, dray_pool_alloc(pool, 64, 0));
	dray_pool_free(pool, block);
	dray_pool_stats(pool, &stats);
	STEP_EQ(0, stats.used);
	STEP_EQ(0, stats.bad_frees);
	return 0;
}

FIXED_POOL_FACT(a_child_keeps_nothing_of_its_parents_threads)
{
	pthread_t threads[IDLE];
	void *block = take(*state, 64, 0);
	pid_t child;
	int status;

	start_idle(threads, *state);
	child = fork();
	if (!child)
		_exit(has_only(*state, block));
	status = status_of(child);
	dray_pool_free(*state, block);
	end_idle(threads);
	assert_int_equal(status, 0);
}
