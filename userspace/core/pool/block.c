// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Allocates and frees a pool's blocks.  The calling thread's cache needs no
 * lock.  All else holds the pool's lock while numbers change, and touches the
 * memory itself only without it.  resize.c resizes.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/lock.h"
#include "base/number.h"
#include "memory/window.h"
#include "pool/busy.h"
#include "pool/no_memory.h"
#include "pool/pool.h"
#include "pool/cache_life.h"
#include "pool/unused.h"

/*
 * With the pool's lock: collects blocks of threads' caches and finished engines,
 * then memory of the node, and if @urgent waits for engines at last.
 */
static int take_more(struct dray_pool *pool, uint32_t granules,
		     uint64_t alignment, bool urgent, struct dray_found *found)
{
	bool missed;
	int ret;

	if (dray_caches_drain(pool) &&
	    dray_pool_take(pool, granules, alignment, found))
		return 0;
	missed = pool->missed;
	dray_pool_reap(pool, false);
	ret = dray_pool_grow_and_take(pool, granules, alignment, urgent, found);
	if (!urgent)
		return ret;
	while (ret == -ENOMEM && !pool->closed && dray_pool_reap(pool, true))
		ret = dray_pool_grow_and_take(pool, granules, alignment, true,
					      found);
	/* It may be all there, with a thread that does not run just now. */
	if (ret == -ENOMEM && missed && !pool->closed &&
	    dray_caches_drain_patiently(pool))
		ret = dray_pool_grow_and_take(pool, granules, alignment, true,
					      found);
	return ret;
}

/* Uses free pieces, then these, and retries if a callback helped. */
static int block_take(struct dray_pool *pool, uint32_t granules,
		      uint64_t alignment, struct dray_found *found)
{
	int ret;

	if (dray_pool_take(pool, granules, alignment, found))
		return 0;
	ret = take_more(pool, granules, alignment, true, found);
	if (!ret ||
	    !dray_pool_relieve(pool, (uint64_t)granules << pool->shift, ret))
		return ret;
	if (dray_pool_take(pool, granules, alignment, found))
		return 0;
	return take_more(pool, granules, alignment, true, found);
}

/*
 * As above, plus @gap bytes after the block if they are free: never memory of
 * the node if the pool has room without them.
 */
static int take_apart(struct dray_pool *pool, size_t size, size_t gap,
		      uint64_t alignment, struct dray_found *found)
{
	uint64_t granules = dray_pool_granules(pool, size);
	uint64_t apart = dray_pool_granules(pool, (uint64_t)size + gap);
	int ret;

	if (apart > granules && apart <= UINT32_MAX) {
		if (dray_pool_take(pool, (uint32_t)apart, alignment, found) ||
		    dray_pool_take(pool, (uint32_t)granules, alignment, found))
			return 0;
		ret = take_more(pool, (uint32_t)apart, alignment, false, found);
		if (!ret || ret == -ENODEV || pool->closed)
			return ret;
	}
	return block_take(pool, (uint32_t)granules, alignment, found);
}

/* A small block that another thread left, and drops the lock; else NULL. */
static void *block_take_left(struct dray_pool *pool, size_t size)
{
	void *block = dray_cache_refill(pool, dray_pool_granules(pool, size));

	if (!block)
		return NULL;
	dray_caches_sweep(pool, size);
	pthread_mutex_unlock(&pool->lock);
	return block;
}

__attribute__((noinline)) void *dray_pool_take_block(struct dray_pool *pool,
						     size_t size, size_t gap,
						     size_t alignment,
						     bool zero)
{
	size_t granule = (size_t)1 << pool->shift;
	struct dray_pool_region *freed;
	struct dray_found found;
	uint64_t offset, length;
	struct dray_piece *piece;
	int ret = 0;

	if (size > PTRDIFF_MAX || dray_pool_granules(pool, size) > UINT32_MAX)
		return dray_no_block(
			dray_fail(-ENOMEM,
				  "a block of %zu bytes, at most %" PRIu64
				  " are possible",
				  size, (uint64_t)UINT32_MAX << pool->shift));
	if (alignment < granule)
		alignment = granule;

	dray_fork_check();
	dray_caches_settle();
	dray_lock(&pool->lock);
	if (alignment == granule) {
		void *block = block_take_left(pool, size + gap);

		if (block)
			return zero ? memset(block, 0, size + gap) : block;
	}
	if (pool->closed)
		ret = dray_fail(-ENOMEM, "pool \"%s\" is closed", pool->name);
	else
		ret = take_apart(pool, size, gap, alignment >> pool->shift,
				 &found);
	if (ret) {
		/* The caller sees no memory, for any error of the node. */
		dray_pool_unlock_or_end(pool);
		return dray_no_block(-ENOMEM);
	}
	piece = dray_found_piece(&found);
	offset = (uint64_t)piece->offset << pool->shift;
	length = (uint64_t)piece->size << pool->shift;
	freed = dray_cache_taken(&found);
	dray_caches_sweep(pool, length);
	dray_pool_unlock_freed(pool, freed);

	/* The block keeps its region, so its own bytes need no lock. */
	if (zero)
		dray_region_clear(found.region, offset, length);
	else
		dray_region_ready(found.region, offset, length);
	return (void *)(uintptr_t)(found.region->base + offset);
}

