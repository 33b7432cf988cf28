/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * resource: sources of memory that stack.
 *
 * A resource allocates memory and frees it.  Some stand on a pool or on the C
 * library's heap, others on another resource, their upstream, and add to it a
 * limit, numbers, or a log.  The idea and the names of the columns follow RMM's
 * memory resources.
 *
 *	struct dray_resource *blocks, *limited;
 *	void *block;
 *
 *	ret = dray_resource_pool(pool, &blocks);
 *	if (ret)
 *		return ret;
 *	ret = dray_resource_limit(blocks, 1 << 20, &limited);
 *	dray_resource_unref(blocks);	// the limited resource keeps it
 *	if (ret)
 *		return ret;
 *	ret = dray_resource_allocate(limited, 4096, 0, 0, &block);
 *	if (!ret)
 *		ret = dray_resource_deallocate(limited, block, 4096, 0);
 *	dray_resource_unref(limited);
 *
 * Every function may be called from any thread.  A resource is counted, holds
 * a reference to its upstream, and stays for as long as a block of it is out.
 * A child of fork() inherits copies of them all.
 */
#ifndef DRAY_RESOURCE_H
#define DRAY_RESOURCE_H

#include <stdio.h>

#include <dray/handler.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dray_resource;

/** The memory of a source, in bytes. */
struct dray_capacity {
	uint64_t free;
	uint64_t total;
};

/**
 * The operations of a resource.  Each function returns 0 or a negative errno,
 * may be called from any thread, and gets the context of the resource.
 */
struct dray_resource_ops {
	size_t size;		/* of this structure; 0: the first version's */
	const char *name;	/* its kind in a word; a constant */

	/*
	 * @size: bytes; 0 counts as 1
	 * @alignment: bytes, a power of two; 0: the source's default
	 * @stream: the ordered stream that it is for, 0: none in particular.
	 *	It is noted, and orders nothing
	 * @out: the block, set on success
	 */
	int (*allocate)(void *ctx, size_t size, size_t alignment,
			uint64_t stream, void **out);
	/*
	 * @size: the requested size; a hint if the resource knows better
	 *
	 * A block that is not the resource's is refused with -EINVAL, without a
	 * change.
	 */
	int (*deallocate)(void *ctx, void *block, size_t size,
			  uint64_t stream);
	/* NULL: not known */
	int (*capacity)(void *ctx, struct dray_capacity *out);
	/* With the last reference and no block out.  NULL: nothing to do */
	void (*destroy)(void *ctx);
};

/**
 * Makes a resource of the caller's own.
 *
 * @ops: copied
 * @ctx: passed to each function
 *
 * Errors: -EINVAL (no allocate or deallocate, no name, an impossible size),
 * -ENOMEM.
 */
DRAY_API int dray_resource_create(const struct dray_resource_ops *ops,
				  void *ctx, struct dray_resource **out);

/** Adds a reference, dropped by dray_resource_unref(); returns @resource. */
DRAY_API struct dray_resource *
dray_resource_ref(struct dray_resource *resource);
/** Ends the resource with the last reference and block.  NULL is ignored. */
DRAY_API void dray_resource_unref(struct dray_resource *resource);

/** Returns the kind, "pool", "limit", ...; valid as long as the resource. */
DRAY_API const char *dray_resource_name(const struct dray_resource *resource);

/**
 * A block of at least @size bytes.
 *
 * Errors: -EINVAL (alignment not a power of two), -ENOMEM (a size above
 * PTRDIFF_MAX, no memory), errors of the resource.
 */
DRAY_API int dray_resource_allocate(struct dray_resource *resource, size_t size,
				    size_t alignment, uint64_t stream,
				    void **out);

/**
 * Frees a block, by the resource that allocated it, with the size that was
 * asked for.  NULL is ignored.  A resource without a reference of the caller
 * may be gone afterwards.
 *
 * Errors: -EINVAL (no block of this resource, freed already), errors of the
 * resource.  Nothing is changed then.
 */
DRAY_API int dray_resource_deallocate(struct dray_resource *resource,
				      void *block, size_t size,
				      uint64_t stream);

