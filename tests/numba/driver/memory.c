// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Memory: objects of the device's manager, in a list, and the rules that the
 * driver has for them.  An address is the same for the CPU and the device, as
 * with unified addressing; the kind of an object says whether the device may
 * use it.
 */
#include <stdlib.h>
#include <unistd.h>

#include "driver.h"

static struct allocation *allocations;

static uint64_t start_of(const struct allocation *allocation)
{
	return (uintptr_t)dray_memory_describe(allocation->memory)->pointer;
}

static size_t size_of(const struct allocation *allocation)
{
	return dray_memory_describe(allocation->memory)->bytes;
}

int allocation_add(struct context *context, enum origin origin,
		   struct dray_memory *memory)
{
	struct allocation *allocation = calloc(1, sizeof(*allocation));

	if (!allocation) {
		dray_memory_unref(memory);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	allocation->memory = memory;
	allocation->context = context;
	allocation->origin = origin;
	allocation->next = allocations;
	allocations = allocation;
	return CUDA_SUCCESS;
}

struct allocation *allocation_find(uint64_t address)
{
	struct allocation *allocation;

	for (allocation = allocations; allocation;
	     allocation = allocation->next)
		if (address - start_of(allocation) < size_of(allocation))
			return allocation;
	return NULL;
}

static void remove_at(struct allocation **link)
{
	struct allocation *allocation = *link;

	*link = allocation->next;
	dray_memory_unref(allocation->memory);
	free(allocation);
}

bool allocation_remove(enum origin origin, uint64_t address)
{
	struct allocation **link;

	for (link = &allocations; *link; link = &(*link)->next)
		if ((*link)->origin == origin && start_of(*link) == address) {
			remove_at(link);
			return true;
		}
	return false;
}

void allocation_remove_all(const struct context *context)
{
	struct allocation **link = &allocations;

	while (*link)
		if ((*link)->context == context)
			remove_at(link);
		else
			link = &(*link)->next;
}

/* The context of this thread and the manager of its device, with the lock. */
static int current(struct context **context, struct dray_manager **manager)
{
	int result = context_current(context);

	return result == CUDA_SUCCESS
		       ? device_manager((*context)->device, manager)
		       : result;
}

int cuMemGetInfo(size_t *free_bytes, size_t *total)
{
	struct dray_capacity capacity = { 0 };
	struct dray_manager *manager;
	struct context *context;
	int result;

	pthread_mutex_lock(&driver_lock);
	result = current(&context, &manager);
	if (result == CUDA_SUCCESS)
		result = cuda_result_of(
			dray_manager_get_memory_info(manager, &capacity));
	pthread_mutex_unlock(&driver_lock);
	*free_bytes = (size_t)capacity.free;
	*total = (size_t)capacity.total;
	return result;
}

/* What an allocation is asked for; host: with these flags of dray. */
static int allocate(enum origin origin, size_t size, uint32_t host, void **out)
{
	struct dray_memory *memory;
	struct dray_manager *manager;
	struct context *context;
	int result;

	if (!size)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&driver_lock);
	result = current(&context, &manager);
	if (result == CUDA_SUCCESS)
		result = cuda_result_of(
			origin == ORIGIN_HOST
				? dray_manager_memhostalloc(manager, size, host,
							    &memory)
				: dray_manager_memalloc(manager, size, 0,
							&memory));
	if (result == CUDA_SUCCESS) {
		*out = dray_memory_describe(memory)->pointer;
		result = allocation_add(context, origin, memory);
	}
	pthread_mutex_unlock(&driver_lock);
	return result;
}

static int give_back(enum origin origin, uint64_t address, int otherwise)
{
	bool known;

	pthread_mutex_lock(&driver_lock);
	known = allocation_remove(origin, address);
	pthread_mutex_unlock(&driver_lock);
	return known ? CUDA_SUCCESS : otherwise;
}

int cuMemAlloc(uint64_t *out, size_t size)
{
	void *pointer = NULL;
	int result = allocate(ORIGIN_DEVICE, size, 0, &pointer);

	*out = (uintptr_t)pointer;
	return result;
}

/* All memory of a device is the CPU's too. */
int cuMemAllocManaged(uint64_t *out, size_t size, unsigned int flags)
{
	if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
		return CUDA_ERROR_INVALID_VALUE;
	return cuMemAlloc(out, size);
}

