/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * handler: the allocator handle that an array runtime adopts (NEP 49).
 *
 * struct dray_handler has the layout of NumPy's PyDataMem_Handler, version 1,
 * so that the same object goes into a "mem_handler" capsule unchanged.
 */
#ifndef DRAY_HANDLER_H
#define DRAY_HANDLER_H

#include <dray/pool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DRAY_HANDLER_VERSION 1

/** All four functions are set, and may be called from any thread. */
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
 * The handler over @pool, named "dray" and the back end ("dray kernel").
 * Belongs to the pool but outlives it, and is never freed: it keeps working,
 * and freeing, after dray_pool_close(), but then allocates nothing more.
 */
DRAY_API const struct dray_handler *dray_handler_for(struct dray_pool *pool);

/** The C library's malloc behind the same interface; a constant. */
DRAY_API const struct dray_handler *dray_handler_default(void);

/**
 * Makes @handler the one that this thread allocates with; NULL goes back to
 * the default.  Returns the previous one, to be set again at the end of a
 * scope; scopes nest.  New threads start with the default.
 */
DRAY_API const struct dray_handler *
dray_set_handler(const struct dray_handler *handler);

/** The handler that this thread allocates with, never NULL. */
DRAY_API const struct dray_handler *dray_get_handler(void);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_HANDLER_H */
