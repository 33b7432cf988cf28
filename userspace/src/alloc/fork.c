// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * fork: what becomes of pools in a child.
 *
 * Private memory is copied, and the child's pools go on as they are.  All
 * other memory is still the parent's: would both give out its free blocks,
 * each would write into the other's arrays.  So the child keeps the blocks
 * that it inherits, and may free them, but takes new ones from new regions.
 *
 * Every pool is locked while the process forks, so that none is inherited
 * half changed; see base/fork.h.
 */
#include <pthread.h>

#include "alloc/pool.h"
#include "base/fork.h"
#include "memory/node.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct dray_pool *pools;

static void prepare(void)
{
	struct dray_pool *pool;

	pthread_mutex_lock(&lock);
	for (pool = pools; pool; pool = pool->all) {
		pthread_mutex_lock(&pool->growing);
		pthread_mutex_lock(&pool->lock);
		/* The child has no use for what threads keep that it has not. */
		dray_caches_drain(pool, true);
	}
}

static void resume(void)
{
	struct dray_pool *pool;

	for (pool = pools; pool; pool = pool->all) {
		if (!pool->closed)
			dray_caches_open(pool);
		pthread_mutex_unlock(&pool->lock);
		pthread_mutex_unlock(&pool->growing);
	}
	pthread_mutex_unlock(&lock);
}

static void inherit(struct dray_pool *pool)
{
	struct dray_pool_region *region;

	/* The threads that were about to come back are the parent's. */
	pool->pending = 0;
	dray_caches_forget(pool);
	for (region = pool->regions; region; region = region->next) {
		if (region->inherited ||
		    dray_buffer_descriptor(region->buffer) < 0)
			continue;
		region->inherited = true;
		dray_marks_claim(region->base, region->reserved, 0);
		pool->reserved -= region->size;
	}
}

static void resume_child(void)
{
	struct dray_pool *pool;

	for (pool = pools; pool; pool = pool->all)
		inherit(pool);
	resume();
}

static struct dray_fork_locks locks = {
	.rank = DRAY_FORK_POOLS,
	.take = prepare,
	.give = resume,
	.inherit = resume_child,
};

void dray_pool_enlist(struct dray_pool *pool)
{
	dray_fork_enlist(&locks);
	pthread_mutex_lock(&lock);
	pool->all = pools;
	pools = pool;
	pthread_mutex_unlock(&lock);
}
