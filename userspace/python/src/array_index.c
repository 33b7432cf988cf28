// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Indices of Python become steps of the library, and values become views that
 * it assigns.  A scalar is made by NumPy.
 */
#include "array_object.h"

/* As many as there can be: integers or slices, and new axes, and an ellipsis. */
#define MAX_STEPS (2 * DRAY_MAX_NDIM + 1)

struct steps {
	struct dray_index list[MAX_STEPS];
	size_t count;
	bool scalar; /* integers only */
};

static int64_t slice_bound(PyObject *given, Py_ssize_t bound)
{
	if (given == Py_None)
		return DRAY_OMIT;
	return bound == DRAY_OMIT ? bound + 1 : bound;
}

static int take_slice(PyObject *object, struct dray_index *out)
{
	PySliceObject *slice = (PySliceObject *)object;
	Py_ssize_t start, stop, step;

	if (PySlice_Unpack(object, &start, &stop, &step))
		return -1;
	*out = DRAY_SLICE(slice_bound(slice->start, start),
			  slice_bound(slice->stop, stop),
			  slice->step == Py_None ? DRAY_OMIT : step);
	return 0;
}

static bool is_integer(PyObject *object)
{
	if (PyLong_CheckExact(object))
		return true;
	if (PyBool_Check(object) || PyArray_IsScalar(object, Bool))
		return false;
	if (PyArray_Check(object))
		return !PyArray_NDIM((PyArrayObject *)object) &&
		       PyArray_ISINTEGER((PyArrayObject *)object);
	return PyIndex_Check(object);
}

static int take_integer(PyObject *object, struct dray_index *out)
{
	Py_ssize_t at = PyNumber_AsSsize_t(object, PyExc_IndexError);

	if (at == -1 && PyErr_Occurred())
		return -1;
	*out = DRAY_AT(at);
	return 0;
}

static int refuse(PyObject *object)
{
	if (PyArray_Check(object) || PyList_Check(object) ||
	    PyBool_Check(object) || PyArray_IsScalar(object, Bool))
		PyErr_Format(PyExc_NotImplementedError,
			     "a %s as an index: dray.Array takes basic ones",
			     Py_TYPE(object)->tp_name);
	else
		PyErr_Format(
			PyExc_IndexError,
			"an index is an integer, a slice, ... or None, not a %s",
			Py_TYPE(object)->tp_name);
	return -1;
}

static int take_step(PyObject *object, struct steps *steps)
{
	struct dray_index *out = &steps->list[steps->count];

	if (steps->count++ == MAX_STEPS) {
		PyErr_Format(PyExc_IndexError, "more than %d indices",
			     MAX_STEPS);
		return -1;
	}
	if (is_integer(object))
		return take_integer(object, out);
	steps->scalar = false;
	if (PySlice_Check(object))
		return take_slice(object, out);
	if (object == Py_None)
		*out = DRAY_NEWAXIS;
	else if (object == Py_Ellipsis)
		*out = DRAY_ELLIPSIS;
	else
		return refuse(object);
	return 0;
}

static int take_steps(PyObject *key, struct steps *steps)
{
	Py_ssize_t i;

	steps->count = 0;
	steps->scalar = true;
	if (!PyTuple_Check(key))
		return take_step(key, steps);
	for (i = 0; i < PyTuple_GET_SIZE(key); i++) {
		if (take_step(PyTuple_GET_ITEM(key, i), steps))
			return -1;
	}
	return 0;
}

/* Fills @out with self[key]; *scalar: it is one element. */
static int take_index(struct array_object *self, PyObject *key,
		      struct dray_view *out, bool *scalar)
{
	struct steps steps;
	int ret;

	if (take_steps(key, &steps))
		return -1;
	ret = dray_view_index(array_whole(self, out), steps.list, steps.count,
			      out);
	*scalar = steps.scalar && steps.count == (size_t)self->array->ndim;
	if (!ret)
		return 0;
	raise_array_error(ARRAY_INDEX, ret);
	return -1;
}

