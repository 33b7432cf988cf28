// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A pool's blocks.  What the calling thread keeps is taken and given without a
 * lock; all else takes the pool's lock for as long as numbers change, and
 * touches the memory itself only without it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/busy.h"
#include "alloc/ipc.h"
#include "alloc/no_memory.h"
#include "alloc/pool.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/lock.h"
#include "base/number.h"
#include "memory/window.h"

/* NULL, errno and a sentence: how functions shaped like malloc fail. */
static void *no_block(int error)
{
	errno = -error;
	return NULL;
}

/*
 * With the pool's lock: from what threads keep and what engines are done with,
 * from the node, and at last from what engines will be done with.
 */
static int take_more(struct dray_pool *pool, uint32_t granules,
		     uint64_t alignment, struct dray_found *found)
{
	bool missed;
	int ret;

	if (dray_caches_drain(pool, false) &&
	    dray_pool_take(pool, granules, alignment, found))
		return 0;
	missed = pool->missed;
	dray_pool_reap(pool, false);
	do {
		ret = dray_pool_grow_and_take(pool, granules, alignment, found);
	} while (ret == -ENOMEM && !pool->closed && dray_pool_reap(pool, true));
	/* It may be all there, with a thread that does not run just now. */
	if (ret == -ENOMEM && missed && !pool->closed &&
	    dray_caches_drain_patiently(pool, false))
		ret = dray_pool_grow_and_take(pool, granules, alignment, found);
	return ret;
}

/* From what there is, then from there, and once more where somebody helped. */
static int take(struct dray_pool *pool, uint32_t granules, uint64_t alignment,
		struct dray_found *found)
{
	int ret;

	if (dray_pool_take(pool, granules, alignment, found))
		return 0;
	ret = take_more(pool, granules, alignment, found);
	if (!ret ||
	    !dray_pool_relieve(pool, (uint64_t)granules << pool->shift, ret))
		return ret;
	if (dray_pool_take(pool, granules, alignment, found))
		return 0;
	return take_more(pool, granules, alignment, found);
}

static __attribute__((noinline)) void *
alloc(struct dray_pool *pool, size_t size, size_t alignment, bool zero)
{
	size_t granule = (size_t)1 << pool->shift;
	uint64_t granules = ((uint64_t)size + granule - 1) >> pool->shift;
	struct dray_found found;
	uint64_t offset, length;
	struct dray_piece *piece;
	int ret = 0;

	if (!size)
		granules = 1;
	if (size > PTRDIFF_MAX || granules > UINT32_MAX)
		return no_block(
			dray_fail(-ENOMEM,
				  "a block of %zu bytes, at most %" PRIu64
				  " are possible",
				  size, (uint64_t)UINT32_MAX << pool->shift));
	if (alignment < granule)
		alignment = granule;

	dray_fork_check();
	dray_caches_settle();
	dray_lock(&pool->lock);
	if (pool->closed)
		ret = dray_fail(-ENOMEM, "pool \"%s\" is closed", pool->name);
	else
		ret = take(pool, (uint32_t)granules, alignment >> pool->shift,
			   &found);
	if (ret) {
		/* Whatever the node said, to the caller there is no memory. */
		dray_pool_unlock_or_end(pool);
		return no_block(-ENOMEM);
	}
	piece = dray_found_piece(&found);
	offset = (uint64_t)piece->offset << pool->shift;
	length = (uint64_t)piece->size << pool->shift;
	dray_cache_taken(&found);
	dray_caches_sweep(pool, length);
	pthread_mutex_unlock(&pool->lock);

	/* The block keeps its region: no lock is needed for what is its own. */
	if (zero)
		dray_region_clear(found.region, offset, length);
	else
		dray_region_mark(found.region, offset, length);
	return (void *)(found.region->base + offset);
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

/* A large one. */
static inline void *take_kept_large(struct dray_pool *pool, size_t size)
{
	struct dray_cache *cache = dray_thread->caches[dray_pool_number(pool)];

	if (size <= pool->small || !cache)
		return NULL;
	return dray_cache_take_large(cache, ((size - 1) >> pool->shift) + 1);
}

static __attribute__((noinline)) void *alloc_unaligned(struct dray_pool *pool,
						       size_t size)
{
	void *block = take_kept_large(pool, size);

	if (block)
		return block;
	return alloc(pool, size, 0, false);
}

/*
 * The largest power of two that divides an address of the window.  No search for
 * memory finds another one, however long.
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

/* What the granule is not enough for, if it is an alignment. */
static __attribute__((noinline)) void *
alloc_aligned(struct dray_pool *pool, size_t size, size_t alignment)
{
	size_t largest;

	if (!dray_is_power_of_two(alignment))
		return no_block(
			dray_fail(-EINVAL,
				  "an alignment of %zu bytes is no power "
				  "of two",
				  alignment));
	if (alignment <= (size_t)1 << pool->shift)
		return dray_pool_alloc(pool, size, 0);
	largest = largest_alignment();
	if (alignment > largest)
		return no_block(dray_fail(
			-ENOMEM,
			"an alignment of %zu bytes, at most %zu are possible",
			alignment, largest));
	return alloc(pool, size, alignment, false);
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
	return alloc_unaligned(pool, size);
}

void *dray_pool_calloc(struct dray_pool *pool, size_t count, size_t size)
{
	size_t bytes;
	void *block;

	if (!dray_given(pool, __func__))
		return NULL;
	if (dray_mul_overflow(count, size, &bytes))
		return dray_no_elements(count, size);
	block = take_kept(pool, bytes);
	if (!block)
		block = take_kept_large(pool, bytes);
	return block ? memset(block, 0, bytes) : alloc(pool, bytes, 0, true);
}

/* Frees a block that was found, or lets the thread keep it; drops the lock. */
static inline void free_found(struct dray_pool *pool,
			      const struct dray_found *found, bool keep)
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
		/* Until its records have ended nobody else may have it. */
		piece->busy++;
		pthread_mutex_unlock(&found->pool->lock);
		dray_ipc_block_freed(block);
		dray_block_release(block);
		return;
	}
	if (keep && dray_cache_keep(found)) {
		pthread_mutex_unlock(&found->pool->lock);
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
		free_found(pool, &found, true);
	else
		dray_bad_free(pool, block, "free");
}

