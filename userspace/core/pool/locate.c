// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * From an address to the block around it: the window gives the region, and
 * with the lock of its pool the region is seen to be still there.
 */
#include <errno.h>

#include "base/error.h"
#include "base/fork.h"
#include "base/lock.h"
#include "memory/window.h"
#include "pool/at.h"
#include "pool/busy.h"
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
static bool is_kept(const struct dray_found *found)
{
	return dray_mark_of(dray_found_address(found)) == DRAY_MARK_KEPT;
}

static bool found_or_unlock(struct dray_pool_region *region, uint32_t piece,
			    struct dray_found *found)
{
	found->pool = atomic_load_explicit(&region->pool, memory_order_relaxed);
	found->region = region;
	found->piece = piece;
	if (piece && !is_kept(found))
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

static int not_ours(const void *address)
{
	return dray_fail(-ENOENT, "%p lies in no memory of dray", address);
}

/*
 * A buffer without a pool: imported, or allocated directly.  It may end
 * meanwhile: the span holds all that is known of it.
 */
static int locate_buffer(const void *address, struct dray_location *out)
{
	struct dray_span *span = dray_window_find(address);
	struct dray_buffer *buffer;
	uint64_t offset;
	size_t size;

	if (!span || atomic_load_explicit(&span->owner, memory_order_acquire))
		return not_ours(address);
	buffer = dray_span_buffer(span, &size);
	offset = (uintptr_t)address - (uintptr_t)dray_span_start(span);
	if (!buffer || offset >= size)
		return not_ours(address);
	*out = (struct dray_location){
		.buffer = buffer,
		.offset = offset,
		.block = dray_span_start(span),
		.block_size = size,
	};
	return 0;
}

/* With the pool's lock held. */
static int refuse_parked(const struct dray_found *found, const void *address)
{
	if (dray_found_piece(found)->state != DRAY_PIECE_PARKED)
		return 0;
	return dray_fail(-ENOENT, "the block around %p was freed", address);
}

static int locate(const void *address, struct dray_location *out, bool hold)
{
	struct dray_found found;
	int ret;

	if (!dray_find_around(address, &found)) {
		ret = locate_buffer(address, out);
		if (!ret && hold)
			dray_buffer_ref(out->buffer);
		return ret;
	}
	ret = hold ? dray_found_hold(&found, address)
		   : refuse_parked(&found, address);
	if (!ret)
		*out = (struct dray_location){
			.pool = found.pool,
			.buffer = found.region->buffer,
			.offset = (uintptr_t)address - found.region->base,
			.block = dray_found_address(&found),
			.block_size = (uint64_t)dray_found_piece(&found)->size
				      << found.pool->shift,
		};
	pthread_mutex_unlock(&found.pool->lock);
	return ret;
}

int dray_locate(const void *address, struct dray_location *out)
{
	return dray_given(out, __func__) ? locate(address, out, false)
					 : -EINVAL;
}

int dray_locate_hold(const void *address, struct dray_location *out)
{
	return locate(address, out, true);
}

void dray_locate_release(const struct dray_location *held)
{
	if (held->pool)
		dray_block_release(held->block);
	else
		dray_buffer_unref(held->buffer);
}

size_t dray_usable_size(const void *block)
{
	struct dray_found found;
	size_t size = dray_cache_size(block);

	if (size)
		return size;
	if (!dray_find_start(block, &found))
		return 0;
	if (dray_found_piece(&found)->state == DRAY_PIECE_LIVE)
		size = (size_t)dray_found_piece(&found)->size
		       << found.pool->shift;
	pthread_mutex_unlock(&found.pool->lock);
	return size;
}
