// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * pool: how it begins and ends, and its counters.  Blocks are in block.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/number.h"
#include "base/reply.h"
#include "memory/node.h"
#include "memory/pages.h"
#include "pool/check.h"
#include "pool/pool.h"

static pthread_mutex_t unused_lock = PTHREAD_MUTEX_INITIALIZER;
static struct dray_pool *unused;
static struct dray_pool *spent; /* they have ended, and still have a number */

static void take_lock(void)
{
	pthread_mutex_lock(&unused_lock);
}

static void give_lock(void)
{
	pthread_mutex_unlock(&unused_lock);
}

static struct dray_fork_locks locks = {
	.rank = DRAY_FORK_UNUSED_POOLS,
	.take = take_lock,
	.give = give_lock,
};

/* That of a pool that never comes back, so that numbers last. */
static void number(struct dray_pool *pool)
{
	struct dray_pool *from;

	if (dray_pool_number(pool))
		return;
	pthread_mutex_lock(&unused_lock);
	from = spent;
	if (from)
		spent = from->next;
	pthread_mutex_unlock(&unused_lock);
	if (from)
		dray_pool_pass_number(from, pool);
	else
		atomic_store(&pool->number, dray_cache_number());
}

static struct dray_pool *new_pool(void)
{
	struct dray_pool *pool;

	pthread_mutex_lock(&unused_lock);
	pool = unused;
	if (pool)
		unused = pool->next;
	pthread_mutex_unlock(&unused_lock);
	if (pool) {
		number(pool);
		return pool;
	}
	pool = calloc(1, sizeof(*pool));
	if (!pool)
		return NULL;
	pthread_mutex_init(&pool->lock, NULL);
	pthread_mutex_init(&pool->growing, NULL);
	dray_pool_enlist(pool);
	number(pool);
	return pool;
}

static void drop_pool(struct dray_pool *pool)
{
	struct dray_pool **list = &unused;
	bool numbered = dray_pool_number(pool);

	if (atomic_load(&pool->handed_out)) {
		if (!numbered)
			return;
		list = &spent;
	}
	pthread_mutex_lock(&unused_lock);
	/* Those with a number are used first. */
	while (!numbered && *list)
		list = &(*list)->next;
	pool->next = *list;
	*list = pool;
	pthread_mutex_unlock(&unused_lock);
}

static int log2_of(uint64_t power)
{
	return __builtin_ctzll(power);
}

/* What the node asks for: nothing that it writes shares a line with the CPU. */
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
 * The least: what is freed is known by its mark, and there is one for each 64
 * bytes, also where the processor's lines are shorter.
 */
static uint32_t least_granule(const struct dray_info *info)
{
	uint32_t least = 1u << DRAY_MARK_SHIFT;

	return info->cache_line > least ? info->cache_line : least;
}

