/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Pools that have ended, and objects and numbers that are not in use. */
#ifndef DRAY_POOL_UNUSED_H
#define DRAY_POOL_UNUSED_H

#include "pool/pool.h"

/* Returns an object, or one that has ended with a number; NULL: there is none. */
struct dray_pool *dray_pool_take_unused(void);
struct dray_pool *dray_pool_take_spent(void);

/* Takes it back once it has ended, or was never used. */
void dray_pool_drop(struct dray_pool *pool);

/* Ends a closed pool once nothing is left in it; drops the lock. */
void dray_pool_unlock_closed(struct dray_pool *pool);

static inline void dray_pool_unlock_or_end(struct dray_pool *pool)
{
	if (__builtin_expect(pool->closed, 0))
		dray_pool_unlock_closed(pool);
	else
		pthread_mutex_unlock(&pool->lock);
}

#endif /* DRAY_POOL_UNUSED_H */
