// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A device of OpenCL: chosen by names, with a context and a queue, and a kernel that
 * tells whether it sees the CPU's addresses.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl.h"

#define MOST_PLATFORMS 16
#define MOST_DEVICES 64
/* Elements that a work-group computes. */
#define MOST_GROUP 256

/* clGetPlatformIDs() without one.  (Source: cl_khr_icd.) */
#define PLATFORM_NOT_FOUND (-1001)

static void platform_name(cl_platform_id platform, char *out, size_t size)
{
	char name[256] = "";

	dray_opencl.clGetPlatformInfo(platform, CL_PLATFORM_NAME,
				      sizeof(name) - 1, name, NULL);
	snprintf(out, size, "%.*s", (int)size - 1, name);
}

static void device_text(cl_device_id device, cl_device_info what, char *out,
			size_t size)
{
	char text[1024] = "";

	dray_opencl.clGetDeviceInfo(device, what, sizeof(text) - 1, text, NULL);
	snprintf(out, size, "%.*s", (int)size - 1, text);
}

/* Returns a number of the device; 0 if it does not tell. */
static uint64_t device_number(cl_device_id device, cl_device_info what,
			      size_t size)
{
	union {
		cl_uint word;
		cl_ulong full;
	} answer = { .full = 0 };

	if (dray_opencl.clGetDeviceInfo(device, what, size, &answer, NULL))
		return 0;
	return size == sizeof(answer.word) ? answer.word : answer.full;
}

/* Takes the first device of a platform with a name. */
static cl_int find_device(struct dray_opencl_executor *executor,
			  cl_platform_id platform, const char *wanted)
{
	cl_device_id devices[MOST_DEVICES];
	cl_uint count = 0, i;
	cl_int error;

	error = dray_opencl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL,
					   MOST_DEVICES, devices, &count);
	if (error)
		return error == CL_DEVICE_NOT_FOUND ? 0 : error;
	for (i = 0; !executor->id && i < count && i < MOST_DEVICES; i++) {
		device_text(devices[i], CL_DEVICE_NAME, executor->device.device,
			    sizeof(executor->device.device));
		if (!wanted || strstr(executor->device.device, wanted))
			executor->id = devices[i];
	}
	return 0;
}

static int
opencl_device_choose(struct dray_opencl_executor *executor,
		     const struct dray_opencl_executor_options *options)
{
	cl_platform_id platforms[MOST_PLATFORMS];
	cl_uint count = 0, i;
	cl_int error;

	error = dray_opencl.clGetPlatformIDs(MOST_PLATFORMS, platforms, &count);
	if (error == PLATFORM_NOT_FOUND || (!error && !count))
		return dray_fail(
			-ENOENT,
			"OpenCL has no platform (Debian: pocl-opencl-icd)");
	if (error)
		return dray_opencl_fail(error, "clGetPlatformIDs");
	for (i = 0; !executor->id && i < count && i < MOST_PLATFORMS; i++) {
		platform_name(platforms[i], executor->device.platform,
			      sizeof(executor->device.platform));
		if (options->platform &&
		    !strstr(executor->device.platform, options->platform))
			continue;
		error = find_device(executor, platforms[i], options->device);
		if (error)
			return dray_opencl_fail(error, "clGetDeviceIDs");
	}
	if (executor->id)
		return 0;
	return dray_fail(
		-ENOENT,
		"none of OpenCL's devices is named \"%.60s\" on a platform \"%.60s\"",
		options->device ? options->device : "",
		options->platform ? options->platform : "");
}

