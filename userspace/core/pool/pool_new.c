// SPDX-License-Identifier: Apache-2.0 OR MIT
/* New pools: objects and numbers of pools that have ended are used first. */
#include <stdlib.h>

#include "pool/cache.h"
#include "pool/pool.h"
#include "pool/unused.h"

/* Reuses the number of an ended pool with a handler out; there are 63. */
static void pool_new_number(struct dray_pool *pool)
{
	struct dray_pool *from;

	if (dray_pool_number(pool))
		return;
	from = dray_pool_take_spent();
	if (from)
		dray_pool_pass_number(from, pool);
	else
		atomic_store(&pool->number, dray_cache_number());
}

struct dray_pool *dray_pool_new(void)
{
	struct dray_pool *pool;

	pool = dray_pool_take_unused();
	if (pool) {
		pool_new_number(pool);
		return pool;
	}
	pool = calloc(1, sizeof(*pool));
	if (!pool)
		return NULL;
	pthread_mutex_init(&pool->lock, NULL);
	pthread_mutex_init(&pool->growing, NULL);
	dray_pool_enlist(pool);
	pool_new_number(pool);
	return pool;
}
