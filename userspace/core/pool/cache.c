// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * cache: the owner's work under the pool's lock: it keeps and returns blocks
 * within its bounds, and fetches more.
 */
#include <string.h>

#include "base/lock.h"
#include "pool/cache.h"
#include "pool/pool.h"

/* Blocks that are fetched at once, doubled from the least. */
#define LEAST 1u
#define MOST 8u

/*
 * Blocks that are given back at once when a magazine is full, so that the next
 * few need no lock.  They are few, so that no single call takes long; a thread
 * that only frees, magazine after magazine, is done sooner with more.
 */
#define FEW 4u
#define MANY DRAY_BLOCKS_MOST
#define ONLY_FREES 16 /* overflows in a row */

static struct dray_pool *pool_of(const struct dray_cache *cache)
{
	return atomic_load_explicit(&cache->pool, memory_order_relaxed);
}

/* Gives back the oldest @count blocks of a magazine; the last one's region. */
static struct dray_pool_region *
flush(struct dray_cache *cache, struct dray_magazine *magazine, uint32_t count)
{
	struct dray_pool_region *region = NULL;
	uint32_t i, some;

	for (i = 0; i < count; i += some) {
		some = count - i < MANY ? count - i : MANY;
		region = dray_blocks_return(pool_of(cache),
					    magazine->blocks + i, some,
					    magazine->bytes >> cache->shift);
	}
	magazine->top -= count;
	memmove(magazine->blocks, magazine->blocks + count,
		dray_magazine_count(magazine) * sizeof(magazine->blocks[0]));
	cache->room += (uint64_t)count * magazine->bytes;
	return region;
}

/* As above, for large blocks. */
static void flush_large(struct dray_cache *cache, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		dray_blocks_return(pool_of(cache), &cache->large[i].block, 1,
				   (uint32_t)cache->large[i].granules);
		cache->large_room += cache->large[i].granules << cache->shift;
	}
	cache->large_count -= count;
	memmove(cache->large, cache->large + count,
		cache->large_count * sizeof(cache->large[0]));
}

void *dray_cache_leave_with(struct dray_cache *cache, uint32_t index)
{
	const struct dray_large_block large = cache->large[index];

	cache->large_room += large.granules << cache->shift;
	for (cache->large_count--; index < cache->large_count; index++)
		cache->large[index] = cache->large[index + 1];
	dray_mark_set(large.block, DRAY_MARK_LARGE);
	dray_cache_leave(cache);
	return large.block;
}

void dray_cache_empty(struct dray_cache *cache)
{
	struct dray_magazine *magazine = cache->magazines;

	for (; magazine < cache->magazines + DRAY_MARK_MOST; magazine++)
		flush(cache, magazine, dray_magazine_count(magazine));
	flush_large(cache, cache->large_count);
}

/*
 * The bound is met: other sizes make room for @bytes, each in its turn and by
 * one block, so that no single call pays for all of them.
 */
static bool make_room(struct dray_cache *cache, uint64_t bytes)
{
	uint32_t turn;

	for (turn = 0; turn < DRAY_MARK_MOST && bytes > cache->room; turn++) {
		struct dray_magazine *magazine =
			&cache->magazines[cache->turn++ % DRAY_MARK_MOST];

		if (dray_magazine_count(magazine))
			flush(cache, magazine, 1);
	}
	return bytes <= cache->room;
}

static bool make_large_room(struct dray_cache *cache, uint64_t bytes)
{
	while (cache->large_count && bytes > cache->large_room)
		flush_large(cache, 1);
	return bytes <= cache->large_room;
}

/* Bytes of small blocks that a cache has. */
static uint64_t held_small(const struct dray_cache *cache)
{
	return cache->most - cache->room;
}

uint64_t dray_cache_held(const struct dray_cache *cache)
{
	return held_small(cache) + cache->large_most - cache->large_room;
}

/* Returns the excess after the pool became smaller. */
void dray_cache_set_bounds(struct dray_cache *cache, uint64_t reserved)
{
	uint64_t most = dray_cache_bound(reserved);
	uint64_t large_most = dray_cache_large_bound(reserved);

	if (held_small(cache) > most ||
	    cache->large_most - cache->large_room > large_most)
		dray_cache_empty(cache);
	cache->room += most - cache->most;
	cache->most = most;
	cache->large_room += large_most - cache->large_most;
	cache->large_most = large_most;
}

static bool is_small(const struct dray_found *found)
{
	return dray_found_piece(found)->size <= found->pool->most_small;
}

/* Whether a thread may keep a block of this size. */
static inline bool is_of_use(const struct dray_found *found)
{
	const struct dray_piece *piece = dray_found_piece(found);
	const struct dray_pool *pool = found->pool;

	return piece->alignment == pool->shift &&
	       piece->size <=
		       (is_small(found) ? pool->kept_small : pool->kept_large);
}

/* Whether a thread may keep this one, once it is freed. */
static bool may_be_kept(const struct dray_found *found)
{
	const struct dray_piece *piece = dray_found_piece(found);

	return !piece->busy && !piece->sent && !found->region->inherited &&
	       is_of_use(found);
}

