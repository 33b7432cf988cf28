/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * depot: small blocks between the caches of a pool's threads.  A thread whose magazine is
 * full leaves some here, and a thread whose magazine is empty fetches some, without
 * merging and cutting pieces.  Blocks in a depot are kept, as in a cache.
 *
 * The pool's lock is held.
 */
#ifndef DRAY_POOL_DEPOT_H
#define DRAY_POOL_DEPOT_H

#include <stdbool.h>
#include <stdint.h>

struct dray_pool;

/* Accepts all of @count blocks of @granules, or none. */
bool dray_depot_put(struct dray_pool *pool, void *const *blocks, uint32_t count,
		    uint32_t granules);

/* Writes at most @most blocks of @granules to @blocks; returns their number. */
uint32_t dray_depot_fetch(struct dray_pool *pool, uint32_t granules,
			  void **blocks, uint32_t most);

/*
 * Returns blocks to the pool: all, or of sizes that nobody fetched since the last
 * call.  Returns their bytes.
 */
uint64_t dray_depots_empty(struct dray_pool *pool, bool all);

/* Forgets the blocks, which are the parent's, in a child of fork(). */
void dray_depots_forget(struct dray_pool *pool);

#endif /* DRAY_POOL_DEPOT_H */
