// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * pool: options, creation, closing and counters.  Blocks are in block.c, and
 * closed pools end in unused.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/fork.h"
#include "base/number.h"
#include "base/options.h"
#include "memory/node.h"
#include "memory/pages.h"
#include "pool/cache_life.h"
#include "pool/pool.h"
#include "pool/unused.h"

static int log2_of(uint64_t power)
{
	return __builtin_ctzll(power);
}

/* The node's granule: no block shares a line that the node writes. */
static uint32_t default_granule(const struct dray_info *info)
{
	uint32_t granule = 64;

	if (info->flags & DRAY_NODE_COHERENT)
		return granule;
	while (granule < DRAY_SLOT_SIZE &&
	       (granule < info->cache_line || granule < info->dma_alignment))
		granule *= 2;
	return granule;
}

/*
 * The least granule: a free looks up the block's mark, and there is one for
 * each 64 bytes, even if the processor's lines are shorter.
 */
static uint32_t least_granule(const struct dray_info *info)
{
	uint32_t least = 1u << DRAY_MARK_SHIFT;

	return info->cache_line > least ? info->cache_line : least;
}

/* @page: bytes of the node's pages, or of the pages asked for */
static int create_check_options(struct dray_node *node,
				const struct dray_pool_options *options,
				const struct dray_info *info, uint64_t *page)
{
	uint32_t granule = options->granule;
	int ret = dray_pages_check(node, &options->pages, page);
	uint64_t least, whole;

	if (ret)
		return ret;
	if (options->flags)
		return dray_fail(-EINVAL, "unknown flags 0x%x", options->flags);
	if (granule &&
	    (!dray_is_power_of_two(granule) || granule < least_granule(info) ||
	     granule > DRAY_SLOT_SIZE))
		return dray_fail(-EINVAL,
				 "a granule of %u bytes, it must be a power of "
				 "two from %u to %zu",
				 granule, least_granule(info), DRAY_SLOT_SIZE);
	least = granule > *page ? granule : *page;
	if (options->limit && options->limit < least)
		return dray_fail(-EINVAL,
				 "a limit of %" PRIu64
				 " bytes, below a page or granule of %" PRIu64,
				 options->limit, least);
	if (options->limit &&
	    (dray_round_up_overflow(options->initial, least, &whole) ||
	     whole > options->limit))
		return dray_fail(-EINVAL,
				 "%" PRIu64
				 " bytes at first, above the limit of %" PRIu64
				 ": regions are whole pages or granules, here "
				 "of %" PRIu64,
				 options->initial, options->limit, least);
	if (options->heap && strlen(options->heap) >= DRAY_NAME_LEN)
		return dray_fail(-EINVAL, "no heap \"%s\" on %s", options->heap,
				 info->name);
	return 0;
}

/* With the lock: resets a new pool, or one that is used again. */
static void pool_create_start(struct dray_pool *pool, struct dray_node *node,
			      const struct dray_pool_options *options,
			      const struct dray_info *info, uint64_t page)
{
	uint32_t granule = options->granule;

	if (!granule)
		granule = default_granule(info);
	pool->regions = NULL;
	pool->shift = (uint32_t)log2_of(granule);
	/* None if a granule is larger: then all blocks are large ones. */
	pool->most_small = DRAY_MARK_BYTES >> pool->shift;
	if (pool->most_small)
		pool->most_small++;
	if (pool->most_small > DRAY_MARK_MOST)
		pool->most_small = DRAY_MARK_MOST;
	pool->small = (size_t)pool->most_small << pool->shift;
	pool->closed = false;
	pool->pending = 0;
	pool->taken = 0;
	pool->freed = 0;
	pool->missed = false;
	pool->used = 0;
	pool->peak = 0;
	pool->blocks = 0;
	pool->parked = 0;
	dray_pool_set_reserved(pool, 0);
	pool->page = page;
	pool->pages = options->pages;
	if (pool->page >> pool->shift == 0)
		pool->page = (uint64_t)1 << pool->shift;
	pool->limit = options->limit ? options->limit : UINT64_MAX;
	pool->limit &= ~(pool->page - 1);
	atomic_store(&pool->bad_frees, 0);
	pool->pressure = NULL;
	pool->node = dray_node_ref(node);
	pool->grows = dray_node_grows(node);
	pool->has_heap = options->heap;
	snprintf(pool->heap, sizeof(pool->heap), "%s",
		 options->heap ? options->heap : "");
	snprintf(pool->name, sizeof(pool->name), "%s",
		 options->name ? options->name : "pool");
}

int dray_pool_make(struct dray_node *node,
		   const struct dray_pool_options *options,
		   struct dray_pool **out)
{
	struct dray_pool_options known;
	struct dray_pool *pool;
	struct dray_info info;
	uint64_t page;
	int ret;

	if (!dray_given(node, "dray_pool_create") ||
	    !dray_given(out, "dray_pool_create"))
		return -EINVAL;
	ret = DRAY_READ_OPTIONS(&known, options, DRAY_POOL_OPTIONS_SIZE_FIRST);
	if (!ret)
		ret = dray_node_info(node, &info, sizeof(info));
	if (!ret)
		ret = create_check_options(node, &known, &info, &page);
	if (ret)
		return ret;
	dray_regions_enlist();
	pool = dray_pool_new();
	if (!pool)
		return dray_fail(-ENOMEM, "no memory for a pool's object");
	ret = dray_handler_init(pool, node);
	if (ret) {
		dray_pool_drop(pool);
		return ret;
	}

	pthread_mutex_lock(&pool->lock);
	pool_create_start(pool, node, &known, &info, page);
	ret = dray_pool_first_region(pool, known.initial);
	if (!ret)
		dray_caches_adopt(pool);
	pthread_mutex_unlock(&pool->lock);
	if (ret) {
		pool->node = NULL;
		dray_node_unref(node);
		dray_pool_drop(pool);
		return ret;
	}
	*out = pool;
	return 0;
}

void dray_pool_close(struct dray_pool *pool)
{
	if (!pool)
		return;
	dray_handler_close(pool);
	dray_fork_check();
	pthread_mutex_lock(&pool->lock);
	pool->closed = true;
	dray_caches_drain_patiently(pool);
	if (pool->missed)
		atomic_fetch_add(&dray_caches_left, 1);
	/* Blocks that are alive may stay so for long. */
	if (pool->blocks)
		dray_pool_give_back(pool);
	dray_pool_unlock_or_end(pool);
}

struct dray_node *dray_pool_node(const struct dray_pool *pool)
{
	return dray_given(pool, __func__) ? pool->node : NULL;
}

int dray_pool_stats(struct dray_pool *pool, struct dray_pool_stats *stats)
{
	struct dray_pool_stats known = { 0 };
	const struct dray_pool_region *region;

	if (!dray_given(pool, __func__) || !dray_given(stats, __func__))
		return -EINVAL;
	dray_fork_check();
	pthread_mutex_lock(&pool->lock);
	/* Cached blocks are free to the caller, and part of free runs. */
	known.cached = dray_caches_drain(pool);
	known.largest_free = dray_pool_largest(pool);
	for (region = pool->regions; region; region = region->next)
		known.regions++;
	known.reserved = pool->reserved;
	known.used = pool->used;
	known.blocks = pool->blocks;
	known.peak = pool->peak;
	known.parked = pool->parked;
	pthread_mutex_unlock(&pool->lock);
	known.bad_frees = atomic_load(&pool->bad_frees);
	return DRAY_WRITE_RESULT(stats, &known, DRAY_POOL_STATS_SIZE_FIRST);
}
