/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What the files of this room share about pools.  pool.c has their life,
 * block.c and resize.c blocks, grow.c and shrink.c where memory comes
 * from and when it goes back, locate.c the way from an address to its block,
 * walk.c the way over all, pressure.c who is asked for memory, cache.c what
 * threads keep, busy.c holds.
 *
 * A pool's lock covers its regions and counters.  It is never held while memory
 * comes from the node or goes back to it, which may take long: then growing is,
 * so that who finds no block waits for what is under way.  Pools, as regions, are
 * never freed, only used again, and a pool not even that once somebody has its
 * handler: that one goes on saying no, and only its number, with the caches of
 * all threads, passes to another pool once it has ended.
 */
#ifndef DRAY_POOL_POOL_H
#define DRAY_POOL_POOL_H

#include <pthread.h>
#include <stdatomic.h>

#include <dray/handler.h>
#include "pool/cache.h"
#include "pool/region.h"

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
	uint64_t taken;		/* bytes, since the last sweep of caches */
	uint64_t freed;		/* bytes, since free pages were last counted */
	bool missed;		/* an owner was inside at the last drain */
	bool closed;
	uint32_t pending;	/* threads that are about to take the lock again */
	uint64_t used;		/* bytes in blocks: parked and kept ones too */
	uint64_t peak;
	uint64_t blocks;	/* live, kept by threads, and parked */
	uint64_t parked;	/* bytes */
	uint64_t reserved;	/* bytes in regions */
	uint64_t limit;		/* of reserved, a multiple of page */
	uint64_t next_size;	/* bytes of the next region */
	uint64_t page;		/* bytes, of its pages or a granule: the larger */
	struct dray_pages pages;	/* what is asked of them */
	_Atomic uint64_t bad_frees;
	dray_pressure *pressure;	/* NULL: nobody is asked */
	void *pressure_argument;
	struct dray_node *node;	/* one reference; NULL: ended */
	bool grows;		/* regions grow in place */
	bool has_heap;
	char heap[DRAY_NAME_LEN];
	char name[DRAY_NAME_LEN];
	struct dray_handler handler;
	const struct dray_handler *checked;	/* over it; NULL: not asked for */
	_Atomic bool handed_out;	/* the handler, which is for ever */
	uint32_t pins;		/* that keep it from being used again */
	/* Taken before lock: one thread at a time maps pages or gives them back. */
	pthread_mutex_t growing;
	struct dray_pool *next;	/* unused, or ended with a number */
	struct dray_pool *all;	/* the one made before it, for fork() */
};

/*
 * The number as a thread sees it without the lock.  A pool that has ended may
 * lose it meanwhile, to one whose block the thread cannot get so: that it keeps
 * any of the other pool shows it that the number is gone here.
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
 * Finds the block that begins at @address, or that covers it, and takes the
 * lock of its pool; parked blocks too.  False and no lock where there is none.
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
 * Finds a block of @pool that is marked as a large one, and takes the lock.
 * False and no lock where that is not what it was.
 */
bool dray_find_large(struct dray_pool *pool, const void *block,
		     const _Atomic uint8_t *mark, struct dray_found *found);

/*
 * Frees at most DRAY_BLOCKS_MOST blocks of @granules that a thread keeps, and
 * returns the region of the last.  The lock is held.
 */
#define DRAY_BLOCKS_MOST 12
struct dray_pool_region *
dray_blocks_return(struct dray_pool *pool, void *const *blocks,
		   uint32_t count, uint32_t granules);

/* The region of @pool that covers an address, or NULL; the lock is held. */
struct dray_pool_region *dray_pool_region_of(struct dray_pool *pool,
					     const void *address);

/* Frees a block that nobody holds; the lock stays held. */
void dray_block_return(const struct dray_found *found);

/*
 * Drops the lock after blocks were freed, and before that gives memory back to
 * the node where @region has much that is free.
 */
void dray_pool_unlock_freed(struct dray_pool *pool,
			    struct dray_pool_region *region);

/* Frees a block that nobody holds, and drops the lock. */
void dray_block_finish(const struct dray_found *found);

/*
 * Takes a block that is aligned to the granule from this region, where one is
 * found at once; the lock is held.
 */
bool dray_pool_take_from(struct dray_pool_region *region, uint32_t granules,
			 struct dray_found *found);

/* Takes a block from one of the regions; the lock is held. */
bool dray_pool_take(struct dray_pool *pool, uint32_t granules,
		    uint64_t alignment, struct dray_found *found);

/*
 * As dray_pool_take(), after more memory came from the node.  The lock is
 * held, and held again at the end.  What is not @urgent leaves the pool what it
 * keeps for later.  0 or a negative errno with a sentence.
 */
int dray_pool_grow_and_take(struct dray_pool *pool, uint32_t granules,
			    uint64_t alignment, bool urgent,
			    struct dray_found *found);

/*
 * Asks whoever wants to know before a request for @size bytes fails with
 * @error.  The lock is held, and held again at the end.  True where it is worth
 * another try; else the sentence is as it was.
 */
