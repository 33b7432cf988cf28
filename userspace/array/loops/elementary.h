/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Elementary functions of floats, as kernels over contiguous elements.  There is
 * a set of kernels for each kind of vectors.  Sets of a family return equal bits
 * on all machines: "exact order" never fuses a product with a sum, and is the
 * default; "fused" does, and needs a processor that can.
 */
#ifndef DRAY_LOOPS_ELEMENTARY_H
#define DRAY_LOOPS_ELEMENTARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Tables of functions: C's name and SLEEF's accuracy (u10: up to 1.0 ULP, u05: up to
 * 0.5), then the meaning of the range:
 *
 *	ANY	x lies between both numbers
 *	ODD	|x| does; f(-x) = -f(x)
 *	TURN	|x| does; the same, but the sign depends on the quadrant
 *	ABOVE	|x| does, and x > -1
 */

/* The float32 of arguments in the range is computed as float64. */
#define DRAY_WIDE_FUNCTIONS(X)                 \
	X(exp2, u10, ANY, -126.0f, 127.9f)     \
	X(acos, u10, ANY, -1.0f, 1.0f)         \
	X(asin, u10, ODD, FLT_MIN, 1.0f)       \
	X(cbrt, u10, ODD, FLT_MIN, FLT_MAX)    \
	X(atan, u10, ODD, FLT_MIN, FLT_MAX)    \
	X(log1p, u10, ABOVE, FLT_MIN, FLT_MAX) \
	X(cos, u10, ANY, -4e6f, 4e6f)          \
	X(acosh, u10, ANY, 1.0f, FLT_MAX)      \
	X(sin, u10, TURN, FLT_MIN, 4e6f)       \
	X(tan, u10, TURN, FLT_MIN, 4.7e4f)     \
	X(asinh, u10, ODD, FLT_MIN, FLT_MAX)   \
	X(atanh, u10, ODD, FLT_MIN, 0x1.fffffep-1f)

/* The same, and dray computes the float64 in the second range itself, too. */
#define DRAY_LONG_FUNCTIONS(X)                              \
	X(exp, u10, ANY, -87.3f, 88.7f, -708.0, 709.7)      \
	X(cosh, u10, ANY, -89.0f, 89.0f, -708.0, 708.0)     \
	X(expm1, u10, ODD, FLT_MIN, 88.7f, 0x1p-500, 708.0) \
	X(sinh, u10, ODD, FLT_MIN, 89.0f, 0x1p-500, 708.0)  \
	X(tanh, u10, ODD, FLT_MIN, 300.0f, 0x1p-500, DBL_MAX)

/* The same of logarithms: their range is the positive numbers. */
#define DRAY_LOG_FUNCTIONS(X) \
	X(log, u10)           \
	X(log2, u10)          \
	X(log10, u10)

/* Functions of two arguments; their float32 is computed as float64. */
#define DRAY_WIDE_BINARY_FUNCTIONS(X) \
	X(hypot, u05)                 \
	X(pow, u10)

/* Functions of a single argument, then of two. */
#define DRAY_NUMBER_OF(name, ...) DRAY_FUNCTION_##name,
enum dray_function {
	DRAY_WIDE_FUNCTIONS(DRAY_NUMBER_OF)
	DRAY_LONG_FUNCTIONS(DRAY_NUMBER_OF)
		DRAY_LOG_FUNCTIONS(DRAY_NUMBER_OF) DRAY_FUNCTION_atan2,
	DRAY_WIDE_BINARY_FUNCTIONS(DRAY_NUMBER_OF) DRAY_FUNCTION_COUNT,
	/* made of other functions, and the hardware's */
	DRAY_FUNCTION_logaddexp = DRAY_FUNCTION_COUNT,
	DRAY_FUNCTION_logaddexp2,
	DRAY_FUNCTION_sqrt,
};
#undef DRAY_NUMBER_OF

/*
 * Computes @count elements; @y is for functions of two arguments.  @out may be
 * @x or @y.  Returns the floating-point errors of the results, as in <fenv.h>;
 * errors that the hardware noted mean nothing.
 */
typedef int dray_kernel_double(const double *x, const double *y, double *out,
			       size_t count);
typedef int dray_kernel_float(const float *x, const float *y, float *out,
			      size_t count);

struct dray_kernels {
	const char *name;
	dray_kernel_double *of_double[DRAY_FUNCTION_COUNT];
	dray_kernel_float *of_float[DRAY_FUNCTION_COUNT];
	/* SLEEF's or the C library's own, of functions that dray computes above */
	dray_kernel_float *plain_float[DRAY_FUNCTION_COUNT];
	dray_kernel_double *plain_double[DRAY_FUNCTION_COUNT];
};

/* Without vectors; libm if there is no SLEEF. */
extern const struct dray_kernels dray_kernels_scalar;
extern const struct dray_kernels dray_kernels_sse2;
extern const struct dray_kernels dray_kernels_avx;
extern const struct dray_kernels dray_kernels_avx512;
extern const struct dray_kernels dray_kernels_avx2_fused;
extern const struct dray_kernels dray_kernels_avx512_fused;
extern const struct dray_kernels dray_kernels_neon;
extern const struct dray_kernels dray_kernels_neon_fused;

/* The widest set that this processor runs. */
const struct dray_kernels *dray_kernels_exact(void);
/* The same of fused sets; a set in exact order if it runs none. */
const struct dray_kernels *dray_kernels_fused(void);

/*
 * Looks again at @lanes results of which at least 1 is zero, subnormal, infinite
 * or not a number: mends the wrong results of a kernel, and returns the errors.
 */
int dray_mend_double(enum dray_function function, const double *x,
		     const double *y, double *out, int lanes);
int dray_mend_float(enum dray_function function, const float *x, const float *y,
		    float *out, int lanes);

/*
 * Computes log(exp(x) + exp(y)), or with powers of 2; at most a part.  @out may be
 * @x or @y.  Returns the errors.
 */
int dray_sum_double(const struct dray_kernels *kernels, bool binary,
		    const double *x, const double *y, double *out,
		    size_t count);
int dray_sum_float(const struct dray_kernels *kernels, bool binary,
		   const float *x, const float *y, float *out, size_t count);

#endif /* DRAY_LOOPS_ELEMENTARY_H */
