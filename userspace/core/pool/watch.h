/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The calls of a pool's handler while somebody watches: the program, by
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

void *dray_watched_malloc(struct dray_pool *pool, size_t size);
void *dray_watched_calloc(struct dray_pool *pool, size_t count, size_t size);
void *dray_watched_realloc(struct dray_pool *pool, void *block, size_t size);
void dray_watched_free(struct dray_pool *pool, void *block, size_t size);

#endif /* DRAY_POOL_WATCH_H */
