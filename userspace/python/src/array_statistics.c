// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Sums, extremes, means and the like of a dray.Array, with the arguments of the methods
 * of NumPy's array.
 */
#include <dray/statistics.h>

#include "array_statistics.h"
#include "ufunc_along.h"

/* A function of the library. */
typedef int statistic(const struct dray_view *in, const struct dray_view *to,
		      const struct dray_reduce_options *options,
		      struct dray_array **out);
typedef int statistic_ddof(const struct dray_view *in,
			   const struct dray_view *to, double ddof,
			   const struct dray_reduce_options *options,
			   struct dray_array **out);

static int double_take(PyObject *argument, void *out)
{
	*(double *)out = PyFloat_AsDouble(argument);
	return *(double *)out != -1 || !PyErr_Occurred();
}

static void begin(struct along *from, PyObject *self)
{
	along_begin(from, type_state(self));
	from->array = self;
	from->axes.all = true;
}

#define FUNCTION(name)                                                  \
	static int name(struct along *from, const struct dray_view *to, \
			struct dray_array **out)                        \
	{                                                               \
		struct dray_reduce_options options;                     \
                                                                        \
		return dray_##name(&from->in.view, to,                  \
				   along_options(from, &options), out); \
	}

#define FUNCTION_DDOF(name)                                             \
	static int name(struct along *from, const struct dray_view *to, \
			struct dray_array **out)                        \
	{                                                               \
		struct dray_reduce_options options;                     \
                                                                        \
		return dray_##name(&from->in.view, to, from->ddof,      \
				   along_options(from, &options), out); \
	}

/* Parameters of NumPy's methods, and where their values go. */
#define AXIS                            \
	{                               \
		"axis", along_axes_take \
	}
#define DTYPE                              \
	{                                  \
		"dtype", type_or_none_take \
	}
#define OUT                        \
	{                          \
		"out", object_take \
	}
#define DDOF                        \
	{                           \
		"ddof", double_take \
	}
#define KEEPDIMS                                \
	{                                       \
		"keepdims", along_keepdims_take \
	}
#define INITIAL                        \
	{                              \
		"initial", object_take \
	}
#define WHERE                        \
	{                            \
		"where", object_take \
	}
#define PARAMETERS(...)     \
	{                   \
		__VA_ARGS__ \
	}
#define VALUES(...)         \
	{                   \
		__VA_ARGS__ \
	}

#define METHOD(name, positional, parameters, ...)                         \
	PyObject *array_##name(PyObject *self, PyObject *const *args,     \
			       Py_ssize_t count, PyObject *names)         \
	{                                                                 \
		static const struct signature signature = { #name, 0,     \
							    positional,   \
							    parameters }; \
		PyObject *result = NULL;                                  \
		struct along from;                                        \
                                                                          \
		begin(&from, self);                                       \
		if (!arguments_take(&signature, args, count, names,       \
				    (void *[]){ __VA_ARGS__ }) &&         \
		    !along_reduction(&from))                              \
			result = along_compute(&from, name);              \
		along_end(&from);                                         \
		return result;                                            \
	}

FUNCTION(sum)
FUNCTION(prod)
FUNCTION(min)
FUNCTION(max)
FUNCTION(ptp)
FUNCTION(all)
FUNCTION(any)
FUNCTION(mean)
FUNCTION_DDOF(var)
FUNCTION_DDOF(std)

#define SUM_PARAMETERS PARAMETERS(AXIS, DTYPE, OUT, KEEPDIMS, INITIAL, WHERE)
#define SUM_VALUES \
	&from, &from.descr, &from.out, &from.keepdims, &from.first, &from.where
#define EXTREME_PARAMETERS PARAMETERS(AXIS, OUT, KEEPDIMS, INITIAL, WHERE)
#define EXTREME_VALUES \
	&from, &from.out, &from.keepdims, &from.first, &from.where
#define TRUTH_PARAMETERS PARAMETERS(AXIS, OUT, KEEPDIMS, WHERE)
#define TRUTH_VALUES &from, &from.out, &from.keepdims, &from.where
#define VAR_PARAMETERS PARAMETERS(AXIS, DTYPE, OUT, DDOF, KEEPDIMS, WHERE)
#define VAR_VALUES \
	&from, &from.descr, &from.out, &from.ddof, &from.keepdims, &from.where

METHOD(sum, 6, SUM_PARAMETERS, SUM_VALUES)
METHOD(prod, 6, SUM_PARAMETERS, SUM_VALUES)
METHOD(min, 5, EXTREME_PARAMETERS, EXTREME_VALUES)
METHOD(max, 5, EXTREME_PARAMETERS, EXTREME_VALUES)
METHOD(ptp, 3, PARAMETERS(AXIS, OUT, KEEPDIMS), &from, &from.out,
       &from.keepdims)
METHOD(all, 3, TRUTH_PARAMETERS, TRUTH_VALUES)
METHOD(any, 3, TRUTH_PARAMETERS, TRUTH_VALUES)
METHOD(mean, 4, PARAMETERS(AXIS, DTYPE, OUT, KEEPDIMS, WHERE), &from,
       &from.descr, &from.out, &from.keepdims, &from.where)
METHOD(var, 5, VAR_PARAMETERS, VAR_VALUES)
METHOD(std, 5, VAR_PARAMETERS, VAR_VALUES)

/* An axis, or None for all elements in C order. */
static int axis_or_flat_take(PyObject *argument, void *out)
{
	if (argument != Py_None)
		return int_take(argument, out);
	*(int *)out = DRAY_FLAT;
	return 1;
}

static int cumsum(struct along *from, const struct dray_view *to,
		  struct dray_array **out)
{
	return dray_cumsum(&from->in.view, from->axis, from->dtype, to, out);
}

static int cumprod(struct along *from, const struct dray_view *to,
		   struct dray_array **out)
{
	return dray_cumprod(&from->in.view, from->axis, from->dtype, to, out);
}

static PyObject *running(PyObject *self, PyObject *const *args,
			 Py_ssize_t count, PyObject *names, const char *name,
			 along_function *function)
{
	const struct signature signature = {
		name, 0, 3, { { "axis", axis_or_flat_take }, DTYPE, OUT }
	};
	PyObject *result = NULL;
	struct along from;

	begin(&from, self);
	from.axis = DRAY_FLAT;
	if (!arguments_take(&signature, args, count, names,
			    (void *[]){ &from.axis, &from.descr, &from.out }) &&
	    !along_operands(&from) &&
	    (from.axis == DRAY_FLAT ||
	     !along_check_axis(from.axis, from.in.view.ndim)))
		result = along_compute(&from, function);
	along_end(&from);
	return result;
}

PyObject *array_cumsum(PyObject *self, PyObject *const *args, Py_ssize_t count,
		       PyObject *names)
{
	return running(self, args, count, names, "cumsum", cumsum);
}

PyObject *array_cumprod(PyObject *self, PyObject *const *args, Py_ssize_t count,
			PyObject *names)
{
	return running(self, args, count, names, "cumprod", cumprod);
}
