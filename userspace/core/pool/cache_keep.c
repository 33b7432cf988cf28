// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The owner's work under the pool's lock: it keeps blocks within its bounds, and
 * fetches more.
 */
#include "base/lock.h"
#include "pool/cache.h"
#include "pool/cache_life.h"
#include "pool/depot.h"
#include "pool/pool.h"

/* Blocks that are fetched at once, doubled from the least. */
#define LEAST 1u
#define MOST 8u

/*
 * Blocks that are returned at once when a magazine is full, so that the next few
 * need no lock.  They are few, so that no single call lasts long; a thread that
 * only frees, magazine after magazine, is done sooner with more.
 */
#define FEW 4u
#define MANY DRAY_BLOCKS_MOST
#define ONLY_FREES 16 /* overflows in a row */
#define LARGE_FEW 4u /* large blocks */

static struct dray_pool *cache_keep_find_pool(const struct dray_cache *cache)
{
	return atomic_load_explicit(&cache->pool, memory_order_relaxed);
}

/*
 * The bound is met: other sizes make room for @bytes, each in its turn and by a
 * block, so that no single call pays for all of them.
 */
static bool keep_make_room(struct dray_cache *cache, uint64_t bytes)
{
	uint32_t turn;

	for (turn = 0; turn < DRAY_MARK_MOST && bytes > cache->room; turn++) {
		struct dray_magazine *magazine =
			&cache->magazines[cache->turn++ % DRAY_MARK_MOST];

		if (dray_magazine_count(magazine))
			dray_cache_flush(cache, magazine, 1);
	}
	return bytes <= cache->room;
}

static bool found_is_small(const struct dray_found *found)
{
	return dray_found_piece(found)->size <= found->pool->most_small;
}

/* Whether a thread may keep a block of this size. */
static inline bool is_of_use(const struct dray_found *found)
{
	const struct dray_piece *piece = dray_found_piece(found);
	const struct dray_pool *pool = found->pool;

	return piece->alignment == pool->shift &&
	       piece->size <= (found_is_small(found) ? pool->kept_small
						     : pool->kept_large);
}

/* Whether a thread may keep this block, once it is freed. */
static bool may_be_kept(const struct dray_found *found)
{
	const struct dray_piece *piece = dray_found_piece(found);

	return !piece->busy && !piece->sent && !found->region->inherited &&
	       is_of_use(found);
}

/* Marks a block that may be kept. */
static inline void cache_keep_mark(const struct dray_found *found)
{
	void *block = dray_found_address(found);

	if (found_is_small(found))
		dray_mark_set(block, dray_found_piece(found)->size);
	else
		dray_mark_set_large(block, dray_found_piece(found)->size);
}

void dray_cache_mark(const struct dray_found *found)
{
	if (may_be_kept(found))
		cache_keep_mark(found);
	else
		dray_mark_set(dray_found_address(found), DRAY_MARK_NONE);
}

/* Turns the last blocks of a magazine around. */
static void cache_keep_reverse(struct dray_magazine *magazine, uint32_t count)
{
	void **high = magazine->top, **low = high - count, *swap;

	for (; low + 1 < high; low++) {
		swap = *low;
		*low = *--high;
		*high = swap;
	}
}

/* A few more of the size of a small block, so that the next need no lock. */
static __attribute__((noinline)) void cache_fill(const struct dray_found *found)
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
	/* Blocks fetched for a size leave room for others. */
	while (count < magazine->batch &&
	       dray_magazine_count(magazine) < MOST &&
	       dray_cache_held_small(cache) + bytes <= cache->most / 2 &&
	       dray_pool_take_from(found->region, (uint32_t)granules, &more)) {
		block = dray_found_address(&more);
		dray_region_mark(more.region,
				 (uintptr_t)block - more.region->base, bytes);
		dray_mark_set(block, DRAY_MARK_KEPT);
		dray_magazine_push(cache, magazine, block);
		count++;
	}
	/* The lowest address is used first. */
	cache_keep_reverse(magazine, count);
	if (magazine->batch < MOST)
		magazine->batch *= 2;
}

