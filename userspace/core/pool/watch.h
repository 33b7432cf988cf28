/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The calls of handlers while functions watch them, by dray_watch_add().
 */
#ifndef DRAY_POOL_WATCH_H
#define DRAY_POOL_WATCH_H

#include <stdatomic.h>

#include <dray/handler.h>

/* Functions that watch. */
extern _Atomic uint32_t dray_watch_count;

static inline bool dray_handler_is_watched(void)
{
	return atomic_load_explicit(&dray_watch_count, memory_order_relaxed);
}

/*
 * Shows the watches a step of a handler; the program's errno and sentence stay
 * as they are.  @pool: NULL for a handler over a resource
 */
void dray_watch_tell(struct dray_pool *pool, enum dray_handler_action action,
		     void *block, uint64_t asked, uint64_t bytes);
/* Begins an allocation; returns a number for its end. */
uint64_t dray_watch_begin(struct dray_pool *pool, size_t asked);
/* Ends it, with @bytes in the block; no block: it failed. */
void dray_watch_end(struct dray_pool *pool, void *block, size_t asked,
		    size_t bytes, uint64_t grown);

/* As the functions of a pool's handler, while it is watched. */
void *dray_watched_malloc(struct dray_pool *pool, size_t size);
void *dray_watched_calloc(struct dray_pool *pool, size_t count, size_t size);
void *dray_watched_realloc(struct dray_pool *pool, void *block, size_t size);
void dray_watched_free(struct dray_pool *pool, void *block, size_t size);

#endif /* DRAY_POOL_WATCH_H */
