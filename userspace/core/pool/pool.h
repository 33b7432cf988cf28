/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shared by the files about pools. pool_create.c creates and closes pools, unused.c
 * ends them; block.c and resize.c serve blocks, grow.c and shrink.c fetch memory
 * from the node and return it. locate.c finds the block of an address, walk.c
 * visits all blocks, pressure.c asks callbacks for memory, cache.c keeps the
 * caches of threads, busy.c holds blocks.
 *
 * A pool's lock covers its regions and counters.  It is never held while memory
 * moves from or to the node, which may last long.  The lock growing is held then,
 * so that a request without a block waits for the growth under way.  Pools and
 * regions are never freed, only reused.  Once its handler is known, a pool is not
 * reused either, and the handler keeps refusing; only the pool's number, with the
 * caches of all threads, passes to another pool.
 */
#ifndef DRAY_POOL_POOL_H
#define DRAY_POOL_POOL_H

#include <pthread.h>
#include <stdatomic.h>

#include <dray/handler.h>
#include "pool/region.h"
#include "pool/marks.h"

struct dray_pool {
	pthread_mutex_t lock;
	struct dray_pool_region *regions;	/* the newest first */
	uint32_t shift;		/* log2 of the granule */
	_Atomic uint32_t number;	/* in caches of threads; 0: none */
	size_t small;		/* bytes of the largest block with a magazine */
	uint32_t most_small;	/* the same in granules */
	uint32_t kept_small;	/* granules of the largest that threads may keep, */
	uint32_t kept_large;	/* of blocks with a magazine and of others */
	struct dray_cache *caches;	/* of all threads */
	struct dray_depots *depots;	/* between them; NULL: not used yet */
	uint64_t taken;		/* bytes, since the last sweep of caches */
	uint64_t freed;		/* bytes, since free pages were last counted */
	bool missed;		/* an owner was inside at the last drain */
	bool closed;
	uint32_t pending;	/* threads that are about to acquire the lock again */
	uint64_t used;		/* bytes in blocks: parked and kept blocks too */
	uint64_t peak;
	uint64_t blocks;	/* live, kept by threads, and parked */
	uint64_t parked;	/* bytes */
	uint64_t reserved;	/* bytes in regions */
	uint64_t limit;		/* of reserved, a multiple of page */
	uint64_t next_size;	/* bytes of the next region */
	uint64_t page;		/* bytes, of its pages or a granule: the larger */
	struct dray_pages pages;	/* options for its pages */
	_Atomic uint64_t bad_frees;
	dray_pressure *pressure;	/* may be NULL */
	void *pressure_argument;
	struct dray_node *node;	/* a reference; NULL: ended */
	bool grows;		/* regions grow in place */
	bool has_heap;
	char heap[DRAY_NAME_LEN];
	char name[DRAY_NAME_LEN];
	struct dray_handler handler;
	const struct dray_handler *checked;	/* over it; NULL: not asked for */
	_Atomic bool handed_out;	/* the handler, which is for ever */
	uint32_t pins;		/* against reuse */
	/* Before lock: a single thread at a time maps pages or returns them. */
	pthread_mutex_t growing;
	struct dray_pool *next;	/* unused, or ended with a number */
	struct dray_pool *all;	/* the pool made before it, for fork() */
};

/*
 * The number as a thread sees it without the lock.  An ended pool may lose it
 * meanwhile to another pool.  The thread cannot get that pool's block by it: if
 * it caches blocks of the other pool, it saw that the number is gone here.
 */
static inline uint32_t dray_pool_number(const struct dray_pool *pool)
{
	return atomic_load_explicit(&pool->number, memory_order_relaxed);
}

/* A block that was found, with its pool's lock held. */
struct dray_found {
	struct dray_pool *pool;
	struct dray_pool_region *region;
	uint32_t piece;
};

/*
 * Finds the block that begins at @address, or that covers it, even a parked
 * block, and acquires the lock of its pool.  False, without the lock, if there is
 * none.
 */
bool dray_find_start(const void *address, struct dray_found *found);
bool dray_find_around(const void *address, struct dray_found *found);

static inline struct dray_piece *dray_found_piece(const struct dray_found *f)
{
	return &f->region->fit.pieces[f->piece];
}

static inline void *dray_found_address(const struct dray_found *f)
{
	return (void *)(f->region->base +
			((uintptr_t)dray_found_piece(f)->offset
			 << f->region->shift));
}

/*
 * Finds a block of @pool that is marked as large, and acquires the lock.  False,
 * without the lock, if it is not that any more.
 */
bool dray_find_large(struct dray_pool *pool, const void *block,
		     const _Atomic uint8_t *mark, struct dray_found *found);

/*
 * Frees at most DRAY_BLOCKS_MOST blocks that a thread keeps, each of its @granules.
 * Returns a region that is empty now, else the region of the last.  The lock is held.
 */
#define DRAY_BLOCKS_MOST 12
struct dray_pool_region *dray_blocks_return(struct dray_pool *pool,
					    void *const *blocks,
					    const uint32_t *granules,
					    uint32_t count);

/* The region of @pool that covers an address, or NULL; the lock is held. */
struct dray_pool_region *dray_pool_region_of(struct dray_pool *pool,
					     const void *address);

/* Frees a block without holds; the lock stays held. */
void dray_block_return(const struct dray_found *found);

/*
 * Drops the lock after blocks were freed.  If much of @region is free, first
 * returns memory to the node.
 */
void dray_pool_unlock_freed(struct dray_pool *pool,
			    struct dray_pool_region *region);

/* Frees a block without holds, and drops the lock. */
void dray_block_finish(const struct dray_found *found);

