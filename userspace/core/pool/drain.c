// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * drain: returns cached blocks to the pool without the owners' help.
 *
 * A cache that is closed is the drainer's once its owner is out: the barrier
 * that the kernel puts into every thread makes the owner see that it is closed,
 * or the drainer see that it is busy.  Without that barrier (a filter of system
 * calls that was set later, no memory for it) nothing of another thread's is
 * touched, and all caches are closed for good.
 */
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fork.h"
#include "pool/busy.h"
#include "pool/cache.h"
#include "pool/depot.h"
#include "pool/pool.h"
#include "pool/unused.h"

#define PATIENCE 1000 /* turns to wait for an owner */
/*
 * Later pauses, each twice as long as the pause before: 0.16 s in all.  Turns are
 * over in a fraction of a millisecond if other processors are idle, and do not
 * help an owner of lower priority.  An owner that waits in a signal handler
 * also gets this time.
 */
#define FIRST_PAUSE 20000 /* ns */
#define LAST_PAUSE (FIRST_PAUSE << 12)
#define SWEEPS 16 /* while as much is in use as the pool holds */

static bool is_out(struct dray_cache *cache)
{
	return !atomic_load_explicit(&cache->busy, memory_order_acquire);
}

/* The pool's lock is held: a thread that is cancelled does not end here. */
static void drain_sleep_for(long pause)
{
	const struct timespec time = { .tv_nsec = pause };
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	nanosleep(&time, NULL);
	pthread_setcancelstate(state, NULL);
}

/*
 * Waits until the owner is out; false if it stays inside.  @pause, in ns, is
 * how long to sleep next, 0: not at all.
 */
static bool owner_is_out(struct dray_cache *cache, long *pause)
{
	int turn;

	for (turn = 0; turn < PATIENCE; turn++) {
		if (is_out(cache))
			return true;
		sched_yield();
	}
	while (*pause && !is_out(cache)) {
		drain_sleep_for(*pause);
		*pause = *pause < LAST_PAUSE ? *pause * 2 : 0;
	}
	return is_out(cache);
}

/* False if another thread may not see the closed cache yet. */
static bool reach_all_threads(void)
{
	if (!dray_caches_are_off() &&
	    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0))
		dray_caches_end();
	return !dray_caches_are_off();
}

/* Bytes of the caches that are closed. */
static uint64_t empty_closed(struct dray_pool *pool, long pause)
{
	struct dray_cache *own = dray_thread->caches[dray_pool_number(pool)];
	bool reached = reach_all_threads();
	struct dray_cache *cache;
	uint64_t bytes = 0;

	for (cache = pool->caches; cache; cache = cache->next) {
		if (!atomic_load_explicit(&cache->closed, memory_order_relaxed))
			continue;
		/*
		 * The caller itself is inside no cache.  An owner stopped
		 * inside its cache is not waited for long: a later drain returns
		 * its blocks.  So does its own next visit to a pool after this
		 * pool was closed, or its end.
		 */
		if (cache != own &&
		    (!reached || !owner_is_out(cache, &pause))) {
			pool->missed = true;
			continue;
		}
		bytes += dray_cache_held(cache);
		dray_cache_empty(cache);
		cache->drained = true;
	}
	return bytes;
}

static uint64_t pool_drain(struct dray_pool *pool, long pause)
{
	struct dray_cache *cache;

	pool->missed = false;
	if (!pool->caches)
		return 0;
	for (cache = pool->caches; cache; cache = cache->next)
		atomic_store(&cache->closed, 1);
	return empty_closed(pool, pause) + dray_depots_empty(pool, true);
}

uint64_t dray_caches_drain(struct dray_pool *pool)
{
	return pool_drain(pool, 0);
}

uint64_t dray_caches_drain_patiently(struct dray_pool *pool)
{
	return pool_drain(pool, FIRST_PAUSE);
}

void dray_caches_sweep(struct dray_pool *pool, uint64_t bytes)
{
	struct dray_cache *cache = dray_thread->caches[dray_pool_number(pool)];
	bool idle = false;

	pool->taken += bytes;
	if (pool->taken < pool->reserved / SWEEPS)
		return;
	pool->taken = 0;
	if (cache)
		cache->used = true;
	for (cache = pool->caches; cache; cache = cache->next) {
		if (!cache->used && !cache->drained) {
			atomic_store(&cache->closed, 1);
			idle = true;
		}
		cache->used = false;
	}
	if (idle)
		empty_closed(pool, 0);
	dray_depots_empty(pool, false);
}

uint64_t dray_pool_trim(struct dray_pool *pool)
{
	uint64_t bytes;

	if (!dray_given(pool, __func__))
		return 0;
	dray_fork_check();
	pthread_mutex_lock(&pool->lock);
	dray_pool_reap(pool, false);
	dray_caches_drain(pool);
	bytes = dray_pool_give_back(pool);
	dray_pool_unlock_or_end(pool);
	return bytes;
}
