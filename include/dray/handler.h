/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * handler: the allocator handle that an array runtime adopts (NEP 49).
 *
 * struct dray_handler has the layout of NumPy's PyDataMem_Handler, version 1,
 * so that the same object goes into a "mem_handler" capsule unchanged.
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
 * The handler over @pool, named "dray" and the back end as dray_node_backend()
 * has it: "dray kernel", "dray host", or "dray host:shareable" for host memory that
 * can be passed to other processes.
 * Belongs to the pool but outlives it, and is never freed: it keeps working,
 * and freeing, after dray_pool_close(), but then allocates nothing more.  So of
 * each pool that this was called for something stays for as long as the process
 * lives: less than 1 KiB, and a lock that each fork() takes, which is less than
 * a microsecond.
 *
 * Its blocks do not touch: behind the last byte that was asked for lies another
 * one before the next block begins, so that one whose size is a multiple of the
 * granule takes a granule more.  NumPy takes an array that ends where another one
 * begins for one that overlaps it, and then leaves the processor's vectors unused:
 * np.exp() of one into the other took 5 to 20 times as long.  A block may touch the
 * next only where the pool has room for it so, and none with a byte between.
 *
 * Of a pool that was made with DRAY_HANDLER=check in the environment it is a
 * dray_handler_check() over that one, which writes to standard error, also at
 * the end of the process, if it found something or something is out.  Its
 * blocks are none of the pool's own: only the handler may free them, and
 * counters of the pool have guards and freed blocks in them.
 */
DRAY_API const struct dray_handler *dray_handler_for(struct dray_pool *pool);

/** The C library's malloc behind the same interface; a constant. */
DRAY_API const struct dray_handler *dray_handler_default(void);

/*
 * Calls of a handler's four functions with its own context.  A block goes back
 * to the handler that it came from.  On failure the first three return NULL;
 * dray's handlers set errno and leave a sentence.
 */

/** Allocates @size bytes, whose contents are undefined. */
DRAY_API void *dray_handler_alloc(const struct dray_handler *handler,
				  size_t size);
/** Allocates @size zeroed bytes. */
DRAY_API void *dray_handler_zalloc(const struct dray_handler *handler,
				   size_t size);
/**
 * Resizes @block to @size bytes and returns where it is now; NULL allocates.
 * On failure @block stays as it was.
 */
DRAY_API void *dray_handler_realloc(const struct dray_handler *handler,
				    void *block, size_t size);
/**
 * Frees @block.  NULL is ignored.
 *
 * @size: bytes that were asked for.  dray's handlers need no size; one of
 *	another library may.
 */
DRAY_API void dray_handler_free(const struct dray_handler *handler, void *block,
				size_t size);

/**
 * A handler over @pool that leaves requests below @min_bytes to @small, so that
 * tiny arrays, which no device will ever see, stay where they were.  Each block
 * is freed where it came from, whatever size is passed.  realloc moves a block
 * whose size crosses the limit; growing across it needs the new size in both
 * places for a moment.
 *
 * @pool: as dray_handler_for() has it; the handler outlives it in the same way
 * @min_bytes: 0 leaves nothing to @small
 * @small: any handler, another split one too; stays valid as long as @out
 * @out: the handler, named as the pool's, "from" and the limit; ended by
 *	dray_handler_split_end()
 *
 * An address in dray's memory that is no block is counted by a pool and
 * ignored, as dray_pool_free() has it, whatever @small would make of it.
 * Errors: -EINVAL (NULL; @small is of another version or lacks a function),
 * -ENOMEM.
 */
DRAY_API int dray_handler_split(struct dray_pool *pool, size_t min_bytes,
				const struct dray_handler *small,
				const struct dray_handler **out);

/**
 * The handler that a block of @handler came from: that of the pool or of what
 * is small, through all that are split, else @handler itself.
 */
DRAY_API const struct dray_handler *
dray_handler_behind(const struct dray_handler *handler, const void *block);

/**
 * Ends a handler of dray_handler_split() that is nobody's current one and has
 * no block out.  Errors, with which it stays: -EBUSY (a block of the pool is
 * out; small ones are not counted), -EINVAL (another handler).
 */
DRAY_API int dray_handler_split_end(const struct dray_handler *handler);

/**
 * Makes @handler the one that this thread allocates with; NULL goes back to
 * the default.  Returns the previous one, to be set again at the end of a
 * scope; scopes nest.  New threads start with the default.
 *
 * Refuses a handler of another version, or one that lacks a function: returns
 * NULL with EINVAL in errno, and the current handler stays.
 */
DRAY_API const struct dray_handler *
dray_set_handler(const struct dray_handler *handler);

/** The handler that this thread allocates with, never NULL. */
DRAY_API const struct dray_handler *dray_get_handler(void);

/** What a checking handler has counted since it was made. */
struct dray_check {
	uint64_t blocks;	/* number of blocks that are out */
	uint64_t bytes;		/* in them, as they were asked for */
	uint64_t bad_frees;	/* of what is no block, or not its start */
	uint64_t double_frees;	/* of a block that was freed before */
	uint64_t broken_guards;	/* blocks with writes next to them */
	uint64_t late_writes;	/* blocks that were written after their free */
	uint64_t wrong_sizes;	/* frees with a wrong size, which is allowed */
};

/**
 * A handler that stands in for @under and finds what its users do wrong, for
 * debugging: it needs more memory and time.  Each block has 128 bytes before
 * and behind it that nobody may write, which is looked at when it is freed and
 * by dray_check_report().  Blocks that are freed are overwritten and kept for
 * a while (1024 of them, of 16 MiB together, at most), so that a second free
 * and a late write are seen; those that an engine still uses, that another
 * process has open or was sent, or that a child of fork() inherited, are kept
 * as they are.  realloc always moves.
 *
 * Whatever is wrong leaves a sentence, is counted and then ignored, or aborts
 * with DRAY_ABORT_ON_BAD_FREE=1 in the environment.  What is freed wrongly
 * never reaches @under.
 *
 * @under: stays valid for good, as all handlers do here
 * @log: where each thing that is wrong is written too, with the places that
 *	called; NULL: nowhere.  Stays open
 * @out: the handler, named "checked" and as @under; never freed
 *
 * Blocks keep the alignment that @under gives, up to 128 bytes.  Errors:
 * -EINVAL (NULL; @under is of another version or lacks a function), -ENOMEM.
 */
DRAY_API int dray_handler_check(const struct dray_handler *under, FILE *log,
				const struct dray_handler **out);

/**
 * Lets what checking handlers say name places in the program that an interpreter
 * runs, before the places that called.
 *
 * @place: returns the place that the calling thread is at, as "f.py:3 in load", or
 *	NULL; the text stays valid for good.  Called at each allocation and free
 *	by such a handler, without a lock of the library; NULL: none is named
 */
DRAY_API void dray_set_caller(const char *(*place)(void));

/**
 * Fills @size bytes of @out; -EINVAL where @handler is none of
 * dray_handler_check().
 */
DRAY_API int dray_check_get(const struct dray_handler *handler,
			    struct dray_check *out, size_t size);

/**
 * Looks at all blocks, gives those that were kept back, and writes to @file
 * each block that is out, the oldest first, with the places that asked for it,
 * and the sums.  Nobody may write next to a block meanwhile, as ever.
 *
 * Errors: -EINVAL (as dray_check_get(), no file), -ENOMEM, -EIO (the file takes
 * no more).
 */
DRAY_API int dray_check_report(const struct dray_handler *handler, FILE *file);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_HANDLER_H */
