// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Kernels of loops: compiled, and run once without an element, since a platform may
 * compile the last part of a kernel then.  Calls are timed later.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl.h"

#define OPTIONS "-cl-std=CL1.2"
#define ROUNDED " -cl-fp32-correctly-rounded-divide-sqrt"
/* Work-items of a large call, for which PoCL has a kernel of its own. */
#define LARGE 131072

/* Finds the first error of the compiler in its log, or the first line. */
static const char *first_error(char *log)
{
	char *line = log, *end, *found;

	found = strstr(log, "error:");
	if (found)
		for (line = found; line > log && line[-1] != '\n';)
			line--;
	end = strchr(line, '\n');
	if (end)
		*end = '\0';
	found = strstr(line, "source:");
	if (!found)
		found = strstr(line, "call:");
	return found ? found : line;
}

/* The log may be long; the sentence has the first error. */
static int build_failed(const struct dray_opencl_executor *executor,
			cl_program program, const struct dray_ufunc *ufunc,
			cl_int error)
{
	size_t size = 0;
	char *log;
	int ret;

	if (error != CL_BUILD_PROGRAM_FAILURE)
		return dray_opencl_fail(error, "clBuildProgram");
	dray_opencl.clGetProgramBuildInfo(program, executor->id,
					  CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
	log = calloc(1, size + 1);
	if (!log)
		return dray_fail(-ENOMEM, "no memory for a compiler's log");
	dray_opencl.clGetProgramBuildInfo(
		program, executor->id, CL_PROGRAM_BUILD_LOG, size, log, NULL);
	ret = dray_fail(-EINVAL, "the source of %s does not compile: %.160s",
			dray_ufunc_name(ufunc), first_error(log));
	free(log);
	return ret;
}

static int opencl_compile_build(const struct dray_opencl_executor *executor,
				const struct dray_opencl_loop *loop,
				const char *text, cl_program *program)
{
	const char *more = executor->build_options;
	char *options;
	cl_int error;

	if (asprintf(&options, OPTIONS "%s%s%s",
		     executor->device.flags & DRAY_OPENCL_ROUNDED ? ROUNDED
								  : "",
		     more ? " " : "", more ? more : "") < 0)
		return dray_fail(-ENOMEM, "no memory for a compiler's options");
	*program = dray_opencl.clCreateProgramWithSource(
		executor->context, 1, (const char **)(uintptr_t)&text, NULL,
		&error);
	if (*program)
		error = dray_opencl.clBuildProgram(*program, 1, &executor->id,
						   options, NULL, NULL);
	free(options);
	if (!*program)
		return dray_opencl_fail(error, "clCreateProgramWithSource");
	return error ? build_failed(executor, *program, loop->ufunc, error) : 0;
}

/* Runs a kernel without an element. */
static cl_int try_once(const struct dray_opencl_executor *executor,
		       cl_kernel kernel,
		       struct dray_opencl_arguments *arguments, size_t items)
{
	cl_event event;
	cl_int error;

	arguments->items[0] = items;
	error = dray_opencl_launch(executor, kernel, arguments, &event);
	if (error)
		return error;
	error = dray_opencl.clWaitForEvents(1, &event);
	dray_opencl.clReleaseEvent(event);
	return error;
}

static int try_all(const struct dray_opencl_executor *executor,
		   const struct dray_opencl_kernels *kernels)
{
	const int operands = dray_opencl_ufunc_operands(kernels->ufunc);
	struct dray_opencl_arguments arguments = {
		.items = { 0, 1, 1 },
	};
	cl_ulong nothing[2] = { 0 };
	cl_int error;
	cl_mem memory;
	int o, way;

	memory = dray_opencl.clCreateBuffer(
		executor->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
		sizeof(nothing), nothing, &error);
	if (!memory)
		return dray_opencl_fail(error, "clCreateBuffer");
	for (o = 0; o < DRAY_MAX_OPERANDS; o++)
		arguments.memory[o] = memory;
	for (way = 0; !error && way < DRAY_OPENCL_WAYS; way++) {
		arguments.operands = operands + (way == DRAY_OPENCL_MASKED);
		error = try_once(executor, kernels->kernels[way], &arguments,
				 1);
		if (!error)
			error = try_once(executor, kernels->kernels[way],
					 &arguments, LARGE);
	}
	dray_opencl.clFinish(executor->queue);
	dray_opencl.clReleaseMemObject(memory);
	return error ? dray_opencl_fail(error, "a kernel without an element")
		     : 0;
}

static int create_kernel(struct dray_opencl_executor *executor,
			 cl_program program, const char *name, cl_kernel *out)
{
	size_t most = executor->group;
	cl_int error;

	*out = dray_opencl.clCreateKernel(program, name, &error);
	if (!*out)
		return dray_opencl_fail(error, "clCreateKernel");
	error = dray_opencl.clGetKernelWorkGroupInfo(*out, executor->id,
						     CL_KERNEL_WORK_GROUP_SIZE,
						     sizeof(most), &most, NULL);
	if (!error && most && most < executor->group)
		executor->group = most;
	return 0;
}

int dray_opencl_compile(struct dray_opencl_executor *executor,
			const struct dray_opencl_loop *loop,
			struct dray_opencl_kernels *out)
{
	const int operands = dray_opencl_ufunc_operands(loop->ufunc);
	char *text;
	int o, way, ret;

	out->ufunc = dray_ufunc_ref(loop->ufunc);
	for (o = 0; o < operands; o++)
		out->dtypes[o] = dray_dtype_ref(loop->dtypes[o]);
	text = dray_opencl_write(loop,
				 executor->device.flags & DRAY_OPENCL_DOUBLE);
	if (!text)
		return dray_fail(-ENOMEM, "no memory for a source");
	ret = opencl_compile_build(executor, loop, text, &out->program);
	free(text);
	for (way = 0; !ret && way < DRAY_OPENCL_WAYS; way++)
		ret = create_kernel(executor, out->program,
				    dray_opencl_names[way], &out->kernels[way]);
	return ret ? ret : try_all(executor, out);
}

void dray_opencl_drop(struct dray_opencl_kernels *kernels, bool alive)
{
	int o, way;

	for (way = 0; alive && way < DRAY_OPENCL_WAYS; way++)
		if (kernels->kernels[way])
			dray_opencl.clReleaseKernel(kernels->kernels[way]);
	if (alive && kernels->program)
		dray_opencl.clReleaseProgram(kernels->program);
	if (!kernels->ufunc)
		return;
	for (o = 0; o < dray_opencl_ufunc_operands(kernels->ufunc); o++)
		dray_dtype_unref(kernels->dtypes[o]);
	dray_ufunc_unref(kernels->ufunc);
}
