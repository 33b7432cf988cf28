// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * pool: the calls.  Each takes the pool's lock for as long as numbers change,
 * and touches the memory itself only without it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/busy.h"
#include "alloc/pool.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/number.h"
#include "memory/node.h"
#include "memory/window.h"

static pthread_mutex_t unused_lock = PTHREAD_MUTEX_INITIALIZER;
static struct dray_pool *unused;

static void take_lock(void)
{
	pthread_mutex_lock(&unused_lock);
}

static void give_lock(void)
{
	pthread_mutex_unlock(&unused_lock);
}

static struct dray_fork_locks locks = {
	.rank = DRAY_FORK_UNUSED_POOLS,
	.take = take_lock,
	.give = give_lock,
};

static struct dray_pool *new_pool(void)
{
	struct dray_pool *pool;

	pthread_mutex_lock(&unused_lock);
	pool = unused;
	if (pool)
		unused = pool->next;
	pthread_mutex_unlock(&unused_lock);
	if (pool)
		return pool;
	pool = calloc(1, sizeof(*pool));
	if (!pool)
		return NULL;
	pthread_mutex_init(&pool->lock, NULL);
	pthread_mutex_init(&pool->growing, NULL);
	dray_pool_enlist(pool);
	return pool;
}

static void drop_pool(struct dray_pool *pool)
{
	if (atomic_load(&pool->handed_out))
		return;
	pthread_mutex_lock(&unused_lock);
	pool->next = unused;
	unused = pool;
	pthread_mutex_unlock(&unused_lock);
}

static int log2_of(uint64_t power)
{
	return __builtin_ctzll(power);
}

/* What the node asks for: nothing that it writes shares a line with the CPU. */
static uint32_t default_granule(const struct dray_info *info)
{
	uint32_t granule = 64;

	if (info->flags & DRAY_NODE_COHERENT)
		return granule;
	while (granule < DRAY_SLOT_SIZE &&
	       (granule < info->cache_line || granule < info->dma_alignment))
		granule *= 2;
	return granule;
}

static int check_options(const struct dray_pool_options *options,
			 const struct dray_info *info)
{
	uint32_t granule = options->granule, least;

	if (options->flags)
		return dray_fail(-EINVAL, "unknown flags 0x%x", options->flags);
	if (granule && (!dray_is_power_of_two(granule) ||
			granule < info->cache_line || granule > DRAY_SLOT_SIZE))
		return dray_fail(-EINVAL,
				 "a granule of %u bytes, it must be a power of "
				 "two from %u to %zu",
				 granule, info->cache_line, DRAY_SLOT_SIZE);
	least = granule > info->page_size ? granule : info->page_size;
	if (options->limit && options->limit < least)
		return dray_fail(-EINVAL,
				 "a limit of %" PRIu64
				 " bytes, below a page or granule of %u",
				 options->limit, least);
	if (options->limit && options->initial > options->limit)
		return dray_fail(-EINVAL,
				 "%" PRIu64
				 " bytes at first, above the limit of %" PRIu64,
				 options->initial, options->limit);
	if (options->heap && strlen(options->heap) >= DRAY_NAME_LEN)
		return dray_fail(-EINVAL, "no heap \"%s\" on %s", options->heap,
				 info->name);
	return 0;
}

int dray_pool_create(struct dray_node *node,
		     const struct dray_pool_options *options,
		     struct dray_pool **out)
{
	static const struct dray_pool_options none;
	struct dray_pool *pool;
	struct dray_info info;
	int ret;

	if (!options)
		options = &none;
	ret = dray_node_info(node, &info, sizeof(info));
	if (!ret)
		ret = check_options(options, &info);
	if (ret)
		return ret;
	dray_fork_enlist(&locks);
	dray_regions_enlist();
	pool = new_pool();
	if (!pool)
		return dray_fail(-ENOMEM, "no memory for a pool's object");

	pthread_mutex_lock(&pool->lock);
	pool->regions = NULL;
	pool->shift = (uint32_t)log2_of(
		options->granule ? options->granule : default_granule(&info));
	pool->closed = false;
	pool->pending = 0;
	pool->used = 0;
	pool->peak = 0;
	pool->blocks = 0;
	pool->parked = 0;
	pool->reserved = 0;
	pool->page = info.page_size;
	if (pool->page >> pool->shift == 0)
		pool->page = (uint64_t)1 << pool->shift;
	pool->limit = options->limit ? options->limit : UINT64_MAX;
	pool->limit &= ~(pool->page - 1);
	atomic_store(&pool->bad_frees, 0);
	pool->node = dray_node_ref(node);
	pool->grows = dray_node_grows(node);
	pool->has_heap = options->heap;
	snprintf(pool->heap, sizeof(pool->heap), "%s",
		 options->heap ? options->heap : "");
	snprintf(pool->name, sizeof(pool->name), "%s",
		 options->name ? options->name : "pool");
	dray_handler_init(pool);
	ret = dray_pool_first_region(pool, options->initial);
	pthread_mutex_unlock(&pool->lock);
	if (ret) {
		pool->node = NULL;
		dray_node_unref(node);
		drop_pool(pool);
		return ret;
	}
	*out = pool;
	return 0;
}

