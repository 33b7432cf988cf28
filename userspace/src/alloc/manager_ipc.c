// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Memory for other processes: the buffer around it and where it lies there.
 * What arrives is measured against the real size of the buffer.
 */
#include <errno.h>
#include <inttypes.h>

#include "alloc/manager.h"
#include "base/error.h"

int dray_native_get_ipc_handle(struct dray_manager *self,
			       const struct dray_memory *memory,
			       struct dray_ipc_handle *out)
{
	const struct dray_memory_description *is = &memory->is;
	struct dray_location where;

	(void)self;
	if (dray_locate(is->pointer, &where) ||
	    where.offset > dray_buffer_size(where.buffer) ||
	    is->size > dray_buffer_size(where.buffer) - where.offset)
		return dray_fail(-EOPNOTSUPP,
				 "the memory at %p lies in no buffer of dray",
				 is->pointer);
	*out = (struct dray_ipc_handle){
		.fd = dray_buffer_fd(where.buffer),
		.buffer = dray_buffer_id(where.buffer),
		.buffer_size = dray_buffer_size(where.buffer),
		.offset = where.offset,
		.size = is->size,
	};
	if (out->fd < 0)
		return dray_fail(-EOPNOTSUPP,
				 "the memory at %p is private to this process",
				 is->pointer);
	return 0;
}

static void drop_buffer(void *buffer,
			const struct dray_memory_description *memory)
{
	(void)memory;
	dray_buffer_unref(buffer);
}

int dray_manager_open_ipc_handle(struct dray_manager *manager,
				 const struct dray_ipc_handle *handle,
				 struct dray_memory **out)
{
	struct dray_memory_description memory = {
		.size = (size_t)handle->size,
		.kind = DRAY_MEMORY_SHARED,
		.finalize = drop_buffer,
	};
	struct dray_buffer *buffer;
	uint64_t size;
	int ret = dray_buffer_import(manager->node, handle->fd, &buffer);

	if (ret)
		return ret;
	size = dray_buffer_size(buffer);
	if (handle->offset > size || handle->size > size - handle->offset)
		ret = dray_fail(-EINVAL,
				"%" PRIu64 " bytes at %" PRIu64
				", the buffer has %" PRIu64,
				handle->size, handle->offset, size);
	memory.pointer = (char *)dray_buffer_data(buffer) + handle->offset;
	memory.ctx = buffer;
	if (!ret)
		ret = dray_memory_create(manager, &memory, out);
	if (ret)
		dray_buffer_unref(buffer);
	return ret;
}
