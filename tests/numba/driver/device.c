// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Devices.  The memory of each is a pool of shareable host memory, with a
 * limit over it; a manager frees at once, as the driver does: it is Numba that
 * puts frees off.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "driver.h"

/* Numba's tests fill half of it. */
#define DEVICE_BYTES ((uint64_t)256 << 20)
/* The alignment of cuMemAlloc(). */
#define DEVICE_GRANULE 256

pthread_mutex_t driver_lock = PTHREAD_MUTEX_INITIALIZER;

static struct dray_node *node; /* NULL before cuInit() */
static struct dray_manager *managers[DEVICES];

/* The numbers that Numba asks for, and what a device says. */
static const struct {
	int number, value;
} attributes[] = {
	{ 1, 1024 }, /* MAX_THREADS_PER_BLOCK */
	{ 17, 0 }, /* KERNEL_EXEC_TIMEOUT */
	{ 19, 1 }, /* CAN_MAP_HOST_MEMORY */
	{ 33, 0 }, /* PCI_BUS_ID */
	{ 35, 0 }, /* TCC_DRIVER */
	{ 41, 1 }, /* UNIFIED_ADDRESSING */
	{ 50, 0 }, /* PCI_DOMAIN_ID */
	{ 75, 7 }, /* COMPUTE_CAPABILITY_MAJOR */
	{ 76, 5 }, /* COMPUTE_CAPABILITY_MINOR */
	{ 87, 32 }, /* SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO */
};
#define PCI_DEVICE_ID 34

int cuda_result_of(int error)
{
	switch (error) {
	case 0:
		return CUDA_SUCCESS;
	case -ENOMEM:
	case -EDQUOT:
		return CUDA_ERROR_OUT_OF_MEMORY;
	case -EINVAL:
	case -EFAULT:
		return CUDA_ERROR_INVALID_VALUE;
	case -EOPNOTSUPP:
		return CUDA_ERROR_NOT_SUPPORTED;
	default:
		return CUDA_ERROR_UNKNOWN;
	}
}

bool device_valid(int device)
{
	return device >= 0 && device < DEVICES;
}

static int manager_make(struct dray_manager **out)
{
	const struct dray_pool_options options = {
		.name = "stand-in",
		.granule = DEVICE_GRANULE,
	};
	struct dray_resource *memory = NULL, *limited = NULL;
	struct dray_pool *pool;
	int error = dray_pool_create(node, &options, &pool);

	if (error)
		return error;
	error = dray_resource_pool(pool, &memory);
	if (!error)
		error = dray_resource_limit(memory, DEVICE_BYTES, &limited);
	if (!error)
		error = dray_manager_create(node, NULL, limited, out);
	if (!error)
		error = dray_manager_set_pending(*out, 0, 0);
	dray_resource_unref(limited);
	dray_resource_unref(memory);
	/* The pool stays: a device has its memory as long as the process. */
	if (error)
		dray_pool_close(pool);
	return error;
}

int device_manager(int device, struct dray_manager **out)
{
	int error = 0;

	if (!managers[device])
		error = manager_make(&managers[device]);
	*out = managers[device];
	return cuda_result_of(error);
}

int cuInit(unsigned int flags)
{
	int error = 0;

	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&driver_lock);
	if (!node)
		error = dray_node_open("host:shareable", &node);
	pthread_mutex_unlock(&driver_lock);
	return error ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS;
}

int cuDriverGetVersion(int *version)
{
	*version = 11020;
	return CUDA_SUCCESS;
}

int cuDeviceGetCount(int *count)
{
	*count = DEVICES;
	return node ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

int cuDeviceGet(int *device, int number)
{
	if (!device_valid(number))
		return CUDA_ERROR_INVALID_DEVICE;
	*device = number;
	return CUDA_SUCCESS;
}

int cuDeviceGetName(char *name, int length, int device)
{
	if (!device_valid(device))
		return CUDA_ERROR_INVALID_DEVICE;
	if (length <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	snprintf(name, (size_t)length, "no GPU: dray memory %d", device);
	return CUDA_SUCCESS;
}

int cuDeviceGetUuid(unsigned char *uuid, int device)
{
	if (!device_valid(device))
		return CUDA_ERROR_INVALID_DEVICE;
	memset(uuid, 0, 16);
	uuid[15] = (unsigned char)device;
	return CUDA_SUCCESS;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	if (!device_valid(device))
		return CUDA_ERROR_INVALID_DEVICE;
	if (attribute == PCI_DEVICE_ID) {
		*value = device;
		return CUDA_SUCCESS;
	}
	for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++)
		if (attributes[i].number == attribute) {
			*value = attributes[i].value;
			return CUDA_SUCCESS;
		}
	return CUDA_ERROR_INVALID_VALUE;
}

/* Never: so that Numba copies in stages. */
int cuDeviceCanAccessPeer(int *can, int device, int peer)
{
	if (!device_valid(device) || !device_valid(peer))
		return CUDA_ERROR_INVALID_DEVICE;
	*can = 0;
	return CUDA_SUCCESS;
}