int cuMemFree(uint64_t address)
{
	return address ? give_back(ORIGIN_DEVICE, address,
				   CUDA_ERROR_INVALID_VALUE)
		       : CUDA_SUCCESS;
}

static uint32_t host_flags(unsigned int flags)
{
	return (flags & CU_HOST_DEVICEMAP ? DRAY_HOST_MAPPED : 0) |
	       (flags & CU_HOST_PORTABLE ? DRAY_HOST_PORTABLE : 0) |
	       (flags & CU_HOST_WRITECOMBINED ? DRAY_HOST_WRITE_COMBINED : 0);
}

int cuMemHostAlloc(void **out, size_t size, unsigned int flags)
{
	if (flags &
	    ~(CU_HOST_DEVICEMAP | CU_HOST_PORTABLE | CU_HOST_WRITECOMBINED))
		return CUDA_ERROR_INVALID_VALUE;
	return allocate(ORIGIN_HOST, size, host_flags(flags), out);
}

int cuMemFreeHost(void *pointer)
{
	return give_back(ORIGIN_HOST, (uintptr_t)pointer,
			 CUDA_ERROR_INVALID_VALUE);
}

/* Whether a page of the range is registered: the driver pins whole ones. */
static bool registered(uint64_t start, size_t size)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t first = start / page, last = (start + size - 1) / page;
	const struct allocation *allocation;

	for (allocation = allocations; allocation;
	     allocation = allocation->next)
		if (allocation->origin == ORIGIN_REGISTERED &&
		    start_of(allocation) / page <= last &&
		    (start_of(allocation) + size_of(allocation) - 1) / page >=
			    first)
			return true;
	return false;
}

int cuMemHostRegister(void *pointer, size_t size, unsigned int flags)
{
	struct dray_memory *memory;
	struct dray_manager *manager;
	struct context *context;
	int result;

	if (!pointer || !size ||
	    flags & ~(CU_HOST_DEVICEMAP | CU_HOST_PORTABLE))
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&driver_lock);
	result = current(&context, &manager);
	if (result == CUDA_SUCCESS && registered((uintptr_t)pointer, size))
		result = CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
	if (result == CUDA_SUCCESS)
		result = cuda_result_of(dray_manager_mempin(
			manager, pointer, size,
			host_flags(flags) & DRAY_HOST_MAPPED, NULL, NULL,
			&memory));
	if (result == CUDA_SUCCESS)
		result = allocation_add(context, ORIGIN_REGISTERED, memory);
	pthread_mutex_unlock(&driver_lock);
	return result;
}

int cuMemHostUnregister(void *pointer)
{
	return give_back(ORIGIN_REGISTERED, (uintptr_t)pointer,
			 CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

int cuMemHostGetDevicePointer(uint64_t *out, void *pointer, unsigned int flags)
{
	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	return cuPointerGetAttribute(out, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
				     (uintptr_t)pointer);
}

int cuMemGetAddressRange(uint64_t *base, size_t *size, uint64_t address)
{
	const struct allocation *allocation;

	pthread_mutex_lock(&driver_lock);
	allocation = allocation_find(address);
	if (allocation) {
		*base = start_of(allocation);
		*size = size_of(allocation);
	}
	pthread_mutex_unlock(&driver_lock);
	return allocation ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

int cuPointerGetAttribute(void *out, unsigned int attribute, uint64_t address)
{
	if (attribute != CU_POINTER_ATTRIBUTE_DEVICE_POINTER)
		return CUDA_ERROR_INVALID_VALUE;
	if (!device_reaches(address, 1))
		return CUDA_ERROR_INVALID_VALUE;
	*(uint64_t *)out = address;
	return CUDA_SUCCESS;
}

bool device_reaches(uint64_t address, size_t size)
{
	const struct allocation *allocation;
	bool reaches = false;

	pthread_mutex_lock(&driver_lock);
	allocation = allocation_find(address);
	if (allocation)
		reaches = dray_memory_describe(allocation->memory)->kind !=
				  DRAY_MEMORY_PINNED &&
			  size <= size_of(allocation) -
					  (address - start_of(allocation));
	pthread_mutex_unlock(&driver_lock);
	return reaches;
}
