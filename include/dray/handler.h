/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * handler: the allocator handle that an array runtime adopts (NEP 49).
 *
 * struct dray_handler has the layout of NumPy's PyDataMem_Handler, version 1,
 * so that the same object goes into a "mem_handler" capsule unchanged.
 *
 *	const struct dray_handler *handler = dray_handler_for(pool);
 *	const struct dray_handler *before = dray_set_handler(handler);
 *	float *numbers = dray_handler_zalloc(dray_get_handler(), 4096);
 *
 *	dray_set_handler(before);
 *	if (!numbers)
 *		return -errno;
 *	numbers[0] = 1;
 *	dray_handler_free(handler, numbers, 4096);
 */
#ifndef DRAY_HANDLER_H
#define DRAY_HANDLER_H

#include <stdio.h>
#include <dray/pool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DRAY_HANDLER_VERSION 1

/**
 * All four functions are set, and may be called from any thread, but not from a
 * signal handler.
 */
struct dray_allocator {
	void *ctx;	/* passed to each function */
	void *(*malloc)(void *ctx, size_t size);
	void *(*calloc)(void *ctx, size_t count, size_t size);
	/* NULL as @block allocates */
	void *(*realloc)(void *ctx, void *block, size_t size);
	/* @size is a hint that may be wrong: runtimes do pass wrong sizes */
	void (*free)(void *ctx, void *block, size_t size);
};

struct dray_handler {
	char name[127];		/* zero-terminated */
	uint8_t version;	/* DRAY_HANDLER_VERSION */
	struct dray_allocator allocator;
};

/**
 * Returns the handler over @pool, named "dray" and the back end of
 * dray_node_backend(): "dray kernel", "dray host", or "dray host:shareable" for
 * host memory that can be passed to other processes.  Belongs to the pool but
 * outlives it, and is never freed: after dray_pool_close() it still frees, but
 * allocates nothing more.  Each pool with a handler leaks less than 1 KiB until
 * the process ends, and a lock that slows each fork() by less than a
 * microsecond.
 *
 * Its blocks do not touch: at least one byte lies between the last requested
 * byte and the next block, so that a block whose size is a multiple of the
 * granule occupies a granule more.  If an array ends where another begins,
 * NumPy treats them as overlapping and leaves the processor's vectors unused:
 * np.exp() between two such arrays is 5 to 20 times slower.  A block touches
 * the next only if the pool lacks room for the gap.
 *
 * If the environment contained DRAY_HANDLER=check when the pool was created,
 * returns a dray_handler_check() over the handler.  That writes to standard
 * error, also at the end of the process, if it found a fault or a live block.
 * Do not free its blocks by dray_pool_free(): only the handler may.  The pool's
 * counters then include guards and freed blocks.
 */
DRAY_API const struct dray_handler *dray_handler_for(struct dray_pool *pool);

/**
 * Returns whether @handler is a pool's own: of dray_handler_for(), and not a
 * checking handler.  It calls nothing outside of the library but the pressure
 * callback and the watch, so that a runtime may release its own lock meanwhile.
 * False for all others, a split one too.
 */
DRAY_API bool dray_handler_is_pools(const struct dray_handler *handler);

/** Steps of a handler.  A watch ignores an unknown value. */
enum dray_handler_action {
	DRAY_HANDLER_ALLOCATES = 1,	/* before an allocation */
	DRAY_HANDLER_GREW = 2,	/* the pool fetched memory for it */
	DRAY_HANDLER_ALLOCATED = 3,	/* after it; no block: it failed */
	DRAY_HANDLER_FREES = 4,	/* before a free */
	DRAY_HANDLER_FREED = 5,	/* after it: others may have the block now */
};

/** A call of a handler as a watch sees it. */
struct dray_handler_event {
	uint32_t action;	/* enum dray_handler_action */
	struct dray_pool *pool;	/* borrowed; NULL: of a resource */
	void *block;		/* NULL: none yet, or none */
	/* Bytes asked for; of a free: as its caller says, often wrong. */
	uint64_t asked;
	/*
	 * That the block may hold, the same in its allocation and its free.
	 * Of DRAY_HANDLER_GREW: fetched from the node.
	 */
	uint64_t bytes;
};

/**
 * Sees the calls of handlers on the thread that makes them, without a
 * lock of the library; it may use the library.  A call of a handler in a watch
 * calls the watch again.  The event is valid during the call.
 */
typedef void dray_watch(const struct dray_handler_event *event);

/**
 * Calls @watch for each call of a handler over a pool, dray_handler_for(), or
 * over a resource, dray_resource_handler(), also if it is added twice only once.
 * Without a watch a call costs a load more.  A resize is a free and an
 * allocation; over a pool also if it fails, then of the same block.  Wrong frees
 * are not shown.
 *
 * Errors: -EINVAL (NULL), -ENOSPC (eight functions watch already).
 */
DRAY_API int dray_watch_add(dray_watch *watch);

/**
 * Ends the calls of @watch, but for those that are under way.
 *
 * Errors: -EINVAL (NULL), -ENOENT (it does not watch).
 */
DRAY_API int dray_watch_remove(dray_watch *watch);

/** Returns the C library's malloc behind the same interface; a constant. */
DRAY_API const struct dray_handler *dray_handler_default(void);

/*
 * Calls of a handler's four functions with its own context.  A block is freed
 * by the handler that allocated it.  On failure the first three return NULL;
 * dray's handlers set errno and leave a sentence.
 */

/**
 * Allocates @size bytes with undefined contents; returns the block's address,
 * or NULL.
 */
DRAY_API void *dray_handler_alloc(const struct dray_handler *handler,
				  size_t size);
