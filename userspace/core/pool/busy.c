// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * busy: holds are a count in the block's piece, under the pool's lock.  A block
 * that another process was given is marked.  Its free goes past the caches of
 * threads, so that the mark ends there.
 */
#include <errno.h>
#include <stdatomic.h>

#include "base/error.h"
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
