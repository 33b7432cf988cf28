// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Sums, extremes, means and the like of a dray.Array, with the arguments of the methods
 * of NumPy's array.
 */
#include <string.h>

#include <dray/array/statistics.h>

#include "arithmetic/array_statistics.h"
#include "arithmetic/array_ufunc.h"
#include "ufunc/ufunc_along.h"

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

static void array_statistics_begin(struct along *from, PyObject *self)
{
	along_begin(from, type_state(self));
	from->array = self;
	from->axes.all = true;
}

/* Outputs into which dray computes; into others NumPy does. */
enum statistics_into {
	INTO_NUMBERS,
	INTO_SAFE, /* to which elements are converted without a loss */
	INTO_SAME, /* of the numbers with which NumPy computes, in steps */
};

/* Whether dray's loops know numbers of this size, unlike long doubles. */
static bool is_short(dray_dtype dtype)
{
	const char kind = dray_dtype_kind(dtype);

	return (kind != 'f' && kind != 'c') ||
	       dray_dtype_itemsize(dtype) <= (kind == 'c' ? 16 : 8);
}

/*
 * Whether NumPy computes: without a loop of dray, from a mean of the caller, and if results depend on the type of
 * the output, in which NumPy keeps them on the way.
 */
static bool is_numpys(const struct along *from, enum statistics_into into)
{
	const dray_dtype in = from->in.view.dtype, to = from->to.view.dtype;
	const dray_dtype dtype = from->dtype ? from->dtype : in;

	if (!is_short(dtype) || (from->mean && from->mean != Py_None))
		return true;
	if (!from->output)
		return false;
	if (!is_short(to) || strchr("SUV", dray_dtype_kind(to)))
		return true;
	if (into == INTO_NUMBERS)
		return false;
	if (!dray_can_cast(in, to, DRAY_CASTING_SAFE) ||
	    !dray_can_cast(dtype, to, DRAY_CASTING_SAFE))
		return true;
	return into == INTO_SAME &&
	       (dray_dtype_kind(to) != 'f' || dray_dtype_itemsize(to) < 4 ||
		!dray_dtype_equal(dtype, to));
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
#define MEAN                        \
	{                           \
		"mean", object_take \
	}
#define PARAMETERS(...)     \
	{                   \
		__VA_ARGS__ \
	}
#define VALUES(...)         \
	{                   \
		__VA_ARGS__ \
	}

/* Refuses an output in a tuple, which ufuncs accept, as NumPy's methods do. */
static int statistics_check_output(const struct along *from)
{
	if (!from->out || !PyTuple_Check(from->out))
		return 0;
	PyErr_SetString(PyExc_TypeError,
			"out is an array, not a tuple: pass the array itself");
	return -1;
}

/* @strict: an element without axes lacks an axis 0 */
#define METHOD(name, strict, into, positional, parameters, ...)           \
	PyObject *array_##name(PyObject *self, PyObject *const *args,     \
			       Py_ssize_t count, PyObject *names)         \
	{                                                                 \
		static const struct signature signature = { #name, 0,     \
							    positional,   \
							    parameters }; \
		PyObject *result = NULL;                                  \
		struct along from;                                        \
		bool numpys = false;                                      \
                                                                          \
		array_statistics_begin(&from, self);                      \
		if (!arguments_take(&signature, args, count, names,       \
				    (void *[]){ __VA_ARGS__ })) {         \
			from.several |= (strict) && !from.axes.all;       \
			if (!statistics_check_output(&from) &&            \
			    !along_reduction(&from))                      \
				numpys = is_numpys(&from, into);          \
			if (!numpys && !PyErr_Occurred())                 \
				result = along_compute(&from, name);      \
		}                                                         \
		along_end(&from);                                         \
		return numpys ? array_by_numpy(self, #name, args, count,  \
					       names)                     \
			      : result;                                   \
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
#define VAR_PARAMETERS PARAMETERS(AXIS, DTYPE, OUT, DDOF, KEEPDIMS, WHERE, MEAN)
#define VAR_VALUES                                                 \
	&from, &from.descr, &from.out, &from.ddof, &from.keepdims, \
		&from.where, &from.mean

METHOD(sum, false, INTO_SAFE, 6, SUM_PARAMETERS, SUM_VALUES)
METHOD(prod, false, INTO_SAFE, 6, SUM_PARAMETERS, SUM_VALUES)
METHOD(min, false, INTO_SAFE, 5, EXTREME_PARAMETERS, EXTREME_VALUES)
METHOD(max, false, INTO_SAFE, 5, EXTREME_PARAMETERS, EXTREME_VALUES)
METHOD(ptp, false, INTO_SAME, 3, PARAMETERS(AXIS, OUT, KEEPDIMS), &from,
       &from.out, &from.keepdims)
METHOD(all, false, INTO_NUMBERS, 3, TRUTH_PARAMETERS, TRUTH_VALUES)
METHOD(any, false, INTO_NUMBERS, 3, TRUTH_PARAMETERS, TRUTH_VALUES)
METHOD(mean, true, INTO_SAME, 4, PARAMETERS(AXIS, DTYPE, OUT, KEEPDIMS, WHERE),
       &from, &from.descr, &from.out, &from.keepdims, &from.where)
METHOD(var, true, INTO_SAME, 5, VAR_PARAMETERS, VAR_VALUES)
METHOD(std, true, INTO_SAME, 5, VAR_PARAMETERS, VAR_VALUES)

/* An axis, or None for all elements in C order. */
static int axis_or_flat_take(PyObject *argument, void *out)
{
	if (argument != Py_None)
		return int_take(argument, out);
	*(int *)out = DRAY_FLAT;
	return 1;
}

static int array_statistics_cumsum(struct along *from,
				   const struct dray_view *to,
				   struct dray_array **out)
{
	return dray_cumsum(&from->in.view, from->axis, from->dtype, to, out);
}

static int array_statistics_cumprod(struct along *from,
				    const struct dray_view *to,
				    struct dray_array **out)
{
	return dray_cumprod(&from->in.view, from->axis, from->dtype, to, out);
}

static PyObject *statistics_running(PyObject *self, PyObject *const *args,
				    Py_ssize_t count, PyObject *names,
				    const char *name, along_function *function)
{
	const struct signature signature = {
		name, 0, 3, { { "axis", axis_or_flat_take }, DTYPE, OUT }
	};
	PyObject *result = NULL;
	struct along from;
	bool numpys = false;

	array_statistics_begin(&from, self);
	from.axis = DRAY_FLAT;
	if (!arguments_take(&signature, args, count, names,
			    (void *[]){ &from.axis, &from.descr, &from.out }) &&
	    !statistics_check_output(&from) && !along_operands(&from) &&
	    (from.axis == DRAY_FLAT ||
	     !along_check_axis(from.axis, from.in.view.ndim))) {
		/* An element counts as a row, with its axis. */
		if (!from.in.view.ndim)
			from.axis = DRAY_FLAT;
		numpys = is_numpys(&from, INTO_SAFE);
		if (!numpys)
			result = along_compute(&from, function);
	}
	along_end(&from);
	return numpys ? array_by_numpy(self, name, args, count, names) : result;
}

PyObject *array_cumsum(PyObject *self, PyObject *const *args, Py_ssize_t count,
		       PyObject *names)
{
	return statistics_running(self, args, count, names, "cumsum",
				  array_statistics_cumsum);
}

PyObject *array_cumprod(PyObject *self, PyObject *const *args, Py_ssize_t count,
			PyObject *names)
{
	return statistics_running(self, args, count, names, "cumprod",
				  array_statistics_cumprod);
}
