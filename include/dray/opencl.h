/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * opencl: an executor of calls on a device of OpenCL, in a library of its own,
 * libdray-opencl (pkg-config dray-opencl).
 *
 *	const dray_dtype types[] = { DRAY_INT32, DRAY_INT32, DRAY_INT32 };
 *	const struct dray_opencl_loop loop = {
 *		.ufunc = dray_ufunc_find("add"), .dtypes = types, .source = "a + b",
 *	};
 *	const struct dray_opencl_executor_options options = {
 *		.loops = &loop, .loops_count = 1,
 *	};
 *	struct dray_call_queue *queue;
 *	struct dray_executor *device;
 *
 *	ret = dray_opencl_executor_create(&options, &device);
 *	if (!ret)
 *		ret = dray_call_queue_create(&device, 1, NULL, &queue);
 *
 * All functions may be called from any thread.  OpenCL itself is loaded by the first
 * executor.
 */
#ifndef DRAY_OPENCL_H
#define DRAY_OPENCL_H

#include <dray/array/executor.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The function's arguments are addresses: void f(global const IN *a, ...,
 * global OUT *out).  Elements are of any type: types that OpenCL lacks are
 * bytes (uchar), and complex numbers are two floats or doubles
 */
#define DRAY_OPENCL_BY_ADDRESS (1u << 0)

/**
 * A loop that an OpenCL device computes: its source computes an element, and dray
 * makes kernels for arrays around it.
 *
 *	{ .ufunc = dray_ufunc_find("less"), .dtypes = types, .source = "a < b" }
 *
 *	{ .ufunc = blend, .dtypes = types, .function = "blend",
 *	  .source = "float blend(float a, float b, float x)"
 *		    "{ return a + x * (b - a); }" }
 *
 * Types of values: bools are uchar, integers char to ulong, float16 and float32
 * float, float64 double, complex numbers float2 and double2, dates and durations
 * long.  Products and sums are not fused.  What overflows in a signed integer is
 * undefined, as in C.
 */
struct dray_opencl_loop {
	struct dray_ufunc *ufunc;
	const dray_dtype *dtypes;	/* inputs, then outputs */
	/* OpenCL C 1.2; without a function, an expression of a, b, ...: the inputs */
	const char *source;
	/*
	 * The name of a function of the source, or a builtin function: inputs are its
	 * arguments.  It returns the output; several are written through
	 * pointers, which are further arguments.  NULL: the source is an
	 * expression
	 */
	const char *function;
	uint32_t flags;		/* DRAY_OPENCL_BY_ADDRESS */
	uint32_t reserved;	/* 0 */
};

/* Allows a device with memory of its own: its driver copies operands. */
#define DRAY_OPENCL_COPIES (1u << 0)

/** An OpenCL device, and the loops that it computes. */
struct dray_opencl_executor_options {
	size_t size;		/* of this structure; 0: the first version's */
	const struct dray_opencl_loop *loops;	/* copied */
	uint32_t loops_count;	/* 1 to 256 */
	uint32_t flags;		/* DRAY_OPENCL_COPIES */
	/* parts of the names of a platform and a device; NULL: the first device */
	const char *platform;
	const char *device;
	const char *build_options;	/* for the compiler; NULL: none */
};

/**
 * Makes an executor of an OpenCL device: compiles its loops, and runs each once
 * with no element.  Sources are trusted as code of the program is.
 *
 * The device uses operands of a call where they are, strided and broadcast
 * views too (CL_MEM_USE_HOST_PTR).  A device that shares the CPU's memory, as
 * PoCL does, copies nothing.  Elements must be aligned and of the loop's types,
 * and an output may share bytes with an input only if its elements are the very
 * same: other calls are the CPU's.  Masks are supported.  Errors of
 * floating-point numbers are not seen.  A single call at a time runs; others
 * wait.  A running kernel cannot be cancelled.
 *
 * A device that fails in a call accepts no later call.
 *
 * OpenCL's loader is libOpenCL.so.1, or the environment variable DRAY_OPENCL; "none"
 * is none.  A child of fork() cannot use OpenCL if its parent did.
 *
 * @out: a reference
 *
 * Errors: -EINVAL (a source that does not compile, with the compiler's sentence, the
 * number of loops, a loop that is there twice, a type without a counterpart, flags),
 * -ENOENT (no loader, no platform, no such device), -EOPNOTSUPP (a device with
 * memory of its own, doubles that it lacks), -ECHILD, -ENOMEM, -ENODEV or -EIO
 * (OpenCL's errors).
 */
DRAY_API int
dray_opencl_executor_create(const struct dray_opencl_executor_options *options,
			    struct dray_executor **out);

/* Facts of a device. */
#define DRAY_OPENCL_SHARED (1u << 0)	/* kernels see the CPU's addresses */
#define DRAY_OPENCL_UNIFIED (1u << 1)	/* it shares the CPU's memory */
#define DRAY_OPENCL_DOUBLE (1u << 2)	/* it supports doubles */
/* quotients and square roots of float32 are rounded as on the CPU */
#define DRAY_OPENCL_ROUNDED (1u << 3)
#define DRAY_OPENCL_SUBNORMAL (1u << 4)	/* float32 supports subnormal numbers */

/** A device of OpenCL. */
struct dray_opencl_device {
	size_t size;		/* of this structure; 0: the first version's */
	char platform[64];	/* names, cut short */
	char device[128];
	char version[64];	/* of OpenCL, as the device reports it */
	uint32_t flags;		/* DRAY_OPENCL_SHARED, ... */
	uint32_t reserved;
	uint64_t calls;		/* that the executor ran */
	uint64_t bytes;		/* of their operands, that were not copied */
};

/**
 * Fills @out with the device of an executor, and counts its calls.
 *
 * Errors: -EINVAL (not an executor of OpenCL).
 */
DRAY_API int dray_opencl_executor_device(const struct dray_executor *executor,
					 struct dray_opencl_device *out);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_OPENCL_H */
