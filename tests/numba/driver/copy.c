// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Copies, by the CPU, done when the call returns, in streams too.  An address
 * that the device does not reach is an error, as it is on a GPU.
 */
#include <string.h>

#include "driver.h"

static int copy(void *to, const void *from, size_t size, bool to_device,
		bool from_device)
{
	if (!size)
		return CUDA_SUCCESS;
	if ((to_device && !device_reaches((uintptr_t)to, size)) ||
	    (from_device && !device_reaches((uintptr_t)from, size)))
		return CUDA_ERROR_INVALID_VALUE;
	memmove(to, from, size);
	return CUDA_SUCCESS;
}

int cuMemcpyHtoD(uint64_t to, const void *from, size_t size)
{
	return copy((void *)(uintptr_t)to, from, size, true, false);
}

int cuMemcpyDtoH(void *to, uint64_t from, size_t size)
{
	return copy(to, (const void *)(uintptr_t)from, size, false, true);
}

int cuMemcpyDtoD(uint64_t to, uint64_t from, size_t size)
{
	return copy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, size,
		    true, true);
}

int cuMemsetD8(uint64_t to, unsigned char byte, size_t size)
{
	if (!size)
		return CUDA_SUCCESS;
	if (!device_reaches(to, size))
		return CUDA_ERROR_INVALID_VALUE;
	memset((void *)(uintptr_t)to, byte, size);
	return CUDA_SUCCESS;
}

int cuMemcpyHtoDAsync(uint64_t to, const void *from, size_t size,
		      struct stream *stream)
{
	return cuMemcpyHtoD(to, from, size);
}

int cuMemcpyDtoHAsync(void *to, uint64_t from, size_t size,
		      struct stream *stream)
{
	return cuMemcpyDtoH(to, from, size);
}

int cuMemcpyDtoDAsync(uint64_t to, uint64_t from, size_t size,
		      struct stream *stream)
{
	return cuMemcpyDtoD(to, from, size);
}

int cuMemsetD8Async(uint64_t to, unsigned char byte, size_t size,
		    struct stream *stream)
{
	return cuMemsetD8(to, byte, size);
}