/* A small block that the thread keeps, or NULL. */
static inline void *take_kept(struct dray_pool *pool, size_t size)
{
	const struct dray_thread *thread = dray_thread;
	struct dray_cache *cache = thread->caches[dray_pool_number(pool)];

	/* 0 is none of them: it wraps around. */
	if (__builtin_expect(size - 1 >= pool->small || !cache, 0))
		return NULL;
	return dray_cache_take(thread, cache, (size - 1) >> pool->shift);
}

/* A large block. */
static inline void *take_kept_large(struct dray_pool *pool, size_t size)
{
	struct dray_cache *cache = dray_thread->caches[dray_pool_number(pool)];

	if (size <= pool->small || !cache)
		return NULL;
	return dray_cache_take_large(cache, dray_pool_granules(pool, size));
}

static __attribute__((noinline)) void *alloc_unaligned(struct dray_pool *pool,
						       size_t size, size_t gap)
{
	void *block = take_kept_large(pool, size + gap);

	if (block)
		return block;
	return dray_pool_take_block(pool, size, gap, 0, false);
}

/*
 * The largest power of two that divides an address of the window.  No search for
 * memory finds a multiple of a larger power, however long.
 */
static size_t largest_alignment(void)
{
	uintptr_t before = dray_window.base - 1;
	size_t slots =
		atomic_load_explicit(&dray_window.slots, memory_order_relaxed);
	uintptr_t last = before + (slots << DRAY_SLOT_SHIFT);

	/* Of the bits in which they differ the highest is set on the way. */
	return (size_t)1 << (63 - __builtin_clzll(before ^ last));
}

/* Handles an alignment above the granule. */
static __attribute__((noinline)) void *
alloc_aligned(struct dray_pool *pool, size_t size, size_t alignment)
{
	size_t largest;

	if (!dray_is_power_of_two(alignment))
		return dray_no_block(dray_fail(
			-EINVAL,
			"an alignment of %zu bytes is not a power of two",
			alignment));
	if (alignment <= (size_t)1 << pool->shift)
		return dray_pool_alloc(pool, size, 0);
	largest = largest_alignment();
	if (alignment > largest)
		return dray_no_block(dray_fail(
			-ENOMEM,
			"an alignment of %zu bytes, at most %zu are possible",
			alignment, largest));
	return dray_pool_take_block(pool, size, 0, alignment, false);
}

static __attribute__((noinline, cold)) void *no_pool(const char *function)
{
	dray_fail_null(function);
	return NULL;
}

void *dray_pool_alloc(struct dray_pool *pool, size_t size, size_t alignment)
{
	void *block;

	if (__builtin_expect(!pool, 0))
		return no_pool(__func__);
	if (__builtin_expect(alignment, 0))
		return alloc_aligned(pool, size, alignment);
	block = take_kept(pool, size);
	if (__builtin_expect(block != NULL, 1))
		return block;
	return alloc_unaligned(pool, size, 0);
}

void *dray_pool_alloc_apart(struct dray_pool *pool, size_t size)
{
	void *block = take_kept(pool, size + DRAY_POOL_GAP);

	if (__builtin_expect(block != NULL, 1))
		return block;
	return alloc_unaligned(pool, size, DRAY_POOL_GAP);
}

