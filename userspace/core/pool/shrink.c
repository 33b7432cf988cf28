// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * When a pool's memory returns to the node.
 *
 * On the host the pages of free runs return while blocks are freed, beyond the
 * pages that will soon be wanted again.  Buffers of the kernel return whole, once
 * many are empty.
 */
#include "memory/node.h"
#include "pool/at.h"
#include "pool/bins.h"
#include "pool/pool.h"
#include "pool/unused.h"

#define MIB ((uint64_t)1 << 20)

#define HOST_KEEP (32 * MIB) /* of free pages */
#define HOST_STEP (12 * MIB) /* freed, before free pages are counted again */
#define HOST_LEAST (MIB / 4) /* of a run, to be worth the system call */
#define KERNEL_KEEP (16 * MIB) /* in empty buffers, or half of the pool */
#define CLOSED_KEEP (1 * MIB) /* freed, to spare most frees the count */

/* Where a free run lies. */
static void shrink_find_run(const struct dray_pool_region *region,
			    uint32_t piece, uint64_t *offset, uint64_t *length)
{
	const struct dray_piece *p = &region->fit.pieces[piece];

	*offset = (uint64_t)p->offset << region->shift;
	*length = (uint64_t)p->size << region->shift;
}

/*
 * Sets aside free runs of at least @least bytes, the largest first, until they
 * hold @wanted bytes of pages to return.  Returns a list, which begins with
 * the run found last; *@surplus is its excess over @wanted, bytes.
 */
static uint32_t set_aside(struct dray_pool_region *region, uint64_t least,
			  uint64_t wanted, uint64_t *surplus)
{
	struct dray_fit *fit = &region->fit;
	uint32_t low = dray_bin_of((uint32_t)(least >> region->shift));
	uint32_t bin, piece, next, first = 0;
	uint64_t offset, length, dirty, found = 0;

	for (bin = DRAY_FIT_BINS; bin-- > low && found < wanted;) {
		for (piece = fit->bins[bin]; piece && found < wanted;
		     piece = next) {
			next = fit->pieces[piece].next;
			shrink_find_run(region, piece, &offset, &length);
			dirty = dray_region_dirty(region, offset, length);
			if (!dirty)
				continue;
			found += dirty;
			dray_fit_set_aside(fit, piece);
			fit->pieces[piece].next = first;
			first = piece;
		}
	}
	*surplus = found > wanted ? found - wanted : 0;
	return first;
}

/*
 * Returns @wanted bytes of pages of the free runs of a region, each without
 * the lock, with growing: a request that finds no block meanwhile waits until
 * they are back, and fork() does not leave a child with a run set aside.  The
 * front of the last run stays, as it is used first.
 */
static uint64_t shrink_punch(struct dray_pool *pool,
			     struct dray_pool_region *region, uint64_t least,
			     uint64_t wanted)
{
	uint64_t offset, length, surplus, bytes = 0;
	uint32_t piece = set_aside(region, least, wanted, &surplus), next;

	region->blocks++;
	pool->pending++;
	for (; piece; piece = next) {
		next = region->fit.pieces[piece].next;
		shrink_find_run(region, piece, &offset, &length);
		pthread_mutex_unlock(&pool->lock);
		bytes += dray_region_punch(region, offset + surplus,
					   length - surplus);
		surplus = 0;
		pthread_mutex_lock(&pool->lock);
		dray_fit_free(&region->fit, piece);
	}
	pool->pending--;
	region->blocks--;
	return bytes;
}

/* Punches free runs of all regions; the caller holds both locks. */
static uint64_t punch_regions(struct dray_pool *pool, uint64_t least,
			      uint64_t wanted)
{
	struct dray_pool_region *region;
	uint64_t bytes = 0;

	for (region = pool->regions; region && bytes < wanted;
	     region = region->next)
		if (!region->inherited)
			bytes += shrink_punch(pool, region, least,
					      wanted - bytes);
	return bytes;
}

/* Bytes of free pages beyond those that will soon be wanted again. */
static uint64_t shrink_excess(const struct dray_pool *pool)
{
	uint64_t dirty = 0;
	const struct dray_pool_region *region;

	if (pool->closed)
		return UINT64_MAX;
	if (pool->pages.flags & DRAY_PAGES_PREFAULT)
		return 0;
	for (region = pool->regions; region; region = region->next)
		if (!region->inherited)
			dirty += dray_region_dirty_free(region);
	return dirty > HOST_KEEP ? dirty - HOST_KEEP : 0;
}

/*
 * Returns free pages if there are too many.  If another thread maps or returns
 * pages, this is left to the next time.
 */
static void pool_shrink(struct dray_pool *pool)
{
	uint64_t bytes = shrink_excess(pool);

	pool->freed = 0;
	if (!bytes || pthread_mutex_trylock(&pool->growing))
		return;
	punch_regions(pool, pool->closed ? pool->page : HOST_LEAST, bytes);
	pthread_mutex_unlock(&pool->growing);
}

