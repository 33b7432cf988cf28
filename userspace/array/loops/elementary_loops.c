// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Loops of elementary functions.  A loop's context is the function's number.  The
 * hardware's errors are kept as they were, but for those of the results.
 */
#include "loops/elementary_part.h"
#include "loops/elementary_flags.h"
#include "loops/elementary_power.h"

#define PICK(type)                                                            \
	static int compute_##type(const struct dray_kernels *kernels,         \
				  enum dray_function function, const type *x, \
				  const type *y, type *out, int64_t count)    \
	{                                                                     \
		if (function < DRAY_FUNCTION_COUNT)                           \
			return kernels->of_##type[function](x, y, out,        \
							    (size_t)count);   \
		return dray_sum_##type(kernels,                               \
				       function == DRAY_FUNCTION_logaddexp2,  \
				       x, y, out, (size_t)count);             \
	}

PICK(double)
PICK(float)

static const struct dray_kernels *kernels_of(uintptr_t context)
{
	return context & DRAY_LOOP_FAST ? dray_kernels_fused()
					: dray_kernels_exact();
}

static enum dray_function function_of(uintptr_t context)
{
	return (enum dray_function)(context & ~(uintptr_t)DRAY_LOOP_FAST);
}

/*
 * The elements to compute at a time: one where each result is the next argument, as in
 * a reduction.
 */
static int64_t part_of(char *const *data, const int64_t *strides, int last)
{
	return last == 2 && !strides[0] && !strides[2] && data[0] == data[2]
		       ? 1
		       : DRAY_PART;
}

/* The output's number, which is that of inputs. */
static int output_of(enum dray_function function)
{
	return function < DRAY_FUNCTION_atan2 ? 1 : 2;
}

int dray_elementary_double(char *const *data, const int64_t *strides,
			   int64_t count, void *context)
{
	const struct dray_kernels *kernels = kernels_of((uintptr_t)context);
	const enum dray_function function = function_of((uintptr_t)context);
	const int last = output_of(function);
	const int64_t most = part_of(data, strides, last);
	const dray_flags kept = dray_flags_keep();
	double first[DRAY_PART], second[DRAY_PART];
	int errors = 0;
	int64_t i, size;

	if (function == DRAY_FUNCTION_pow &&
	    dray_power_simple_double(data, strides, count))
		return 0;
	for (i = 0; i < count; i += size) {
		char *to = data[last] + i * strides[last];
		const bool direct = strides[last] == sizeof(double);
		double *out = direct ? (double *)(void *)to : first;
		const double *x, *y = NULL;

		size = count - i < most ? count - i : most;
		x = dray_take_double(data[0] + i * strides[0], strides[0], size,
				     first);
		if (last == 2)
			y = dray_take_double(data[1] + i * strides[1],
					     strides[1], size, second);
		errors |= compute_double(kernels, function, x, y, out, size);
		if (!direct)
			dray_put_double(to, strides[last], size, out);
	}
	dray_flags_restore(kept, errors);
	return 0;
}

int dray_elementary_float(char *const *data, const int64_t *strides,
			  int64_t count, void *context)
{
	const struct dray_kernels *kernels = kernels_of((uintptr_t)context);
	const enum dray_function function = function_of((uintptr_t)context);
	const int last = output_of(function);
	const int64_t most = part_of(data, strides, last);
	const dray_flags kept = dray_flags_keep();
	float first[DRAY_PART], second[DRAY_PART];
	int errors = 0;
	int64_t i, size;

	if (function == DRAY_FUNCTION_pow &&
	    dray_power_simple_float(data, strides, count))
		return 0;
	for (i = 0; i < count; i += size) {
		char *to = data[last] + i * strides[last];
		const bool direct = strides[last] == sizeof(float);
		float *out = direct ? (float *)(void *)to : first;
		const float *x, *y = NULL;

		size = count - i < most ? count - i : most;
		x = dray_take_float(data[0] + i * strides[0], strides[0], size,
				    first);
		if (last == 2)
			y = dray_take_float(data[1] + i * strides[1],
					    strides[1], size, second);
		errors |= compute_float(kernels, function, x, y, out, size);
		if (!direct)
			dray_put_float(to, strides[last], size, out);
	}
	dray_flags_restore(kept, errors);
	return 0;
}

int dray_elementary_half(char *const *data, const int64_t *strides,
			 int64_t count, void *context)
{
	const struct dray_kernels *kernels = kernels_of((uintptr_t)context);
	const enum dray_function function = function_of((uintptr_t)context);
	const int last = output_of(function);
	const int64_t most = part_of(data, strides, last);
	const dray_flags kept = dray_flags_keep();
	float first[DRAY_PART], second[DRAY_PART];
	int errors = 0;
	int64_t i, size;

	for (i = 0; i < count; i += size) {
		size = count - i < most ? count - i : most;
		dray_take_half(data[0] + i * strides[0], strides[0], size,
			       first);
		if (last == 2)
			dray_take_half(data[1] + i * strides[1], strides[1],
				       size, second);
		errors |= compute_float(kernels, function, first, second, first,
					size);
		errors |= dray_put_half(data[last] + i * strides[last],
					strides[last], size, first);
	}
	dray_flags_restore(kept, errors);
	return 0;
}

