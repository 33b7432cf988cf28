// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The life of a thread's caches: they come with the first block of a pool, and
 * go with the thread.
 */
#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pool/cache_life.h"
#include "pool/depot.h"
#include "pool/pool.h"
#include "pool/unused.h"

static struct dray_thread over; /* one that has come to its end */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool usable; /* all that caches need of the system is there */
static _Atomic bool off; /* a barrier failed: never again */

/* Memory that is zero in a child, too; or NULL. */
static void *cache_life_wiped(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	if (madvise(memory, size, MADV_WIPEONFORK)) {
		munmap(memory, size);
		return NULL;
	}
	return memory;
}

static bool can_wipe(void)
{
	void *memory = cache_life_wiped(1);

	return memory && !munmap(memory, 1);
}

/* The pool that a cache belongs to, which may change without its lock. */
static struct dray_pool *lock_pool_of(struct dray_cache *cache)
{
	struct dray_pool *pool;

	for (;;) {
		pool = atomic_load(&cache->pool);
		pthread_mutex_lock(&pool->lock);
		if (atomic_load(&cache->pool) == pool)
			return pool;
		pthread_mutex_unlock(&pool->lock);
	}
}

static void end_cache(struct dray_cache *cache)
{
	struct dray_pool *pool = lock_pool_of(cache);
	struct dray_cache **link;

	dray_cache_empty(cache);
	dray_depots_empty(pool, true);
	for (link = &pool->caches; *link; link = &(*link)->next) {
		if (*link == cache) {
			*link = cache->next;
			break;
		}
	}
	dray_pool_unlock_or_end(pool);
	munmap(cache, sizeof(*cache));
}

/* From here on the thread does without: other destructors may still free. */
static void life_end_thread(void *argument)
{
	struct dray_thread *thread = argument;
	uint32_t number;

	if (dray_thread == thread)
		dray_thread = &over;
	for (number = 1; number < DRAY_CACHED_POOLS; number++) {
		if (thread->caches[number])
			end_cache(thread->caches[number]);
	}
	munmap(thread, sizeof(*thread));
}

static void life_set_up(void)
{
	usable = !syscall(SYS_membarrier,
			  MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) &&
		 can_wipe() && !pthread_key_create(&key, life_end_thread);
}

void dray_caches_end(void)
{
	atomic_store(&off, true);
}

bool dray_caches_are_off(void)
{
	return atomic_load(&off);
}

uint32_t dray_cache_number(void)
{
	static _Atomic uint32_t last;
	uint32_t number;

	dray_marks_open();
	pthread_once(&once, life_set_up);
	if (!dray_marks.marks || !usable || dray_caches_are_off())
		return 0;
	number = atomic_load(&last);
	do {
		if (number == DRAY_CACHED_POOLS - 1)
			return 0;
	} while (!atomic_compare_exchange_weak(&last, &number, number + 1));
	return number + 1;
}

static struct dray_thread *thread_of_caller(void)
{
	struct dray_thread *thread = dray_thread;

	if (thread == &over)
		return NULL;
	if (thread == &dray_thread_none) {
		thread = cache_life_wiped(sizeof(*thread));
		if (!thread)
			return NULL;
		if (pthread_setspecific(key, thread)) {
			munmap(thread, sizeof(*thread));
			return NULL;
		}
		dray_thread = thread;
	}
	/* New, or wiped because the process is a child. */
	if (!thread->lines) {
		thread->base = dray_window.base;
		thread->marks = dray_marks.marks;
		thread->numbers = dray_marks.numbers;
		thread->recent_number = DRAY_CACHED_POOLS;
		thread->lines = atomic_load_explicit(&dray_window.slots,
						     memory_order_acquire)
				<< (DRAY_SLOT_SHIFT - DRAY_MARK_SHIFT);
	}
	return thread;
}

/* The pool's granule decides the layout, while the cache is empty. */
static void cache_life_prepare(struct dray_cache *cache,
			       const struct dray_pool *pool)
{
	size_t i;

	cache->shift = pool->shift;
	cache->wanted = !pool->grows;
	for (i = 0; i < DRAY_MARK_MOST; i++) {
		cache->magazines[i].top = cache->magazines[i].blocks;
		cache->magazines[i].bytes = (uint32_t)(i + 1) << pool->shift;
	}
}

/* Returns the caller's blocks: no cache may show them afterwards. */
static void empty_own(const struct dray_pool *pool)
{
	struct dray_cache *cache = dray_thread->caches[dray_pool_number(pool)];

	if (cache)
		dray_cache_empty(cache);
}

struct dray_cache *dray_cache_of_caller(struct dray_pool *pool)
{
	uint32_t number = dray_pool_number(pool);
	struct dray_thread *thread;
	struct dray_cache *cache;

	if (dray_caches_are_off()) {
		empty_own(pool);
		return NULL;
	}
	if (!number || pool->closed)
		return NULL;
	thread = thread_of_caller();
	if (!thread)
		return NULL;
	cache = thread->caches[number];
	if (!cache) {
		cache = cache_life_wiped(sizeof(*cache));
		if (!cache)
			return NULL;
		cache_life_prepare(cache, pool);
		cache->number = number;
		atomic_store(&cache->pool, pool);
		cache->next = pool->caches;
		pool->caches = cache;
		thread->caches[number] = cache;
	}
	thread->recent = cache;
	thread->recent_number = number;
	dray_cache_set_bounds(cache, pool->reserved);
	cache->spare = !cache->wanted && pool->used < pool->limit / 2
			       ? DRAY_SPARE_SHIFT
			       : 32;
	cache->used = true;
	cache->drained = false;
	atomic_store_explicit(&cache->closed, 0, memory_order_release);
	return cache;
}

_Atomic uint32_t dray_caches_left;

/* Returns the caller's blocks of a closed pool. */
static void cache_life_settle(struct dray_cache *cache)
{
	struct dray_pool *pool = lock_pool_of(cache);

	if (pool->closed && dray_cache_held(cache)) {
		dray_cache_empty(cache);
		if (pool->blocks)
			dray_pool_give_back(pool);
	}
	dray_pool_unlock_or_end(pool);
}

void dray_caches_look(void)
{
	struct dray_thread *thread = dray_thread;
	uint32_t number;

	if (thread == &dray_thread_none || thread == &over)
		return;
	thread->settled = atomic_load(&dray_caches_left);
	for (number = 1; number < DRAY_CACHED_POOLS; number++) {
		struct dray_cache *cache = thread->caches[number];

		if (cache && atomic_load(&cache->closed))
			cache_life_settle(cache);
	}
}

void dray_caches_adopt(struct dray_pool *pool)
{
	struct dray_cache *cache;

	for (cache = pool->caches; cache; cache = cache->next)
		cache_life_prepare(cache, pool);
}

void dray_caches_pass(struct dray_pool *from, struct dray_pool *to)
{
	struct dray_cache *cache;

	atomic_store(&to->number, atomic_load(&from->number));
	atomic_store(&from->number, 0);
	to->caches = from->caches;
	from->caches = NULL;
	for (cache = to->caches; cache; cache = cache->next)
		atomic_store(&cache->pool, to);
}

void dray_caches_forget(struct dray_pool *pool)
{
	pool->caches = NULL;
	dray_depots_forget(pool);
	dray_thread = &dray_thread_none;
}