PyObject *array_get(PyObject *object, PyObject *key)
{
	struct array_object *self = (struct array_object *)object;
	struct dray_view view;
	bool scalar;

	if (take_index(self, key, &view, &scalar))
		return NULL;
	return scalar ? PyArray_Scalar(view.data, self->descr, NULL)
		      : array_over(self, &view);
}

PyObject *array_at(PyObject *self, Py_ssize_t at)
{
	PyObject *key = PyLong_FromSsize_t(at);
	PyObject *element = key ? array_get(self, key) : NULL;

	Py_XDECREF(key);
	return element;
}

Py_ssize_t array_length(PyObject *object)
{
	struct dray_array *array = ((struct array_object *)object)->array;

	if (array->ndim)
		return (Py_ssize_t)dray_array_axes(array)[0].size;
	PyErr_SetString(PyExc_TypeError, "len() of an array without axes");
	return -1;
}

/* Leaves out axes of one element in front that @ndim axes have no room for. */
static void drop_ones(struct dray_view *view, int ndim)
{
	int i, extra = 0;

	while (view->ndim - extra > ndim && view->shape[extra] == 1)
		extra++;
	view->ndim -= extra;
	for (i = 0; extra && i < view->ndim; i++) {
		view->shape[i] = view->shape[i + extra];
		view->strides[i] = view->strides[i + extra];
	}
}

/* @value, of the destination's type, is repeated as needed. */
static int assign(const struct dray_view *to, struct dray_view *value)
{
	int ret;

	drop_ones(value, to->ndim);
	ret = dray_view_broadcast(value, to->ndim, to->shape, value);
	if (!ret)
		ret = dray_view_assign(to, value);
	if (!ret)
		return 0;
	raise_array_error(ARRAY_SHAPE, ret);
	return -1;
}

/* Returns an array of NumPy of the type of @self. */
static PyArrayObject *value_of(struct array_object *self, PyObject *value)
{
	Py_INCREF(self->descr);
	return (PyArrayObject *)PyArray_FromAny(value, self->descr, 0, 0,
						NPY_ARRAY_FORCECAST, NULL);
}

static int assign_object(struct array_object *self, const struct dray_view *to,
			 PyObject *value)
{
	PyArrayObject *array;
	struct dray_view view;
	int ret;

	if (Py_IS_TYPE(value, Py_TYPE(self)) &&
	    dray_dtype_equal(((struct array_object *)value)->array->dtype,
			     self->array->dtype))
		return assign(to,
			      array_whole((struct array_object *)value, &view));
	array = value_of(self, value);
	if (!array)
		return -1;
	ret = array_describe(array, &view);
	if (!ret)
		ret = assign(to, &view);
	Py_DECREF(array);
	return ret;
}

static int check_writable(const struct array_object *self)
{
	if (self->array->flags & DRAY_WRITE)
		return 0;
	PyErr_SetString(PyExc_ValueError, "the array is read-only");
	return -1;
}

int array_set(PyObject *object, PyObject *key, PyObject *value)
{
	struct array_object *self = (struct array_object *)object;
	struct dray_view view;
	bool scalar;

	if (!value) {
		PyErr_SetString(PyExc_ValueError,
				"elements of an array cannot be deleted");
		return -1;
	}
	if (check_writable(self) || take_index(self, key, &view, &scalar))
		return -1;
	return assign_object(self, &view, value);
}

PyObject *array_fill(PyObject *object, PyObject *value)
{
	struct array_object *self = (struct array_object *)object;
	PyArrayObject *element;
	struct dray_view to, view;
	int ret = -1;

	if (check_writable(self))
		return NULL;
	element = value_of(self, value);
	if (!element)
		return NULL;
	if (PyArray_NDIM(element))
		PyErr_SetString(PyExc_ValueError,
				"fill() takes one element, not an array");
	else if (!array_describe(element, &view))
		ret = assign(array_whole(self, &to), &view);
	Py_DECREF(element);
	if (ret)
		return NULL;
	Py_RETURN_NONE;
}