#define FLOATS(function)                                              \
	{ "ee", dray_elementary_half, DRAY_NUMBER(function),          \
	  DRAY_LOOP_HAS_FAST },                                       \
		{ "ff", dray_elementary_float, DRAY_NUMBER(function), \
		  DRAY_LOOP_HAS_FAST },                               \
	{                                                             \
		"dd", dray_elementary_double, DRAY_NUMBER(function),  \
			DRAY_LOOP_HAS_FAST                            \
	}

#define COMPLEX(function)                                           \
	{ "FF", dray_complex_float, DRAY_NUMBER(function), 0 },     \
	{                                                           \
		"DD", dray_complex_double, DRAY_NUMBER(function), 0 \
	}

#define UNARY(function, ...)                                       \
	static const struct dray_loop_entry function##_loops[] = { \
		FLOATS(function),                                  \
		COMPLEX(function),                                 \
	};

#define BINARY(function)                                                \
	static const struct dray_loop_entry function##_loops[] = {      \
		{ "eee", dray_elementary_half, DRAY_NUMBER(function),   \
		  DRAY_LOOP_HAS_FAST },                                 \
		{ "fff", dray_elementary_float, DRAY_NUMBER(function),  \
		  DRAY_LOOP_HAS_FAST },                                 \
		{ "ddd", dray_elementary_double, DRAY_NUMBER(function), \
		  DRAY_LOOP_HAS_FAST },                                 \
	};

DRAY_WIDE_FUNCTIONS(UNARY)
DRAY_LONG_FUNCTIONS(UNARY)
DRAY_LOG_FUNCTIONS(UNARY)
BINARY(atan2)
BINARY(hypot)
BINARY(logaddexp)
BINARY(logaddexp2)

/* Unlike a root, a power by 0.5 is infinite of -infinity, and 0 of -0. */
static int float_power(char *const *data, const int64_t *strides, int64_t count,
		       void *context)
{
	const int64_t steps[] = { strides[0], sizeof(double), strides[2] };
	double halves[DRAY_PART];
	int64_t i, size;
	int ret = 0;

	if (strides[1] || count < 1 ||
	    *(const double *)(const void *)data[1] != 0.5)
		return dray_elementary_double(data, strides, count, context);
	for (i = 0; i < DRAY_PART; i++)
		halves[i] = 0.5;
	for (i = 0; i < count && !ret; i += size) {
		char *const part[] = { data[0] + i * strides[0], (char *)halves,
				       data[2] + i * strides[2] };

		size = dray_part_size(count - i);
		ret = dray_elementary_double(part, steps, size, context);
	}
	return ret;
}

static const struct dray_loop_entry float_power_loops[] = {
	{ "ddd", float_power, DRAY_NUMBER(pow), DRAY_LOOP_HAS_FAST },
	{ "DDD", dray_power_complex_double, NULL, 0 },
};

#define OF(name, function)                                        \
	{                                                         \
		name, 1, 1, DRAY_IDENTITY_NONE, function##_loops, \
			sizeof(function##_loops) /                \
				sizeof(function##_loops[0]),      \
			NULL                                      \
	}

static const struct dray_ufunc_definition definitions[] = {
	{ "cbrt", 1, 1, DRAY_IDENTITY_NONE, cbrt_loops, 3, NULL },
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
	OF("asin", asin),
	OF("arccos", acos),
	OF("acos", acos),
	OF("arctan", atan),
	OF("atan", atan),
	OF("sinh", sinh),
	OF("cosh", cosh),
	OF("tanh", tanh),
	OF("arcsinh", asinh),
	OF("asinh", asinh),
	OF("arccosh", acosh),
	OF("acosh", acosh),
	OF("arctanh", atanh),
	OF("atanh", atanh),
	{ "arctan2", 2, 1, DRAY_IDENTITY_NONE, atan2_loops, 3, NULL },
	{ "atan2", 2, 1, DRAY_IDENTITY_NONE, atan2_loops, 3, NULL },
	{ "float_power", 2, 1, DRAY_IDENTITY_NONE, float_power_loops, 2, NULL },
	{ "hypot", 2, 1, DRAY_IDENTITY_ZERO, hypot_loops, 3, NULL },
	{ "logaddexp", 2, 1, DRAY_IDENTITY_MINUS_INFINITY, logaddexp_loops, 3,
	  NULL },
	{ "logaddexp2", 2, 1, DRAY_IDENTITY_MINUS_INFINITY, logaddexp2_loops, 3,
	  NULL },
};

const struct dray_ufunc_list dray_elementary_ufuncs = {
	definitions,
	sizeof(definitions) / sizeof(definitions[0]),
};
