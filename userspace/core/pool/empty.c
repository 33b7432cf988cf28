// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The bytes in the regions of a pool, and regions that have no block. */
#include "pool/cache_bound.h"
#include "pool/pool.h"

_Thread_local uint64_t dray_pool_grown;

void dray_pool_set_reserved(struct dray_pool *pool, uint64_t bytes)
{
	uint64_t small = dray_cache_bound(bytes) >> pool->shift;
	uint64_t large = dray_cache_block_bound(bytes) >> pool->shift;

	pool->reserved = bytes;
	if (small > pool->most_small)
		small = pool->most_small;
	/* A pool without a number has no caches. */
	if (!dray_pool_number(pool))
		small = large = 0;
	pool->kept_small = (uint32_t)small;
	pool->kept_large = (uint32_t)large;
}

struct dray_pool_region *dray_pool_take_empty(struct dray_pool *pool,
					      uint64_t keep)
{
	struct dray_pool_region **link, *region, *taken = NULL;
	uint64_t empty = 0;

	for (region = pool->regions; region; region = region->next)
		if (!region->blocks && !region->inherited)
			empty += region->size;
	for (link = &pool->regions; *link;) {
		region = *link;
		if (region->blocks || (empty <= keep && !region->inherited)) {
			link = &region->next;
			continue;
		}
		*link = region->next;
		if (!region->inherited) {
			empty -= region->size;
			dray_pool_set_reserved(pool,
					       pool->reserved - region->size);
		}
		dray_marks_claim(region->base, (size_t)region->reserved, 0);
		dray_region_withdraw(region);
		region->next = taken;
		taken = region;
	}
	return taken;
}

uint64_t dray_regions_destroy(struct dray_pool_region *regions)
{
	struct dray_pool_region *next;
	uint64_t bytes = 0;

	for (; regions; regions = next) {
		next = regions->next;
		bytes += regions->size;
		dray_region_destroy(regions);
	}
	return bytes;
}
