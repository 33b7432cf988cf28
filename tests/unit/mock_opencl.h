/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The real OpenCL behind functions that count its objects and fail when a test asks
 * for it: the linker sends the library's dlsym() here.  Facts of devices that are not
 * at hand are told in place of the device's own.
 */
#ifndef DRAY_TESTS_MOCK_OPENCL_H
#define DRAY_TESTS_MOCK_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>

#include "unit.h"

static struct {
	int to_go; /* calls until one fails; below 0: none will */
	cl_int error; /* of the one that fails */
	const char *failed; /* the name of that one; NULL: none has failed */
	_Atomic int alive; /* objects */
	int buffers; /* that were made */
	size_t bytes; /* of them */
	int launches;
	void (*in_launch)(int number); /* called before each; may be NULL */
	void (*in_wait)(void); /* called before each wait; may be NULL */
	cl_device_info told; /* a fact of the device; 0: none */
	uint64_t tells;
} opencl = { .to_go = -1 };

static inline bool mock_fails(const char *name)
{
	if (opencl.to_go < 0 || opencl.to_go--)
		return false;
	opencl.failed = name;
	return true;
}

static void *mock_real(const char *name);
#define REAL(name) ((__typeof__(&name))mock_real(#name))

/* A function that returns a status. */
#define STATUS(name, parameters, arguments)              \
	static cl_int CL_API_CALL mock_##name parameters \
	{                                                \
		if (mock_fails(#name))                   \
			return opencl.error;             \
		return REAL(name) arguments;             \
	}

/* One that makes an object, or returns NULL and a status. */
#define MAKER(type, name, parameters, arguments)       \
	static type CL_API_CALL mock_##name parameters \
	{                                              \
		type made;                             \
                                                       \
		if (mock_fails(#name)) {               \
			*error = opencl.error;         \
			return NULL;                   \
		}                                      \
		made = REAL(name) arguments;           \
		opencl.alive += made != NULL;          \
		return made;                           \
	}

#define RELEASE(type, name)                                \
	static cl_int CL_API_CALL mock_##name(type object) \
	{                                                  \
		opencl.alive--;                            \
		return REAL(name)(object);                 \
	}

STATUS(clGetPlatformIDs, (cl_uint most, cl_platform_id *ids, cl_uint *count),
       (most, ids, count))
STATUS(clGetDeviceIDs,
       (cl_platform_id id, cl_device_type type, cl_uint most, cl_device_id *ids,
	cl_uint *count),
       (id, type, most, ids, count))
MAKER(cl_context, clCreateContext,
      (const cl_context_properties *properties, cl_uint count,
       const cl_device_id *ids,
       void(CL_CALLBACK *call)(const char *, const void *, size_t, void *),
       void *data, cl_int *error),
      (properties, count, ids, call, data, error))
MAKER(cl_command_queue, clCreateCommandQueue,
      (cl_context context, cl_device_id id,
       cl_command_queue_properties properties, cl_int *error),
      (context, id, properties, error))
MAKER(cl_program, clCreateProgramWithSource,
      (cl_context context, cl_uint count, const char **text,
       const size_t *lengths, cl_int *error),
      (context, count, text, lengths, error))
STATUS(clBuildProgram,
       (cl_program program, cl_uint count, const cl_device_id *ids,
	const char *options, void(CL_CALLBACK *call)(cl_program, void *),
	void *data),
       (program, count, ids, options, call, data))
MAKER(cl_kernel, clCreateKernel,
      (cl_program program, const char *name, cl_int *error),
      (program, name, error))
STATUS(clSetKernelArg,
       (cl_kernel kernel, cl_uint place, size_t size, const void *value),
       (kernel, place, size, value))
RELEASE(cl_context, clReleaseContext)
RELEASE(cl_command_queue, clReleaseCommandQueue)
RELEASE(cl_program, clReleaseProgram)
RELEASE(cl_kernel, clReleaseKernel)
RELEASE(cl_mem, clReleaseMemObject)
RELEASE(cl_event, clReleaseEvent)

static cl_mem CL_API_CALL mock_clCreateBuffer(cl_context context,
					      cl_mem_flags flags, size_t size,
					      void *memory, cl_int *error)
{
	cl_mem made;

	/* All buffers lie where the CPU's bytes do. */
	assert_true(flags & CL_MEM_USE_HOST_PTR);
	if (mock_fails("clCreateBuffer")) {
		*error = opencl.error;
		return NULL;
	}
	made = REAL(clCreateBuffer)(context, flags, size, memory, error);
	opencl.alive += made != NULL;
	opencl.buffers++;
	opencl.bytes += size;
	return made;
}

static cl_int CL_API_CALL mock_clEnqueueNDRangeKernel(
	cl_command_queue queue, cl_kernel kernel, cl_uint axes,
	const size_t *first, const size_t *items, const size_t *group,
	cl_uint count, const cl_event *events, cl_event *event)
{
	cl_int error;

	if (opencl.in_launch)
		opencl.in_launch(opencl.launches);
	opencl.launches++;
	if (mock_fails("clEnqueueNDRangeKernel"))
		return opencl.error;
	error = REAL(clEnqueueNDRangeKernel)(queue, kernel, axes, first, items,
					     group, count, events, event);
	opencl.alive += !error;
	return error;
}

static void *CL_API_CALL mock_clEnqueueMapBuffer(
	cl_command_queue queue, cl_mem memory, cl_bool blocking,
	cl_map_flags flags, size_t offset, size_t size, cl_uint count,
	const cl_event *events, cl_event *event, cl_int *error)
{
	if (mock_fails("clEnqueueMapBuffer")) {
		*error = opencl.error;
		return NULL;
	}
	return REAL(clEnqueueMapBuffer)(queue, memory, blocking, flags, offset,
					size, count, events, event, error);
}

/* Fails after the end of the mapping, which has the buffer. */
static cl_int CL_API_CALL mock_clEnqueueUnmapMemObject(
	cl_command_queue queue, cl_mem memory, void *mapped, cl_uint count,
	const cl_event *events, cl_event *event)
{
	cl_int error = REAL(clEnqueueUnmapMemObject)(queue, memory, mapped,
						     count, events, event);

	return mock_fails("clEnqueueUnmapMemObject") ? opencl.error : error;
}

static cl_int CL_API_CALL mock_clWaitForEvents(cl_uint count,
					       const cl_event *events)
{
	if (opencl.in_wait)
		opencl.in_wait();
	if (mock_fails("clWaitForEvents"))
		return opencl.error;
	return REAL(clWaitForEvents)(count, events);
}

static cl_int CL_API_CALL mock_clGetDeviceInfo(cl_device_id id,
					       cl_device_info which,
					       size_t size, void *value,
					       size_t *told)
{
	if (opencl.told != which || !opencl.told)
		return REAL(clGetDeviceInfo)(id, which, size, value, told);
	memcpy(value, &opencl.tells, size);
	return CL_SUCCESS;
}

#define MOCK(name)                               \
	{                                        \
#name, (void *)mock_##name, NULL \
	}

static struct {
	const char *name;
	void *mock, *real;
} mock_functions[] = {
	MOCK(clGetPlatformIDs),	     MOCK(clGetDeviceIDs),
	MOCK(clGetDeviceInfo),	     MOCK(clCreateContext),
	MOCK(clReleaseContext),	     MOCK(clCreateCommandQueue),
	MOCK(clReleaseCommandQueue), MOCK(clCreateProgramWithSource),
	MOCK(clBuildProgram),	     MOCK(clReleaseProgram),
	MOCK(clCreateKernel),	     MOCK(clReleaseKernel),
	MOCK(clSetKernelArg),	     MOCK(clCreateBuffer),
	MOCK(clReleaseMemObject),    MOCK(clEnqueueNDRangeKernel),
	MOCK(clEnqueueMapBuffer),    MOCK(clEnqueueUnmapMemObject),
	MOCK(clWaitForEvents),	     MOCK(clReleaseEvent),
};

#define MOCK_FUNCTIONS (sizeof(mock_functions) / sizeof(mock_functions[0]))

static void *mock_real(const char *name)
{
	size_t i;

	for (i = 0; strcmp(mock_functions[i].name, name);)
		i++;
	return mock_functions[i].real;
}

WRAPPED(void *, dlsym, (void *library, const char *name))
{
	void *found = __real_dlsym(library, name);
	size_t i;

	for (i = 0; i < MOCK_FUNCTIONS; i++)
		if (found && !strcmp(name, mock_functions[i].name)) {
			mock_functions[i].real = found;
			return mock_functions[i].mock;
		}
	return found;
}

#endif /* DRAY_TESTS_MOCK_OPENCL_H */
