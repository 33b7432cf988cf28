/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * region: a buffer of a pool, cut into blocks.
 *
 * fit knows the places of blocks; a region adds addresses, and a bit for each 4
 * KiB page that may hold more than zeros.
 *
 * Regions are never freed, only reused, because a wild pointer that is freed may
 * lead to a region at any time.  A thread that finds a region acquires its pool's
 * lock, and checks that it is still the pool's and still covers the address.
 */
#ifndef DRAY_POOL_REGION_H
#define DRAY_POOL_REGION_H

#include <stdatomic.h>

#include <dray/pool.h>
#include "pool/fit.h"

struct dray_pool_region {
	_Atomic(struct dray_pool *) pool;	/* NULL: not in use */
	struct dray_pool_region *next;	/* of the pool, or unused */
	struct dray_buffer *buffer;	/* a reference */
	uintptr_t base;
	uint64_t size;		/* bytes that fit covers */
	uint64_t reserved;	/* bytes that it may grow to */
	uint64_t used;		/* bytes in blocks: live, kept and parked */
	uint32_t blocks;	/* live and parked */
	uint32_t shift;		/* log2 of the granule */
	uint64_t page;		/* bytes, the least that can be given back */
	bool own;		/* made for a single large block */
	bool inherited;		/* by fork(): the parent allocates its memory */
	bool shared;		/* with a child, which may write its part */
	_Atomic uint64_t *dirty;	/* a bit for each page of 4 KiB */
	_Atomic uint64_t dirty_pages;	/* bits that are set */
	_Atomic uint64_t *gathered;	/* a bit for each huge page: asked for it */
	size_t dirty_bytes;	/* of both tables */
	struct dray_fit fit;
};

struct dray_region_request {
	struct dray_node *node;
	const char *heap;
	const char *name;
	uint64_t size;		/* bytes */
	uint64_t reserve;	/* bytes to grow into, or 0 */
	uint64_t alignment;	/* bytes, of its start; 0: none */
	uint64_t page;		/* bytes, the least that can be given back */
	struct dray_pages pages;
	uint32_t shift;		/* log2 of the granule */
};

/* Lets forks acquire the lock of unused regions; before the first region. */
void dray_regions_enlist(void);

/* Makes a region without a pool.  Errors as of allocating a buffer. */
int dray_region_create(const struct dray_region_request *request,
		       struct dray_pool_region **out);

/* Lets addresses lead to the region; the pool's lock is held. */
void dray_region_publish(struct dray_pool_region *region,
			 struct dray_pool *pool);

/* The reverse; from then on no address leads to it. */
void dray_region_withdraw(struct dray_pool_region *region);

/* Releases the buffer; withdrawn, or never published. */
void dray_region_destroy(struct dray_pool_region *region);

/*
 * Maps @more bytes behind the range of blocks, which may last long: without the
 * pool's lock, but by a single thread at a time. -ENOMEM beyond the reserved
 * addresses.
 */
int dray_region_map(struct dray_pool_region *region, uint64_t more);

/* Lets blocks be in the @more bytes that were mapped; the lock is held. */
int dray_region_extend(struct dray_pool_region *region, uint64_t more);

/* Marks the pages of a block, which its owner may write. */
void dray_region_mark(struct dray_pool_region *region, uint64_t offset,
		      uint64_t length);

/*
 * As dray_region_mark(), for a block that its owner will write.  If the memory does
 * not get huge pages by itself, it gets them first: all that a large block touches, and
 * each around small blocks once.  Without the pool's lock.
 */
void dray_region_ready(struct dray_pool_region *region, uint64_t offset,
		       uint64_t length);

/*
 * Clears the dirty pages of a block, and marks them.  A large block's pages are
 * returned instead if that is faster.
 */
void dray_region_clear(struct dray_pool_region *region, uint64_t offset,
		       uint64_t length);

/* Bytes in whole pages of a range that may hold something else than zeros. */
uint64_t dray_region_dirty(struct dray_pool_region *region, uint64_t offset,
			   uint64_t length);

/*
 * Bytes of free pages that may hold something else than zeros, about: pages at
 * the edge of a block count as the block's.  The pool's lock is held.
 */
static inline uint64_t
dray_region_dirty_free(const struct dray_pool_region *region)
{
	uint64_t dirty = atomic_load_explicit(&region->dirty_pages,
					      memory_order_relaxed)
			 << 12;

	return dirty > region->used ? dirty - region->used : 0;
}

/*
 * Returns whole pages of an unused range to the system; they are clean then,
 * unless a child of fork() may write them still.  Returns the bytes, without
 * pages that were clean.
 */
uint64_t dray_region_punch(struct dray_pool_region *region, uint64_t offset,
			   uint64_t length);

/* Whether @address lies in the range of blocks. */
static inline bool dray_region_covers(const struct dray_pool_region *region,
				      const void *address)
{
	return (uintptr_t)address - region->base < region->size;
}

static inline uint32_t
dray_region_granule(const struct dray_pool_region *region, const void *address)
{
	return (uint32_t)(((uintptr_t)address - region->base) >>
			  region->shift);
}

#endif /* DRAY_POOL_REGION_H */