/** Allocates @size zeroed bytes; returns the block's address, or NULL. */
DRAY_API void *dray_handler_zalloc(const struct dray_handler *handler,
				   size_t size);
/**
 * Resizes @block to @size bytes; returns the block's address, or NULL: @block
 * then stays as it was.  NULL as @block allocates.
 */
DRAY_API void *dray_handler_realloc(const struct dray_handler *handler,
				    void *block, size_t size);
/**
 * Frees @block.  NULL is ignored.
 *
 * @size: bytes that were asked for.  dray's handlers need no size; a handler of
 *	another library may.
 */
DRAY_API void dray_handler_free(const struct dray_handler *handler, void *block,
				size_t size);

/**
 * A handler over @pool that leaves requests below @min_bytes to @small, so that
 * tiny arrays, which no device ever reads, stay in ordinary memory.  Each block
 * is freed by its own handler, for any size passed. realloc moves a block if
 * its size crosses the limit; growing across it needs the new size in both
 * handlers for a moment.
 *
 * @pool: as of dray_handler_for(); the handler outlives it in the same way
 * @min_bytes: 0 leaves nothing to @small
 * @small: any handler, another split handler too; stays valid as long as @out
 * @out: the handler, named as the pool's, "from" and the limit; ended by
 *	dray_handler_split_end()
 *
 * If an address in dray's memory is not a block, a pool counts and ignores its
 * free, as dray_pool_free() does, even if @small would not survive it.  Errors:
 * -EINVAL (NULL; @small is of another version or lacks a function), -ENOMEM.
 */
DRAY_API int dray_handler_split(struct dray_pool *pool, size_t min_bytes,
				const struct dray_handler *small,
				const struct dray_handler **out);

/**
 * Returns the handler that allocated a block of @handler: through all split
 * handlers, the pool's or that for small blocks, else @handler itself.
 */
DRAY_API const struct dray_handler *
dray_handler_behind(const struct dray_handler *handler, const void *block);

/**
 * Ends a handler of dray_handler_split() that no thread uses as its current
 * handler, and whose blocks are all freed.
 *
 * Errors: -EBUSY (a block of the pool is not freed; small blocks are not
 * counted), -EINVAL (another handler).  The handler stays then.
 */
DRAY_API int dray_handler_split_end(const struct dray_handler *handler);

/**
 * Makes @handler the current handler of this thread; NULL restores the
 * default.  New threads start with the default.
 *
 * Returns the previous handler, to be set again at the end of a scope (scopes
 * nest); NULL with EINVAL in errno for a handler of another version, or that
 * lacks a function: the current handler stays.
 */
DRAY_API const struct dray_handler *
dray_set_handler(const struct dray_handler *handler);

/** Returns the handler that this thread allocates with, never NULL. */
DRAY_API const struct dray_handler *dray_get_handler(void);

/** Counters of a checking handler since it was made. */
struct dray_check {
	size_t size;		/* of this structure; 0: the first version's */
	uint64_t blocks;	/* number of blocks that are out */
	uint64_t bytes;		/* in them, as they were asked for */
	uint64_t bad_frees;	/* of an address that starts no block */
	uint64_t double_frees;	/* of a block that was freed before */
	uint64_t broken_guards;	/* blocks with writes next to them */
	uint64_t late_writes;	/* blocks that were written after their free */
	uint64_t wrong_sizes;	/* frees with a wrong size: allowed */
};

/**
 * Wraps @under in a handler that finds wrong uses of its blocks, for debugging;
 * it needs more memory and time. 128 guard bytes precede and follow each block;
 * they are checked when it is freed and by dray_check_report().  Freed blocks
 * are overwritten and kept for a while (at most 1024 of them, of 16 MiB
 * together), to detect second frees and late writes.  A freed block keeps its
 * bytes if an engine still uses it, another process opened it or was sent it,
 * or a child of fork() inherited it.  realloc always moves.
 *
 * Each fault leaves a sentence, is counted and then ignored, or aborts if the
 * environment contains DRAY_ABORT_ON_BAD_FREE=1.  A wrong free never reaches
 * @under.
 *
 * @under: stays valid for good, as all handlers do here
 * @log: each fault is written there too, and each free with a wrong size, with
 *	the callers: functions that the program does not export, and lines, if
 *	it was compiled with -g and the program addr2line of binutils is
 *	installed; else their offset in the file.  May be NULL.  Stays open
 * @out: the handler, named "checked" and as @under; never freed
 *
 * Blocks keep the alignment of @under, up to 128 bytes.  Errors: -EINVAL (NULL;
 * @under is of another version or lacks a function), -ENOMEM.
 */
DRAY_API int dray_handler_check(const struct dray_handler *under, FILE *log,
				const struct dray_handler **out);

/**
 * Lets reports of checking handlers name the place in an interpreter's program,
 * before the native callers.
 *
 * @place: returns the calling thread's place, as "f.py:3 in load", or NULL; the
 *	text stays valid for good.  Called at each allocation and free by such a
 *	handler, without a lock of the library; may be NULL
 */
DRAY_API void dray_set_caller(const char *(*place)(void));

/**
 * Fills @out.
 * Errors: -EINVAL (not a handler of dray_handler_check()).
 */
DRAY_API int dray_check_get(const struct dray_handler *handler,
			    struct dray_check *out);

/**
 * Checks all blocks, frees the blocks that are kept, and writes each live block
 * to @file, the oldest first, with its callers, and the sums.  As always, no
 * thread may write next to a block meanwhile.
 *
 * Errors: -EINVAL (as dray_check_get(), no file), -ENOMEM, -EIO (the file
 * accepts no more).
 */
DRAY_API int dray_check_report(const struct dray_handler *handler, FILE *file);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_HANDLER_H */
