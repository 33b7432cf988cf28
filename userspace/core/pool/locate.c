// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * From an address to the block around it: the window gives the region, and
 * with the lock of its pool the region is seen to be still there.
 */
#include "base/fork.h"
#include "base/lock.h"
#include "memory/window.h"
#include "pool/at.h"
#include "pool/pool.h"

static struct dray_pool_region *lock_region(const void *address)
{
	struct dray_span *span = dray_window_find(address);
	struct dray_pool_region *region;
	struct dray_pool *pool;

	if (!span)
		return NULL;
	dray_fork_check();
	region = atomic_load_explicit(&span->owner, memory_order_acquire);
	if (!region)
		return NULL;
	pool = atomic_load_explicit(&region->pool, memory_order_acquire);
	if (!pool)
		return NULL;
	dray_lock(&pool->lock);
	if (atomic_load_explicit(&region->pool, memory_order_relaxed) == pool &&
	    dray_region_covers(region, address))
		return region;
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

/* A cached block counts as free to all callers. */
static bool locate_is_kept(const struct dray_found *found)
{
	return dray_mark_of(dray_found_address(found)) == DRAY_MARK_KEPT;
}

static bool found_or_unlock(struct dray_pool_region *region, uint32_t piece,
			    struct dray_found *found)
{
	found->pool = atomic_load_explicit(&region->pool, memory_order_relaxed);
	found->region = region;
	found->piece = piece;
	if (piece && !locate_is_kept(found))
		return true;
	pthread_mutex_unlock(&found->pool->lock);
	return false;
}

struct dray_pool_region *dray_pool_region_of(struct dray_pool *pool,
					     const void *address)
{
	struct dray_pool_region *region = pool->regions;
	struct dray_span *span;

	/* Mostly there is one, which grows. */
	if (region && dray_region_covers(region, address))
		return region;
	span = dray_window_find(address);
	if (!span)
		return NULL;
	region = atomic_load_explicit(&span->owner, memory_order_relaxed);
	if (!region ||
	    atomic_load_explicit(&region->pool, memory_order_relaxed) != pool ||
	    !dray_region_covers(region, address))
		return NULL;
	return region;
}

bool dray_find_large(struct dray_pool *pool, const void *block,
		     const _Atomic uint8_t *mark, struct dray_found *found)
{
	dray_lock(&pool->lock);
	found->pool = pool;
	found->piece = 0;
	found->region = dray_pool_region_of(pool, block);
	if (found->region &&
	    atomic_load_explicit(mark, memory_order_relaxed) == DRAY_MARK_LARGE)
		found->piece =
			dray_fit_at(&found->region->fit,
				    dray_region_granule(found->region, block));
	if (found->piece)
		return true;
	pthread_mutex_unlock(&pool->lock);
	return false;
}

bool dray_find_start(const void *address, struct dray_found *found)
{
	struct dray_pool_region *region = lock_region(address);
	uintptr_t offset;
	uint32_t piece = 0;

	if (!region)
		return false;
	offset = (uintptr_t)address - region->base;
	if (!(offset & (((uintptr_t)1 << region->shift) - 1)))
		piece = dray_fit_at(&region->fit,
				    dray_region_granule(region, address));
	return found_or_unlock(region, piece, found);
}

bool dray_find_around(const void *address, struct dray_found *found)
{
	struct dray_pool_region *region = lock_region(address);

	if (!region)
		return false;
	return found_or_unlock(
		region,
		dray_fit_around(&region->fit,
				dray_region_granule(region, address)),
		found);
}