/**
 * Writes its capacity.
 * Errors: -EOPNOTSUPP (the resource does not know it).
 */
DRAY_API int dray_resource_capacity(struct dray_resource *resource,
				    struct dray_capacity *out);

/**
 * Blocks of @pool, which the caller closes.  After that the resource allocates
 * no more, but still frees.  Its capacity is the pool's plus the free memory of
 * its node's default heap.  An ended pool counts among the 63 pools with caches
 * in threads until the last such resource is gone.
 *
 * Errors: -ENOMEM.
 */
DRAY_API int dray_resource_pool(struct dray_pool *pool,
				struct dray_resource **out);

/**
 * Blocks of the C library's heap.  A free is not checked: a wrong free is as
 * bad as with free().  Its capacity is not known.
 *
 * Errors: -ENOMEM.
 */
DRAY_API int dray_resource_malloc(struct dray_resource **out);

/*
 * Resources that stand on another resource.  Each holds a reference to its
 * upstream, and returns -ENOMEM if its own books get no memory.  They count the
 * requested sizes.
 */

/**
 * Allows at most @limit bytes out at a time; a request above it is -ENOMEM.
 * Its capacity is the limit, and the part that is free here and upstream.
 */
DRAY_API int dray_resource_limit(struct dray_resource *upstream,
				 uint64_t limit, struct dray_resource **out);

/** A number over time. */
struct dray_count {
	int64_t now;		/* below 0: older blocks were freed */
	int64_t peak;		/* the most at a time */
	int64_t total;		/* the sum of all */
};

struct dray_statistics {
	size_t size;		/* of this structure; 0: the first version's */
	struct dray_count bytes;
	struct dray_count blocks;
};

/** Counts the requests. */
DRAY_API int dray_resource_statistics(struct dray_resource *upstream,
				      struct dray_resource **out);

/**
 * Fills @out with the numbers of the innermost scope, at first of all.
 * Errors: -EINVAL (@resource is of another kind; so for all of these).
 */
DRAY_API int dray_statistics_get(struct dray_resource *resource,
				 struct dray_statistics *out);
/**
 * Begins a scope, with all numbers 0, for all threads.
 * Errors: -ENOMEM.
 */
DRAY_API int dray_statistics_push(struct dray_resource *resource);
/**
 * Ends a scope: its numbers are written to @out (may be NULL) and added to the
 * scope around it.
 * Errors: -EINVAL (no scope began).
 */
DRAY_API int dray_statistics_pop(struct dray_resource *resource,
				 struct dray_statistics *out);

/** A live block, and its callers. */
struct dray_outstanding {
	void *block;
	size_t size;		/* bytes asked for */
	uint64_t stream;
	uint64_t number;	/* of the allocation, from 1 */
	void *const *sites;	/* return addresses, the innermost first */
	size_t site_count;
};

/** The most call sites that are kept for a block. */
#define DRAY_TRACKING_SITES 32

/**
 * Remembers each live block, with @sites call sites of the stack, and refuses
 * to free other addresses.  It corrects a wrong size.
 *
 * Errors: -EINVAL (more than DRAY_TRACKING_SITES).
 */
DRAY_API int dray_resource_tracking(struct dray_resource *upstream,
				    size_t sites, struct dray_resource **out);

struct dray_tracking {
	size_t size;		/* of this structure; 0: the first version's */
	uint64_t blocks;	/* out */
	uint64_t bytes;		/* in them */
	uint64_t bad_frees;	/* refused */
	uint64_t wrong_sizes;	/* of frees */
};

/** Fills @out. */
DRAY_API int dray_tracking_get(struct dray_resource *resource,
			       struct dray_tracking *out);
/**
 * Calls @visit for each block that was live at a moment, the oldest first,
 * without a lock, until it returns other than 0; returns the last value of
 * @visit.  Its argument is valid during the call.
 *
 * Errors: -ENOMEM.
 */
DRAY_API int
dray_tracking_visit(struct dray_resource *resource,
		    int (*visit)(void *ctx,
				 const struct dray_outstanding *block),
		    void *ctx);
