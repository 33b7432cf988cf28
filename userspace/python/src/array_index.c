// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Indices of Python become steps of the library, and values become views that
 * it assigns.  A scalar is made by NumPy.
 */
#include <errno.h>

#include "array_object.h"

/* As many as there can be: integers or slices, and new axes, and an ellipsis. */
#define MAX_STEPS (2 * DRAY_MAX_NDIM + 1)

struct steps {
	struct dray_index list[MAX_STEPS];
	size_t count;
	bool scalar; /* integers only */
};

/* Takes a part of a slice; a number that is too long becomes the longest. */
static int take_part(PyObject *part, int64_t *out)
{
	*out = DRAY_OMIT;
	if (part == Py_None)
		return 0;
	if (!PyIndex_Check(part)) {
		PyErr_Format(PyExc_TypeError,
			     "a slice has a %s, which is not an integer",
			     Py_TYPE(part)->tp_name);
		return -1;
	}
	*out = PyNumber_AsSsize_t(part, NULL);
	if (*out == -1 && PyErr_Occurred())
		return -1;
	if (*out == DRAY_OMIT)
		++*out;
	return 0;
}

static int take_slice(PyObject *object, struct dray_index *out)
{
	const PySliceObject *slice = (PySliceObject *)object;

	*out = DRAY_ALL;
	if (take_part(slice->start, &out->start) ||
	    take_part(slice->stop, &out->stop))
		return -1;
	return take_part(slice->step, &out->step);
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

/* Refuses an index that is none, and arrays. */
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

/* Whether a step of 0 is why the library refused the steps. */
static bool has_step_of_zero(const struct steps *steps, int ndim)
{
	int taken = 0, ellipses = 0, zeros = 0;
	size_t i;

	for (i = 0; i < steps->count; i++) {
		const struct dray_index *step = &steps->list[i];

		taken += step->kind == DRAY_INDEX_INTEGER ||
			 step->kind == DRAY_INDEX_SLICE;
		ellipses += step->kind == DRAY_INDEX_ELLIPSIS;
		zeros += step->kind == DRAY_INDEX_SLICE && !step->step;
	}
	return zeros && taken <= ndim && ellipses <= 1;
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
	if (ret == -EINVAL && has_step_of_zero(&steps, self->array->ndim))
		ret = -EDOM;
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

/* @value is converted, and repeated as needed. */
static int assign(const struct dray_view *to, const struct dray_view *value)
{
	int ret = dray_view_convert(to, value, DRAY_CASTING_UNSAFE);

	if (!ret)
		return 0;
	raise_array_error(ARRAY_CAST, ret);
	return -1;
}

/* The same, of a view of array_describe(). */
static int assign_described(const struct dray_view *to,
			    const struct dray_view *value)
{
	int ret = assign(to, value);

	dray_dtype_unref(value->dtype);
	return ret;
}

/* Returns an array of NumPy of the type of @self, of any shape. */
static PyArrayObject *value_of(struct array_object *self, PyObject *value)
{
	Py_INCREF(self->descr);
	return (PyArrayObject *)PyArray_FromAny(value, self->descr, 0, 0,
						NPY_ARRAY_FORCECAST, NULL);
}

/* Returns one without axes, with the one element that @value is. */
static PyArrayObject *element_of(struct array_object *self, PyObject *value)
{
	PyObject *nowhere = PyTuple_New(0), *element;

	Py_INCREF(self->descr);
	element = PyArray_NewFromDescr(&PyArray_Type, self->descr, 0, NULL,
				       NULL, NULL, 0, NULL);
	/* NumPy reads an Array as text if it is asked for one number of it. */
	value = Py_IS_TYPE(value, Py_TYPE(self)) ? array_as_numpy(value)
						 : Py_NewRef(value);
	if (!nowhere || !element || !value ||
	    PyObject_SetItem(element, nowhere, value))
		Py_CLEAR(element);
	Py_XDECREF(nowhere);
	Py_XDECREF(value);
	return (PyArrayObject *)element;
}

/* Assigns an array of NumPy, taken over; NULL is an error. */
static int assign_numpy(const struct dray_view *to, PyArrayObject *array)
{
	struct dray_view view;
	int ret = array ? array_describe(array, &view) : -1;

	if (!ret)
		ret = assign_described(to, &view);
	Py_XDECREF(array);
	return ret;
}

static int assign_object(struct array_object *self, const struct dray_view *to,
			 PyObject *value)
{
	struct dray_view view;

	if (Py_IS_TYPE(value, Py_TYPE(self)))
		return assign(to,
			      array_whole((struct array_object *)value, &view));
	if (PyArray_Check(value)) {
		if (!array_describe((PyArrayObject *)value, &view))
			return assign_described(to, &view);
		/* NumPy converts other types. */
		PyErr_Clear();
	}
	return assign_numpy(to, value_of(self, value));
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
	return scalar ? assign_numpy(&view, element_of(self, value))
		      : assign_object(self, &view, value);
}

PyObject *array_fill(PyObject *object, PyObject *value)
{
	struct array_object *self = (struct array_object *)object;
	struct dray_view to;

	if (check_writable(self) ||
	    assign_numpy(array_whole(self, &to), element_of(self, value)))
		return NULL;
	Py_RETURN_NONE;
}
