// SPDX-License-Identifier: Apache-2.0 OR MIT
/* dray.Array.arange(): takes Python's numbers for a range of the library. */
#include <string.h>

#include "array_object.h"

struct arguments_range {
	PyObject *numbers[3]; /* start, stop, step */
	dray_dtype dtype;
	bool real;
	int64_t integers[3];
	double reals[3];
};

static int array_range_make(void *context, struct dray_array **out)
{
	const struct arguments_range *range = context;
	const int64_t *integers = range->integers;
	const double *reals = range->reals;

	return range->real ? dray_array_arange_real(range->dtype, reals[0],
						    reals[1], reals[2], out)
			   : dray_array_arange(range->dtype, integers[0],
					       integers[1], integers[2], out);
}

/* Takes an integer; 1: it is none of 64 bits. */
static int range_take_integer(PyObject *object, int64_t *out)
{
	if (!PyIndex_Check(object))
		return 1;
	*out = PyNumber_AsSsize_t(object, PyExc_OverflowError);
	if (*out != -1 || !PyErr_Occurred())
		return 0;
	if (!PyErr_ExceptionMatches(PyExc_OverflowError))
		return -1;
	PyErr_Clear();
	return 1;
}

/* Whether a double has an integer, taken over, unchanged; NULL and -1: an error. */
static int range_is_exact(PyObject *integer)
{
	PyObject *real = integer ? PyNumber_Float(integer) : NULL;
	int same = real ? PyObject_RichCompareBool(real, integer, Py_EQ) : -1;

	Py_XDECREF(real);
	Py_XDECREF(integer);
	return same;
}

/* Refuses integers beyond 64 bits if doubles would make another range of them. */
static int check_long_integers(const struct arguments_range *range)
{
	PyObject *number[3] = { NULL };
	int exact = 1, i;

	for (i = 0; i < 3; i++) {
		if (!PyIndex_Check(range->numbers[i]))
			return 0;
	}
	for (i = 0; exact > 0 && i < 3; i++) {
		number[i] = PyNumber_Index(range->numbers[i]);
		exact = range_is_exact(Py_XNewRef(number[i]));
	}
	if (exact > 0)
		exact = range_is_exact(PyNumber_Subtract(number[1], number[0]));
	if (exact > 0)
		exact = range_is_exact(PyNumber_Add(number[0], number[2]));
	if (!exact)
		PyErr_SetString(
			PyExc_OverflowError,
			"a range of integers takes numbers from -2^63 to 2^63 - 1, and others that doubles have exactly");
	for (i = 0; i < 3; i++)
		Py_XDECREF(number[i]);
	return exact > 0 ? 0 : -1;
}

/* Takes integers if all are, or else doubles. */
static int take_numbers(struct arguments_range *range)
{
	int i, ret = 0;

	for (i = 0; !ret && i < 3; i++)
		ret = range_take_integer(range->numbers[i],
					 &range->integers[i]);
	range->real = ret > 0;
	if (ret > 0 && check_long_integers(range))
		return -1;
	for (i = 0; ret > 0 && i < 3; i++) {
		range->reals[i] = PyFloat_AsDouble(range->numbers[i]);
		if (range->reals[i] == -1 && PyErr_Occurred())
			ret = -1;
	}
	if (ret < 0)
		return ret;
	if (range->real ? range->reals[2] != 0 : range->integers[2] != 0)
		return 0;
	PyErr_SetString(PyExc_ZeroDivisionError, "the step of the range is 0");
	return -1;
}

/* Finds NumPy's type of a range that was not given one: an integer at least. */
static PyArray_Descr *common_type(const struct arguments_range *range)
{
	PyArray_Descr *descr = PyArray_DescrFromType(NPY_LONG), *common;
	int i;

	for (i = 0; descr && i < 3; i++) {
		common = PyArray_DescrFromObject(range->numbers[i], descr);
		Py_SETREF(descr, common);
	}
	return descr;
}

static int take_type(struct arguments_range *range, PyArray_Descr *descr)
{
	if (dtype_take(descr, &range->dtype))
		return -1;
	if (dray_dtype_is_builtin(range->dtype) &&
	    strchr("?iufc", dray_dtype_kind(range->dtype)))
		return 0;
	dray_dtype_unref(range->dtype);
	PyErr_Format(PyExc_TypeError, "a range is of numbers, not of %R",
		     descr);
	return -1;
}

PyObject *array_arange(PyObject *type, PyObject *const *args, Py_ssize_t count,
		       PyObject *names)
{
	static const struct signature signature = { "arange",
						    1,
						    4,
						    { { "start", object_take },
						      { "stop", object_take },
						      { "step", object_take },
						      { "dtype",
							type_or_none_take } } };
	PyObject *start, *stop = Py_None, *step = Py_None;
	PyObject *zero = PyLong_FromLong(0), *one = PyLong_FromLong(1);
	PyArray_Descr *descr = NULL;
	PyObject *result = NULL;
	struct arguments_range range;

	if (!zero || !one ||
	    arguments_take(&signature, args, count, names,
			   (void *[]){ &start, &stop, &step, &descr }))
		goto out;
	range.numbers[0] = stop == Py_None ? zero : start;
	range.numbers[1] = stop == Py_None ? start : stop;
	range.numbers[2] = step == Py_None ? one : step;
	if (!descr)
		descr = common_type(&range);
	if (descr && !take_type(&range, descr) && !take_numbers(&range))
		result = array_made((PyTypeObject *)type, ARRAY_CAST,
				    array_range_make, &range, descr);
out:
	Py_XDECREF(descr);
	Py_XDECREF(one);
	Py_XDECREF(zero);
	return result;
}
