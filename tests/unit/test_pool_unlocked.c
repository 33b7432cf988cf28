// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A pool is not locked while memory comes from the system or goes back to it:
 * others free, and look for blocks, meanwhile.  Each such call of the library
 * comes here first.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/mman.h>

#include "pool.h"
#include "pool/pool.h"

#define MIB ((size_t)1 << 20)
#define SIZE (64 * MIB)

static struct dray_pool *watched;
static void (*meanwhile)(void); /* once */
static int calls, locked;

static void look(void)
{
	void (*now)(void) = meanwhile;

	if (!watched)
		return;
	calls++;
	if (pthread_mutex_trylock(&watched->lock)) {
		locked++;
		return;
	}
	pthread_mutex_unlock(&watched->lock);
	meanwhile = NULL;
	if (now)
		now();
}

static void watch(struct dray_pool *pool)
{
	if (pool)
		calls = locked = 0;
	watched = pool;
}
WRAPPED(int, madvise, (void *start, size_t size, int advice))
{
	if (advice == MADV_DONTNEED || advice == MADV_POPULATE_WRITE)
		look();
	return __real_madvise(start, size, advice);
}
WRAPPED(void *, mmap64,
	(void *start, size_t size, int protection, int flags, int fd,
	 off_t offset))
{
	if (flags & MAP_FIXED)
		look();
	return __real_mmap64(start, size, protection, flags, fd, offset);
}
WRAPPED(int, fallocate64, (int fd, int mode, off_t offset, off_t size))
{
	look();
	return __real_fallocate64(fd, mode, offset, size);
}

static const char *const specs[] = { "host:private", "host:shareable" };
static const size_t spec_count = sizeof(specs) / sizeof(specs[0]);

FACT(a_pool_is_not_locked_while_it_grows)
{
	struct dray_pool_options options = {
		.initial = MIB,
		.pages.flags = DRAY_PAGES_PREFAULT,
	};
	struct dray_pool *pool;

	for (size_t i = 0; i < spec_count; i++) {
		pool = open_pool(specs[i], &options);
		watch(pool);
		dray_pool_free(pool, take(pool, SIZE, 0));
		watch(NULL);
		assert_int_equal(stats_of(pool).regions, 1);
		assert_int_not_equal(calls, 0);
		assert_int_equal(locked, 0);
		dray_pool_close(pool);
	}
}

FACT(a_pool_is_not_locked_while_it_is_trimmed)
{
	struct dray_pool_options options = { .initial = SIZE };
	struct dray_pool *pool;
	void *below, *between;
	uint64_t bytes;

	for (size_t i = 0; i < spec_count; i++) {
		pool = open_pool(specs[i], &options);
		below = take(pool, SIZE / 4, 0);
		between = take(pool, SIZE / 4, 0);
		dray_pool_free(pool, take(pool, SIZE / 4, 0));
		dray_pool_free(pool, below);
		watch(pool);
		bytes = dray_pool_trim(pool);
		watch(NULL);
		assert_int_equal(bytes, SIZE / 2);
		assert_in_range(calls, 2, 100);
		assert_int_equal(locked, 0);
		dray_pool_free(pool, between);
		assert_int_equal(stats_of(pool).largest_free, SIZE);
		dray_pool_close(pool);
	}
}

static pthread_t other;

/* Until the other thread waits for what this one does. */
static void wait_until_it_waits(void)
{
	uint32_t pending;

	do {
		sched_yield();
		pthread_mutex_lock(&watched->lock);
		pending = watched->pending;
		pthread_mutex_unlock(&watched->lock);
	} while (pending < 2);
}

static void *take_all(void *pool)
{
	return dray_pool_alloc(pool, SIZE - MIB, 0);
}

static void let_it_take(void)
{
	pthread_create(&other, NULL, take_all, watched);
	wait_until_it_waits();
}

FACT(a_request_waits_for_the_end_of_a_trim)
{
	struct dray_pool_options options = { .initial = SIZE, .limit = SIZE };
	struct dray_pool *pool = open_pool("host", &options);
	void *kept = take(pool, 64, 0), *all;

	dray_pool_free(pool, take(pool, SIZE / 2, 0));
	watch(pool);
	meanwhile = let_it_take;
	assert_in_range(dray_pool_trim(pool), SIZE / 2 - MIB, SIZE / 2);
	watch(NULL);
	assert_works(pthread_join(other, &all));
	assert_non_null(all);
	dray_pool_free(pool, all);
	dray_pool_free(pool, kept);
	dray_pool_close(pool);
}

static void *close_pool(void *pool)
{
	dray_pool_close(pool);
	return NULL;
}

static void let_it_close(void)
{
	pthread_create(&other, NULL, close_pool, watched);
	wait_until_it_waits();
}

static uint64_t used_of(struct dray_node *node)
{
	struct dray_heap_info heap;

	assert_works(dray_node_heap(node, 0, &heap, sizeof(heap)));
	return heap.used;
}

FACT(what_came_while_a_pool_was_closed_goes_back)
{
	struct dray_node *node = open_node("host");
	uint64_t before = used_of(node);
	struct dray_pool *pool;
	void *kept;

	assert_works(dray_pool_create(node, NULL, &pool));
	kept = take(pool, 64, 0);
	watch(pool);
	meanwhile = let_it_close;
	assert_null(dray_pool_alloc(pool, 2 * SIZE, 0));
	watch(NULL);
	assert_non_null(strstr(dray_last_error(), "closed"));
	assert_works(pthread_join(other, NULL));
	dray_pool_free(NULL, kept);
	assert_int_equal(used_of(node), before);
	dray_node_unref(node);
}
