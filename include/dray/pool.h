/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * pool: a sub-allocator over buffers.
 *
 * It does not read or write the memory that it manages: its books lie in
 * ordinary memory.  Two calls touch a block: dray_pool_calloc() clears pages that
 * may not be zero, and dray_pool_realloc() copies the contents of a block that it
 * moves.  No two blocks share a cache line, so that a device can
 * write one while the CPU uses its neighbour.  Every function may be called
 * from any thread without a lock, and none from a signal handler.
 *
 *	struct dray_pool *pool;
 *	float *samples;
 *
 *	ret = dray_pool_create(node, NULL, &pool);
 *	if (ret)
 *		return ret;
 *	samples = dray_pool_alloc(pool, 1000 * sizeof(*samples), 0);
 *	if (samples)
 *		samples[0] = 1;
 *	dray_pool_free(pool, samples);
 *	dray_pool_close(pool);
 *
 * A child of fork() may use and free the blocks that it inherits.  Blocks in
 * private memory are copies; blocks in other memory are its parent's, and the
 * child allocates its own in new buffers, so that neither allocates memory of
 * the other.  The parent frees such a block.  Writes by the child after the
 * parent's free corrupt the parent's next block there.  dray_pool_calloc()
 * still returns zeros.
 *
 * While the process forks the library holds all its locks, from its
 * pthread_atfork() handlers, which it registers with the first node of the host,
 * pool or queue.
 * Handlers that were registered before that run between them, and must not call
 * the library, as allocating from a pool does: they would wait for ever.  Those
 * that are registered later run outside of them, and may.
 *
 * After a bare clone(), the same holds if no other thread was in the library
 * then, with an exception: the parent does not notice the child.  If the parent
 * returned pages to the system that are not private, and uses them again as
 * zero, they may hold writes of the child to a block that the parent freed.
 *
 * In a program that locks its memory, by mlockall(MCL_FUTURE), the memory of
 * pools is locked too, and a pool allocates no more than RLIMIT_MEMLOCK leaves.
 * The library's tables are not locked, and use memory only as needed.  Such a
 * program calls mlockall(MCL_CURRENT) before its first pool, or with
 * MCL_ONFAULT: else the system fetches all of these tables, which are made for
 * the largest pools.
 */
#ifndef DRAY_POOL_H
#define DRAY_POOL_H

#include <dray/memory.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Threads keep freed blocks of a pool for themselves, to use them again without
 * a lock, of 63 pools of a process at once.  Further pools work without a
 * thread cache; small blocks are then several times slower.  A pool ends, and
 * makes room for a pool that is made later, when it is closed, its last block
 * is freed and the last resource over it (dray_resource_pool()) is gone.
 */
struct dray_pool;

/** The options of a pool's memory; all zero is the default. */
struct dray_pool_options {
	size_t size;		/* of this structure; 0: the first version's */
	const char *heap;	/* the heap's name, NULL: the node's order */
	const char *name;	/* shown by dmactl, NULL: "pool" */
	uint64_t initial;	/* bytes of the first region, 0: the back end's */
	uint64_t limit;		/* bytes that it may use, 0: all of the node */
	uint32_t granule;	/* bytes, 64 or 128 and so on, 0: the node's choice */
	uint32_t flags;		/* 0 */
	/*
	 * Of all its memory, when it is allocated.  With prefault the pages of
	 * freed blocks stay until dray_pool_trim(); reserved huge pages are
	 * freed with their region.
	 */
	struct dray_pages pages;
};

/** Counters of a pool, all in bytes unless said otherwise. */
struct dray_pool_stats {
	size_t size;		/* of this structure; 0: the first version's */
	uint64_t regions;	/* number of buffers it holds */
	uint64_t reserved;	/* in those buffers */
	uint64_t used;		/* in blocks, rounded up to granules */
	uint64_t blocks;	/* number of blocks */
	uint64_t peak;		/* the most that was used or cached */
	/*
	 * Freed, but an engine still uses it, as far as known: the end of a
	 * transfer is noticed by a wait for it, by the next transfer, by
	 * dray_pool_trim(), and by an allocation that would need more memory.
	 */
	uint64_t parked;
	uint64_t largest_free;	/* the longest free run */
	uint64_t bad_frees;	/* number of frees of an address without a block */
	uint64_t cached;	/* that threads kept for later: not in used */
};

