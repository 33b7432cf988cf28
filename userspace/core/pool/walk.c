// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * walk: all blocks of a pool, in the order of their addresses.
 *
 * It copies a few blocks at a time with the pool's lock and shows them without
 * it, so that a long walk stops no thread and the callback may use the pool.
 * Regions come and go between two steps: an address tells how far the walk has
 * come, and the rest is found again from it.
 */
#include <errno.h>

#include "base/error.h"
#include "base/fork.h"
#include "memory/node.h"
#include "pool/at.h"
#include "pool/pool.h"
#include "pool/unused.h"
#include "pool/starts.h"
#include "pool/walk.h"

/* The region with the lowest addresses of those that reach beyond @from. */
static struct dray_pool_region *region_from(struct dray_pool *pool,
					    uintptr_t from)
{
	struct dray_pool_region *region, *lowest = NULL;

	for (region = pool->regions; region; region = region->next) {
		if (region->base + region->size > from &&
		    (!lowest || region->base < lowest->base))
			lowest = region;
	}
	return lowest;
}

static struct dray_pool_block walk_describe(const struct dray_found *found)
{
	const struct dray_piece *piece = dray_found_piece(found);
	struct dray_pool_block block = {
		.address = dray_found_address(found),
		.size = (uint64_t)piece->size << found->region->shift,
		.buffer = found->region->buffer,
		.holds = piece->busy,
		.state = DRAY_POOL_BLOCK_USED,
	};

	if (piece->state == DRAY_PIECE_PARKED)
		block.state = DRAY_POOL_BLOCK_PARKED;
	else if (dray_mark_of(block.address) == DRAY_MARK_KEPT)
		block.state = DRAY_POOL_BLOCK_CACHED;
	return block;
}

bool dray_walk_step(struct dray_pool *pool, struct dray_walk *walk)
{
	struct dray_found found = { .pool = pool };
	const struct dray_pool_region *region;
	uint64_t granule = 0, last;
	uint32_t start;

	walk->count = 0;
	region = found.region = region_from(pool, walk->from);
	if (!region)
		return false;
	walk->region = (struct dray_walk_region){
		.base = region->base,
		.size = region->size,
		.buffer = dray_buffer_id(region->buffer),
		.age_ns = dray_buffer_age(region->buffer),
		.inherited = region->inherited,
	};
	last = ((uint64_t)1 << region->shift) - 1;
	if (walk->from > region->base)
		granule = (walk->from - region->base + last) >> region->shift;
	while (walk->count < DRAY_WALK_STEP &&
	       dray_starts_from(&region->fit, granule, &start)) {
		found.piece = dray_fit_at(&region->fit, start);
		walk->blocks[walk->count++] = walk_describe(&found);
		granule = (uint64_t)start + dray_found_piece(&found)->size;
	}
	/* The next one begins behind these, even if they change meanwhile. */
	walk->from = region->base + (size_t)region->size;
	if (walk->count == DRAY_WALK_STEP)
		walk->from = region->base + (size_t)(granule << region->shift);
	return true;
}

int dray_pool_walk(struct dray_pool *pool, dray_pool_visit *visit,
		   void *argument)
{
	struct dray_walk walk = { .from = 0 };
	size_t i;
	int ret = 0;

	if (!dray_given(pool, __func__) ||
	    !dray_given((const void *)(uintptr_t)visit, __func__))
		return -EINVAL;
	dray_fork_check();
	pthread_mutex_lock(&pool->lock);
	while (!ret && dray_walk_step(pool, &walk)) {
		if (!walk.count)
			continue;
		pool->pending++;
		pthread_mutex_unlock(&pool->lock);
		for (i = 0; i < walk.count && !ret; i++)
			ret = visit(argument, &walk.blocks[i]);
		pthread_mutex_lock(&pool->lock);
		pool->pending--;
	}
	dray_pool_unlock_or_end(pool);
	return ret;
}