/* @page: bytes of the node's pages, or of those that are asked for */
static int check_options(struct dray_node *node,
			 const struct dray_pool_options *options,
			 const struct dray_info *info, uint64_t *page)
{
	uint32_t granule = options->granule;
	int ret = dray_pages_check(node, &options->pages, page);
	uint64_t least;

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
	if (options->limit && options->initial > options->limit)
		return dray_fail(-EINVAL,
				 "%" PRIu64
				 " bytes at first, above the limit of %" PRIu64,
				 options->initial, options->limit);
	if (options->heap && strlen(options->heap) >= DRAY_NAME_LEN)
		return dray_fail(-EINVAL, "no heap \"%s\" on %s", options->heap,
				 info->name);
	return 0;
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

/* With the lock: as if it had never been used; it may have been. */
static void start(struct dray_pool *pool, struct dray_node *node,
		  const struct dray_pool_options *options,
		  const struct dray_info *info, uint64_t page)
{
	uint32_t granule = options->granule;

	if (!granule)
		granule = default_granule(info);
	pool->regions = NULL;
	pool->shift = (uint32_t)log2_of(granule);
	/* None where a granule is larger: then all blocks are large ones. */
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

int dray_pool_create(struct dray_node *node,
		     const struct dray_pool_options *options,
		     struct dray_pool **out)
{
	static const struct dray_pool_options none;
	struct dray_pool *pool;
	struct dray_info info;
	uint64_t page;
	int ret;

	if (!dray_given(node, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	if (!options)
		options = &none;
	ret = dray_node_info(node, &info, sizeof(info));
	if (!ret)
		ret = check_options(node, options, &info, &page);
	if (ret)
		return ret;
	dray_fork_enlist(&locks);
	dray_regions_enlist();
	dray_fork_check();
	pool = new_pool();
	if (!pool)
		return dray_fail(-ENOMEM, "no memory for a pool's object");
	ret = dray_handler_init(pool, node);
	if (ret) {
		drop_pool(pool);
		return ret;
	}

	pthread_mutex_lock(&pool->lock);
	start(pool, node, options, &info, page);
	ret = dray_pool_first_region(pool, options->initial);
	if (!ret)
		dray_caches_adopt(pool);
	pthread_mutex_unlock(&pool->lock);
	if (ret) {
		pool->node = NULL;
		dray_node_unref(node);
		drop_pool(pool);
		return ret;
	}
	*out = pool;
	return 0;
}

void dray_pool_unlock_closed(struct dray_pool *pool)
{
	struct dray_pool_region *regions;
	struct dray_node *node;
	bool pinned;

	if (!pool->node || pool->blocks || pool->pending) {
		pthread_mutex_unlock(&pool->lock);
		return;
	}
	regions = dray_pool_take_empty(pool, 0);
	node = pool->node;
	pool->node = NULL;
	pinned = pool->pins;
	pthread_mutex_unlock(&pool->lock);
	dray_regions_destroy(regions);
	dray_node_unref(node);
	if (!pinned)
		drop_pool(pool);
}

void dray_pool_pin(struct dray_pool *pool)
{
	dray_fork_check();
	pthread_mutex_lock(&pool->lock);
	pool->pins++;
	pthread_mutex_unlock(&pool->lock);
}

void dray_pool_unpin(struct dray_pool *pool)
{
	bool last;

	dray_fork_check();
	pthread_mutex_lock(&pool->lock);
	last = !--pool->pins && !pool->node;
	pthread_mutex_unlock(&pool->lock);
	if (last)
		drop_pool(pool);
}

void dray_pool_close(struct dray_pool *pool)
{
	if (!pool)
		return;
	if (pool->checked)
		dray_check_keep(dray_checker_of(pool->checked), false);
	dray_fork_check();
	pthread_mutex_lock(&pool->lock);
	pool->closed = true;
	dray_caches_drain_patiently(pool, true);
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

uint64_t dray_pool_largest(const struct dray_pool *pool)
{
	const struct dray_pool_region *region;
	uint32_t largest = 0, granules;

	for (region = pool->regions; region; region = region->next) {
		granules = dray_fit_largest(&region->fit);
		if (!region->inherited && granules > largest)
			largest = granules;
	}
	return (uint64_t)largest << pool->shift;
}

int dray_pool_stats(struct dray_pool *pool, struct dray_pool_stats *stats,
		    size_t size)
{
	struct dray_pool_stats known = { 0 };
	const struct dray_pool_region *region;

	if (!dray_given(pool, __func__) || !dray_given(stats, __func__))
		return -EINVAL;
	dray_fork_check();
	pthread_mutex_lock(&pool->lock);
	/* What threads keep is free to the caller, and part of free runs. */
	known.cached = dray_caches_drain(pool, pool->closed);
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
	dray_reply(stats, size, &known, sizeof(known));
	return 0;
}

void dray_bad_free(struct dray_pool *pool, const void *block, const char *what)
{
	DRAY_NO_CANCEL;
	const char *abort_asked = getenv("DRAY_ABORT_ON_BAD_FREE");

	if (pool)
		atomic_fetch_add_explicit(&pool->bad_frees, 1,
					  memory_order_relaxed);
	dray_fail(-EINVAL, "%s of %p, which is no block of a pool", what,
		  block);
	if (abort_asked && !strcmp(abort_asked, "1")) {
		fprintf(stderr, "dray: %s\n", dray_last_error());
		abort();
	}
}