static void *calloc_with(struct dray_pool *pool, size_t count, size_t size,
			 size_t gap)
{
	size_t bytes;
	void *block;

	if (dray_mul_overflow(count, size, &bytes))
		return dray_no_elements(count, size);
	block = take_kept(pool, bytes + gap);
	if (!block)
		block = take_kept_large(pool, bytes + gap);
	return block ? memset(block, 0, bytes + gap)
		     : dray_pool_take_block(pool, bytes, gap, 0, true);
}

void *dray_pool_calloc(struct dray_pool *pool, size_t count, size_t size)
{
	if (!dray_given(pool, __func__))
		return NULL;
	return calloc_with(pool, count, size, 0);
}

void *dray_pool_calloc_apart(struct dray_pool *pool, size_t count, size_t size)
{
	return calloc_with(pool, count, size, DRAY_POOL_GAP);
}

/* Frees a block that was found, or lets the thread keep it; drops the lock. */
static inline void free_found(struct dray_pool *pool,
			      const struct dray_found *found)
{
	void *block = dray_found_address(found);
	struct dray_piece *piece = dray_found_piece(found);

	if (piece->state == DRAY_PIECE_PARKED) {
		pthread_mutex_unlock(&found->pool->lock);
		dray_bad_free(pool, block, "second free");
		return;
	}
	if (piece->busy) {
		piece->state = DRAY_PIECE_PARKED;
		found->pool->parked += (uint64_t)piece->size
				       << found->pool->shift;
		/* Keeps the block until its records end. */
		piece->busy++;
		pthread_mutex_unlock(&found->pool->lock);
		dray_block_freed(block);
		dray_block_release(block);
		return;
	}
	if (dray_cache_keep(found)) {
		dray_pool_unlock_freed(found->pool, found->region);
		return;
	}
	dray_mark_set(block, DRAY_MARK_NONE);
	dray_block_finish(found);
}

static __attribute__((noinline)) void free_locked(struct dray_pool *pool,
						  void *block)
{
	struct dray_found found;

	if (!block)
		return;
	dray_caches_settle();
	if (dray_find_start(block, &found))
		free_found(pool, &found);
	else
		dray_bad_free(pool, block, "free");
}

/* A block that finds no room in the cache. */
static __attribute__((noinline)) void free_small(struct dray_pool *pool,
						 struct dray_cache *cache,
						 void *block,
						 _Atomic uint8_t *mark)
{
	uint32_t size = atomic_load_explicit(mark, memory_order_relaxed);

	if (size - 1 >= DRAY_MARK_MOST || !dray_cache_make_room(cache, size) ||
	    !dray_cache_put(cache, block, mark, size))
		free_locked(pool, block);
}

static __attribute__((noinline)) void block_free_large(struct dray_pool *pool,
						       struct dray_cache *cache,
						       void *block,
						       _Atomic uint8_t *mark)
{
	uint64_t granules = dray_mark_size(mark);
	struct dray_found found;

	if (dray_cache_put_large(cache, block, mark, granules))
		return;
	dray_caches_settle();
	if (dray_find_large(atomic_load(&cache->pool), block, mark, &found))
		free_found(pool, &found);
	else
		free_locked(pool, block);
}

void dray_pool_free(struct dray_pool *pool, void *block)
{
	_Atomic uint8_t *mark;
	struct dray_cache *cache = dray_cache_find(block, &mark);
	uint32_t size;

	if (__builtin_expect(cache != NULL, 1)) {
		size = atomic_load_explicit(mark, memory_order_relaxed);
		if (__builtin_expect(size - 1 < DRAY_MARK_MOST, 1)) {
			if (!dray_cache_put(cache, block, mark, size))
				free_small(pool, cache, block, mark);
			return;
		} else if (size == DRAY_MARK_LARGE) {
			block_free_large(pool, cache, block, mark);
			return;
		}
	}
	free_locked(pool, block);
}

void dray_bad_free(struct dray_pool *pool, const void *block, const char *what)
{
	DRAY_NO_CANCEL;
	const char *abort_asked = getenv("DRAY_ABORT_ON_BAD_FREE");

	if (pool)
		atomic_fetch_add_explicit(&pool->bad_frees, 1,
					  memory_order_relaxed);
	dray_fail(-EINVAL, "%s of %p, which is not a block of a pool", what,
		  block);
	if (abort_asked && !strcmp(abort_asked, "1")) {
		fprintf(stderr, "dray: %s\n", dray_last_error());
		abort();
	}
}