static int opencl_device_ask(struct dray_opencl_executor *executor,
			     uint32_t wishes)
{
	struct dray_opencl_device *device = &executor->device;
	size_t sizes[8] = { 1 };
	uint64_t precision;

	device_text(executor->id, CL_DEVICE_VERSION, device->version,
		    sizeof(device->version));
	precision = device_number(executor->id, CL_DEVICE_SINGLE_FP_CONFIG,
				  sizeof(cl_device_fp_config));
	if (precision & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT)
		device->flags |= DRAY_OPENCL_ROUNDED;
	if (precision & CL_FP_DENORM)
		device->flags |= DRAY_OPENCL_SUBNORMAL;
	if (device_number(executor->id, CL_DEVICE_DOUBLE_FP_CONFIG,
			  sizeof(cl_device_fp_config)))
		device->flags |= DRAY_OPENCL_DOUBLE;
	if (device_number(executor->id, CL_DEVICE_HOST_UNIFIED_MEMORY,
			  sizeof(cl_bool)))
		device->flags |= DRAY_OPENCL_UNIFIED;
	else if (!(wishes & DRAY_OPENCL_COPIES))
		return dray_fail(
			-EOPNOTSUPP,
			"%s has memory of its own, and copies were not allowed",
			device->device);
	executor->most_bytes = device_number(
		executor->id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(cl_ulong));
	executor->group = (size_t)device_number(
		executor->id, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t));
	dray_opencl.clGetDeviceInfo(executor->id, CL_DEVICE_MAX_WORK_ITEM_SIZES,
				    sizeof(sizes), sizes, NULL);
	if (executor->group > sizes[0])
		executor->group = sizes[0];
	if (executor->group > MOST_GROUP)
		executor->group = MOST_GROUP;
	if (!executor->group)
		executor->group = 1;
	return 0;
}

/* Lets a kernel tell the address at which it sees a number of the CPU. */
static cl_int opencl_device_look(struct dray_opencl_executor *executor,
				 cl_ulong *number)
{
	struct dray_opencl_arguments arguments = {
		.operands = 1,
		.items = { 1, 1, 1 },
	};
	const char *source = "kernel void see(global uchar *p, long4 at,"
			     " long4 n) { if (!get_global_id(0))"
			     " *(global ulong *)p = (ulong)p; }";
	cl_program program;
	cl_kernel kernel;
	cl_event event;
	cl_mem memory;
	cl_int error;

	program = dray_opencl.clCreateProgramWithSource(executor->context, 1,
							&source, NULL, &error);
	if (!program)
		return error;
	error = dray_opencl.clBuildProgram(program, 1, &executor->id, "", NULL,
					   NULL);
	if (error)
		goto release_program;
	kernel = dray_opencl.clCreateKernel(program, "see", &error);
	if (!kernel)
		goto release_program;
	memory = dray_opencl.clCreateBuffer(
		executor->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
		sizeof(*number), number, &error);
	if (!memory)
		goto release_kernel;
	arguments.memory[0] = memory;
	error = dray_opencl_launch(executor, kernel, &arguments, &event);
	if (error)
		goto release_memory;
	error = dray_opencl.clWaitForEvents(1, &event);
	dray_opencl.clReleaseEvent(event);
	if (!error)
		error = dray_opencl_give_back(executor, memory,
					      sizeof(*number));
release_memory:
	dray_opencl.clFinish(executor->queue);
	dray_opencl.clReleaseMemObject(memory);
release_kernel:
	dray_opencl.clReleaseKernel(kernel);
release_program:
	dray_opencl.clReleaseProgram(program);
	return error;
}

static int find_sharing(struct dray_opencl_executor *executor)
{
	/* Aligned as any number, on a line of its own. */
	cl_ulong *number = aligned_alloc(128, 128);
	cl_int error;

	if (!number)
		return dray_fail(-ENOMEM, "no memory for a device");
	*number = 0;
	error = opencl_device_look(executor, number);
	if (!error && *number == (uintptr_t)number)
		executor->device.flags |= DRAY_OPENCL_SHARED;
	free(number);
	return error ? dray_opencl_fail(error, "a kernel that tells its memory")
		     : 0;
}

int dray_opencl_open(struct dray_opencl_executor *executor,
		     const struct dray_opencl_executor_options *options)
{
	cl_int error;
	int ret;

	ret = opencl_device_choose(executor, options);
	if (!ret)
		ret = opencl_device_ask(executor, options->flags);
	if (ret)
		return ret;
	executor->context = dray_opencl.clCreateContext(NULL, 1, &executor->id,
							NULL, NULL, &error);
	if (!executor->context)
		return dray_opencl_fail(error, "clCreateContext");
	executor->queue = dray_opencl.clCreateCommandQueue(
		executor->context, executor->id, 0, &error);
	if (!executor->queue)
		return dray_opencl_fail(error, "clCreateCommandQueue");
	return find_sharing(executor);
}

void dray_opencl_close(struct dray_opencl_executor *executor)
{
	if (executor->queue)
		dray_opencl.clReleaseCommandQueue(executor->queue);
	if (executor->context)
		dray_opencl.clReleaseContext(executor->context);
}