void dray_pool_unlock_or_end(struct dray_pool *pool)
{
	struct dray_pool_region *regions;
	struct dray_node *node;

	if (!pool->closed || !pool->node || pool->blocks || pool->pending) {
		pthread_mutex_unlock(&pool->lock);
		return;
	}
	regions = dray_pool_take_empty(pool, 0);
	node = pool->node;
	pool->node = NULL;
	pthread_mutex_unlock(&pool->lock);
	dray_regions_destroy(regions);
	dray_node_unref(node);
	drop_pool(pool);
}

void dray_pool_close(struct dray_pool *pool)
{
	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->closed = true;
	dray_pool_unlock_or_end(pool);
}

struct dray_node *dray_pool_node(const struct dray_pool *pool)
{
	return pool->node;
}

/* NULL, errno and a sentence: how functions shaped like malloc fail. */
static void *no_block(int error)
{
	errno = -error;
	return NULL;
}

/* With the pool's lock, which is away meanwhile: see dray_block_reap(). */
static bool reap(struct dray_pool *pool, bool wait)
{
	bool gone;

	if (!pool->parked)
		return false;
	pool->pending++;
	pthread_mutex_unlock(&pool->lock);
	gone = dray_block_reap(wait);
	pthread_mutex_lock(&pool->lock);
	pool->pending--;
	return gone;
}

/*
 * With the pool's lock: from what there is, from what engines are done with,
 * from the node, and at last from what engines will be done with.
 */
static int take(struct dray_pool *pool, uint32_t granules, uint64_t alignment,
		struct dray_found *found)
{
	int ret;

	if (dray_pool_take(pool, granules, alignment, found))
		return 0;
	reap(pool, false);
	do {
		ret = dray_pool_grow_and_take(pool, granules, alignment, found);
	} while (ret == -ENOMEM && !pool->closed && reap(pool, true));
	return ret;
}

static void *alloc(struct dray_pool *pool, size_t size, size_t alignment,
		   bool zero)
{
	size_t granule = (size_t)1 << pool->shift;
	uint64_t granules = ((uint64_t)size + granule - 1) >> pool->shift;
	struct dray_found found;
	uint64_t offset, length;
	struct dray_piece *piece;
	int ret = 0;

	if (!size)
		granules = 1;
	if (size > PTRDIFF_MAX || granules > UINT32_MAX)
		return no_block(
			dray_fail(-ENOMEM,
				  "a block of %zu bytes, at most %" PRIu64
				  " are possible",
				  size, (uint64_t)UINT32_MAX << pool->shift));
	if (alignment < granule)
		alignment = granule;

	pthread_mutex_lock(&pool->lock);
	if (pool->closed)
		ret = dray_fail(-ENOMEM, "pool \"%s\" is closed", pool->name);
	else
		ret = take(pool, (uint32_t)granules, alignment >> pool->shift,
			   &found);
	if (ret) {
		/* Whatever the node said, to the caller there is no memory. */
		dray_pool_unlock_or_end(pool);
		return no_block(-ENOMEM);
	}
	piece = dray_found_piece(&found);
	piece->alignment = (uint8_t)log2_of(alignment);
	offset = (uint64_t)piece->offset << pool->shift;
	length = (uint64_t)piece->size << pool->shift;
	pthread_mutex_unlock(&pool->lock);

	/* The block keeps its region: no lock is needed for what is its own. */
	if (zero)
		dray_region_clear(found.region, offset, length);
	else
		dray_region_mark(found.region, offset, length);
	return (void *)(found.region->base + offset);
}

void *dray_pool_alloc(struct dray_pool *pool, size_t size, size_t alignment)
{
	if (alignment && !dray_is_power_of_two(alignment))
		return no_block(
			dray_fail(-EINVAL,
				  "an alignment of %zu bytes is no power "
				  "of two",
				  alignment));
	return alloc(pool, size, alignment, false);
}

void *dray_pool_calloc(struct dray_pool *pool, size_t count, size_t size)
{
	size_t bytes;

	if (dray_mul_overflow(count, size, &bytes))
		return no_block(
			dray_fail(-ENOMEM,
				  "%zu elements of %zu bytes do not fit "
				  "any memory",
				  count, size));
	return alloc(pool, bytes, 0, true);
}

