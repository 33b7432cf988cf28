// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * cache: the blocks of a cache go back to the pool, under its lock: all, the oldest,
 * or the excess over its bounds.  Large blocks lie on shelves by size.  A request looks
 * at two shelves, so that blocks of many sizes are used again without the lock.
 */
#include <string.h>

#include "pool/cache.h"
#include "pool/pool.h"

struct dray_thread dray_thread_none;
_Thread_local struct dray_thread *dray_thread = &dray_thread_none;

static struct dray_pool *cache_find_pool(const struct dray_cache *cache)
{
	return atomic_load_explicit(&cache->pool, memory_order_relaxed);
}

void dray_magazine_drop(struct dray_cache *cache,
			struct dray_magazine *magazine, uint32_t count)
{
	magazine->top -= count;
	memmove(magazine->blocks, magazine->blocks + count,
		dray_magazine_count(magazine) * sizeof(magazine->blocks[0]));
	cache->room += (uint64_t)count * magazine->bytes;
}

struct dray_pool_region *dray_cache_flush(struct dray_cache *cache,
					  struct dray_magazine *magazine,
					  uint32_t count)
{
	uint32_t granules[DRAY_BLOCKS_MOST], i, some;
	struct dray_pool_region *region = NULL;

	for (i = 0; i < DRAY_BLOCKS_MOST; i++)
		granules[i] = magazine->bytes >> cache->shift;
	for (i = 0; i < count; i += some) {
		some = count - i < DRAY_BLOCKS_MOST ? count - i
						    : DRAY_BLOCKS_MOST;
		region = dray_blocks_return(cache_find_pool(cache),
					    magazine->blocks + i, granules,
					    some);
	}
	dray_magazine_drop(cache, magazine, count);
	return region;
}

/*
 * Finds the smallest block of a shelf with @granules and at most @spare more;
 * returns DRAY_SHELF_ROOM if there is none.
 */
static uint32_t shelf_search(const struct dray_shelf *shelf, uint32_t granules,
			     uint32_t spare)
{
	uint32_t index = DRAY_SHELF_ROOM, i, more;

	for (i = 0; i < DRAY_SHELF_ROOM; i++) {
		/* Wraps around if there is no block, or a smaller block. */
		more = shelf->granules[i] - granules;
		index = more <= spare ? i : index;
		spare = more <= spare ? more : spare;
	}
	return index;
}

void *dray_shelf_take_near(struct dray_cache *cache, struct dray_shelf *shelf,
			   uint32_t granules)
{
	uint32_t spare = (uint32_t)((uint64_t)granules >> cache->spare), index;

	index = shelf_search(shelf, granules, spare);
	if (index == DRAY_SHELF_ROOM && spare &&
	    shelf + 1 < cache->shelves + DRAY_SHELVES)
		index = shelf_search(++shelf, granules, spare);
	return index < DRAY_SHELF_ROOM ? dray_shelf_remove(cache, shelf, index)
				       : NULL;
}

struct dray_pool_region *dray_shelf_flush(struct dray_cache *cache,
					  struct dray_shelf *shelf,
					  uint32_t count)
{
	struct dray_pool_region *region = dray_blocks_return(
		cache_find_pool(cache), shelf->blocks, shelf->granules, count);

	while (count--)
		dray_shelf_remove(cache, shelf, count);
	return region;
}

/* The highest shelf with a block, but for @except; NULL: there is none. */
static struct dray_shelf *cache_top_shelf(struct dray_cache *cache,
					  const struct dray_shelf *except)
{
	struct dray_shelf *shelf = cache->shelves + cache->large_top;
	bool top = true;

	for (;; shelf--) {
		if (shelf->count && shelf != except)
			return shelf;
		top = top && !shelf->count;
		if (shelf == cache->shelves)
			return NULL;
		if (top)
			cache->large_top--;
	}
}

struct dray_pool_region *dray_cache_flush_large(struct dray_cache *cache)
{
	struct dray_pool_region *region = NULL, *some;
	struct dray_shelf *shelf;

	while (cache->large_room < cache->large_most) {
		shelf = cache_top_shelf(cache, NULL);
		some = dray_shelf_flush(cache, shelf, shelf->count);
		if (!region || !some->blocks)
			region = some;
	}
	return region;
}

/* The largest leave first, as few are enough; blocks of the same shelf leave last. */
bool dray_cache_make_large_room(struct dray_cache *cache,
				const struct dray_shelf *shelf, uint64_t bytes)
{
	struct dray_shelf *top;

	while (bytes > cache->large_room &&
	       cache->large_room < cache->large_most) {
		top = cache_top_shelf(cache, shelf);
		if (!top)
			top = cache_top_shelf(cache, NULL);
		dray_shelf_flush(cache, top, 1);
	}
	return bytes <= cache->large_room;
}

void dray_cache_empty(struct dray_cache *cache)
{
	struct dray_magazine *magazine = cache->magazines;

	for (; magazine < cache->magazines + DRAY_MARK_MOST; magazine++)
		dray_cache_flush(cache, magazine,
				 dray_magazine_count(magazine));
	dray_cache_flush_large(cache);
}

uint64_t dray_cache_held(const struct dray_cache *cache)
{
	return dray_cache_held_small(cache) + cache->large_most -
	       cache->large_room;
}

/* Returns the excess after the pool became smaller. */
void dray_cache_set_bounds(struct dray_cache *cache, uint64_t reserved)
{
	uint64_t most = dray_cache_bound(reserved);
	uint64_t large_most = cache->wanted ? dray_cache_block_bound(reserved)
					    : dray_cache_large_bound(reserved);

	if (dray_cache_held_small(cache) > most ||
	    cache->large_most - cache->large_room > large_most)
		dray_cache_empty(cache);
	cache->room += most - cache->most;
	cache->most = most;
	cache->large_room += large_most - cache->large_most;
	cache->large_most = large_most;
}
