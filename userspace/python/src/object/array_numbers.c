// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Extents and axes as arguments: ints and tuples of them at once, all else by NumPy. */
#include <limits.h>

#include "object/array_numbers.h"

static void array_numbers_add(struct numbers *out, int64_t number)
{
	out->list[out->count] = number;
	out->axes[out->count++] =
		number < INT_MIN || number > INT_MAX ? INT_MAX : (int)number;
}

/* Takes ints; false if there are others, or ints that are too large, or many. */
static bool ints_take(PyObject *const *list, Py_ssize_t count,
		      struct numbers *out)
{
	int64_t number;
	Py_ssize_t i;

	out->all = false;
	out->count = 0;
	for (i = 0; i < count; i++) {
		if (i == DRAY_MAX_NDIM || !int64_of(list[i], &number))
			return false;
		array_numbers_add(out, number);
	}
	return true;
}

/* Takes anything that NumPy takes for a shape. */
static int any_take(PyObject *object, struct numbers *out)
{
	PyArray_Dims dims = { NULL, 0 };
	int count, i;

	if (!PyArray_IntpConverter(object, &dims))
		return 0;
	count = dims.len;
	out->count = 0;
	for (i = 0; i < count && i < DRAY_MAX_NDIM; i++)
		array_numbers_add(out, dims.ptr[i]);
	PyDimMem_FREE(dims.ptr);
	if (count <= DRAY_MAX_NDIM)
		return 1;
	PyErr_Format(PyExc_ValueError, "%d axes, %d are the most", count,
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
			? ints_take(PySequence_Fast_ITEMS(object),
				    PyTuple_GET_SIZE(object), out)
			: ints_take(&object, 1, out);
	return taken || any_take(object, out);
}

int numbers_of(PyObject *const *args, Py_ssize_t count, struct numbers *out)
{
	PyObject *tuple;
	int taken;

	if (count == 1)
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