void dray_bad_free(struct dray_pool *pool, const void *block, const char *what)
{
	const char *abort_asked = getenv("DRAY_ABORT_ON_BAD_FREE");

	atomic_fetch_add_explicit(&pool->bad_frees, 1, memory_order_relaxed);
	dray_fail(-EINVAL, "%s of %p, which is no block of a pool", what,
		  block);
	if (abort_asked && !strcmp(abort_asked, "1")) {
		fprintf(stderr, "dray: %s\n", dray_last_error());
		abort();
	}
}

void dray_pool_free(struct dray_pool *pool, void *block)
{
	struct dray_found found;
	struct dray_piece *piece;

	if (!block)
		return;
	if (!dray_find_start(block, &found)) {
		dray_bad_free(pool, block, "free");
		return;
	}
	piece = dray_found_piece(&found);
	if (piece->state == DRAY_PIECE_PARKED) {
		pthread_mutex_unlock(&found.pool->lock);
		dray_bad_free(pool, block, "second free");
		return;
	}
	if (piece->busy) {
		piece->state = DRAY_PIECE_PARKED;
		found.pool->parked += (uint64_t)piece->size
				      << found.pool->shift;
		pthread_mutex_unlock(&found.pool->lock);
		return;
	}
	dray_block_finish(&found);
}

/* Resizes a block where it is; the lock is held. */
static bool resize(const struct dray_found *found, uint64_t granules)
{
	struct dray_pool *pool = found->pool;
	uint64_t old = dray_found_piece(found)->size, now;

	if (granules > UINT32_MAX)
		return false;
	/* An engine may use all of it: what would be cut off is not free. */
	if (granules < old && dray_found_piece(found)->busy)
		return true;
	/* What lies behind it belongs to another process. */
	if (found->region->inherited)
		return granules <= old;
	if (!dray_fit_resize(&found->region->fit, found->piece,
			     (uint32_t)granules))
		return false;
	now = dray_found_piece(found)->size;
	pool->used += (now - old) << pool->shift;
	if (pool->used > pool->peak)
		pool->peak = pool->used;
	return true;
}

void *dray_pool_realloc(struct dray_pool *pool, void *block, size_t size)
{
	struct dray_found found;
	struct dray_piece *piece;
	uint64_t granules, offset, old, now;
	size_t alignment;
	void *moved;
	bool fits;

	if (!block)
		return alloc(pool, size, 0, false);
	if (!dray_find_start(block, &found)) {
		dray_bad_free(pool, block, "realloc");
		return no_block(-EINVAL);
	}
	piece = dray_found_piece(&found);
	if (piece->state == DRAY_PIECE_PARKED) {
		pthread_mutex_unlock(&found.pool->lock);
		dray_bad_free(pool, block, "realloc after free");
		return no_block(-EINVAL);
	}
	alignment = (size_t)1 << piece->alignment;
	offset = (uint64_t)piece->offset << found.pool->shift;
	old = (uint64_t)piece->size << found.pool->shift;
	granules = size ? ((size - 1) >> found.pool->shift) + 1 : 1;
	fits = found.pool == pool && resize(&found, granules);
	now = (uint64_t)dray_found_piece(&found)->size << found.pool->shift;
	pthread_mutex_unlock(&found.pool->lock);
	if (fits) {
		if (now > old)
			dray_region_mark(found.region, offset + old, now - old);
		return block;
	}

	moved = alloc(pool, size, alignment, false);
	if (!moved)
		return NULL;
	memcpy(moved, block, size < old ? size : old);
	dray_pool_free(pool, block);
	return moved;
}

int dray_pool_stats(struct dray_pool *pool, struct dray_pool_stats *stats,
		    size_t size)
{
	struct dray_pool_stats known = { 0 };
	const struct dray_pool_region *region;
	size_t both = size < sizeof(known) ? size : sizeof(known);

	pthread_mutex_lock(&pool->lock);
	for (region = pool->regions; region; region = region->next) {
		uint64_t largest = (uint64_t)dray_fit_largest(&region->fit)
				   << pool->shift;

		known.regions++;
		if (!region->inherited && largest > known.largest_free)
			known.largest_free = largest;
	}
	known.reserved = pool->reserved;
	known.used = pool->used;
	known.blocks = pool->blocks;
	known.peak = pool->peak;
	known.parked = pool->parked;
	pthread_mutex_unlock(&pool->lock);
	known.bad_frees = atomic_load(&pool->bad_frees);
	memcpy(stats, &known, both);
	memset((char *)stats + both, 0, size - both);
	return 0;
}