/** Where an address lies. */
struct dray_location {
	struct dray_pool *pool;		/* borrowed; NULL for an imported buffer */
	struct dray_buffer *buffer;	/* borrowed */
	uint64_t offset;		/* bytes, of the address in the buffer */
	void *block;			/* start of the block around it */
	uint64_t block_size;		/* its usable bytes */
};

/** The state of a block.  A caller treats an unknown value as DRAY_POOL_BLOCK_USED. */
enum dray_pool_block_state {
	DRAY_POOL_BLOCK_USED = 0,	/* somebody's */
	DRAY_POOL_BLOCK_PARKED = 1,	/* freed, but an engine still uses it */
	DRAY_POOL_BLOCK_CACHED = 2,	/* freed, and kept by a thread for later */
};

/** A block as a walk shows it. */
struct dray_pool_block {
	void *address;			/* its first byte */
	uint64_t size;			/* its usable bytes */
	struct dray_buffer *buffer;	/* borrowed, while the block lives */
	uint32_t holds;			/* transfers that use it; > 0: busy */
	uint32_t state;			/* enum dray_pool_block_state */
};

/**
 * Sees a block of a walk, which is not valid beyond the call. 0 continues,
 * anything else ends the walk.
 */
typedef int dray_pool_visit(void *argument,
			    const struct dray_pool_block *block);

/**
 * Is called before a request for @size bytes fails with @error, by a pool or by a
 * resource of dray_resource_on_failure().  Returns true if it has freed something, of
 * its source or of the machine: the request is tried once more.
 *
 * It runs on the thread whose request it is, without any lock, so it may free,
 * allocate, and wait; on several threads at once if their requests fail at
 * once.  It is not called again on a thread that is in it, for any pool or
 * resource: a request that it makes itself just fails.
 */
typedef bool dray_pressure(void *argument, size_t size, int error);

/**
 * Makes a pool over @node (which it references), with its first region.
 *
 * Errors: -EINVAL (granule not a power of two, smaller than a cache line or
 * 64 bytes, or above 2 MiB, initial above limit, after it is rounded up to
 * whole pages and granules, limit below a page or granule, an unknown heap or
 * flag, DRAY_HANDLER in the environment is neither empty nor "check"),
 * -EOPNOTSUPP (the node does not support @pages), -ENOMEM, as
 * dray_buffer_alloc() for the first region.
 */
DRAY_API int dray_pool_create(struct dray_node *node,
			      const struct dray_pool_options *options,
			      struct dray_pool **out);

/**
 * Closes the pool.  Blocks that are still alive stay usable and can be freed.
 * Memory without a block is freed at once, the rest as blocks are freed, and
 * all with the last of them.  NULL is ignored.
 */
DRAY_API void dray_pool_close(struct dray_pool *pool);

/** Returns the node of the pool; borrowed. */
DRAY_API struct dray_node *dray_pool_node(const struct dray_pool *pool);

/**
 * Allocates a block of at least @size bytes (0 counts as 1), at a multiple of
 * @alignment, a power of two (0: the granule).  Contents are undefined.
 * Returns the block's address, or NULL with errno EINVAL or ENOMEM.  If the
 * node is exhausted, the sentence says why and names the pool's longest free
 * run.
 *
 * It blocks if no block is free: while the node allocates memory, and while
 * another thread grows or shrinks the pool.  If the node is exhausted and freed
 * blocks of the pool are parked, it waits until engines are done with some of
 * them, however long they take; a signal does not end that wait.  So do
 * dray_pool_calloc(), dray_pool_realloc() and a handler's functions.
 */
DRAY_API void *dray_pool_alloc(struct dray_pool *pool, size_t size,
			       size_t alignment);

/**
 * Allocates @count * @size zero bytes, as dray_pool_alloc() does, at a multiple
 * of the granule: 0 in all counts as 1.  Bytes of dray_usable_size() beyond are
 * undefined.  Returns the block's address, or NULL with errno ENOMEM, also if
 * the product overflows.
 *
 * Pages that were never used are zero already, and are not touched.  If 32 MiB
 * or more of private memory must be cleared, their pages are returned to the
 * system, which maps new pages when they are touched.
 */
