// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Memory objects for other processes: a record of exactly their bytes.  An
 * opened record becomes an ordinary object, whose end closes the lease.
 */
#include <errno.h>

#include <dray/ipc.h>
#include "base/error.h"
#include "manager/manager.h"

int dray_native_get_ipc_handle(struct dray_manager *self,
			       const struct dray_memory *memory,
			       struct dray_ipc_handle *out)
{
	const struct dray_memory_description *is = &memory->is;

	(void)self;
	out->size = is->bytes;
	return dray_ipc_export(is->pointer, is->bytes, 0, &out->record);
}

static void close_memory(void *opened,
			 const struct dray_memory_description *memory)
{
	(void)memory;
	dray_ipc_close(opened);
}

int dray_manager_open_ipc_handle(struct dray_manager *manager,
				 const struct dray_ipc_handle *handle,
				 struct dray_memory **out)
{
	struct dray_memory_description memory = {
		.kind = DRAY_MEMORY_SHARED,
		.finalize = close_memory,
	};
	struct dray_ipc_memory *opened;
	int ret;

	if (!dray_given(manager, __func__) || !dray_given(handle, __func__) ||
	    !dray_given(out, __func__))
		return -EINVAL;
	ret = dray_ipc_open(&handle->record, manager->node, &opened);
	if (ret)
		return ret;
	memory.pointer = dray_ipc_data(opened);
	memory.bytes = (size_t)dray_ipc_size(opened);
	memory.ctx = opened;
	ret = dray_memory_create(manager, &memory, out);
	if (ret)
		dray_ipc_close(opened);
	return ret;
}
