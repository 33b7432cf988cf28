// SPDX-License-Identifier: Apache-2.0 OR MIT
/* handler: a pool behind the four functions that an array runtime calls. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "pool/check.h"
#include "pool/pool.h"
#include "pool/watch.h"

/*
 * Arrays do not touch: if one ends where another begins, NumPy takes them for
 * overlapping (nomemoverlap() in its fast_loop_macros.h), and computes them one
 * element after the other.
 */
static void *pool_malloc(void *pool, size_t size)
{
	if (__builtin_expect(dray_handler_is_watched(), 0))
		return dray_watched_malloc(pool, size);
	return dray_pool_alloc_apart(pool, size);
}

static void *pool_calloc(void *pool, size_t count, size_t size)
{
	if (__builtin_expect(dray_handler_is_watched(), 0))
		return dray_watched_calloc(pool, count, size);
	return dray_pool_calloc_apart(pool, count, size);
}

static void *pool_realloc(void *pool, void *block, size_t size)
{
	if (__builtin_expect(dray_handler_is_watched(), 0))
		return dray_watched_realloc(pool, block, size);
	return dray_pool_realloc_apart(pool, block, size);
}

/* Runtimes pass wrong sizes: the pool knows the true one. */
static void pool_free(void *pool, void *block, size_t size)
{
	if (__builtin_expect(dray_handler_is_watched(), 0))
		dray_watched_free(pool, block, size);
	else
		dray_pool_free(pool, block);
}

int dray_handler_init(struct dray_pool *pool, const struct dray_node *node)
{
	struct dray_handler *handler = &pool->handler;
	const char *backend = dray_node_backend(node);

	snprintf(handler->name, sizeof(handler->name), "dray %s%s", backend,
		 !strcmp(backend, "host") && dray_node_shareable(node)
			 ? ":shareable"
			 : "");
	handler->version = DRAY_HANDLER_VERSION;
	handler->allocator = (struct dray_allocator){
		.ctx = pool,
		.malloc = pool_malloc,
		.calloc = pool_calloc,
		.realloc = pool_realloc,
		.free = pool_free,
	};
	return dray_check_asked(handler, &pool->checked);
}

void dray_handler_close(struct dray_pool *pool)
{
	if (pool->checked)
		dray_check_keep(dray_checker_of(pool->checked), false);
}

bool dray_handler_is_pools(const struct dray_handler *handler)
{
	return dray_given(handler, __func__) &&
	       handler->allocator.malloc == pool_malloc;
}

const struct dray_handler *dray_handler_for(struct dray_pool *pool)
{
	if (!dray_given(pool, __func__))
		return NULL;
	atomic_store(&pool->handed_out, true);
	if (!pool->checked)
		return &pool->handler;
	dray_check_at_exit(pool->checked);
	return pool->checked;
}
