// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Fetches the pages of each new block, so that the first touch is quick. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "memory/pages.h"
#include "resource/resource.h"

struct prefetch {
	struct dray_resource *upstream;
};

/* Contents stay, so whole pages may be fetched, with parts of neighbours. */
static int prefetch_pages(void *block, size_t size)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t offset = (uintptr_t)block & (page - 1);
	size_t bytes = (size + offset + page - 1) & ~(page - 1);

	return dray_pages_fetch((char *)block - offset, bytes);
}

static int prefetch_allocate(void *ctx, size_t size, size_t alignment,
			     uint64_t stream, void **out)
{
	struct prefetch *prefetch = ctx;
	void *block;
	int ret = dray_resource_allocate(prefetch->upstream, size, alignment,
					 stream, &block);

	if (ret)
		return ret;
	ret = prefetch_pages(block, size ? size : 1);
	if (ret) {
		dray_resource_deallocate(prefetch->upstream, block, size,
					 stream);
		return ret;
	}
	*out = block;
	return 0;
}

static int prefetch_deallocate(void *ctx, void *block, size_t size,
			       uint64_t stream)
{
	struct prefetch *prefetch = ctx;

	return dray_resource_deallocate(prefetch->upstream, block, size,
					stream);
}

int dray_resource_prefetch(struct dray_resource *upstream,
			   struct dray_resource **out)
{
	static const struct dray_resource_ops ops = {
		.size = sizeof(ops),
		.name = "prefetch",
		.allocate = prefetch_allocate,
		.deallocate = prefetch_deallocate,
		.capacity = dray_upstream_capacity,
		.destroy = dray_upstream_destroy,
	};

	return dray_resource_stack(&ops, calloc(1, sizeof(struct prefetch)),
				   upstream, out);
}