void *dray_cache_refill(struct dray_pool *pool, uint64_t granules)
{
	struct dray_magazine *magazine;
	struct dray_cache *cache;
	void *blocks[MOST];
	uint32_t count = 1;

	if (!pool->depots || granules > pool->kept_small)
		return NULL;
	cache = dray_cache_of_caller(pool);
	if (!cache)
		return NULL;
	magazine = &cache->magazines[granules - 1];
	if (cache->room >= (uint64_t)MOST * magazine->bytes &&
	    dray_magazine_count(magazine) < MOST)
		count = MOST;
	count = dray_depot_fetch(pool, (uint32_t)granules, blocks, count);
	if (!count)
		return NULL;
	cache->overflows = 0;
	while (--count)
		dray_magazine_push(cache, magazine, blocks[count]);
	dray_mark_set(blocks[0], (uint32_t)granules);
	return blocks[0];
}

/*
 * Opens the cache for the large block of its owner; returns others that keep whole
 * buffers.
 */
static __attribute__((noinline)) struct dray_pool_region *
cache_open(const struct dray_found *found)
{
	struct dray_cache *cache = dray_cache_of_caller(found->pool);

	if (!cache)
		return found->region;
	cache->overflows = 0;
	if (!cache->wanted || cache->large_room == cache->large_most)
		return found->region;
	return dray_cache_flush_large(cache);
}

struct dray_pool_region *dray_cache_taken(const struct dray_found *found)
{
	/* The cache is not in use yet, and no inherited block is handed out. */
	if (!is_of_use(found)) {
		dray_mark_set(dray_found_address(found), DRAY_MARK_NONE);
		return found->region;
	}
	cache_keep_mark(found);
	if (!found_is_small(found))
		return cache_open(found);
	cache_fill(found);
	return found->region;
}

static bool keep_small(struct dray_cache *cache, void *block, size_t granules)
{
	struct dray_magazine *magazine = &cache->magazines[granules - 1];

	if (!keep_make_room(cache, magazine->bytes))
		return false;
	if (dray_magazine_count(magazine) == DRAY_MAGAZINE_ROOM)
		dray_cache_flush(cache, magazine, FEW);
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
	if (pool != cache_keep_find_pool(cache) || pool->closed ||
	    dray_magazine_count(magazine) < DRAY_MAGAZINE_ROOM ||
	    atomic_load_explicit(&cache->closed, memory_order_relaxed)) {
		pthread_mutex_unlock(&pool->lock);
		return false;
	}
	cache->used = true;
	if (dray_depot_put(pool, magazine->blocks, MANY, size)) {
		dray_magazine_drop(cache, magazine, MANY);
		pthread_mutex_unlock(&pool->lock);
		return true;
	}
	count = cache->overflows++ < ONLY_FREES ? FEW : MANY;
	region = dray_cache_flush(cache, magazine, count);
	dray_pool_unlock_freed(pool, region);
	return true;
}

static bool keep_large(struct dray_cache *cache, void *block, size_t granules)
{
	struct dray_shelf *shelf = dray_cache_shelf(cache, (uint32_t)granules);
	uint64_t bytes = (uint64_t)granules << cache->shift;

	if (!dray_cache_wants(cache, granules))
		return false;
	if (shelf->count == DRAY_SHELF_ROOM)
		dray_shelf_flush(cache, shelf, LARGE_FEW);
	if (!dray_cache_make_large_room(cache, shelf, bytes))
		return false;
	dray_shelf_push(cache, shelf, block, granules);
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
	if (found_is_small(found))
		kept = keep_small(cache, block, granules);
	else
		kept = keep_large(cache, block, granules);
	if (!kept)
		return false;
	/* It may have no size in its marks, if the pool was smaller before. */
	cache_keep_mark(found);
	dray_mark_set(block, DRAY_MARK_KEPT);
	return true;
}
