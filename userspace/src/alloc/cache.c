// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * cache: what its owner does under the pool's lock, and the life of a thread's
 * caches.  They come with the first small block of a pool, and go with the
 * thread.
 */
#include <linux/membarrier.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "alloc/cache.h"
#include "alloc/pool.h"

/* Blocks that are fetched or given back at once, doubled from the least. */
#define LEAST 1u
#define MOST 8u

static struct dray_thread none; /* a thread without caches */
static struct dray_thread over; /* one that has come to its end */

_Thread_local struct dray_thread *dray_thread = &none;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool usable; /* barriers work, and the end of a thread is seen */

/* Memory that is zero in a child, too. */
static void *wiped(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	madvise(memory, size, MADV_WIPEONFORK);
	return memory;
}

static void end_cache(struct dray_cache *cache)
{
	struct dray_pool *pool = cache->pool;
	struct dray_cache **link;

	pthread_mutex_lock(&pool->lock);
	dray_cache_empty(cache);
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
static void end_thread(void *argument)
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

static void set_up(void)
{
	usable = !syscall(SYS_membarrier,
			  MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) &&
		 !pthread_key_create(&key, end_thread);
}

uint32_t dray_cache_number(void)
{
	static _Atomic uint32_t last;
	uint32_t number;

	dray_marks_open();
	pthread_once(&once, set_up);
	if (!dray_marks.marks || !usable)
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
	if (thread == &none) {
		thread = wiped(sizeof(*thread));
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

/* What the pool's granule says of a cache, while that is empty. */
static void prepare(struct dray_cache *cache, const struct dray_pool *pool)
{
	size_t i;

	cache->shift = pool->shift;
	for (i = 0; i < DRAY_MARK_MOST; i++) {
		cache->magazines[i].top = cache->magazines[i].blocks;
		cache->magazines[i].bytes = (uint32_t)(i + 1) << pool->shift;
	}
}

/* A block that a cache had goes back. */
static void give_back(struct dray_cache *cache, void *block)
{
	struct dray_found found = dray_found_kept(cache->pool, block);

	dray_mark_set(block, DRAY_MARK_NONE);
	dray_block_return(&found);
}

/* The oldest @count blocks of a magazine go back. */
static void flush(struct dray_cache *cache, struct dray_magazine *magazine,
		  uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		give_back(cache, magazine->blocks[i]);
	magazine->top -= count;
	memmove(magazine->blocks, magazine->blocks + count,
		dray_magazine_count(magazine) * sizeof(magazine->blocks[0]));
	cache->room += (uint64_t)count * magazine->bytes;
}

/* And of large ones. */
static void flush_large(struct dray_cache *cache, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		give_back(cache, cache->large[i].block);
		cache->room += cache->large[i].granules << cache->shift;
	}
	cache->large_count -= count;
	memmove(cache->large, cache->large + count,
		cache->large_count * sizeof(cache->large[0]));
}

void dray_cache_empty(struct dray_cache *cache)
{
	struct dray_magazine *magazine = cache->magazines;

	for (; magazine < cache->magazines + DRAY_MARK_MOST; magazine++)
		flush(cache, magazine, dray_magazine_count(magazine));
	flush_large(cache, cache->large_count);
}

/* The bound is met: sizes that are used no more make room for @bytes. */
static bool make_room(struct dray_cache *cache, uint64_t bytes)
{
	struct dray_magazine *magazine = cache->magazines;

	while (cache->large_count && bytes > cache->room)
		flush_large(cache, 1);
	if (bytes > cache->room) {
		for (; magazine < cache->magazines + DRAY_MARK_MOST; magazine++)
			flush(cache, magazine,
			      (dray_magazine_count(magazine) + 1) / 2);
	}
	return bytes <= cache->room;
}

/* Bytes that a cache has. */
static uint64_t held(const struct dray_cache *cache)
{
	return cache->most - cache->room;
}

/*
 * The bound follows the pool's size; what a cache has beyond it, after the
 * pool became smaller, goes back.
 */
static void set_bound(struct dray_cache *cache, uint64_t most)
{
	if (most < cache->most && held(cache) > most)
		dray_cache_empty(cache);
	cache->room += most - cache->most;
	cache->most = most;
}

/* The caller's cache of a pool, with a bound that is up to date. */
static struct dray_cache *cache_of_caller(struct dray_pool *pool)
{
	struct dray_thread *thread;
	struct dray_cache *cache;

	if (!pool->number || pool->closed)
		return NULL;
	thread = thread_of_caller();
	if (!thread)
		return NULL;
	cache = thread->caches[pool->number];
	if (!cache) {
		cache = wiped(sizeof(*cache));
		if (!cache)
			return NULL;
		prepare(cache, pool);
		cache->number = pool->number;
		cache->pool = pool;
		cache->next = pool->caches;
		pool->caches = cache;
		thread->caches[pool->number] = cache;
	}
	thread->recent = cache;
	thread->recent_number = pool->number;
	set_bound(cache, pool->reserved / DRAY_CACHE_PART);
	cache->used = true;
	cache->swept = false;
	return cache;
}

static bool is_small(const struct dray_found *found)
{
	return dray_found_piece(found)->size <= found->pool->small >>
	       found->pool->shift;
}

/* Whether a thread may keep the block, once it is freed. */
static bool may_be_kept(const struct dray_found *found)
{
	const struct dray_piece *piece = dray_found_piece(found);
	const struct dray_pool *pool = found->pool;

	return pool->number && !piece->busy && !piece->sent &&
	       piece->alignment == pool->shift && !found->region->inherited &&
	       (uint64_t)piece->size << pool->shift <=
		       pool->reserved / DRAY_CACHE_PART;
}

/* Whether it may be kept. */
static inline bool mark(const struct dray_found *found)
{
	void *block = dray_found_address(found);

	if (!may_be_kept(found)) {
		dray_mark_set(block, DRAY_MARK_NONE);
		return false;
	}
	if (is_small(found))
		dray_mark_set(block, dray_found_piece(found)->size);
	else
		dray_mark_set_large(block, dray_found_piece(found)->size);
	return true;
}

void dray_cache_mark(const struct dray_found *found)
{
	mark(found);
}

/* Turns the last blocks of a magazine around. */
static void reverse(struct dray_magazine *magazine, uint32_t count)
{
	void **high = magazine->top, **low = high - count, *swap;

	for (; low + 1 < high; low++) {
		swap = *low;
		*low = *--high;
		*high = swap;
	}
}

/* A few more of the size of a small block, so that the next need no lock. */
static void fill(const struct dray_found *found)
{
	size_t granules = dray_found_piece(found)->size;
	struct dray_pool *pool = found->pool;
	uint64_t bytes = (uint64_t)granules << pool->shift;
	struct dray_cache *cache = cache_of_caller(pool);
	struct dray_magazine *magazine;
	struct dray_found more;
	uint32_t count = 0;
	void *block;

	if (!cache)
		return;
	magazine = &cache->magazines[granules - 1];
	if (!magazine->batch)
		magazine->batch = LEAST;
	/* What is fetched for one size leaves room for others. */
	while (count < magazine->batch &&
	       dray_magazine_count(magazine) < MOST &&
	       held(cache) + bytes <= cache->most / 2 &&
	       dray_pool_take_from(found->region, (uint32_t)granules, &more)) {
		block = dray_found_address(&more);
		dray_region_mark(more.region,
				 (uintptr_t)block - more.region->base, bytes);
		dray_mark_set(block, DRAY_MARK_KEPT);
		*magazine->top++ = block;
		cache->room -= bytes;
		count++;
	}
	/* The lowest address is used first. */
	reverse(magazine, count);
	if (magazine->batch < MOST)
		magazine->batch *= 2;
}

void dray_cache_taken(const struct dray_found *found)
{
	struct dray_pool *pool = found->pool;
	struct dray_cache *cache;

	if (!mark(found))
		return;
	if (is_small(found)) {
		fill(found);
		return;
	}
	/* That it is wanted the cache knows, where there is one. */
	if (dray_thread->caches[pool->number])
		return;
	cache = cache_of_caller(pool);
	if (cache)
		cache->wanted = dray_found_piece(found)->size;
}

static bool keep_small(struct dray_cache *cache, void *block, size_t granules)
{
	struct dray_magazine *magazine = &cache->magazines[granules - 1];

	if (!make_room(cache, (uint64_t)granules << cache->shift))
		return false;
	if (dray_magazine_count(magazine) == DRAY_MAGAZINE_ROOM)
		flush(cache, magazine, MOST);
	*magazine->top++ = block;
	return true;
}

static bool keep_large(struct dray_cache *cache, void *block, size_t granules)
{
	if (cache->large_count == DRAY_CACHE_LARGE)
		flush_large(cache, 1);
	if (!make_room(cache, (uint64_t)granules << cache->shift))
		return false;
	cache->large[cache->large_count++] = (struct dray_large_block){
		.block = block,
		.granules = granules,
	};
	return true;
}

bool dray_cache_keep(const struct dray_found *found)
{
	size_t granules = dray_found_piece(found)->size;
	void *block = dray_found_address(found);
	struct dray_cache *cache;
	bool kept;

	if (!may_be_kept(found))
		return false;
	cache = cache_of_caller(found->pool);
	if (!cache)
		return false;
	if (is_small(found))
		kept = keep_small(cache, block, granules);
	else
		kept = granules == cache->wanted &&
		       keep_large(cache, block, granules);
	if (kept) {
		cache->room -= (uint64_t)granules << cache->shift;
		dray_mark_set(block, DRAY_MARK_KEPT);
	}
	return kept;
}

void dray_caches_adopt(struct dray_pool *pool)
{
	struct dray_cache *cache;

	for (cache = pool->caches; cache; cache = cache->next) {
		prepare(cache, pool);
		set_bound(cache, pool->reserved / DRAY_CACHE_PART);
	}
	dray_caches_open(pool);
}

void dray_caches_forget(struct dray_pool *pool)
{
	pool->caches = NULL;
	dray_thread = &none;
}
