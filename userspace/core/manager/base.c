// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dray's own operations.  They work on any manager, through its resource, so
 * that a derived manager brings only the operations that it changes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/error.h"
#include "base/options.h"
#include "manager/manager.h"
#include "memory/node.h"
#include "resource/resource.h"

/* A pool on the manager's node, as a resource. */
static int make_resource(struct dray_manager *self, struct dray_pool **pool,
			 struct dray_resource **out)
{
	const struct dray_pool_options options = { .name = "manager" };
	struct dray_resource *resource = NULL;
	int ret = dray_pool_create(self->node, &options, pool);

	if (ret)
		return ret;
	ret = dray_resource_pool(*pool, &resource);
	if (!ret)
		ret = dray_resource_log_asked(&resource);
	if (ret) {
		dray_resource_unref(resource);
		dray_pool_close(*pool);
		return ret;
	}
	*out = resource;
	return 0;
}

/* The manager's resource; NULL before initialize(). */
static struct dray_resource *known_resource(struct dray_manager *self)
{
	struct dray_resource *resource;

	dray_guard_take(&self->guard);
	resource = self->resource;
	if (resource)
		dray_resource_ref(resource);
	dray_guard_give(&self->guard);
	return resource;
}

int dray_manager_resource(struct dray_manager *self, struct dray_resource **out)
{
	struct dray_resource *resource;
	struct dray_pool *pool;
	bool ours;
	int ret;

	if (!dray_given(self, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	resource = known_resource(self);
	if (resource) {
		*out = resource;
		return 0;
	}
	ret = make_resource(self, &pool, &resource);
	if (ret)
		return ret;
	dray_guard_take(&self->guard);
	ours = !self->resource;
	if (ours) {
		self->resource = resource;
		self->pool = pool;
	}
	dray_guard_give(&self->guard);
	if (!ours) {
		dray_resource_unref(resource);
		dray_pool_close(pool);
	}
	*out = known_resource(self);
	return 0;
}

static void base_give_back(void *ctx,
			   const struct dray_memory_description *memory)
{
	dray_resource_deallocate(ctx, memory->pointer, memory->bytes,
				 memory->stream);
}

static int take_block(struct dray_manager *self, size_t size, uint64_t stream,
		      enum dray_memory_kind kind, struct dray_memory **out)
{
	struct dray_memory_description memory = {
		.bytes = size,
		.kind = kind,
		.flags = DRAY_MEMORY_DEFERRED,
		.stream = stream,
		.finalize = base_give_back,
	};
	struct dray_resource *resource;
	int ret = dray_manager_resource(self, &resource);

	if (ret)
		return ret;
	memory.ctx = resource;
	ret = dray_resource_allocate(resource, size, 0, stream,
				     &memory.pointer);
	if (!ret) {
		ret = dray_memory_create(self, &memory, out);
		if (ret)
			base_give_back(resource, &memory);
	}
	dray_resource_unref(resource);
	return ret;
}

static int native_memalloc(struct dray_manager *self, size_t size,
			   uint64_t stream, struct dray_memory **out)
{
	return take_block(self, size, stream, DRAY_MEMORY_SHARED, out);
}

static void drop_buffer(void *buffer,
			const struct dray_memory_description *memory)
{
	(void)memory;
	dray_buffer_unref(buffer);
}

static int take_write_combined(struct dray_manager *self, size_t size,
			       enum dray_memory_kind kind,
			       struct dray_memory **out)
{
	const struct dray_buffer_options options = {
		.name = "manager",
		.mode = DRAY_MODE_WRITE_COMBINED,
	};
	struct dray_memory_description memory = {
		.bytes = size,
		.kind = kind,
		.flags = DRAY_MEMORY_DEFERRED,
		.finalize = drop_buffer,
	};
	struct dray_buffer *buffer;
	int ret = dray_buffer_alloc(self->node, size ? size : 1, &options,
				    &buffer);

	if (ret)
		return ret;
	memory.pointer = dray_buffer_data(buffer);
	memory.ctx = buffer;
	ret = dray_memory_create(self, &memory, out);
	if (ret)
		dray_buffer_unref(buffer);
	return ret;
}

/* Memory of the node is pinned, and for all devices: that needs no more. */
static int host_memhostalloc(struct dray_manager *self, size_t size,
			     uint32_t flags, struct dray_memory **out)
{
	enum dray_memory_kind kind = flags & DRAY_HOST_MAPPED
					     ? DRAY_MEMORY_MAPPED
					     : DRAY_MEMORY_PINNED;

	if (flags & DRAY_HOST_WRITE_COMBINED)
		return take_write_combined(self, size, kind, out);
	return take_block(self, size, 0, kind, out);
}

static void base_unpin(void *ctx, const struct dray_memory_description *memory)
{
	DRAY_NO_CANCEL;
	int fd = (int)(intptr_t)ctx;

	(void)memory;
	if (fd >= 0)
		close(fd);
}

static int host_mempin(struct dray_manager *self,
		       const struct dray_memory_description *memory,
		       uint32_t flags, struct dray_memory **out)
{
	struct dray_memory_description pinned;
	int ret, fd;

	ret = dray_options_read(&pinned, sizeof(pinned), memory,
				DRAY_MEMORY_DESCRIPTION_SIZE_FIRST, "mempin");
	if (ret)
		return ret;
	ret = dray_node_pin(self->node, pinned.pointer, pinned.bytes,
			    flags & DRAY_HOST_READ_ONLY, &fd);
	if (ret)
		return ret;
	pinned.ctx = (void *)(intptr_t)fd;
	pinned.finalize = base_unpin;
	ret = dray_memory_create(self, &pinned, out);
	if (ret)
		base_unpin(pinned.ctx, &pinned);
	return ret;
}

static int native_get_memory_info(struct dray_manager *self,
				  struct dray_capacity *out)
{
	struct dray_resource *resource;
	int ret = dray_manager_resource(self, &resource);

	if (ret)
		return ret;
	ret = dray_resource_capacity(resource, out);
	dray_resource_unref(resource);
	return ret;
}

/* The resource exists already: nothing is left to prepare. */
static int host_initialize(struct dray_manager *self)
{
	struct dray_resource *resource;
	int ret = dray_manager_resource(self, &resource);

	if (!ret)
		dray_resource_unref(resource);
	return ret;
}

static int host_reset(struct dray_manager *self)
{
	struct dray_pool *pool;

	dray_guard_take(&self->guard);
	pool = self->pool;
	dray_guard_give(&self->guard);
	/* The manager closes it; the caller of reset holds the manager. */
	if (pool)
		dray_pool_trim(pool);
	return 0;
}

const struct dray_manager_ops *
dray_manager_base_ops(enum dray_manager_base base)
{
	static const struct dray_manager_ops host_only = {
		.interface_version = DRAY_MANAGER_INTERFACE,
		.name = "host-only",
		.initialize = host_initialize,
		.memhostalloc = host_memhostalloc,
		.mempin = host_mempin,
		.reset = host_reset,
	};
	static const struct dray_manager_ops native = {
		.interface_version = DRAY_MANAGER_INTERFACE,
		.name = "native",
		.initialize = host_initialize,
		.memalloc = native_memalloc,
		.memhostalloc = host_memhostalloc,
		.mempin = host_mempin,
		.get_memory_info = native_get_memory_info,
		.get_ipc_handle = dray_native_get_ipc_handle,
		.reset = host_reset,
	};

	switch (base) {
	case DRAY_MANAGER_HOST_ONLY:
		return &host_only;
	case DRAY_MANAGER_NATIVE:
		return &native;
	default:
		return NULL;
	}
}
