// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * watch: the four functions of a pool's handler, with the watchers around them.
 * They count the usable bytes of a block, since runtimes free with wrong sizes.
 */
#include <errno.h>

#include "base/error.h"
#include "base/number.h"
#include "pool/pool.h"
#include "pool/watch.h"

#define WATCHES 8

static _Atomic(dray_watch *) watches[WATCHES];
_Atomic uint32_t dray_watch_count;

int dray_watch_add(dray_watch *watch)
{
	int i;

	if (!dray_given(watch, __func__))
		return -EINVAL;
	for (i = 0; i < WATCHES; i++) {
		if (atomic_load(&watches[i]) == watch)
			return 0;
	}
	for (i = 0; i < WATCHES; i++) {
		dray_watch *none = NULL;

		if (!atomic_compare_exchange_strong(&watches[i], &none, watch))
			continue;
		atomic_fetch_add(&dray_watch_count, 1);
		return 0;
	}
	return dray_fail(-ENOSPC,
			 "%d functions watch handlers already; remove a watch",
			 WATCHES);
}

int dray_watch_remove(dray_watch *watch)
{
	int i, ret = -ENOENT;

	if (!dray_given(watch, __func__))
		return -EINVAL;
	for (i = 0; i < WATCHES; i++) {
		dray_watch *this = watch;

		if (!atomic_compare_exchange_strong(&watches[i], &this, NULL))
			continue;
		atomic_fetch_sub(&dray_watch_count, 1);
		ret = 0;
	}
	return ret ? dray_fail(ret, "the function watches no handlers") : 0;
}

void dray_watch_tell(struct dray_pool *pool, enum dray_handler_action action,
		     void *block, uint64_t asked, uint64_t bytes)
{
	const struct dray_handler_event event = {
		.action = action,
		.pool = pool,
		.block = block,
		.asked = asked,
		.bytes = bytes,
	};
	struct dray_kept_failure kept;
	int i, error = errno;

	dray_failure_keep(&kept);
	for (i = 0; i < WATCHES; i++) {
		dray_watch *watch = atomic_load(&watches[i]);

		if (watch)
			watch(&event);
	}
	dray_failure_restore(0, &kept);
	errno = error;
}

uint64_t dray_watch_begin(struct dray_pool *pool, size_t asked)
{
	dray_watch_tell(pool, DRAY_HANDLER_ALLOCATES, NULL, asked, 0);
	return dray_pool_grown;
}

void dray_watch_end(struct dray_pool *pool, void *block, size_t asked,
		    size_t bytes, uint64_t grown)
{
	if (dray_pool_grown != grown)
		dray_watch_tell(pool, DRAY_HANDLER_GREW, NULL, asked,
				dray_pool_grown - grown);
	dray_watch_tell(pool, DRAY_HANDLER_ALLOCATED, block, asked, bytes);
}

/* Ends an allocation of a pool. */
static void *watch_end(struct dray_pool *pool, void *block, size_t asked,
		       uint64_t grown)
{
	dray_watch_end(pool, block, asked, block ? dray_usable_size(block) : 0,
		       grown);
	return block;
}

void *dray_watched_malloc(struct dray_pool *pool, size_t size)
{
	uint64_t grown = dray_watch_begin(pool, size);

	return watch_end(pool, dray_pool_alloc_apart(pool, size), size, grown);
}

void *dray_watched_calloc(struct dray_pool *pool, size_t count, size_t size)
{
	uint64_t grown;
	size_t asked;

	if (dray_mul_overflow(count, size, &asked))
		asked = SIZE_MAX;
	grown = dray_watch_begin(pool, asked);
	return watch_end(pool, dray_pool_calloc_apart(pool, count, size), asked,
			 grown);
}

/*
 * Another thread may get the old block before this call ends, so its free is
 * shown before.
 */
void *dray_watched_realloc(struct dray_pool *pool, void *block, size_t size)
{
	size_t old = block ? dray_usable_size(block) : 0;
	uint64_t grown;
	void *moved;

	if (!block)
		return dray_watched_malloc(pool, size);
	if (!old)
		return dray_pool_realloc_apart(pool, block, size);
	dray_watch_tell(pool, DRAY_HANDLER_FREES, block, old, old);
	dray_watch_tell(pool, DRAY_HANDLER_FREED, block, old, old);
	grown = dray_watch_begin(pool, size);
	moved = dray_pool_realloc_apart(pool, block, size);
	if (moved)
		return watch_end(pool, moved, size, grown);
	watch_end(pool, NULL, size, grown);
	watch_end(pool, block, old, dray_watch_begin(pool, old));
	return NULL;
}

void dray_watched_free(struct dray_pool *pool, void *block, size_t size)
{
	size_t bytes = block ? dray_usable_size(block) : 0;

	if (!bytes) { /* no block: the pool says so */
		dray_pool_free(pool, block);
		return;
	}
	dray_watch_tell(pool, DRAY_HANDLER_FREES, block, size, bytes);
	dray_pool_free(pool, block);
	dray_watch_tell(pool, DRAY_HANDLER_FREED, block, size, bytes);
}
