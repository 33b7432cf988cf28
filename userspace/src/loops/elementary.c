// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Loops of elementary functions.  A loop's context is the function's number.  The
 * hardware's errors are kept as they were, but for those of the results.
 */
#include "loops/elementary.h"
#include "loops/elementary_block.h"
#include "loops/elementary_flags.h"
#include "loops/loops.h"

static inline int64_t at_most(int64_t count)
{
	return count < DRAY_BLOCK ? count : DRAY_BLOCK;
}

static int loop_double(const struct dray_kernels *kernels, char *const *data,
		       const int64_t *strides, int64_t count, void *context)
{
	const uintptr_t function = (uintptr_t)context;
	const int last = function < DRAY_FUNCTION_FIRST_BINARY ? 1 : 2;
	const dray_flags kept = dray_flags_keep();
	double block[2][DRAY_BLOCK];
	int errors = 0;
	int64_t i, size;

	for (i = 0; i < count; i += size) {
		char *to = data[last] + i * strides[last];
		const bool direct = strides[last] == sizeof(double);
		double *out = direct ? (double *)(void *)to : block[0];
		const double *x, *y = NULL;

		size = at_most(count - i);
		x = dray_take_double(data[0] + i * strides[0], strides[0], size,
				     block[0]);
		if (last == 2)
			y = dray_take_double(data[1] + i * strides[1],
					     strides[1], size, block[1]);
		errors |= kernels->of_double[function](x, y, out, (size_t)size);
		if (!direct)
			dray_put_double(to, strides[last], size, out);
	}
	dray_flags_restore(kept, errors);
	return 0;
}

static int loop_float(const struct dray_kernels *kernels, char *const *data,
		      const int64_t *strides, int64_t count, void *context)
{
	const uintptr_t function = (uintptr_t)context;
	const int last = function < DRAY_FUNCTION_FIRST_BINARY ? 1 : 2;
	const dray_flags kept = dray_flags_keep();
	float block[2][DRAY_BLOCK];
	int errors = 0;
	int64_t i, size;

	for (i = 0; i < count; i += size) {
		char *to = data[last] + i * strides[last];
		const bool direct = strides[last] == sizeof(float);
		float *out = direct ? (float *)(void *)to : block[0];
		const float *x, *y = NULL;

		size = at_most(count - i);
		x = dray_take_float(data[0] + i * strides[0], strides[0], size,
				    block[0]);
		if (last == 2)
			y = dray_take_float(data[1] + i * strides[1],
					    strides[1], size, block[1]);
		errors |= kernels->of_float[function](x, y, out, (size_t)size);
		if (!direct)
			dray_put_float(to, strides[last], size, out);
	}
	dray_flags_restore(kept, errors);
	return 0;
}

static int loop_half(const struct dray_kernels *kernels, char *const *data,
		     const int64_t *strides, int64_t count, void *context)
{
	const uintptr_t function = (uintptr_t)context;
	const int last = function < DRAY_FUNCTION_FIRST_BINARY ? 1 : 2;
	const dray_flags kept = dray_flags_keep();
	float block[2][DRAY_BLOCK];
	int errors = 0;
	int64_t i, size;

	for (i = 0; i < count; i += size) {
		size = at_most(count - i);
		dray_take_half(data[0] + i * strides[0], strides[0], size,
			       block[0]);
		if (last == 2)
			dray_take_half(data[1] + i * strides[1], strides[1],
				       size, block[1]);
		errors |= kernels->of_float[function](block[0], block[1],
						      block[0], (size_t)size);
		errors |= dray_put_half(data[last] + i * strides[last],
					strides[last], size, block[0]);
	}
	dray_flags_restore(kept, errors);
	return 0;
}

#define LOOP(type)                                                           \
	static int exact_##type(char *const *data, const int64_t *strides,   \
				int64_t count, void *context)                \
	{                                                                    \
		return loop_##type(dray_kernels_exact(), data, strides,      \
				   count, context);                          \
	}                                                                    \
                                                                             \
	static int fused_##type(char *const *data, const int64_t *strides,   \
				int64_t count, void *context)                \
	{                                                                    \
		return loop_##type(dray_kernels_fused(), data, strides,      \
				   count, context);                          \
	}

LOOP(half)
LOOP(float)
LOOP(double)

#define NUMBER(function) (void *)(uintptr_t)DRAY_FUNCTION_##function

