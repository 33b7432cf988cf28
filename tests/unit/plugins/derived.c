// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A memory manager as others write one: memalloc from the C library's heap,
 * and the rest from the host-only base.
 */
#include <errno.h>
#include <stdlib.h>

#include <dray/manager.h>

static int create(struct dray_manager *self, void **ctx)
{
	(void)self;
	*ctx = calloc(1, sizeof(int));
	return *ctx ? 0 : -ENOMEM;
}

static void finalize(void *ctx, const struct dray_memory_description *memory)
{
	--*(int *)ctx;
	free(memory->pointer);
}

static int allocate(struct dray_manager *self, size_t size, uint64_t stream,
		    struct dray_memory **out)
{
	struct dray_memory_description memory = {
		.pointer = malloc(size ? size : 1),
		.bytes = size,
		.kind = DRAY_MEMORY_HOST,
		.stream = stream,
		.finalize = finalize,
		.ctx = dray_manager_context(self),
	};
	int ret;

	if (!memory.pointer)
		return -ENOMEM;
	ret = dray_memory_create(self, &memory, out);
	if (ret)
		free(memory.pointer);
	else
		++*(int *)memory.ctx;
	return ret;
}

__attribute__((visibility("default")))
const struct dray_manager_ops dray_memory_manager = {
	.interface_version = DRAY_MANAGER_INTERFACE,
	.base = DRAY_MANAGER_HOST_ONLY,
	.name = "derived",
	.create = create,
	.destroy = free,
	.memalloc = allocate,
};
