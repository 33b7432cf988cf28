// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * When a pool's memory goes back to the node.
 *
 * On the host the pages of a large run that was freed go back, beyond those
 * that will soon be wanted again.  Buffers of the kernel go back whole, once
 * there are many empty ones.
 */
#include "alloc/bins.h"
#include "alloc/pool.h"
#include "base/error.h"
#include "base/fork.h"
#include "memory/node.h"

#define MIB ((uint64_t)1 << 20)

#define HOST_KEEP (64 * MIB) /* of free pages, or as much as is in use */
#define KERNEL_KEEP (16 * MIB) /* in empty buffers, or half of the pool */
#define CLOSED_KEEP (1 * MIB) /* that was freed, so that not each free asks */

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
		dray_marks_claim(region->base, region->reserved, 0);
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

/*
 * Gives the pages of a large free run back, without the lock.  Holding growing
 * keeps a fork() from leaving the child with a run that nobody puts back;
 * where another thread has it, the pages stay.
 */
static void punch(struct dray_pool *pool, struct dray_pool_region *region,
		  uint32_t piece)
{
	uint64_t offset, length;

	if (pthread_mutex_trylock(&pool->growing))
		return;
	offset = (uint64_t)region->fit.pieces[piece].offset << pool->shift;
	length = (uint64_t)region->fit.pieces[piece].size << pool->shift;
	dray_fit_set_aside(&region->fit, piece);
	region->blocks++;
	pool->pending++;
	pthread_mutex_unlock(&pool->lock);
	dray_region_punch(region, offset, length);
	pthread_mutex_lock(&pool->lock);
	pool->pending--;
	region->blocks--;
	dray_fit_free(&region->fit, piece);
	pthread_mutex_unlock(&pool->growing);
}

/*
 * Whether a free run has more pages than are worth keeping.  As many as are
 * in use will soon be wanted again.  Asked once for so many bytes freed,
 * because it has to count.
 */
static bool is_too_much(struct dray_pool *pool, struct dray_pool_region *region,
			uint32_t piece)
{
	uint64_t offset, length, keep = pool->used;

	region->freed = 0;
	offset = (uint64_t)region->fit.pieces[piece].offset << pool->shift;
	length = (uint64_t)region->fit.pieces[piece].size << pool->shift;
	if (keep < HOST_KEEP)
		keep = HOST_KEEP;
	if (pool->closed)
		keep = 0;
	else if (pool->pages.flags & DRAY_PAGES_PREFAULT)
		return false;
	return length > keep &&
	       dray_region_dirty(region, offset, length) > keep;
}

/* The piece that the block became a part of. */
static uint32_t give_back(const struct dray_found *found)
{
	struct dray_pool_region *region = found->region;
	struct dray_pool *pool = found->pool;
	uint64_t bytes;

	bytes = (uint64_t)dray_found_piece(found)->size << pool->shift;
	region->blocks--;
	region->freed += bytes;
	pool->blocks--;
	pool->used -= bytes;
	return dray_fit_free(&region->fit, found->piece);
}

void dray_block_return(const struct dray_found *found)
{
	give_back(found);
}

/* Empty buffers that a pool may have. */
static uint64_t worth_keeping(const struct dray_pool *pool)
{
	if (pool->closed)
		return 0;
	if (pool->grows)
		return UINT64_MAX;
	return pool->reserved / 2 > KERNEL_KEEP ? pool->reserved / 2
						: KERNEL_KEEP;
}

/* Without the lock, which comes back. */
static uint64_t destroy(struct dray_pool *pool,
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

/* Drops the lock, after what is worth it went back to the node. */
static __attribute__((noinline)) void
finish(struct dray_pool *pool, struct dray_pool_region *region, uint32_t piece)
{
	if (pool->grows && !region->inherited) {
		if (region->freed >= (pool->closed ? CLOSED_KEEP : HOST_KEEP) &&
		    is_too_much(pool, region, piece))
			punch(pool, region, piece);
	} else {
		/* Its pages go back with the whole of it. */
		region->freed = 0;
	}
	if (!region->blocks)
		destroy(pool, dray_pool_take_empty(pool, worth_keeping(pool)));
	dray_pool_unlock_or_end(pool);
}

void dray_block_finish(const struct dray_found *found)
{
	struct dray_pool *pool = found->pool;
	struct dray_pool_region *region = found->region;
	uint32_t piece = give_back(found);

	if (__builtin_expect(region->freed >= HOST_KEEP || !region->blocks ||
				     pool->closed,
			     0))
		finish(pool, region, piece);
	else
		pthread_mutex_unlock(&pool->lock);
}

/* Sets aside the free runs that have pages to give back: the first of a list. */
static uint32_t set_aside(struct dray_pool_region *region)
{
	struct dray_fit *fit = &region->fit;
	uint32_t bin = dray_bin_of((uint32_t)(region->page >> region->shift));
	uint32_t piece, next, first = 0;

	for (; bin < DRAY_FIT_BINS; bin++) {
		for (piece = fit->bins[bin]; piece; piece = next) {
			const struct dray_piece *p = &fit->pieces[piece];

			next = p->next;
			if (!dray_region_dirty(
				    region,
				    (uint64_t)p->offset << region->shift,
				    (uint64_t)p->size << region->shift))
				continue;
			dray_fit_set_aside(fit, piece);
			fit->pieces[piece].next = first;
			first = piece;
		}
	}
	region->freed = 0;
	return first;
}

/*
 * Gives back the pages of all free runs of a region, each without the lock,
 * with growing: who finds no block meanwhile waits for them to be back.
 */
static uint64_t punch_all(struct dray_pool *pool,
			  struct dray_pool_region *region)
{
	uint32_t piece = set_aside(region), next;
	uint64_t offset, length, bytes = 0;

	region->blocks++;
	pool->pending++;
	for (; piece; piece = next) {
		const struct dray_piece *p = &region->fit.pieces[piece];

		next = p->next;
		offset = (uint64_t)p->offset << region->shift;
		length = (uint64_t)p->size << region->shift;
		pthread_mutex_unlock(&pool->lock);
		bytes += dray_region_punch(region, offset, length);
		pthread_mutex_lock(&pool->lock);
		dray_fit_free(&region->fit, piece);
	}
	pool->pending--;
	region->blocks--;
	return bytes;
}

static uint64_t punch_regions(struct dray_pool *pool)
{
	struct dray_pool_region *region;
	uint64_t bytes = 0;

	pool->pending++;
	pthread_mutex_unlock(&pool->lock);
	pthread_mutex_lock(&pool->growing);
	pthread_mutex_lock(&pool->lock);
	pool->pending--;
	for (region = pool->regions; region; region = region->next)
		bytes += region->inherited ? 0 : punch_all(pool, region);
	pthread_mutex_unlock(&pool->growing);
	return bytes;
}

uint64_t dray_pool_give_back(struct dray_pool *pool)
{
	uint64_t bytes = destroy(pool, dray_pool_take_empty(pool, 0));

	if (!pool->grows)
		return bytes;
	bytes += punch_regions(pool);
	/* Where the last block of one was freed meanwhile. */
	return bytes + destroy(pool, dray_pool_take_empty(pool, 0));
}

uint64_t dray_pool_trim(struct dray_pool *pool)
{
	uint64_t bytes;

	if (!dray_given(pool, __func__))
		return 0;
	dray_fork_check();
	pthread_mutex_lock(&pool->lock);
	dray_pool_reap(pool, false);
	dray_caches_drain(pool, pool->closed);
	bytes = dray_pool_give_back(pool);
	dray_pool_unlock_or_end(pool);
	return bytes;
}
