// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The source of a pool's memory.
 *
 * On the host a region reserves far more addresses than it uses and grows in
 * place, so that everything merges.  Buffers of the kernel cannot grow:
 * regions double up to a bound, and a large request gets a buffer of its own.
 *
 * A failed request reports the words of the failing layer, and the pool's
 * largest free run.
 */
#include <errno.h>
#include <inttypes.h>

#include "base/error.h"
#include "base/number.h"
#include "memory/node.h"
#include "memory/window.h"
#include "pool/pool.h"

#define MIB ((uint64_t)1 << 20)

#define HOST_FIRST (32 * MIB) /* and the least by which a region grows */
#define HOST_STEP_MOST (1024 * MIB)

#define KERNEL_FIRST (4 * MIB)
#define KERNEL_LEAST (64 * MIB / 1024)
#define KERNEL_MOST (64 * MIB)

#define GROWS_MOST 2 /* times, for a block */

/* Searches each region, at once or @thoroughly. */
static bool find_piece(struct dray_pool *pool, uint32_t granules,
		       uint64_t alignment, bool thoroughly,
		       struct dray_found *found)
{
	struct dray_pool_region *region;

	for (region = pool->regions; region; region = region->next) {
		if (region->inherited)
			continue;
		/* A small block would keep a large buffer from going back. */
		if (region->own && granules < region->fit.granules / 4)
			continue;
		found->piece =
			dray_fit_take(&region->fit, granules, alignment,
				      region->base >> pool->shift, thoroughly);
		if (found->piece) {
			found->region = region;
			return true;
		}
	}
	return false;
}

/* Counts a block that was found. */
static void count_block(struct dray_pool *pool, uint32_t granules,
			uint64_t alignment, struct dray_found *found)
{
	found->pool = pool;
	dray_found_piece(found)->alignment =
		(uint8_t)((uint32_t)__builtin_ctzll(alignment) + pool->shift);
	found->region->blocks++;
	pool->blocks++;
	found->region->used += (uint64_t)granules << pool->shift;
	pool->used += (uint64_t)granules << pool->shift;
	if (pool->used > pool->peak)
		pool->peak = pool->used;
}

bool dray_pool_take(struct dray_pool *pool, uint32_t granules,
		    uint64_t alignment, struct dray_found *found)
{
	if (!find_piece(pool, granules, alignment, false, found) &&
	    !find_piece(pool, granules, alignment, true, found))
		return false;
	count_block(pool, granules, alignment, found);
	return true;
}

bool dray_pool_take_from(struct dray_pool_region *region, uint32_t granules,
			 struct dray_found *found)
{
	struct dray_pool *pool =
		atomic_load_explicit(&region->pool, memory_order_relaxed);

	if (region->own)
		return false;
	found->region = region;
	found->piece = dray_fit_take(&region->fit, granules, 1, 0, false);
	if (!found->piece)
		return false;
	count_block(pool, granules, 1, found);
	return true;
}

/* Regions of single blocks are last, after the regions of small blocks. */
static void link_region(struct dray_pool *pool, struct dray_pool_region *region)
{
	struct dray_pool_region **link = &pool->regions;

	while (region->own && *link)
		link = &(*link)->next;
	region->next = *link;
	*link = region;
	dray_pool_set_reserved(pool, pool->reserved + region->size);
	dray_pool_grown += region->size;
	dray_region_publish(region, pool);
	dray_marks_claim(region->base, (size_t)region->reserved,
			 dray_pool_number(pool));
}

/*
 * The most that a region may grow to: a fraction of the rest of the window,
 * smaller once half is in use, so that there is always room for more pools.
 */
static uint64_t reserve_of(const struct dray_pool *pool)
{
	uint64_t room = dray_window_room();
	uint64_t part = room > dray_window_size() / 2 ? room / 8 : room / 64;

	return part & ~(pool->page - 1);
}

/*
 * Makes a region of @size bytes, halved down to @least.  Blocks: no lock is
 * held.
 */
static int grow_create(struct dray_pool *pool, uint64_t size, uint64_t least,
		       uint64_t alignment, struct dray_pool_region **region)
{
	struct dray_region_request request = {
		.node = pool->node,
		.heap = pool->has_heap ? pool->heap : NULL,
		.name = pool->name,
		.size = size,
		.alignment = alignment,
		.page = pool->page,
		.pages = pool->pages,
		.shift = pool->shift,
	};
	int ret;

	if (pool->grows) {
		request.reserve = reserve_of(pool);
		if (request.reserve > pool->limit)
			request.reserve = pool->limit;
	}
	for (;;) {
		ret = dray_region_create(&request, region);
		if (!ret || ret == -ENODEV)
			return ret;
		if (request.reserve / 2 > request.size)
			request.reserve /= 2;
		else if (request.size > least)
			request.size = request.size / 2 > least
					       ? request.size / 2
					       : least;
		else
			return ret;
	}
}

