/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The calls of handlers while somebody watches: the program, by
 * dray_set_watch(), and the log of handlers.
 */
#ifndef DRAY_POOL_WATCH_H
#define DRAY_POOL_WATCH_H

#include <stdatomic.h>

#include <dray/handler.h>

enum dray_watcher {
	DRAY_WATCHER_LOG,	/* first: it is to be complete */
	DRAY_WATCHER_PROGRAM,
	DRAY_WATCHER_COUNT,
};

extern _Atomic(dray_watch *) dray_watchers[DRAY_WATCHER_COUNT];
/* How many of them are set. */
extern _Atomic uint32_t dray_watchers_set;

static inline bool dray_handler_is_watched(void)
{
	return atomic_load_explicit(&dray_watchers_set, memory_order_relaxed);
}

/* Sets a watcher; NULL: none. */
void dray_watcher_set(enum dray_watcher which, dray_watch *watch);

/*
 * Shows the watchers a step of a handler; the program's errno and sentence stay
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
