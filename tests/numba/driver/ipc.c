// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Memory for other processes: a handle is the record of the device's manager,
 * which is as long.
 */
#include <string.h>

#include "driver.h"

#define CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS 1u

_Static_assert(sizeof(struct cuda_ipc_handle) == sizeof(struct dray_ipc_record),
	       "a handle is a record");

/* As the driver does, for the whole allocation around the address. */
int cuIpcGetMemHandle(struct cuda_ipc_handle *out, uint64_t address)
{
	const struct allocation *allocation;
	struct dray_ipc_handle handle;
	int result = CUDA_ERROR_INVALID_VALUE;

	pthread_mutex_lock(&driver_lock);
	allocation = allocation_find(address);
	if (allocation && allocation->origin == ORIGIN_DEVICE)
		result = cuda_result_of(dray_manager_get_ipc_handle(
			dray_memory_manager_of(allocation->memory),
			allocation->memory, &handle));
	pthread_mutex_unlock(&driver_lock);
	if (result == CUDA_SUCCESS)
		memcpy(out, &handle.record, sizeof(*out));
	return result;
}

/* Takes over @memory, on failure too. */
static int adopt(struct context *context, struct dray_memory *memory)
{
	const struct allocation *known = allocation_find(
		(uintptr_t)dray_memory_describe(memory)->pointer);

	/* The driver refuses what the process has itself. */
	if (known && known->origin != ORIGIN_IPC) {
		dray_memory_unref(memory);
		return CUDA_ERROR_INVALID_CONTEXT;
	}
	return allocation_add(context, ORIGIN_IPC, memory);
}

int cuIpcOpenMemHandle(uint64_t *out, struct cuda_ipc_handle bytes,
		       unsigned int flags)
{
	struct dray_ipc_handle handle = { 0 };
	struct dray_memory *memory;
	struct dray_manager *manager;
	struct context *context;
	int result;

	if (flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(&handle.record, &bytes, sizeof(bytes));
	pthread_mutex_lock(&driver_lock);
	result = context_current(&context);
	if (result == CUDA_SUCCESS)
		result = device_manager(context->device, &manager);
	if (result == CUDA_SUCCESS)
		result = cuda_result_of(dray_manager_open_ipc_handle(
			manager, &handle, &memory));
	if (result == CUDA_SUCCESS) {
		*out = (uintptr_t)dray_memory_describe(memory)->pointer;
		result = adopt(context, memory);
	}
	pthread_mutex_unlock(&driver_lock);
	return result;
}

int cuIpcCloseMemHandle(uint64_t address)
{
	bool known;

	pthread_mutex_lock(&driver_lock);
	known = allocation_remove(ORIGIN_IPC, address);
	pthread_mutex_unlock(&driver_lock);
	return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
