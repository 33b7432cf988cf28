// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Resizes a pool's blocks: in place if the memory behind is free, else by a
 * move.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "pool/no_memory.h"
#include "pool/cache.h"
#include "pool/pool.h"

/*
 * The next block may be in a thread's cache.  For a small block that is not
 * worth the search: a move is cheaper.
 */
static bool resize_after_drain(const struct dray_found *found,
			       uint32_t granules)
{
	const struct dray_piece *piece = dray_found_piece(found);
	struct dray_pool *pool = found->pool;
	struct dray_found after = *found;

	after.piece = piece->after;
	if (!after.piece || piece->size <= pool->small >> pool->shift ||
	    dray_mark_of(dray_found_address(&after)) != DRAY_MARK_KEPT)
		return false;
	dray_caches_drain(pool);
	return dray_fit_resize(&found->region->fit, found->piece, granules);
}

/* Resizes a block in place; the lock is held. */
static bool pool_resize(const struct dray_found *found, uint64_t granules)
{
	struct dray_pool *pool = found->pool;
	uint64_t old = dray_found_piece(found)->size, now;

	if (granules > UINT32_MAX)
		return false;
	/* An engine may use all of it: the cut part is not free. */
	if (granules < old && dray_found_piece(found)->busy)
		return true;
	/* The memory behind it belongs to another process. */
	if (found->region->inherited)
		return granules <= old;
	if (!dray_fit_resize(&found->region->fit, found->piece,
			     (uint32_t)granules) &&
	    !resize_after_drain(found, (uint32_t)granules))
		return false;
	now = dray_found_piece(found)->size;
	dray_cache_mark(found);
	found->region->used += (now - old) << pool->shift;
	pool->used += (now - old) << pool->shift;
	if (pool->used > pool->peak)
		pool->peak = pool->used;
	return true;
}

/*
 * As above, plus @gap bytes behind the block.  It may touch the next block if
 * it does not grow, and if @anyhow.
 */
static bool resize_apart(const struct dray_found *found, size_t size,
			 size_t gap, bool anyhow)
{
	uint64_t granules, apart;

	/* The largest size and a gap would be none at all. */
	if (size > PTRDIFF_MAX)
		return false;
	granules = dray_pool_granules(found->pool, size);
	apart = dray_pool_granules(found->pool, (uint64_t)size + gap);
	if (pool_resize(found, apart))
		return true;
	return (anyhow || granules <= dray_found_piece(found)->size) &&
	       pool_resize(found, granules);
}

/* Resizes a found block in place, and drops the lock. */
static bool resize_found(struct dray_pool *pool, const struct dray_found *found,
			 size_t size, size_t gap, bool anyhow)
{
	const struct dray_piece *piece = dray_found_piece(found);
	uint64_t old = piece->size, offset = piece->offset, now;
	uint32_t shift = found->pool->shift;
	bool fits =
		found->pool == pool && resize_apart(found, size, gap, anyhow);

	now = dray_found_piece(found)->size;
	pthread_mutex_unlock(&found->pool->lock);
	if (now > old)
		dray_region_mark(found->region, (offset + old) << shift,
				 (now - old) << shift);
	return fits;
}

/* It cannot move: it may touch the next block. */
static void *resize_anyhow(struct dray_pool *pool, void *block, size_t size)
{
	struct dray_found found;

	if (!dray_find_start(block, &found) ||
	    !resize_found(pool, &found, size, 0, true))
		return dray_no_block(-ENOMEM);
	return block;
}

static void *realloc_with(struct dray_pool *pool, void *block, size_t size,
			  size_t gap)
{
	struct dray_found found;
	const struct dray_piece *piece;
	size_t alignment, old;
	void *moved;

	if (!block)
		return dray_pool_take_block(pool, size, gap, 0, false);
	if (!dray_find_start(block, &found)) {
		dray_bad_free(pool, block, "realloc");
		return dray_no_block(-EINVAL);
	}
	piece = dray_found_piece(&found);
	if (piece->state == DRAY_PIECE_PARKED) {
		pthread_mutex_unlock(&found.pool->lock);
		dray_bad_free(pool, block, "realloc after free");
		return dray_no_block(-EINVAL);
	}
	alignment = (size_t)1 << piece->alignment;
	old = (size_t)piece->size << found.pool->shift;
	if (resize_found(pool, &found, size, gap, false))
		return block;

	moved = dray_pool_take_block(pool, size, gap, alignment, false);
	if (!moved)
		return gap ? resize_anyhow(pool, block, size) : NULL;
	memcpy(moved, block, size < old ? size : old);
	dray_pool_free(pool, block);
	return moved;
}

void *dray_pool_realloc(struct dray_pool *pool, void *block, size_t size)
{
	if (!dray_given(pool, __func__))
		return NULL;
	return realloc_with(pool, block, size, 0);
}

void *dray_pool_realloc_apart(struct dray_pool *pool, void *block, size_t size)
{
	return realloc_with(pool, block, size, DRAY_POOL_GAP);
}
