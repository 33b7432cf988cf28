/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* walk: the steps in which a pool is visited, for walk.c and snapshot.c. */
#ifndef DRAY_POOL_WALK_H
#define DRAY_POOL_WALK_H

#include "pool/pool.h"

#define DRAY_WALK_STEP 64 /* blocks, at most, under one hold of the lock */

struct dray_walk_region {
	uintptr_t base;
	uint64_t size; /* bytes */
	uint64_t buffer; /* id */
	uint64_t age_ns;
	bool inherited;
};

/* How far a walk has come, and the result of its last step. */
struct dray_walk {
	uintptr_t from; /* 0: from the beginning */
	struct dray_walk_region region; /* of that step */
	size_t count; /* of blocks; 0: none in the rest of the region */
	struct dray_pool_block blocks[DRAY_WALK_STEP];
};

/*
 * Copies the next blocks of one region; false, if there is no further region.
 * Blocks of one region never overlap, even if they are from several steps.  The
 * pool's lock is held.
 */
bool dray_walk_step(struct dray_pool *pool, struct dray_walk *walk);

#endif /* DRAY_POOL_WALK_H */