/* A node may round up beyond the limit. */
static uint64_t left_of(const struct dray_pool *pool)
{
	return dray_limit_left(pool->limit, pool->reserved);
}

/* The free piece at the end of a region, or 0. */
static uint32_t free_end(const struct dray_pool_region *region)
{
	uint32_t last = region->fit.last;

	return last && region->fit.pieces[last].state == DRAY_PIECE_FREE ? last
									 : 0;
}

/*
 * Grows a region by @step bytes, or by @need if that is too much; returns the
 * bytes, or 0.  Both locks are held; the pool's is dropped while pages are
 * mapped and fetched.  Meanwhile the region counts as used, so that it stays.
 */
static uint64_t grow_region(struct dray_pool *pool,
			    struct dray_pool_region *region, uint64_t step,
			    uint64_t need)
{
	uint32_t end = free_end(region);
	int ret;

	/* It is to become part of the block. */
	if (end)
		dray_fit_set_aside(&region->fit, end);
	region->blocks++;
	pool->pending++;
	pthread_mutex_unlock(&pool->lock);
	ret = dray_region_map(region, step);
	if (ret && step != need) {
		step = need;
		ret = dray_region_map(region, step);
	}
	pthread_mutex_lock(&pool->lock);
	pool->pending--;
	region->blocks--;
	if (!ret)
		ret = dray_region_extend(region, step);
	if (end)
		dray_fit_free(&region->fit, end);
	if (ret)
		return 0;
	dray_pool_set_reserved(pool, pool->reserved + step);
	dray_pool_grown += step;
	return step;
}

/* The bytes by which @region must grow, for @wanted free bytes at its end. */
static uint64_t grow_missing(const struct dray_pool *pool,
			     const struct dray_pool_region *region,
			     uint64_t wanted)
{
	uint32_t end = free_end(region);
	uint64_t there =
		end ? (uint64_t)region->fit.pieces[end].size << pool->shift : 0;

	/* There is enough for a block that found no slot of the table, say. */
	if (there >= wanted)
		return pool->page;
	return (wanted - there + pool->page - 1) & ~(pool->page - 1);
}

/* Grows a region that still can, so that @wanted bytes are free at its end. */
static bool grow_in_place(struct dray_pool *pool, uint64_t wanted)
{
	struct dray_pool_region *region;
	uint64_t left = left_of(pool), unused;

	if (dray_round_up_overflow(wanted, pool->page, &unused))
		return false;
	for (region = pool->regions; region; region = region->next) {
		uint64_t room = region->reserved - region->size;
		uint64_t step = region->size;
		uint64_t need = grow_missing(pool, region, wanted);

		if (room > left)
			room = left;
		if (room < need || region->inherited ||
		    !dray_fit_have_slots(&region->fit))
			continue;
		if (step > HOST_STEP_MOST)
			step = HOST_STEP_MOST;
		if (step < HOST_FIRST)
			step = HOST_FIRST;
		if (step < need || step > room)
			step = need;
		if (grow_region(pool, region, step, need))
			return true;
		if (pool->closed)
			return false;
	}
	return false;
}

/*
 * Adds a region with room for @need bytes, in which @block finds its place.
 * Both locks are held; the pool's is dropped meanwhile.
 */
static int try_add_region(struct dray_pool *pool, uint64_t block, uint64_t need,
			  uint64_t alignment)
{
	uint64_t left = left_of(pool);
	struct dray_pool_region *region;
	bool own = !pool->grows && block >= pool->next_size / 4;
	uint64_t size;
	int ret;

	if (dray_round_up_overflow(need, pool->page, &size) || size > left)
		return dray_fail_limit(need, pool->limit, left);
	if (!own && size < pool->next_size)
		size = pool->next_size < left ? pool->next_size : left;

	pool->pending++;
	pthread_mutex_unlock(&pool->lock);
	ret = grow_create(pool, size, need, alignment, &region);
	pthread_mutex_lock(&pool->lock);
	pool->pending--;
	if (ret)
		return ret;
	/*
	 * Much of it may be there for the alignment alone, or because the node
	 * rounds up: then the block must find it as a small block does.
	 */
	region->own = own && block >= region->size / 4;
	link_region(pool, region);
	if (!pool->grows && !region->own)
		pool->next_size = pool->reserved < KERNEL_MOST ? pool->reserved
							       : KERNEL_MOST;
	return 0;
}

