/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * OpenCL, which is loaded when the first executor asks for it, and a device
 * with the kernels of its loops.  (Source: the OpenCL 1.2 Specification; no
 * later function is called.)  All of dray that is used here is public.
 */
#ifndef DRAY_OPENCL_OPENCL_H
#define DRAY_OPENCL_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include <dray/array/nditer.h>
#include <dray/opencl.h>

/* Bytes of the first versions of callers' structures, by the last member: constants. */
#define DRAY_OPENCL_EXECUTOR_OPTIONS_SIZE_FIRST                         \
	(offsetof(struct dray_opencl_executor_options, build_options) + \
	 sizeof(const char *))
#define DRAY_OPENCL_DEVICE_SIZE_FIRST \
	(offsetof(struct dray_opencl_device, bytes) + sizeof(uint64_t))

/* Functions of the loader that are called. */
#define DRAY_OPENCL_CALLS(X)         \
	X(clGetPlatformIDs)          \
	X(clGetPlatformInfo)         \
	X(clGetDeviceIDs)            \
	X(clGetDeviceInfo)           \
	X(clCreateContext)           \
	X(clReleaseContext)          \
	X(clCreateCommandQueue)      \
	X(clReleaseCommandQueue)     \
	X(clCreateProgramWithSource) \
	X(clBuildProgram)            \
	X(clGetProgramBuildInfo)     \
	X(clReleaseProgram)          \
	X(clCreateKernel)            \
	X(clReleaseKernel)           \
	X(clGetKernelWorkGroupInfo)  \
	X(clSetKernelArg)            \
	X(clCreateBuffer)            \
	X(clReleaseMemObject)        \
	X(clEnqueueNDRangeKernel)    \
	X(clEnqueueMapBuffer)        \
	X(clEnqueueUnmapMemObject)   \
	X(clWaitForEvents)           \
	X(clReleaseEvent)            \
	X(clFinish)

struct dray_opencl_calls {
#define DRAY_OPENCL_FIELD(name) __typeof__(name) *name;
	DRAY_OPENCL_CALLS(DRAY_OPENCL_FIELD)
#undef DRAY_OPENCL_FIELD
};

/* Filled by dray_opencl_load(). */
extern struct dray_opencl_calls dray_opencl;

/* Kernels of a loop, by the layouts that they read. */
enum dray_opencl_way {
	DRAY_OPENCL_DENSE, /* the first axis has no gaps */
	DRAY_OPENCL_STRIDED,
	DRAY_OPENCL_MASKED, /* strided, with a mask */
	DRAY_OPENCL_WAYS,
};

extern const char *const dray_opencl_names[DRAY_OPENCL_WAYS];

struct dray_opencl_kernels {
	struct dray_ufunc *ufunc; /* a reference */
	dray_dtype dtypes[DRAY_UFUNC_MAX_OPERANDS]; /* a reference each */
	cl_program program;
	cl_kernel kernels[DRAY_OPENCL_WAYS];
};

struct dray_opencl_executor {
	cl_device_id id;
	cl_context context;
	cl_command_queue queue;
	size_t group; /* elements of a work-group */
	uint64_t most_bytes; /* of a buffer */
	const char *build_options; /* borrowed while kernels are made */
	_Atomic bool failed;
	_Atomic uint64_t calls, bytes;
	pthread_mutex_t mutex; /* of queue and kernels: one call at a time */
	struct dray_opencl_device device; /* its counts are above */
	uint32_t count;
	struct dray_opencl_kernels loops[];
};

/* Loads OpenCL once; -ENOENT, -EOPNOTSUPP, -ENOMEM, -ECHILD. */
int dray_opencl_load(void);
/* Whether this process loaded it, and not a parent before fork(). */
bool dray_opencl_is_own(void);

/* Returns an errno with a sentence for an error of @call. */
int dray_opencl_fail(cl_int error, const char *call);

/* Finds the device, and fills all but the loops.  Closed even after a failure. */
int dray_opencl_open(struct dray_opencl_executor *executor,
		     const struct dray_opencl_executor_options *options);
void dray_opencl_close(struct dray_opencl_executor *executor);

/* Whether OpenCL supports values of a type, and whether it needs doubles. */
bool dray_opencl_has_type(dray_dtype dtype);
bool dray_opencl_is_double(dray_dtype dtype);

/* Returns the source of a loop's kernels, to be freed; NULL without memory. */
char *dray_opencl_write(const struct dray_opencl_loop *loop, bool doubles);

/* Compiles a loop and runs it once.  Dropped even after a failure. */
int dray_opencl_compile(struct dray_opencl_executor *executor,
			const struct dray_opencl_loop *loop,
			struct dray_opencl_kernels *out);
/* @alive: not in a child of fork(), which leaves OpenCL's objects alone */
void dray_opencl_drop(struct dray_opencl_kernels *kernels, bool alive);

/* Returns the number of operands of a ufunc, and of a call: with its mask. */
static inline int dray_opencl_ufunc_operands(const struct dray_ufunc *ufunc)
{
	return dray_ufunc_inputs(ufunc) + dray_ufunc_outputs(ufunc);
}

static inline int dray_opencl_call_operands(const struct dray_call *call)
{
	return call->inputs + call->outputs + (call->where ? 1 : 0);
}

static inline const struct dray_view *
dray_opencl_operand(const struct dray_call *call, int o)
{
	return o < call->inputs + call->outputs ? call->views[o] : call->where;
}

static inline bool dray_opencl_is_output(const struct dray_call *call, int o)
{
	return o >= call->inputs && o < call->inputs + call->outputs;
}

/* A kernel's arguments: operands, with a mask, and elements along three axes. */
struct dray_opencl_arguments {
	int operands;
	cl_mem memory[DRAY_MAX_OPERANDS];
	/* bytes: three strides, then where the first element is */
	cl_long4 places[DRAY_MAX_OPERANDS];
	cl_long4 counts;
	size_t items[3]; /* work-items, of which the first are rounded up */
};

/* Sets them and starts a kernel. */
cl_int dray_opencl_launch(const struct dray_opencl_executor *executor,
			  cl_kernel kernel,
			  const struct dray_opencl_arguments *arguments,
			  cl_event *event);

/* Makes writes of the device visible to the CPU: maps a buffer, and waits. */
cl_int dray_opencl_give_back(const struct dray_opencl_executor *executor,
			     cl_mem memory, size_t size);

/* Bytes that operands of a call cover together, in a single buffer. */
struct dray_opencl_region {
	uintptr_t low, high; /* addresses: [low, high) */
	bool written;
	cl_mem memory;
};

/* Finds the regions of a call; returns how many. */
int dray_opencl_regions(const struct dray_call *call,
			struct dray_opencl_region *regions);

/* Runs a call, and waits for its end. */
int dray_opencl_run(struct dray_opencl_executor *executor,
		    const struct dray_opencl_kernels *kernels,
		    const struct dray_call *call);

#endif /* DRAY_OPENCL_OPENCL_H */
