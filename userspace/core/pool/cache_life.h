/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A look at the closed caches of a thread. */
#ifndef DRAY_POOL_CACHE_LIFE_H
#define DRAY_POOL_CACHE_LIFE_H

#include "pool/cache.h"

/*
 * How often a pool was closed while an owner was stopped inside its cache.  A
 * pool without visits would never end.  So a thread that sees this number
 * change, without a lock, checks its own caches.
 */
extern _Atomic uint32_t dray_caches_left;
void dray_caches_look(void);

static inline void dray_caches_settle(void)
{
	if (__builtin_expect(atomic_load_explicit(&dray_caches_left,
						  memory_order_acquire) !=
				     dray_thread->settled,
			     0))
		dray_caches_look();
}

#endif /* DRAY_POOL_CACHE_LIFE_H */
