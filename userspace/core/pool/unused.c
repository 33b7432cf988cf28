// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Pools that have ended.  A closed pool ends with its last block; then its
 * object, or its number if its handler is out, goes to the next pool.
 */
#include "base/fork.h"
#include "memory/node.h"
#include "pool/unused.h"

DEFINE_FORK_LOCK(DRAY_FORK_UNUSED_POOLS, unused_lock);
static struct dray_pool *unused;
static struct dray_pool *spent; /* ended, with a number */

struct dray_pool *dray_pool_take_unused(void)
{
	struct dray_pool *pool;

	dray_fork_enlist(&locks);
	dray_fork_check();
	pthread_mutex_lock(&unused_lock);
	pool = unused;
	if (pool)
		unused = pool->next;
	pthread_mutex_unlock(&unused_lock);
	return pool;
}

struct dray_pool *dray_pool_take_spent(void)
{
	struct dray_pool *pool;

	pthread_mutex_lock(&unused_lock);
	pool = spent;
	if (pool)
		spent = pool->next;
	pthread_mutex_unlock(&unused_lock);
	return pool;
}

void dray_pool_drop(struct dray_pool *pool)
{
	struct dray_pool **list = &unused;
	bool numbered = dray_pool_number(pool);

	if (atomic_load(&pool->handed_out)) {
		if (!numbered)
			return;
		list = &spent;
	}
	pthread_mutex_lock(&unused_lock);
	/* Pools with a number are used first. */
	while (!numbered && *list)
		list = &(*list)->next;
	pool->next = *list;
	*list = pool;
	pthread_mutex_unlock(&unused_lock);
}

void dray_pool_unlock_closed(struct dray_pool *pool)
{
	struct dray_pool_region *regions;
	struct dray_node *node;
	bool pinned;

	if (!pool->node || pool->blocks || pool->pending) {
		pthread_mutex_unlock(&pool->lock);
		return;
	}
	regions = dray_pool_take_empty(pool, 0);
	node = pool->node;
	pool->node = NULL;
	pinned = pool->pins;
	pthread_mutex_unlock(&pool->lock);
	dray_regions_destroy(regions);
	dray_node_unref(node);
	if (!pinned)
		dray_pool_drop(pool);
}

void dray_pool_pin(struct dray_pool *pool)
{
	dray_fork_check();
	pthread_mutex_lock(&pool->lock);
	pool->pins++;
	pthread_mutex_unlock(&pool->lock);
}

void dray_pool_unpin(struct dray_pool *pool)
{
	bool last;

	dray_fork_check();
	pthread_mutex_lock(&pool->lock);
	last = !--pool->pins && !pool->node;
	pthread_mutex_unlock(&pool->lock);
	if (last)
		dray_pool_drop(pool);
}