bool dray_pool_relieve(struct dray_pool *pool, uint64_t size, int error);

/* Is the calling thread in there, for this pool? */
bool dray_pool_is_asking(const struct dray_pool *pool);

/* Bytes of the largest free run; the lock is held. */
uint64_t dray_pool_largest(const struct dray_pool *pool);

/* The first region; for a pool that is not in use yet. */
int dray_pool_first_region(struct dray_pool *pool, uint64_t initial);

/*
 * Takes the regions that hold no block out of the pool, as far as they are
 * more than @keep bytes, to be destroyed without the lock.
 */
struct dray_pool_region *dray_pool_take_empty(struct dray_pool *pool,
					      uint64_t keep);
/* Bytes that they had. */
uint64_t dray_regions_destroy(struct dray_pool_region *regions);

/*
 * Asks who holds parked blocks of the pool: see dray_block_reap().  The lock is
 * held, away meanwhile, and held again at the end.
 */
bool dray_pool_reap(struct dray_pool *pool, bool wait);

/*
 * Gives back what no block is in; bytes.  The lock is held, away meanwhile, and
 * held again at the end; growing is not held.
 */
uint64_t dray_pool_give_back(struct dray_pool *pool);

/* The bytes in regions change, and with them what threads may keep. */
void dray_pool_set_reserved(struct dray_pool *pool, uint64_t bytes);

/* Returns a pool that nobody uses, with a number if one is free, or NULL. */
struct dray_pool *dray_pool_new(void);
/* Takes it back once it has ended, or was never used. */
void dray_pool_drop(struct dray_pool *pool);

/* Ends a closed pool once nothing is left in it; drops the lock. */
void dray_pool_unlock_closed(struct dray_pool *pool);

static inline void dray_pool_unlock_or_end(struct dray_pool *pool)
{
	if (__builtin_expect(pool->closed, 0))
		dray_pool_unlock_closed(pool);
	else
		pthread_mutex_unlock(&pool->lock);
}

/*
 * How often a pool was closed whose cache somebody was stopped in.  A pool that
 * nobody visits any more would never end: so who sees another number than before,
 * without a lock, looks whether it was he.
 */
extern _Atomic uint32_t dray_caches_left;
void dray_caches_look(void);

static inline void dray_caches_settle(void)
{
	if (__builtin_expect(atomic_load_explicit(&dray_caches_left,
						  memory_order_acquire) !=
				     dray_thread->settled,
			     0))
		dray_caches_look();
}

/* What a block of so many bytes takes. */
static inline uint64_t dray_pool_granules(const struct dray_pool *pool,
					  uint64_t bytes)
{
	return bytes ? ((bytes - 1) >> pool->shift) + 1 : 1;
}

/*
 * What lies between two blocks that may not touch.  One byte is enough: the next
 * block begins at a granule.
 */
#define DRAY_POOL_GAP 1

/*
 * A block that no thread keeps, of @size bytes at a multiple of @alignment, or of
 * the granule where that is more, with @gap bytes behind it where there is room.
 * NULL as dray_pool_alloc() has it.
 */
void *dray_pool_take_block(struct dray_pool *pool, size_t size, size_t gap,
			   size_t alignment, bool zero);

/*
 * As dray_pool_alloc() and so on, of blocks that do not touch: between the last
 * byte that was asked for and the next block lies at least one more, unless all
 * that there is has no room for it.  @pool is never NULL.
 */
void *dray_pool_alloc_apart(struct dray_pool *pool, size_t size);
void *dray_pool_calloc_apart(struct dray_pool *pool, size_t count, size_t size);
void *dray_pool_realloc_apart(struct dray_pool *pool, void *block, size_t size);

/*
 * Lists a new pool among all that there ever were.  From then on a fork()
 * waits until nobody is inside a pool, and the child's pools take new memory
 * from their nodes: what it inherits is the parent's to give out.
 */
void dray_pool_enlist(struct dray_pool *pool);

/* Passes the number of a pool that has ended to one that nobody uses yet. */
void dray_pool_pass_number(struct dray_pool *from, struct dray_pool *to);

/*
 * While it is pinned, a pool that has ended does not become another one: who
 * has pinned it may go on calling it, and it says no.
 */
void dray_pool_pin(struct dray_pool *pool);
void dray_pool_unpin(struct dray_pool *pool);

/*
 * Fills in the handler of a pool on @node that nobody uses yet; without its
 * lock.  What dray_check_asked() gives.
 */
int dray_handler_init(struct dray_pool *pool, const struct dray_node *node);
/* Makes its checking handler, if there is one, keep no freed blocks. */
void dray_handler_close(struct dray_pool *pool);

/* 0, or -EINVAL: another version, or one of the four functions is NULL. */
int dray_handler_usable(const struct dray_handler *handler);

/* Whether it is a pool's own. */
bool dray_handler_is_pools(const struct dray_handler *handler);

/* Counts a free of what is no block, and aborts where that is asked for. */
void dray_bad_free(struct dray_pool *pool, const void *block,
		   const char *what);

#endif /* DRAY_POOL_POOL_H */
