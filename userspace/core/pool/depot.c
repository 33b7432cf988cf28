// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <string.h>
#include <sys/mman.h>

#include "memory/unlocked.h"
#include "pool/cache_bound.h"
#include "pool/depot.h"
#include "pool/pool.h"

#define ROOM 24 /* blocks */

struct dray_depot {
	uint32_t count;
	bool fetched; /* since the last call of dray_depots_empty() */
	void *blocks[ROOM]; /* the block that came last is the last */
};

struct dray_depots {
	uint64_t bytes;
	struct dray_depot sizes[DRAY_MARK_MOST]; /* the index is granules - 1 */
};

static struct dray_depots *depots_find(struct dray_pool *pool)
{
	void *memory;

	if (pool->depots)
		return pool->depots;
	memory = dray_map_unlocked(sizeof(*pool->depots),
				   PROT_READ | PROT_WRITE);
	pool->depots = memory == MAP_FAILED ? NULL : memory;
	return pool->depots;
}

bool dray_depot_put(struct dray_pool *pool, void *const *blocks, uint32_t count,
		    uint32_t granules)
{
	uint64_t bytes = (uint64_t)count * granules << pool->shift;
	struct dray_depots *depots = depots_find(pool);
	struct dray_depot *depot;

	if (!depots || depots->bytes + bytes > dray_depot_bound(pool->reserved))
		return false;
	depot = &depots->sizes[granules - 1];
	if (depot->count + count > ROOM)
		return false;
	memcpy(depot->blocks + depot->count, blocks, count * sizeof(*blocks));
	depot->count += count;
	depots->bytes += bytes;
	return true;
}

/* Moves the last @count blocks out. */
static void depot_drop(struct dray_pool *pool, uint32_t granules,
		       uint32_t count)
{
	pool->depots->sizes[granules - 1].count -= count;
	pool->depots->bytes -= (uint64_t)count * granules << pool->shift;
}

uint32_t dray_depot_fetch(struct dray_pool *pool, uint32_t granules,
			  void **blocks, uint32_t most)
{
	struct dray_depot *depot;
	uint32_t count;

	if (!pool->depots)
		return 0;
	depot = &pool->depots->sizes[granules - 1];
	count = depot->count < most ? depot->count : most;
	memcpy(blocks, depot->blocks + depot->count - count,
	       count * sizeof(*blocks));
	depot_drop(pool, granules, count);
	depot->fetched = true;
	return count;
}

static void depot_empty(struct dray_pool *pool, uint32_t granules)
{
	struct dray_depot *depot = &pool->depots->sizes[granules - 1];
	uint32_t sizes[DRAY_BLOCKS_MOST], i, few;

	for (i = 0; i < DRAY_BLOCKS_MOST; i++)
		sizes[i] = granules;
	while (depot->count) {
		few = depot->count < DRAY_BLOCKS_MOST ? depot->count
						      : DRAY_BLOCKS_MOST;
		dray_blocks_return(pool, depot->blocks + depot->count - few,
				   sizes, few);
		depot_drop(pool, granules, few);
	}
}

uint64_t dray_depots_empty(struct dray_pool *pool, bool all)
{
	struct dray_depots *depots = pool->depots;
	uint64_t before = depots ? depots->bytes : 0;
	uint32_t granules;

	if (!before)
		return 0;
	for (granules = 1; granules <= DRAY_MARK_MOST; granules++) {
		struct dray_depot *depot = &depots->sizes[granules - 1];

		if (all || !depot->fetched)
			depot_empty(pool, granules);
		depot->fetched = false;
	}
	return before - depots->bytes;
}

void dray_depots_forget(struct dray_pool *pool)
{
	if (pool->depots)
		memset(pool->depots, 0, sizeof(*pool->depots));
}
