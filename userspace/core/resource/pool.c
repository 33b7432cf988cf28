// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The resources that stand on no other: a pool, and the C library's heap.
 *
 * A pool counts wrong frees and says nothing.  Here they are an error, which
 * is looked for with the guard held, so that two frees of one block at the
 * same time are one free and one error.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/guard.h"
#include "pool/pool.h"
#include "resource/resource.h"

struct pool_source {
	struct dray_guard guard;
	struct dray_pool *pool;
	struct dray_node *node; /* one reference: the pool may be closed */
};

static int pool_allocate(void *ctx, size_t size, size_t alignment,
			 uint64_t stream, void **out)
{
	struct pool_source *source = ctx;
	void *block = dray_pool_alloc(source->pool, size, alignment);

	(void)stream;
	if (!block)
		return -errno;
	*out = block;
	return 0;
}

static int pool_deallocate(void *ctx, void *block, size_t size, uint64_t stream)
{
	struct pool_source *source = ctx;
	struct dray_location where;
	int ret;

	(void)size;
	(void)stream;
	dray_guard_take(&source->guard);
	ret = dray_locate(block, &where);
	if (ret || where.pool != source->pool || where.block != block)
		ret = dray_fail(-EINVAL,
				"free of %p, which is not a block of "
				"this pool",
				block);
	else
		dray_pool_free(source->pool, block);
	dray_guard_give(&source->guard);
	return ret;
}

/* The heap that the node uses by default. */
static int default_heap(struct dray_node *node, struct dray_heap_info *heap)
{
	struct dray_info info;
	uint32_t i;
	int ret = dray_node_info(node, &info, sizeof(info));

	for (i = 0; !ret && i < info.heap_count; i++) {
		ret = dray_node_heap(node, i, heap, sizeof(*heap));
		if (!ret && heap->flags & DRAY_HEAP_DEFAULT)
			return 0;
	}
	if (!ret)
		ret = dray_fail(-EOPNOTSUPP, "%s has no default heap",
				info.name);
	return ret;
}

static int pool_capacity(void *ctx, struct dray_capacity *out)
{
	struct pool_source *source = ctx;
	struct dray_pool_stats stats = { .size = sizeof(stats) };
	struct dray_heap_info heap;
	int ret = default_heap(source->node, &heap);

	if (ret)
		return ret;
	dray_pool_stats(source->pool, &stats);
	out->free = heap.free + (stats.reserved - stats.used);
	out->total = heap.total;
	if (out->free > out->total)
		out->free = out->total;
	return 0;
}

static void pool_destroy(void *ctx)
{
	struct pool_source *source = ctx;

	dray_guard_end(&source->guard);
	dray_pool_unpin(source->pool);
	dray_node_unref(source->node);
	free(source);
}

int dray_resource_pool(struct dray_pool *pool, struct dray_resource **out)
{
	static const struct dray_resource_ops ops = {
		.size = sizeof(ops),
		.name = "pool",
		.allocate = pool_allocate,
		.deallocate = pool_deallocate,
		.capacity = pool_capacity,
		.destroy = pool_destroy,
	};
	struct pool_source *source;
	int ret;

	if (!dray_given(pool, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	source = calloc(1, sizeof(*source));
	if (!source)
		return dray_fail(-ENOMEM, "no memory for a pool's resource");
	ret = dray_resource_create(&ops, source, out);
	if (ret) {
		free(source);
		return ret;
	}
	/* The resource may outlive the pool, and is not to lead to another one. */
	dray_pool_pin(pool);
	source->pool = pool;
	source->node = dray_node_ref(dray_pool_node(pool));
	dray_guard_init(&source->guard);
	return 0;
}

static int malloc_allocate(void *ctx, size_t size, size_t alignment,
			   uint64_t stream, void **out)
{
	int error;

	(void)ctx;
	(void)stream;
	if (alignment < sizeof(void *))
		alignment = _Alignof(max_align_t);
	error = posix_memalign(out, alignment, size ? size : 1);
	if (error)
		return dray_fail(-error, "no memory for a block of %zu bytes",
				 size);
	return 0;
}

static int malloc_deallocate(void *ctx, void *block, size_t size,
			     uint64_t stream)
{
	(void)ctx;
	(void)size;
	(void)stream;
	free(block);
	return 0;
}

int dray_resource_malloc(struct dray_resource **out)
{
	static const struct dray_resource_ops ops = {
		.size = sizeof(ops),
		.name = "malloc",
		.allocate = malloc_allocate,
		.deallocate = malloc_deallocate,
	};

	return dray_resource_create(&ops, NULL, out);
}
