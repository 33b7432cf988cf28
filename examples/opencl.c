// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * OpenCL in dray's memory: a kernel adds to each element of an array its number.
 *
 * A device that shares the CPU's memory uses the array's own bytes.  A device that
 * does not can import the array's dma-buf, if its platform supports the
 * extension.
 */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl_ext.h>
#include <dray/array.h>
#include <err.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define COUNT 100000
#define BYTES (COUNT * sizeof(int))

static cl_platform_id platform;
static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_kernel kernel;

/* Ends the program with a sentence if a call failed. */
static void check(int ret, const char *call)
{
	if (ret)
		errx(1, "%s: %d %s", call, ret, dray_last_error());
}

static void device_open(void)
{
	const char *text = "kernel void count(global int *data)"
			   "{ data[get_global_id(0)] += get_global_id(0); }";
	cl_program program;
	int ret = clGetPlatformIDs(1, &platform, NULL);

	check(ret, "platform");
	clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &ret);
	check(ret, "context");
	queue = clCreateCommandQueueWithProperties(context, device, NULL, NULL);
	program = clCreateProgramWithSource(context, 1, &text, NULL, NULL);
	check(clBuildProgram(program, 0, NULL, "", NULL, NULL), "build");
	kernel = clCreateKernel(program, "count", &ret);
	check(ret, "kernel");
	clReleaseProgram(program);
}

static void run(cl_mem memory)
{
	const size_t count = COUNT;

	check(clSetKernelArg(kernel, 0, sizeof(memory), &memory), "argument");
	check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, NULL, 0,
				     NULL, NULL),
	      "run");
}

/* Prints and returns how many elements are not @factor times 0, 1, 2, ... */
static int wrong(const int *data, int factor, const char *way)
{
	int i, count = 0;

	for (i = 0; i < COUNT; i++)
		count += data[i] != factor * i;
	printf("%s: %d of %d elements are wrong\n", way, count, COUNT);
	return count;
}

/* Uses the array's own bytes.  From map to unmap they are the CPU's. */
static int in_place(int *data)
{
	void *mapped;
	cl_mem memory;
	int ret;

	memory =
		clCreateBuffer(context, CL_MEM_USE_HOST_PTR, BYTES, data, &ret);
	check(ret, "memory");
	run(memory);
	mapped = clEnqueueMapBuffer(queue, memory, CL_TRUE, CL_MAP_READ, 0,
				    BYTES, 0, NULL, NULL, &ret);
	check(ret, "map");
	ret = wrong(data, 1, mapped == data ? "in place" : "copied");
	clEnqueueUnmapMemObject(queue, memory, mapped, 0, NULL, NULL);
	clFinish(queue);
	clReleaseMemObject(memory);
	return ret || mapped != data;
}

/*
 * Imports the array's dma-buf, which is the device's from acquire to release.  The
 * platform closes the file.  Not tested: no platform at hand supports the
 * extension.
 */
static int imported(int *data)
{
	cl_mem_properties properties[3] = {
		CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR
	};
	clEnqueueAcquireExternalMemObjectsKHR_fn acquire, release;
	struct dray_location place;
	cl_mem memory;
	int ret;

	check(dray_locate(data, &place), "place");
	acquire = clGetExtensionFunctionAddressForPlatform(
		platform, "clEnqueueAcquireExternalMemObjectsKHR");
	release = clGetExtensionFunctionAddressForPlatform(
		platform, "clEnqueueReleaseExternalMemObjectsKHR");
	properties[1] = dup(dray_buffer_fd(place.buffer));
	memory = clCreateBufferWithProperties(context, properties, 0, BYTES,
					      NULL, &ret);
	check(ret, "import");
	check(acquire(queue, 1, &memory, 0, NULL, NULL), "acquire");
	run(memory);
	check(release(queue, 1, &memory, 0, NULL, NULL), "release");
	clFinish(queue);
	clReleaseMemObject(memory);
	return wrong(data, 2, "imported");
}

int main(void)
{
	const int64_t shape[] = { COUNT };
	char has[8192] = "";
	struct dray_array *array;
	struct dray_node *node;
	int ret;

	device_open();
	check(dray_node_open("shareable", &node), "node");
	/* A buffer of its own: its dma-buf begins with the array. */
	check(dray_array_create_alone(node, DRAY_INT32, 1, shape, &array),
	      "array");
	ret = in_place(array->data);
	clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof(has), has, NULL);
	if (strstr(has, "cl_khr_external_memory_dma_buf") &&
	    !strcmp(dray_node_backend(node), "kernel"))
		ret |= imported(array->data);
	else
		printf("imported: not offered by this platform\n");
	dray_array_unref(array);
	dray_node_unref(node);
	clReleaseKernel(kernel);
	clReleaseCommandQueue(queue);
	clReleaseContext(context);
	return ret != 0;
}