/* An @urgent request may use the pool's reserve. */
static int grow_add_region(struct dray_pool *pool, uint64_t block,
			   uint64_t need, uint64_t alignment, bool urgent)
{
	int ret = try_add_region(pool, block, need, alignment);
	struct dray_pool_region *empty;

	if (ret != -ENOMEM || !urgent)
		return ret;
	/* On the host, empty regions only count against the pool's own limit. */
	if (pool->grows && (need <= left_of(pool) || need > pool->limit))
		return ret;
	/* That may be the missing memory. */
	empty = dray_pool_take_empty(pool, 0);
	if (!empty)
		return ret;
	pool->pending++;
	pthread_mutex_unlock(&pool->lock);
	dray_regions_destroy(empty);
	pthread_mutex_lock(&pool->lock);
	pool->pending--;
	return try_add_region(pool, block, need, alignment);
}

/* A round: the pool's state belongs to the holder of growing. */
static int pool_grow(struct dray_pool *pool, uint32_t granules,
		     uint64_t alignment, bool urgent)
{
	uint64_t need = (uint64_t)granules << pool->shift;
	uint64_t aligned = alignment << pool->shift, most;
	int ret;

	if (dray_add_overflow(need, aligned - (1u << pool->shift), &most))
		return dray_fail(-ENOMEM,
				 "%" PRIu64 " bytes aligned to %" PRIu64
				 " do not fit any memory",
				 need, aligned);
	if (pool->grows && (grow_in_place(pool, most) || pool->closed))
		return 0;
	if (aligned <= pool->page)
		return grow_add_region(pool, need, need, 0, urgent);
	/* A buffer that is aligned itself, else a buffer with an aligned part. */
	ret = grow_add_region(pool, need, need, aligned, urgent);
	if (ret && ret != -ENODEV)
		ret = grow_add_region(pool, need, most, 0, urgent);
	return ret;
}

static int no_more(const struct dray_pool *pool, int error)
{
	return dray_fail_adding(error,
				"; of pool \"%s\" the largest free run has "
				"%" PRIu64 " bytes",
				pool->name, dray_pool_largest(pool));
}

/* Memory came, and cannot be cut: the table of pieces cannot grow. */
static int no_place(const struct dray_pool *pool, uint32_t granules,
		    uint64_t alignment)
{
	return dray_fail(-ENOMEM,
			 "%" PRIu64 " bytes aligned to %" PRIu64
			 " find no place in the memory that was added for them",
			 (uint64_t)granules << pool->shift,
			 alignment << pool->shift);
}

int dray_pool_grow_and_take(struct dray_pool *pool, uint32_t granules,
			    uint64_t alignment, bool urgent,
			    struct dray_found *found)
{
	int ret = 0, times = 0;

	pool->pending++;
	pthread_mutex_unlock(&pool->lock);
	pthread_mutex_lock(&pool->growing);
	pthread_mutex_lock(&pool->lock);
	pool->pending--;

	/*
	 * Another thread may grow it meanwhile.  This thread's memory stays its
	 * own, because the lock stays held: a block that still does not fit
	 * would not fit in all memory of the node.  But a region that grew may
	 * lack room for pieces, which a new region offers.
	 */
	while (!ret && !pool->closed &&
	       !dray_pool_take(pool, granules, alignment, found))
		ret = times++ < GROWS_MOST
			      ? pool_grow(pool, granules, alignment, urgent)
			      : no_place(pool, granules, alignment);
	pthread_mutex_unlock(&pool->growing);
	if (ret && ret != -ENODEV) {
		no_more(pool, ret);
	} else if (!ret && pool->closed) {
		/* The pool was closed meanwhile: return the new memory. */
		dray_pool_give_back(pool);
		ret = dray_fail(-ENOMEM, "pool \"%s\" is closed", pool->name);
	}
	return ret;
}

int dray_pool_first_region(struct dray_pool *pool, uint64_t initial)
{
	uint64_t least = initial, size;
	struct dray_pool_region *region;
	int ret;

	pool->next_size = pool->grows ? HOST_FIRST : KERNEL_FIRST;
	if (!initial) {
		size = pool->next_size < pool->limit ? pool->next_size
						     : pool->limit;
		least = size < KERNEL_LEAST ? size : KERNEL_LEAST;
	} else if (dray_round_up_overflow(initial, pool->page, &size)) {
		return dray_fail(-ENOMEM, "a first region of %" PRIu64 " bytes",
				 initial);
	}
	if (initial || least < pool->page)
		least = initial ? size : pool->page;
	ret = grow_create(pool, size, least, 0, &region);
	if (!ret)
		link_region(pool, region);
	return ret;
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