/* Marks a block that may be kept. */
static inline void mark(const struct dray_found *found)
{
	void *block = dray_found_address(found);

	if (is_small(found))
		dray_mark_set(block, dray_found_piece(found)->size);
	else
		dray_mark_set_large(block, dray_found_piece(found)->size);
}

void dray_cache_mark(const struct dray_found *found)
{
	if (may_be_kept(found))
		mark(found);
	else
		dray_mark_set(dray_found_address(found), DRAY_MARK_NONE);
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
static __attribute__((noinline)) void fill(const struct dray_found *found)
{
	size_t granules = dray_found_piece(found)->size;
	struct dray_pool *pool = found->pool;
	uint64_t bytes = (uint64_t)granules << pool->shift;
	struct dray_cache *cache = dray_cache_of_caller(pool);
	struct dray_magazine *magazine;
	struct dray_found more;
	uint32_t count = 0;
	void *block;

	if (!cache)
		return;
	cache->overflows = 0;
	magazine = &cache->magazines[granules - 1];
	if (!magazine->batch)
		magazine->batch = LEAST;
	/* Blocks fetched for one size leave room for others. */
	while (count < magazine->batch &&
	       dray_magazine_count(magazine) < MOST &&
	       held_small(cache) + bytes <= cache->most / 2 &&
	       dray_pool_take_from(found->region, (uint32_t)granules, &more)) {
		block = dray_found_address(&more);
		dray_region_mark(more.region,
				 (uintptr_t)block - more.region->base, bytes);
		dray_mark_set(block, DRAY_MARK_KEPT);
		dray_magazine_push(cache, magazine, block);
		count++;
	}
	/* The lowest address is used first. */
	reverse(magazine, count);
	if (magazine->batch < MOST)
		magazine->batch *= 2;
}

/* Has the cache keep the large block that its owner took, once it is freed. */
static __attribute__((noinline)) void want(const struct dray_found *found)
{
	struct dray_cache *cache = dray_cache_of_caller(found->pool);

	if (!cache)
		return;
	cache->overflows = 0;
	cache->wanted = dray_found_piece(found)->size;
}

void dray_cache_taken(const struct dray_found *found)
{
	/* The cache is not in use yet, and no inherited block is handed out. */
	if (!is_of_use(found)) {
		dray_mark_set(dray_found_address(found), DRAY_MARK_NONE);
		return;
	}
	mark(found);
	if (is_small(found))
		fill(found);
	else
		want(found);
}

static bool keep_small(struct dray_cache *cache, void *block, size_t granules)
{
	struct dray_magazine *magazine = &cache->magazines[granules - 1];

	if (!make_room(cache, magazine->bytes))
		return false;
	if (dray_magazine_count(magazine) == DRAY_MAGAZINE_ROOM)
		flush(cache, magazine, FEW);
	dray_magazine_push(cache, magazine, block);
	return true;
}

bool dray_cache_make_room(struct dray_cache *cache, uint32_t size)
{
	struct dray_magazine *magazine = &cache->magazines[size - 1];
	struct dray_pool *pool = atomic_load(&cache->pool);
	struct dray_pool_region *region;
	uint32_t count;

	dray_caches_settle();
	dray_lock(&pool->lock);
	if (pool != pool_of(cache) || pool->closed ||
	    dray_magazine_count(magazine) < DRAY_MAGAZINE_ROOM ||
	    atomic_load_explicit(&cache->closed, memory_order_relaxed)) {
		pthread_mutex_unlock(&pool->lock);
		return false;
	}
	count = cache->overflows++ < ONLY_FREES ? FEW : MANY;
	region = flush(cache, magazine, count);
	cache->used = true;
	dray_pool_unlock_freed(pool, region);
	return true;
}

static bool keep_large(struct dray_cache *cache, void *block, size_t granules)
{
	uint64_t bytes = (uint64_t)granules << cache->shift;

	if (granules != cache->wanted)
		return false;
	if (cache->large_count == DRAY_CACHE_LARGE)
		flush_large(cache, 1);
	if (!make_large_room(cache, bytes))
		return false;
	dray_cache_push_large(cache, block, granules);
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
	cache = dray_cache_of_caller(found->pool);
	if (!cache)
		return false;
	if (is_small(found))
		kept = keep_small(cache, block, granules);
	else
		kept = keep_large(cache, block, granules);
	if (kept)
		dray_mark_set(block, DRAY_MARK_KEPT);
	return kept;
}

void dray_pool_set_reserved(struct dray_pool *pool, uint64_t bytes)
{
	uint64_t small = dray_cache_bound(bytes) >> pool->shift;
	uint64_t large = dray_cache_large_bound(bytes) >> pool->shift;

	pool->reserved = bytes;
	if (small > pool->most_small)
		small = pool->most_small;
	/* A pool without a number has no caches. */
	if (!dray_pool_number(pool))
		small = large = 0;
	pool->kept_small = (uint32_t)small;
	pool->kept_large = (uint32_t)large;
}