static void count_freed(struct dray_pool_region *region, uint32_t blocks,
			uint64_t bytes)
{
	struct dray_pool *pool =
		atomic_load_explicit(&region->pool, memory_order_relaxed);

	region->blocks -= blocks;
	region->used -= bytes;
	pool->freed += bytes;
	pool->blocks -= blocks;
	pool->used -= bytes;
}

void dray_block_return(const struct dray_found *found)
{
	count_freed(found->region, 1,
		    (uint64_t)dray_found_piece(found)->size
			    << found->pool->shift);
	dray_fit_free(&found->region->fit, found->piece);
}

/*
 * Finds the pieces of the blocks from @blocks on that lie in @region; returns
 * their number, at least 1.
 */
static uint32_t find_kept(const struct dray_pool_region *region,
			  void *const *blocks, const uint32_t *granules,
			  uint32_t count, uint32_t *pieces)
{
	uintptr_t base = region->base, size = (uintptr_t)region->size;
	uint32_t shift = region->shift, i;

	for (i = 0; i < count; i++) {
		uintptr_t offset = (uintptr_t)blocks[i] - base;

		if (offset >= size)
			break;
		dray_mark_set(blocks[i], DRAY_MARK_NONE);
		pieces[i] = dray_fit_sized_at(
			&region->fit, (uint32_t)(offset >> shift), granules[i]);
	}
	return i;
}

struct dray_pool_region *dray_blocks_return(struct dray_pool *pool,
					    void *const *blocks,
					    const uint32_t *granules,
					    uint32_t count)
{
	struct dray_pool_region *region = NULL, *empty = NULL;
	uint32_t pieces[DRAY_BLOCKS_MOST], few, i;
	uint64_t freed;

	for (; count; blocks += few, granules += few, count -= few) {
		region = dray_pool_region_of(pool, blocks[0]);
		few = find_kept(region, blocks, granules, count, pieces);
		for (freed = 0, i = 0; i < few; i++)
			freed += granules[i];
		count_freed(region, few, freed << pool->shift);
		dray_fit_free_few(&region->fit, pieces, few);
		if (!region->blocks)
			empty = region;
	}
	return empty ? empty : region;
}

/* Returns how many bytes in empty buffers to keep. */
static uint64_t worth_keeping(const struct dray_pool *pool)
{
	if (pool->closed)
		return 0;
	if (pool->grows)
		return UINT64_MAX;
	return pool->reserved / 2 > KERNEL_KEEP ? pool->reserved / 2
						: KERNEL_KEEP;
}

/* Drops the pool's lock while it destroys @regions, and acquires it again. */
static uint64_t shrink_destroy(struct dray_pool *pool,
			       struct dray_pool_region *regions)
{
	uint64_t bytes;

	if (!regions)
		return 0;
	pool->pending++;
	pthread_mutex_unlock(&pool->lock);
	bytes = dray_regions_destroy(regions);
	pthread_mutex_lock(&pool->lock);
	pool->pending--;
	return bytes;
}

/* Drops the lock, after returning memory that is worth it to the node. */
static __attribute__((noinline)) void
shrink_finish(struct dray_pool *pool, struct dray_pool_region *region)
{
	if (pool->grows && !region->inherited) {
		if (pool->freed >= (pool->closed ? CLOSED_KEEP : HOST_STEP))
			pool_shrink(pool);
	} else {
		/* Pages return with their region. */
		pool->freed = 0;
	}
	if (!region->blocks)
		shrink_destroy(pool,
			       dray_pool_take_empty(pool, worth_keeping(pool)));
	dray_pool_unlock_or_end(pool);
}

void dray_pool_unlock_freed(struct dray_pool *pool,
			    struct dray_pool_region *region)
{
	if (__builtin_expect(pool->freed >= HOST_STEP || !region->blocks ||
				     pool->closed,
			     0))
		shrink_finish(pool, region);
	else
		pthread_mutex_unlock(&pool->lock);
}

void dray_block_finish(const struct dray_found *found)
{
	dray_block_return(found);
	dray_pool_unlock_freed(found->pool, found->region);
}

uint64_t dray_pool_give_back(struct dray_pool *pool)
{
	uint64_t bytes = shrink_destroy(pool, dray_pool_take_empty(pool, 0));

	if (!pool->grows)
		return bytes;
	pool->pending++;
	pthread_mutex_unlock(&pool->lock);
	pthread_mutex_lock(&pool->growing);
	pthread_mutex_lock(&pool->lock);
	pool->pending--;
	bytes += punch_regions(pool, pool->page, UINT64_MAX);
	pthread_mutex_unlock(&pool->growing);
	/* The last block of a region may be freed meanwhile. */
	return bytes + shrink_destroy(pool, dray_pool_take_empty(pool, 0));
}