/**
 * Writes a line for each block that is out, a line for each of its call sites,
 * and a line with the sum.
 *
 * Errors: -ENOMEM, -EIO (not all was written).
 */
DRAY_API int dray_tracking_report(struct dray_resource *resource, FILE *file);

/**
 * Asks @pressure before an allocation fails, as often as it returns true.
 * Errors: -EINVAL (@pressure is NULL).
 */
DRAY_API int dray_resource_on_failure(struct dray_resource *upstream,
				      dray_pressure *pressure, void *argument,
				      struct dray_resource **out);

/**
 * Writes a line for each call to the file at @path, which is made or emptied,
 * in the columns of RMM's log:
 *
 *	Thread,Time,Action,Pointer,Size,Stream
 *
 * with the system's number of the thread; the time of day in UTC, to the
 * microsecond; allocate, "allocate failure" or free; the pointer in
 * hexadecimal, "(nil)" for a failure; the size that was asked for; the stream.
 * A free is written before it happens, so that the next user of an address is
 * logged after it.  Each line is written at once: the log of a program that
 * dies is complete.  Children of fork(), whose addresses are others, write
 * nothing.  dray-replay(1) reads it.  A program that closes the log's file
 * descriptor finds no lines in the next file with that number:
 * dray_log_check() reports -EBADF.
 *
 * Errors: as open() and write().
 */
DRAY_API int dray_resource_log(struct dray_resource *upstream, const char *path,
			       struct dray_resource **out);

/**
 * Does the same in twelve columns, as RMM's csv_log() had them:
 *
 *	Event Type,Device ID,Address,Stream,Size (bytes),Free Memory,
 *	Total Memory,Current Allocs,Start,End,Elapsed,Location
 *
 * in a single line, with Alloc, "Alloc failure" or Free; 0; the pointer; the
 * stream; the size; the capacity of @upstream after an allocation and before a
 * free, 0 if it is not known; allocations through this log that are not freed
 * yet; seconds since the log was made, at the begin and the end of the event,
 * and between them, of a free at its begin; "thread" and the system's number of
 * the thread, because the caller is not known.
 *
 * Errors: as dray_resource_log().
 */
DRAY_API int dray_resource_log_wide(struct dray_resource *upstream,
				    const char *path,
				    struct dray_resource **out);
/**
 * Fetches the pages of each new block at once, so that the first touch is
 * quick.  Errors of an allocation: -ENOMEM (the system lacks pages), errors of
 * madvise().
 */
DRAY_API int dray_resource_prefetch(struct dray_resource *upstream,
				    struct dray_resource **out);

/**
 * Puts @resource behind the functions of NEP 49 (dray/handler.h), for a
 * runtime: it refers to it, and tells it true sizes, whatever the runtime says.
 * A resize is a new block and a copy.
 *
 * @out: the handler, named "dray resource" and the kind; ended by
 *	dray_resource_handler_end()
 *
 * Errors: -ENOMEM.
 */
DRAY_API int dray_resource_handler(struct dray_resource *resource,
				   const struct dray_handler **out);

/**
 * Ends a handler of dray_resource_handler() that no thread uses as its current
 * handler, after all of its blocks are freed.
 *
 * Errors: -EBUSY (a block is not freed), -EINVAL (another handler).  The
 * handler stays then.
 */
DRAY_API int dray_resource_handler_end(const struct dray_handler *handler);

/**
 * Logs the calls of all handlers over pools and resources until the process
 * ends, in the lines of dray_resource_log(), if the environment sets
 * DRAY_MEMORY_LOG: in a new file, named as dray_manager_create() says.  Further
 * calls do nothing.  A resize is a free and an allocation.
 *
 * Errors: -ENAMETOOLONG, as open() and write(); nothing is logged then, and the
 * next call tries again.
 */
DRAY_API int dray_log_handlers(void);

/** Returns 0, or the first error of writing the log: its line is missing. */
DRAY_API int dray_log_check(struct dray_resource *resource);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_RESOURCE_H */