/*
 * Allocates a block that is aligned to the granule from this region, if a quick
 * search finds it; the lock is held.
 */
bool dray_pool_take_from(struct dray_pool_region *region, uint32_t granules,
			 struct dray_found *found);

/* Allocates a block from a region; the lock is held. */
bool dray_pool_take(struct dray_pool *pool, uint32_t granules,
		    uint64_t alignment, struct dray_found *found);

/*
 * As dray_pool_take(), after more memory came from the node.  The lock is held,
 * dropped meanwhile, and held again at the end.  A request that is not @urgent
 * leaves the pool's reserve alone. 0 or a negative errno with a sentence.
 */
int dray_pool_grow_and_take(struct dray_pool *pool, uint32_t granules,
			    uint64_t alignment, bool urgent,
			    struct dray_found *found);

/*
 * Asks @pressure before a request of @size bytes to @source, a pool or a resource,
 * fails with @error; called without a lock.  True if a retry may succeed; else the
 * sentence is as it was.
 */
bool dray_pressure_ask(dray_pressure *pressure, void *argument,
		       const void *source, size_t size, int error);

/*
 * Calls the pool's pressure callback before a request for @size bytes fails with
 * @error.  The lock is held, dropped meanwhile, and held again at the end.
 * True if a retry may succeed; else the sentence is as it was.
 */
bool dray_pool_relieve(struct dray_pool *pool, uint64_t size, int error);

/* Is the calling thread in there, for this pool? */
bool dray_pool_is_asking(const struct dray_pool *pool);

/* Bytes of the largest free run; the lock is held. */
uint64_t dray_pool_largest(const struct dray_pool *pool);

/* The first region; for a pool that is not in use yet. */
int dray_pool_first_region(struct dray_pool *pool, uint64_t initial);

/*
 * Removes regions without blocks from the pool if they exceed @keep bytes, to be
 * destroyed without the lock.
 */
struct dray_pool_region *dray_pool_take_empty(struct dray_pool *pool,
					      uint64_t keep);
/* Bytes that they held. */
uint64_t dray_regions_destroy(struct dray_pool_region *regions);

/*
 * Asks the holders of the pool's parked blocks: see dray_block_reap().  The
 * lock is held, dropped meanwhile, and held again at the end.
 */
bool dray_pool_reap(struct dray_pool *pool, bool wait);

/*
 * Returns free memory to the node; returns its bytes.  The lock is held,
 * dropped meanwhile, and held again at the end; growing is not held.
 */
uint64_t dray_pool_give_back(struct dray_pool *pool);

/* Bytes that the calling thread fetched from nodes so far, for any pool. */
extern _Thread_local uint64_t dray_pool_grown
	__attribute__((tls_model("initial-exec")));

/* Changes the bytes in regions, and with them the bounds of caches. */
void dray_pool_set_reserved(struct dray_pool *pool, uint64_t bytes);

/* Makes a pool, for dray_pool_create() of the room publish. */
int dray_pool_make(struct dray_node *node,
		   const struct dray_pool_options *options,
		   struct dray_pool **out);

/* Returns an unused pool, with a number if any is free, or NULL. */
struct dray_pool *dray_pool_new(void);

/* The granules of a block of so many bytes. */
static inline uint64_t dray_pool_granules(const struct dray_pool *pool,
					  uint64_t bytes)
{
	return bytes ? ((bytes - 1) >> pool->shift) + 1 : 1;
}

/*
 * The gap between two blocks that may not touch.  A byte is enough: the next
 * block begins at a granule.
 */
#define DRAY_POOL_GAP 1

/*
 * A block that is not cached, of @size bytes at a multiple of @alignment or of
 * the granule, the larger of the two, and with @gap bytes behind it if there is
 * room.  NULL as from dray_pool_alloc().
 */
void *dray_pool_take_block(struct dray_pool *pool, size_t size, size_t gap,
			   size_t alignment, bool zero);

/*
 * As dray_pool_alloc() and so on, for blocks that do not touch: at least a byte
 * lies between the last requested byte and the next block, unless the pool lacks
 * room for it.  @pool is never NULL.
 */
void *dray_pool_alloc_apart(struct dray_pool *pool, size_t size);
void *dray_pool_calloc_apart(struct dray_pool *pool, size_t count, size_t size);
void *dray_pool_realloc_apart(struct dray_pool *pool, void *block, size_t size);

/*
 * Lists a new pool among all pools ever made.  From then on a fork() waits
 * until no thread is inside a pool.  The child's pools get new memory from their
 * nodes: inherited memory is the parent's to allocate.
 */
void dray_pool_enlist(struct dray_pool *pool);

/* The pool made last; the others follow by their member all. */
struct dray_pool *dray_pool_latest(void);

/* Passes the number of an ended pool to an unused one. */
void dray_pool_pass_number(struct dray_pool *from, struct dray_pool *to);

/*
 * Pins a pool, so that it is not reused after its end: its callers may still call
 * it, and it refuses.
 */
void dray_pool_pin(struct dray_pool *pool);
void dray_pool_unpin(struct dray_pool *pool);

/*
 * Fills in the handler of an unused pool on @node; called without its lock.
 * Errors as of dray_check_asked().
 */
int dray_handler_init(struct dray_pool *pool, const struct dray_node *node);
/* Makes its checking handler, if any, keep no freed blocks. */
void dray_handler_close(struct dray_pool *pool);

/* 0, or -EINVAL: another version, or any of the four functions is NULL. */
int dray_handler_usable(const struct dray_handler *handler);

/*
 * Counts a free of an address without a block; aborts if the program asks for
 * that.
 */
void dray_bad_free(struct dray_pool *pool, const void *block,
		   const char *what);

#endif /* DRAY_POOL_POOL_H */
