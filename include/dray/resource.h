/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * resource: where memory comes from, in a shape that stacks.
 *
 * A resource gives out memory and takes it back.  Some stand on a pool or on
 * the C library's heap, others on another resource, their upstream, and add
 * one thing to it: a limit, numbers, a log.  The idea and the names of the
 * columns are those of RMM's memory resources.
 *
 * Every function may be called from any thread.  A resource is counted, holds
 * a reference to its upstream, and stays for as long as a block of it is out.
 * A child of fork() has copies of them all.
 */
#ifndef DRAY_RESOURCE_H
#define DRAY_RESOURCE_H

#include <dray/pool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dray_resource;

/** What a source of memory has, in bytes. */
struct dray_capacity {
	uint64_t free;
	uint64_t total;
};

/**
 * What a resource does.  Each function returns 0 or a negative errno, may be
 * called from any thread, and is given the context of the resource.
 */
struct dray_resource_ops {
	size_t size;		/* of this structure, for later versions */
	const char *name;	/* what it is, in one word; a constant */

	/*
	 * @size: bytes; 0 counts as 1
	 * @alignment: bytes, a power of two; 0: what suits the source
	 * @stream: the ordered stream that it is for, 0: none in particular.
	 *	It is noted, and orders nothing
	 * @out: the block, set on success
	 */
	int (*allocate)(void *ctx, size_t size, size_t alignment,
			uint64_t stream, void **out);
	/*
	 * @size: what was asked for; a hint where the resource knows better
	 *
	 * What is no block is refused with -EINVAL, and nothing has changed.
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
 * @ctx: given to each function
 *
 * Errors: -EINVAL (no allocate or deallocate, no name, a size that is none),
 * -ENOMEM.
 */
DRAY_API int dray_resource_create(const struct dray_resource_ops *ops,
				  void *ctx, struct dray_resource **out);

/** One more reference, given back by dray_resource_unref(); returns it. */
DRAY_API struct dray_resource *
dray_resource_ref(struct dray_resource *resource);
/** Ends the resource with the last reference and block.  NULL is ignored. */
DRAY_API void dray_resource_unref(struct dray_resource *resource);

/** "pool", "limit", ...; valid as long as the resource. */
DRAY_API const char *dray_resource_name(const struct dray_resource *resource);

/**
 * A block of at least @size bytes.
 *
 * Errors: -EINVAL (alignment no power of two), -ENOMEM (a size above
 * PTRDIFF_MAX, no memory), what the resource gives.
 */
DRAY_API int dray_resource_allocate(struct dray_resource *resource, size_t size,
				    size_t alignment, uint64_t stream,
				    void **out);

/**
 * Gives a block back, to the resource that it came from, with the size that
 * was asked for.  NULL is ignored.  A resource that the caller has no
 * reference to may be gone afterwards.
 *
 * Errors: -EINVAL (no block of this resource, freed already), what the
 * resource gives.  Nothing has changed then.
 */
DRAY_API int dray_resource_deallocate(struct dray_resource *resource,
				      void *block, size_t size,
				      uint64_t stream);

/** What is there; -EOPNOTSUPP where the resource does not know. */
DRAY_API int dray_resource_capacity(struct dray_resource *resource,
				    struct dray_capacity *out);

/**
 * Blocks of @pool, which stays the caller's to close.  After that the resource
 * allocates no more, and still takes back.  Its capacity is what the pool has
 * and what the default heap of its node has left.
 *
 * Errors: -ENOMEM.
 */
DRAY_API int dray_resource_pool(struct dray_pool *pool,
				struct dray_resource **out);

/**
 * Blocks of the C library's heap.  What is freed is not looked at: a wrong
 * free is as bad as with free().  Its capacity is not known.
 *
 * Errors: -ENOMEM.
 */
DRAY_API int dray_resource_malloc(struct dray_resource **out);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_RESOURCE_H */