#define UNARY(function, accuracy)                                            \
	static const struct dray_loop_entry function##_loops[] = {           \
		{ "ee", exact_half, NUMBER(function), 0, fused_half },       \
		{ "ff", exact_float, NUMBER(function), 0, fused_float },     \
		{ "dd", exact_double, NUMBER(function), 0, fused_double },   \
	};

#define BINARY(function, accuracy)                                           \
	static const struct dray_loop_entry function##_loops[] = {           \
		{ "eee", exact_half, NUMBER(function), 0, fused_half },      \
		{ "fff", exact_float, NUMBER(function), 0, fused_float },    \
		{ "ddd", exact_double, NUMBER(function), 0, fused_double },  \
	};

/*
 * Roots are rounded correctly by all sets.  The hardware's errors are true, but
 * for those of elements that were gathered.
 */
static int root_double(char *const *data, const int64_t *strides, int64_t count,
		       void *context)
{
	const struct dray_kernels *kernels = dray_kernels_exact();
	double block[DRAY_BLOCK];
	int64_t i, size;

	(void)context;
	for (i = 0; i < count; i += size) {
		char *to = data[1] + i * strides[1];
		const bool direct = strides[1] == sizeof(double);
		double *out = direct ? (double *)(void *)to : block;

		size = at_most(count - i);
		kernels->sqrt_double(dray_take_double(data[0] + i * strides[0],
						      strides[0], size, block),
				     out, (size_t)size);
		if (!direct)
			dray_put_double(to, strides[1], size, out);
	}
	return 0;
}

static int root_float(char *const *data, const int64_t *strides, int64_t count,
		      void *context)
{
	const struct dray_kernels *kernels = dray_kernels_exact();
	float block[DRAY_BLOCK];
	int64_t i, size;

	(void)context;
	for (i = 0; i < count; i += size) {
		char *to = data[1] + i * strides[1];
		const bool direct = strides[1] == sizeof(float);
		float *out = direct ? (float *)(void *)to : block;

		size = at_most(count - i);
		kernels->sqrt_float(dray_take_float(data[0] + i * strides[0],
						    strides[0], size, block),
				    out, (size_t)size);
		if (!direct)
			dray_put_float(to, strides[1], size, out);
	}
	return 0;
}

static int root_half(char *const *data, const int64_t *strides, int64_t count,
		     void *context)
{
	const struct dray_kernels *kernels = dray_kernels_exact();
	float block[DRAY_BLOCK];
	int64_t i, size;

	(void)context;
	for (i = 0; i < count; i += size) {
		size = at_most(count - i);
		dray_take_half(data[0] + i * strides[0], strides[0], size,
			       block);
		kernels->sqrt_float(block, block, (size_t)size);
		dray_put_half(data[1] + i * strides[1], strides[1], size,
			      block);
	}
	return 0;
}

static const struct dray_loop_entry sqrt_loops[] = {
	{ "ee", root_half, NULL, 0, NULL },
	{ "ff", root_float, NULL, 0, NULL },
	{ "dd", root_double, NULL, 0, NULL },
};

DRAY_UNARY_FUNCTIONS(UNARY)
DRAY_BINARY_FUNCTIONS(BINARY)

#define OF(name, function)                                                   \
	{                                                                    \
		name, 1, 1, DRAY_IDENTITY_NONE, function##_loops, 3, NULL    \
	}

static const struct dray_ufunc_definition definitions[] = {
	OF("sqrt", sqrt),
	OF("cbrt", cbrt),
	OF("exp", exp),
	OF("exp2", exp2),
	OF("expm1", expm1),
	OF("log", log),
	OF("log2", log2),
	OF("log10", log10),
	OF("log1p", log1p),
	OF("sin", sin),
	OF("cos", cos),
	OF("tan", tan),
	OF("arcsin", asin),
	OF("arccos", acos),
	OF("arctan", atan),
	OF("sinh", sinh),
	OF("cosh", cosh),
	OF("tanh", tanh),
	OF("arcsinh", asinh),
	OF("arccosh", acosh),
	OF("arctanh", atanh),
	{ "arctan2", 2, 1, DRAY_IDENTITY_NONE, atan2_loops, 3, NULL },
	{ "float_power", 2, 1, DRAY_IDENTITY_NONE, &pow_loops[2], 1, NULL },
	{ "hypot", 2, 1, DRAY_IDENTITY_ZERO, hypot_loops, 3, NULL },
	{ "power", 2, 1, DRAY_IDENTITY_NONE, pow_loops, 3, NULL },
};

const struct dray_ufunc_list dray_elementary_ufuncs = {
	definitions,
	sizeof(definitions) / sizeof(definitions[0]),
};
