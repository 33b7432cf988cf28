// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Extents and axes as arguments: ints and tuples of them at once, all else by NumPy. */
#include <limits.h>

#include "array_numbers.h"

/* Takes a number; false if it is no int, or too large. */
static bool number_take(PyObject *object, struct numbers *out)
{
	int overflow = 0;
	int64_t number;

	if (!PyLong_CheckExact(object) || out->count >= DRAY_MAX_NDIM)
		return false;
	number = PyLong_AsLongLongAndOverflow(object, &overflow);
	out->list[out->count] = number;
	out->axes[out->count++] =
		number < INT_MIN || number > INT_MAX ? INT_MAX : (int)number;
	return !overflow;
}

static bool ints_take(PyObject *const *list, Py_ssize_t count,
		      struct numbers *out)
{
	Py_ssize_t i;

	out->all = false;
	out->count = 0;
	for (i = 0; i < count; i++) {
		if (!number_take(list[i], out))
			return false;
	}
	return true;
}

/* Takes anything that NumPy takes for a shape. */
static int any_take(PyObject *object, struct numbers *out)
{
	PyArray_Dims dims = { NULL, 0 };
	int i;

	if (!PyArray_IntpConverter(object, &dims))
		return 0;
	out->count = dims.len;
	for (i = 0; i < dims.len && i < DRAY_MAX_NDIM; i++) {
		out->list[i] = dims.ptr[i];
		out->axes[i] = dims.ptr[i] < INT_MIN || dims.ptr[i] > INT_MAX
				       ? INT_MAX
				       : (int)dims.ptr[i];
	}
	PyDimMem_FREE(dims.ptr);
	if (out->count <= DRAY_MAX_NDIM)
		return 1;
	PyErr_Format(PyExc_ValueError, "%d axes, %d are the most", out->count,
		     DRAY_MAX_NDIM);
	return 0;
}

int numbers_take(PyObject *object, void *result)
{
	struct numbers *out = result;
	bool taken;

	out->count = 0;
	out->all = object == Py_None;
	if (out->all)
		return 1;
	taken = PyTuple_CheckExact(object)
			? ints_take(&PyTuple_GET_ITEM(object, 0),
				    PyTuple_GET_SIZE(object), out)
			: ints_take(&object, 1, out);
	return taken || any_take(object, out);
}

int numbers_of(PyObject *const *args, Py_ssize_t count, struct numbers *out)
{
	PyObject *tuple;
	int taken;

	if (count == 1 && !PyIndex_Check(args[0]))
		return numbers_take(args[0], out) ? 0 : -1;
	if (ints_take(args, count, out))
		return 0;
	tuple = PyTuple_New(count);
	if (!tuple)
		return -1;
	while (count--)
		PyTuple_SET_ITEM(tuple, count, Py_NewRef(args[count]));
	taken = any_take(tuple, out);
	Py_DECREF(tuple);
	return taken ? 0 : -1;
}