static __attribute__((noinline)) void free_large(struct dray_pool *pool,
						 struct dray_cache *cache,
						 void *block,
						 _Atomic uint8_t *mark)
{
	uint64_t granules = dray_mark_size(mark);
	bool wanted = granules == cache->wanted;
	struct dray_found found;

	if (wanted && dray_cache_put_large(cache, block, mark, granules))
		return;
	dray_caches_settle();
	if (dray_find_large(atomic_load(&cache->pool), block, mark, &found))
		free_found(pool, &found, wanted);
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
			if (dray_cache_put(cache, block, mark, size))
				return;
		} else if (size == DRAY_MARK_LARGE) {
			free_large(pool, cache, block, mark);
			return;
		}
	}
	free_locked(pool, block);
}

/*
 * What lies behind a block may only be kept by a thread.  For a small block
 * that is not worth the search: it is moved sooner.
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
	dray_caches_drain(pool, pool->closed);
	return dray_fit_resize(&found->region->fit, found->piece, granules);
}

/* Resizes a block where it is; the lock is held. */
static bool resize(const struct dray_found *found, uint64_t granules)
{
	struct dray_pool *pool = found->pool;
	uint64_t old = dray_found_piece(found)->size, now;

	if (granules > UINT32_MAX)
		return false;
	/* An engine may use all of it: what would be cut off is not free. */
	if (granules < old && dray_found_piece(found)->busy)
		return true;
	/* What lies behind it belongs to another process. */
	if (found->region->inherited)
		return granules <= old;
	if (!dray_fit_resize(&found->region->fit, found->piece,
			     (uint32_t)granules) &&
	    !resize_after_drain(found, (uint32_t)granules))
		return false;
	now = dray_found_piece(found)->size;
	dray_cache_mark(found);
	pool->used += (now - old) << pool->shift;
	if (pool->used > pool->peak)
		pool->peak = pool->used;
	return true;
}

void *dray_pool_realloc(struct dray_pool *pool, void *block, size_t size)
{
	struct dray_found found;
	struct dray_piece *piece;
	uint64_t granules, offset, old, now;
	size_t alignment;
	void *moved;
	bool fits;

	if (!dray_given(pool, __func__))
		return NULL;
	if (!block)
		return alloc(pool, size, 0, false);
	if (!dray_find_start(block, &found)) {
		dray_bad_free(pool, block, "realloc");
		return no_block(-EINVAL);
	}
	piece = dray_found_piece(&found);
	if (piece->state == DRAY_PIECE_PARKED) {
		pthread_mutex_unlock(&found.pool->lock);
		dray_bad_free(pool, block, "realloc after free");
		return no_block(-EINVAL);
	}
	alignment = (size_t)1 << piece->alignment;
	offset = (uint64_t)piece->offset << found.pool->shift;
	old = (uint64_t)piece->size << found.pool->shift;
	granules = size ? ((size - 1) >> found.pool->shift) + 1 : 1;
	fits = found.pool == pool && resize(&found, granules);
	now = (uint64_t)dray_found_piece(&found)->size << found.pool->shift;
	pthread_mutex_unlock(&found.pool->lock);
	if (fits) {
		if (now > old)
			dray_region_mark(found.region, offset + old, now - old);
		return block;
	}

	moved = alloc(pool, size, alignment, false);
	if (!moved)
		return NULL;
	memcpy(moved, block, size < old ? size : old);
	dray_pool_free(pool, block);
	return moved;
}
