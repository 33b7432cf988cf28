// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * fork: pools in a child.
 *
 * Private memory is copied, and the child's pools work on as they are.  All other
 * memory is still the parent's: if both allocated its free blocks, each would
 * write into the other's arrays.  So the child keeps and may free the blocks
 * that it inherits, but allocates new blocks from new regions.  The parent trusts
 * no page that was ever used to be zero: after it freed a block and returned the
 * pages to the system, the child may still write there.
 *
 * The fork handler locks every pool, so that no child inherits a pool half
 * changed; see base/fork.h.  A child of clone() locks them itself: its pools
 * are whole if no other thread was inside one.
 */
#include <pthread.h>

#include "base/fork.h"
#include "memory/node.h"
#include "pool/at.h"
#include "pool/cache.h"
#include "pool/pool.h"
#include "pool/starts.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct dray_pool *pools;

/* Blocks cached by the parent's threads are lost in a child. */
static void take_back_kept(struct dray_pool *pool)
{
	struct dray_found found = { .pool = pool };
	uint64_t granule;
	uint32_t start;

	for (found.region = pool->regions; found.region;
	     found.region = found.region->next) {
		const struct dray_fit *fit = &found.region->fit;

		for (granule = 0; dray_starts_from(fit, granule, &start);
		     granule = (uint64_t)start + 1) {
			void *block;

			found.piece = dray_fit_at(fit, start);
			block = dray_found_address(&found);
			if (dray_mark_of(block) != DRAY_MARK_KEPT)
				continue;
			dray_mark_set(block, DRAY_MARK_NONE);
			dray_block_return(&found);
		}
	}
}

static void pool_fork_prepare(void)
{
	struct dray_pool *pool;

	pthread_mutex_lock(&lock);
	for (pool = pools; pool; pool = pool->all) {
		pthread_mutex_lock(&pool->growing);
		pthread_mutex_lock(&pool->lock);
		/* Caches that are wiped already: this is the child. */
		if (pool->caches && !atomic_load(&pool->caches->pool)) {
			take_back_kept(pool);
			dray_caches_forget(pool);
		}
		/*
		 * Those threads do not exist in the child.  A drain empties the
		 * caches that were missed.
		 */
		dray_caches_drain(pool);
	}
}

/* A child, if any, shares each block that was ever in use until now. */
static void mark_shared(struct dray_pool *pool)
{
	struct dray_pool_region *region;

	for (region = pool->regions; region; region = region->next)
		if (dray_buffer_descriptor(region->buffer) >= 0)
			region->shared = true;
}

static void pool_fork_resume(void)
{
	struct dray_pool *pool;

	for (pool = pools; pool; pool = pool->all) {
		mark_shared(pool);
		pthread_mutex_unlock(&pool->lock);
		pthread_mutex_unlock(&pool->growing);
	}
	pthread_mutex_unlock(&lock);
}

static void fork_inherit(struct dray_pool *pool)
{
	struct dray_pool_region *region;

	/*
	 * The threads that were about to return are the parent's, but for this
	 * thread, if it was asked to free memory and forked.
	 */
	pool->pending = dray_pool_is_asking(pool);
	/* Caches the drain missed because their owner was inside. */
	if (pool->missed)
		take_back_kept(pool);
	dray_caches_forget(pool);
	for (region = pool->regions; region; region = region->next) {
		if (region->inherited ||
		    dray_buffer_descriptor(region->buffer) < 0)
			continue;
		region->inherited = true;
		dray_marks_claim(region->base, (size_t)region->reserved, 0);
		dray_pool_set_reserved(pool, pool->reserved - region->size);
	}
}

static void pool_fork_resume_child(void)
{
	struct dray_pool *pool;

	for (pool = pools; pool; pool = pool->all)
		fork_inherit(pool);
	pool_fork_resume();
}

static void fork_missed(void)
{
	pool_fork_prepare();
	pool_fork_resume_child();
}

static struct dray_fork_locks locks = {
	.rank = DRAY_FORK_POOLS,
	.take = pool_fork_prepare,
	.give = pool_fork_resume,
	.inherit = pool_fork_resume_child,
	.missed = fork_missed,
};

void dray_pool_enlist(struct dray_pool *pool)
{
	dray_fork_enlist(&locks);
	pthread_mutex_lock(&lock);
	pool->all = pools;
	pools = pool;
	pthread_mutex_unlock(&lock);
}

struct dray_pool *dray_pool_latest(void)
{
	struct dray_pool *pool;

	pthread_mutex_lock(&lock);
	pool = pools;
	pthread_mutex_unlock(&lock);
	return pool;
}

/* Acquires the list's lock first, like a fork, so that no fork is between. */
void dray_pool_pass_number(struct dray_pool *from, struct dray_pool *to)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_lock(&to->lock);
	pthread_mutex_lock(&from->lock);
	dray_caches_pass(from, to);
	pthread_mutex_unlock(&from->lock);
	pthread_mutex_unlock(&to->lock);
	pthread_mutex_unlock(&lock);
}
