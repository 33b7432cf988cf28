// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * current: the handler that a thread allocates with, by default the C
 * library's heap, and calls through any handler.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "memory/pages.h"
#include "base/error.h"
#include "pool/pool.h"

/* Asks for huge pages, of which each spares 511 faults; as NumPy does. */
static void *current_advise(void *block, size_t size)
{
	const size_t page = 4096;
	size_t head = -(uintptr_t)block % page;

	if (block && size >= 2 * DRAY_PAGES_HUGE_SIZE)
		madvise((char *)block + head, size - head, MADV_HUGEPAGE);
	return block;
}

/* A request of 0 bytes gives a block too, as it does from a pool. */
static void *default_malloc(void *ctx, size_t size)
{
	(void)ctx;
	return current_advise(malloc(size ? size : 1), size);
}

/* glibc's calloc() takes no block from its cache of small ones; malloc() does. */
#define SMALL 1024

static void *default_calloc(void *ctx, size_t count, size_t size)
{
	size_t bytes;
	void *block;

	(void)ctx;
	if (__builtin_mul_overflow(count, size, &bytes))
		return calloc(count, size);
	if (bytes > SMALL)
		return current_advise(calloc(count, size), bytes);
	bytes = bytes ? bytes : 1;
	block = malloc(bytes);
	/* Compilers make a calloc() of malloc() and memset() of the same size. */
	__asm__("" : "+r"(bytes));
	return block ? memset(block, 0, bytes) : NULL;
}

static void *default_realloc(void *ctx, void *block, size_t size)
{
	(void)ctx;
	return realloc(block, size ? size : 1);
}

static void default_free(void *ctx, void *block, size_t size)
{
	(void)ctx;
	(void)size;
	free(block);
}

static const struct dray_handler default_handler = {
	.name = "malloc",
	.version = DRAY_HANDLER_VERSION,
	.allocator = {
		.malloc = default_malloc,
		.calloc = default_calloc,
		.realloc = default_realloc,
		.free = default_free,
	},
};

const struct dray_handler *dray_handler_default(void)
{
	return &default_handler;
}

void *dray_handler_alloc(const struct dray_handler *handler, size_t size)
{
	if (!dray_given(handler, __func__))
		return NULL;
	return handler->allocator.malloc(handler->allocator.ctx, size);
}

void *dray_handler_zalloc(const struct dray_handler *handler, size_t size)
{
	if (!dray_given(handler, __func__))
		return NULL;
	return handler->allocator.calloc(handler->allocator.ctx, 1, size);
}

void *dray_handler_realloc(const struct dray_handler *handler, void *block,
			   size_t size)
{
	if (!dray_given(handler, __func__))
		return NULL;
	return handler->allocator.realloc(handler->allocator.ctx, block, size);
}

void dray_handler_free(const struct dray_handler *handler, void *block,
		       size_t size)
{
	if (block && dray_given(handler, __func__))
		handler->allocator.free(handler->allocator.ctx, block, size);
}

int dray_handler_usable(const struct dray_handler *handler)
{
	const struct dray_allocator *allocator = &handler->allocator;
	const char *missing;

	if (handler->version != DRAY_HANDLER_VERSION)
		return dray_fail(-EINVAL, "a handler of version %u, not %d",
				 handler->version, DRAY_HANDLER_VERSION);
	missing = !allocator->malloc	? "malloc"
		  : !allocator->calloc	? "calloc"
		  : !allocator->realloc ? "realloc"
		  : !allocator->free	? "free"
					: NULL;
	if (missing)
		return dray_fail(-EINVAL, "handler \"%.126s\" has no %s",
				 handler->name, missing);
	return 0;
}

static _Thread_local const struct dray_handler *current
	__attribute__((tls_model("initial-exec")));

const struct dray_handler *dray_set_handler(const struct dray_handler *handler)
{
	const struct dray_handler *previous = dray_get_handler();

	if (handler && dray_handler_usable(handler)) {
		errno = EINVAL;
		return NULL;
	}
	current = handler;
	return previous;
}

const struct dray_handler *dray_get_handler(void)
{
	return current ? current : &default_handler;
}
