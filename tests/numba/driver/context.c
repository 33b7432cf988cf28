// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Contexts: a primary one for each device, counted, and others; and a stack of
 * them for each thread.  What was allocated in a context ends with it.
 */
#include <stdlib.h>

#include "driver.h"

#define STACK_ROOM 32

static struct context primary[DEVICES];

static _Thread_local struct {
	struct context *contexts[STACK_ROOM];
	size_t count;
} stack;

int context_current(struct context **out)
{
	struct context *top;

	if (!stack.count)
		return CUDA_ERROR_INVALID_CONTEXT;
	top = stack.contexts[stack.count - 1];
	if (!top->references)
		return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	*out = top;
	return CUDA_SUCCESS;
}

int cuDevicePrimaryCtxRetain(struct context **out, int device)
{
	struct dray_manager *manager;
	int result;

	if (!device_valid(device))
		return CUDA_ERROR_INVALID_DEVICE;
	pthread_mutex_lock(&driver_lock);
	result = device_manager(device, &manager);
	if (result == CUDA_SUCCESS) {
		primary[device].device = device;
		primary[device].references++;
		*out = &primary[device];
	}
	pthread_mutex_unlock(&driver_lock);
	return result;
}

int cuDevicePrimaryCtxRelease(int device)
{
	int result = CUDA_ERROR_INVALID_CONTEXT;

	if (!device_valid(device))
		return CUDA_ERROR_INVALID_DEVICE;
	pthread_mutex_lock(&driver_lock);
	if (primary[device].references) {
		result = CUDA_SUCCESS;
		if (!--primary[device].references)
			allocation_remove_all(&primary[device]);
	}
	pthread_mutex_unlock(&driver_lock);
	return result;
}

int cuDevicePrimaryCtxReset(int device)
{
	if (!device_valid(device))
		return CUDA_ERROR_INVALID_DEVICE;
	pthread_mutex_lock(&driver_lock);
	allocation_remove_all(&primary[device]);
	pthread_mutex_unlock(&driver_lock);
	return CUDA_SUCCESS;
}

int cuCtxCreate(struct context **out, unsigned int flags, int device)
{
	struct dray_manager *manager;
	struct context *context;
	int result;

	(void)flags; /* how to wait, and nothing waits here */
	if (!device_valid(device))
		return CUDA_ERROR_INVALID_DEVICE;
	context = calloc(1, sizeof(*context));
	if (!context)
		return CUDA_ERROR_OUT_OF_MEMORY;
	context->device = device;
	context->references = 1;
	pthread_mutex_lock(&driver_lock);
	result = device_manager(device, &manager);
	pthread_mutex_unlock(&driver_lock);
	if (result == CUDA_SUCCESS)
		result = cuCtxPushCurrent(context);
	if (result == CUDA_SUCCESS)
		*out = context;
	else
		free(context);
	return result;
}

/* Leaves the stack of this thread only, as the driver does. */
int cuCtxDestroy(struct context *context)
{
	if (!context || (context >= primary && context < primary + DEVICES))
		return CUDA_ERROR_INVALID_CONTEXT;
	pthread_mutex_lock(&driver_lock);
	allocation_remove_all(context);
	pthread_mutex_unlock(&driver_lock);
	if (stack.count && stack.contexts[stack.count - 1] == context)
		stack.count--;
	free(context);
	return CUDA_SUCCESS;
}

int cuCtxPushCurrent(struct context *context)
{
	if (!context || stack.count == STACK_ROOM)
		return CUDA_ERROR_INVALID_CONTEXT;
	stack.contexts[stack.count++] = context;
	return CUDA_SUCCESS;
}

int cuCtxPopCurrent(struct context **out)
{
	if (!stack.count)
		return CUDA_ERROR_INVALID_CONTEXT;
	*out = stack.contexts[--stack.count];
	return CUDA_SUCCESS;
}

int cuCtxGetCurrent(struct context **out)
{
	*out = stack.count ? stack.contexts[stack.count - 1] : NULL;
	return CUDA_SUCCESS;
}

int cuCtxGetDevice(int *device)
{
	if (!stack.count)
		return CUDA_ERROR_INVALID_CONTEXT;
	*device = stack.contexts[stack.count - 1]->device;
	return CUDA_SUCCESS;
}

int cuCtxSynchronize(void)
{
	return stack.count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}
