// SPDX-License-Identifier: Apache-2.0 OR MIT
/* A limit: bytes are taken from it before upstream is asked. */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/number.h"
#include "resource/resource.h"

struct limit {
	struct dray_resource *upstream;
	uint64_t limit;
	_Atomic uint64_t used;
};

/* A block of no bytes is one all the same. */
static uint64_t limit_cost(size_t size)
{
	return size ? size : 1;
}

/* Never below 0, however wrong the size is that a free tells. */
static void limit_give_back(struct limit *limit, uint64_t bytes)
{
	uint64_t used = atomic_load(&limit->used);

	while (!atomic_compare_exchange_weak(&limit->used, &used,
					     used > bytes ? used - bytes : 0))
		;
}

static int limit_allocate(void *ctx, size_t size, size_t alignment,
			  uint64_t stream, void **out)
{
	struct limit *limit = ctx;
	uint64_t used = atomic_load(&limit->used), left;
	int ret;

	do {
		left = dray_limit_left(limit->limit, used);
		if (limit_cost(size) > left)
			return dray_fail_limit(size, limit->limit, left);
	} while (!atomic_compare_exchange_weak(&limit->used, &used,
					       used + limit_cost(size)));
	ret = dray_resource_allocate(limit->upstream, size, alignment, stream,
				     out);
	if (ret)
		limit_give_back(limit, limit_cost(size));
	return ret;
}

static int limit_deallocate(void *ctx, void *block, size_t size,
			    uint64_t stream)
{
	struct limit *limit = ctx;
	int ret =
		dray_resource_deallocate(limit->upstream, block, size, stream);

	if (!ret)
		limit_give_back(limit, limit_cost(size));
	return ret;
}

static int limit_capacity(void *ctx, struct dray_capacity *out)
{
	struct limit *limit = ctx;
	struct dray_capacity upstream;

	out->total = limit->limit;
	out->free = dray_limit_left(limit->limit, atomic_load(&limit->used));
	if (!dray_resource_capacity(limit->upstream, &upstream) &&
	    upstream.free < out->free)
		out->free = upstream.free;
	return 0;
}

int dray_resource_limit(struct dray_resource *upstream, uint64_t bytes,
			struct dray_resource **out)
{
	static const struct dray_resource_ops ops = {
		.size = sizeof(ops),
		.name = "limit",
		.allocate = limit_allocate,
		.deallocate = limit_deallocate,
		.capacity = limit_capacity,
		.destroy = dray_upstream_destroy,
	};
	struct limit *limit = calloc(1, sizeof(*limit));

	if (limit)
		limit->limit = bytes;
	return dray_resource_stack(&ops, limit, upstream, out);
}
