/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The calls of the CUDA driver that Numba's memory management makes, with the
 * names that Numba looks for.  There is no header of NVIDIA's here: types are
 * those that Numba passes, an address of the device is an integer of 64 bits,
 * and all handles are pointers.
 */
#ifndef DRAY_TEST_CUDA_API_H
#define DRAY_TEST_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

#define CUDA_API __attribute__((visibility("default")))

/* What a call returns; the numbers are the driver's. */
enum cuda_result {
	CUDA_SUCCESS = 0,
	CUDA_ERROR_INVALID_VALUE = 1,
	CUDA_ERROR_OUT_OF_MEMORY = 2,
	CUDA_ERROR_NOT_INITIALIZED = 3,
	CUDA_ERROR_NO_DEVICE = 100,
	CUDA_ERROR_INVALID_DEVICE = 101,
	CUDA_ERROR_INVALID_CONTEXT = 201,
	CUDA_ERROR_INVALID_HANDLE = 400,
	CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
	CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712,
	CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED = 713,
	CUDA_ERROR_NOT_SUPPORTED = 801,
	CUDA_ERROR_UNKNOWN = 999,
};

/* For memory of the host, allocated or registered. */
#define CU_HOST_PORTABLE	0x01u
#define CU_HOST_DEVICEMAP	0x02u
#define CU_HOST_WRITECOMBINED	0x04u	/* not to register */

#define CU_MEM_ATTACH_GLOBAL	0x01u
#define CU_MEM_ATTACH_HOST	0x02u

#define CU_POINTER_ATTRIBUTE_DEVICE_POINTER	3

struct context;
struct stream;
struct event;

/* device.c */
CUDA_API int cuInit(unsigned int flags);
CUDA_API int cuDriverGetVersion(int *version);
CUDA_API int cuDeviceGetCount(int *count);
CUDA_API int cuDeviceGet(int *device, int number);
CUDA_API int cuDeviceGetName(char *name, int length, int device);
CUDA_API int cuDeviceGetUuid(unsigned char *uuid, int device);
CUDA_API int cuDeviceGetAttribute(int *value, int attribute, int device);
CUDA_API int cuDeviceCanAccessPeer(int *can, int device, int peer);

/* context.c */
CUDA_API int cuDevicePrimaryCtxRetain(struct context **out, int device);
CUDA_API int cuDevicePrimaryCtxRelease(int device);
CUDA_API int cuDevicePrimaryCtxReset(int device);
CUDA_API int cuCtxCreate(struct context **out, unsigned int flags, int device);
CUDA_API int cuCtxDestroy(struct context *context);
CUDA_API int cuCtxPushCurrent(struct context *context);
CUDA_API int cuCtxPopCurrent(struct context **out);
CUDA_API int cuCtxGetCurrent(struct context **out);
CUDA_API int cuCtxGetDevice(int *device);
CUDA_API int cuCtxSynchronize(void);

/* memory.c */
CUDA_API int cuMemGetInfo(size_t *free_bytes, size_t *total);
CUDA_API int cuMemAlloc(uint64_t *out, size_t size);
CUDA_API int cuMemAllocManaged(uint64_t *out, size_t size, unsigned int flags);
CUDA_API int cuMemFree(uint64_t address);
CUDA_API int cuMemHostAlloc(void **out, size_t size, unsigned int flags);
CUDA_API int cuMemFreeHost(void *pointer);
CUDA_API int cuMemHostRegister(void *pointer, size_t size, unsigned int flags);
CUDA_API int cuMemHostUnregister(void *pointer);
CUDA_API int cuMemHostGetDevicePointer(uint64_t *out, void *pointer,
				       unsigned int flags);
CUDA_API int cuMemGetAddressRange(uint64_t *base, size_t *size,
				  uint64_t address);
CUDA_API int cuPointerGetAttribute(void *out, unsigned int attribute,
				   uint64_t address);

/* copy.c */
CUDA_API int cuMemcpyHtoD(uint64_t to, const void *from, size_t size);
CUDA_API int cuMemcpyDtoH(void *to, uint64_t from, size_t size);
CUDA_API int cuMemcpyDtoD(uint64_t to, uint64_t from, size_t size);
CUDA_API int cuMemsetD8(uint64_t to, unsigned char byte, size_t size);
CUDA_API int cuMemcpyHtoDAsync(uint64_t to, const void *from, size_t size,
			       struct stream *stream);
CUDA_API int cuMemcpyDtoHAsync(void *to, uint64_t from, size_t size,
			       struct stream *stream);
CUDA_API int cuMemcpyDtoDAsync(uint64_t to, uint64_t from, size_t size,
			       struct stream *stream);
CUDA_API int cuMemsetD8Async(uint64_t to, unsigned char byte, size_t size,
			     struct stream *stream);

/* stream.c */
CUDA_API int cuStreamCreate(struct stream **out, unsigned int flags);
CUDA_API int cuStreamDestroy(struct stream *stream);
CUDA_API int cuStreamSynchronize(struct stream *stream);
CUDA_API int cuStreamWaitEvent(struct stream *stream, struct event *event,
			       unsigned int flags);
CUDA_API int cuStreamAddCallback(struct stream *stream,
				 void (*callback)(struct stream *stream,
						  int status, void *data),
				 void *data, unsigned int flags);
CUDA_API int cuEventCreate(struct event **out, unsigned int flags);
CUDA_API int cuEventDestroy(struct event *event);
CUDA_API int cuEventRecord(struct event *event, struct stream *stream);
CUDA_API int cuEventQuery(struct event *event);
CUDA_API int cuEventSynchronize(struct event *event);
CUDA_API int cuEventElapsedTime(float *milliseconds, struct event *start,
				struct event *end);
CUDA_API int cuProfilerStart(void);
CUDA_API int cuProfilerStop(void);

/* How another process opens memory: plain bytes. */
struct cuda_ipc_handle {
	unsigned char bytes[64];
};

/* ipc.c */
CUDA_API int cuIpcGetMemHandle(struct cuda_ipc_handle *out, uint64_t address);
CUDA_API int cuIpcOpenMemHandle(uint64_t *out, struct cuda_ipc_handle handle,
				unsigned int flags);
CUDA_API int cuIpcCloseMemHandle(uint64_t address);

#endif /* DRAY_TEST_CUDA_API_H */
