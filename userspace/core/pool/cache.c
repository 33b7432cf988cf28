// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * cache: the blocks of a cache go back to the pool, under its lock: all, the oldest,
 * or the excess over its bounds.
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

struct dray_pool_region *dray_cache_flush_large(struct dray_cache *cache,
						uint32_t count)
{
	struct dray_pool_region *region =
		dray_blocks_return(cache_find_pool(cache), cache->large,
				   cache->large_granules, count);
	uint32_t i;

	for (i = 0; i < count; i++)
		cache->large_room += (uint64_t)cache->large_granules[i]
				     << cache->shift;
	cache->large_count -= count;
	for (i = 0; i < cache->large_count; i++) {
		cache->large[i] = cache->large[count + i];
		cache->large_granules[i] = cache->large_granules[count + i];
	}
	return region;
}

void *dray_cache_leave_with(struct dray_cache *cache, uint32_t index)
{
	void *block = cache->large[index];

	cache->large_room += (uint64_t)cache->large_granules[index]
			     << cache->shift;
	for (cache->large_count--; index < cache->large_count; index++) {
		cache->large[index] = cache->large[index + 1];
		cache->large_granules[index] = cache->large_granules[index + 1];
	}
	dray_mark_set(block, DRAY_MARK_LARGE);
	dray_cache_leave(cache);
	return block;
}

void dray_cache_empty(struct dray_cache *cache)
{
	struct dray_magazine *magazine = cache->magazines;

	for (; magazine < cache->magazines + DRAY_MARK_MOST; magazine++)
		dray_cache_flush(cache, magazine,
				 dray_magazine_count(magazine));
	dray_cache_flush_large(cache, cache->large_count);
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
	uint64_t large_most = dray_cache_large_bound(reserved);

	if (dray_cache_held_small(cache) > most ||
	    cache->large_most - cache->large_room > large_most)
		dray_cache_empty(cache);
	cache->room += most - cache->most;
	cache->most = most;
	cache->large_room += large_most - cache->large_most;
	cache->large_most = large_most;
}