DRAY_API void *dray_pool_calloc(struct dray_pool *pool, size_t count,
				size_t size);

/**
 * Resizes a block to @size bytes (0 counts as 1) and keeps its contents and its
 * alignment, in place if the room behind it is free.  NULL as @block allocates.
 * Returns the block's address, or NULL: the old block is then untouched, and
 * errno is ENOMEM, or EINVAL if @block is not a block, which counts as a bad
 * free.
 */
DRAY_API void *dray_pool_realloc(struct dray_pool *pool, void *block,
				 size_t size);

/**
 * Frees a block.  NULL is ignored; an address without a block is counted in
 * bad_frees and ignored (aborts with DRAY_ABORT_ON_BAD_FREE=1 in the
 * environment).  A block that an engine still uses is parked until the engine
 * is done.  Concurrent double frees may go undetected: as with other
 * allocators, the block may then be allocated twice.
 *
 * @pool: counts a wrong free, if not NULL; a block is always freed to its own
 *	pool
 */
DRAY_API void dray_pool_free(struct dray_pool *pool, void *block);

/** Returns the bytes that the block may hold; 0 if none begins at @block. */
DRAY_API size_t dray_usable_size(const void *block);

/**
 * Finds the pool, buffer and block around any address, which is never followed:
 * it may be wild.  A shift and two loads find the region, however many there
 * are; the block is looked up in it under the pool's lock, which is held for a
 * few numbers only, and never while a function of the caller's is called.  So it
 * may be called from any thread and from any such function (a finalizer, a
 * visit), but not from a signal handler.  A buffer that is in no pool is its own
 * block.
 *
 * The answer is true at a moment.  It stays true as long as the caller keeps
 * the block, or the buffer, from being freed by other threads; a move or a
 * resize changes its numbers.  A child of fork() finds the blocks that it
 * inherited.
 *
 * A second copy of the library in the process manages memory of its own: each
 * finds its own, and says -ENOENT of the other's.
 *
 * Errors: -ENOENT (the address lies in no memory of dray, or in no live block:
 * a freed block that is parked, or kept by a thread, is not alive).
 */
DRAY_API int dray_locate(const void *address, struct dray_location *out);

/**
 * Calls @visit for every block of the pool, in the order of their addresses;
 * returns the last value of @visit.
 *
 * No lock is held during the calls: @visit may do anything, free the block and
 * close the pool included, but not fork and let the child return.  Other
 * threads continue meanwhile.  A block that lives during the whole walk is seen
 * exactly once; a block that is made, freed or moved during it is seen, or not,
 * as it was at some moment of the walk.  Blocks that the process inherited by
 * fork() are among them.
 */
DRAY_API int dray_pool_walk(struct dray_pool *pool, dray_pool_visit *visit,
			    void *argument);

/**
 * Asks @pressure (NULL: none) before a request for a block fails: when the blocks
 * that threads keep, those that engines are done with, and the node are not
 * enough.  It is not asked when a new pool finds no memory, or when the request
 * could never be met.  A call that is under way may outlast its replacement.
 */
DRAY_API void dray_pool_set_pressure(struct dray_pool *pool,
				     dray_pressure *pressure, void *argument);

/**
 * Fills @stats, as they are at a moment.  Blocks that threads keep are
 * collected first: not for a hot path.
 */
DRAY_NAMESAKE_BEGIN
DRAY_API int dray_pool_stats(struct dray_pool *pool,
			     struct dray_pool_stats *stats);
DRAY_NAMESAKE_END

/**
 * Collects the blocks that threads keep and the parked blocks that engines are
 * done with.  Frees buffers without a block, and in other buffers of host
 * memory the pages of free runs; returns the freed bytes.
 *
 * Without it a pool of host memory returns pages as blocks are freed, and keeps
 * up to 48 MiB of free pages, or as many bytes as are in use.
 *
 * Other threads may use the pool meanwhile; but a request that finds no block
 * waits until the trim is done, and a trim waits while the pool grows.
 */
DRAY_API uint64_t dray_pool_trim(struct dray_pool *pool);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_POOL_H */
