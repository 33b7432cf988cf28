// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * busy: the memory around an address, for other rooms and programs, and holds of it.
 * Holds are a count in the block's piece, under the pool's lock.  A block
 * that another process was given is marked.  Its free goes past the caches of
 * threads, so that the mark ends there.
 */
#include <errno.h>
#include <stdatomic.h>

#include "base/error.h"
#include "memory/window.h"
#include "pool/busy.h"
#include "pool/cache.h"
#include "pool/pool.h"

static _Atomic(dray_reap *) reapers[2]; /* queues and streams */
static _Atomic(dray_freed *) ender;

void dray_block_set_reap(dray_reap *reap)
{
	dray_reap *there = NULL;

	if (!atomic_compare_exchange_strong(&reapers[0], &there, reap) &&
	    there != reap)
		atomic_store(&reapers[1], reap);
}

bool dray_block_reap(bool wait)
{
	bool gone = false;
	int i;

	for (i = 0; i < 2 && !(gone && wait); i++) {
		dray_reap *reap = atomic_load(&reapers[i]);

		if (reap && reap(wait))
			gone = true;
	}
	return gone;
}

void dray_block_set_freed(dray_freed *freed)
{
	atomic_store(&ender, freed);
}

void dray_block_freed(const void *block)
{
	dray_freed *freed = atomic_load(&ender);

	if (freed)
		freed(block);
}

bool dray_pool_reap(struct dray_pool *pool, bool wait)
{
	bool gone;

	if (!pool->parked)
		return false;
	pool->pending++;
	pthread_mutex_unlock(&pool->lock);
	gone = dray_block_reap(wait);
	pthread_mutex_lock(&pool->lock);
	pool->pending--;
	return gone;
}

int dray_found_hold(const struct dray_found *found, const void *address)
{
	struct dray_piece *piece = dray_found_piece(found);

	if (piece->state == DRAY_PIECE_PARKED)
		return dray_fail(-ENOENT, "the block around %p was freed",
				 address);
	if (piece->busy == UINT32_MAX - 1) /* a free has the last one */
		return dray_fail(-EOVERFLOW, "%u holds on the block around %p",
				 piece->busy, address);
	if (!piece->busy++)
		dray_mark_set(dray_found_address(found), DRAY_MARK_NONE);
	return 0;
}

int dray_block_hold(const void *address)
{
	struct dray_found found;
	int ret;

	if (!dray_find_around(address, &found))
		return dray_fail(-ENOENT, "%p lies in no block of a pool",
				 address);
	ret = dray_found_hold(&found, address);
	pthread_mutex_unlock(&found.pool->lock);
	return ret;
}

void dray_block_release(const void *address)
{
	struct dray_piece *piece;
	struct dray_found found;

	if (!dray_find_around(address, &found))
		return;
	piece = dray_found_piece(&found);
	if (piece->busy && !--piece->busy) {
		if (piece->state == DRAY_PIECE_PARKED) {
			found.pool->parked -= (uint64_t)piece->size
					      << found.pool->shift;
			dray_block_finish(&found);
			return;
		}
		dray_cache_mark(&found);
	}
	pthread_mutex_unlock(&found.pool->lock);
}

void dray_block_sent(const void *address)
{
	struct dray_found found;

	if (!dray_find_around(address, &found))
		return;
	dray_found_piece(&found)->sent = true;
	dray_mark_set(dray_found_address(&found), DRAY_MARK_NONE);
	pthread_mutex_unlock(&found.pool->lock);
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

static int location_locate(const void *address, struct dray_location *out,
			   bool hold)
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
	return dray_given(out, __func__) ? location_locate(address, out, false)
					 : -EINVAL;
}

int dray_locate_hold(const void *address, struct dray_location *out)
{
	return location_locate(address, out, true);
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
