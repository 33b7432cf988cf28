// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Views of a dray.Array with other axes, shapes and types: arguments of Python,
 * and the library's functions.  Each is named as NumPy's.
 */
#include <errno.h>
#include <limits.h>

#include "array_object.h"

static struct array_object *self_of(PyObject *object)
{
	return (struct array_object *)object;
}

/* Returns the view that a function of the library made, or its error. */
static PyObject *made(PyObject *self, const struct dray_view *view, int ret)
{
	return ret ? raise_array_error(ARRAY_SHAPE, ret)
		   : array_over(self_of(self), view);
}

/* The same, with a type of its own.  @descr: NumPy's object; NULL: makes one. */
static PyObject *made_as(PyObject *self, const struct dray_view *view, int ret,
			 PyArray_Descr *descr)
{
	PyObject *result;

	if (ret)
		return raise_array_error(ARRAY_SHAPE, ret);
	descr = descr ? (PyArray_Descr *)Py_NewRef(descr)
		      : dtype_descr(view->dtype);
	if (!descr)
		return NULL;
	result = array_over_as(self_of(self), view, descr);
	Py_DECREF(descr);
	return result;
}

/* Numbers of axes, or extents. */
struct numbers {
	int count;
	bool all; /* none were named */
	int64_t list[DRAY_MAX_NDIM];
	int axes[DRAY_MAX_NDIM]; /* the same; INT_MAX: too large for an axis */
};

/* Converts an integer or several, for "O&"; with None it leaves all. */
static int numbers_take(PyObject *object, void *result)
{
	struct numbers *out = result;
	PyArray_Dims dims = { NULL, 0 };
	int i;

	out->count = 0;
	out->all = object == Py_None;
	if (out->all)
		return 1;
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

/* Takes numbers that stand by themselves, f(1, 2), or as one: f((1, 2)). */
static int numbers_of(PyObject *args, struct numbers *out)
{
	if (PyTuple_GET_SIZE(args) == 1)
		args = PyTuple_GET_ITEM(args, 0);
	return numbers_take(args, out) ? 0 : -1;
}

PyObject *array_transposed(PyObject *self, void *unused)
{
	struct dray_view view;

	(void)unused;
	array_whole(self_of(self), &view);
	return made(self, &view, dray_view_transpose(&view, NULL, &view));
}

PyObject *array_transpose(PyObject *self, PyObject *args)
{
	struct numbers axes = { .all = true };
	struct dray_view view;

	if (PyTuple_GET_SIZE(args) && numbers_of(args, &axes))
		return NULL;
	if (axes.all)
		return array_transposed(self, NULL);
	array_whole(self_of(self), &view);
	if (axes.count != view.ndim)
		return PyErr_Format(PyExc_ValueError,
				    "%d axes for an array of %d", axes.count,
				    view.ndim);
	return made(self, &view, dray_view_transpose(&view, axes.axes, &view));
}

PyObject *array_swapaxes(PyObject *self, PyObject *args)
{
	struct dray_view view;
	int one, other;

	if (!PyArg_ParseTuple(args, "ii:swapaxes", &one, &other))
		return NULL;
	array_whole(self_of(self), &view);
	return made(self, &view, dray_view_swap_axes(&view, one, other, &view));
}

PyObject *array_moveaxis(PyObject *self, PyObject *args)
{
	struct numbers from, to;
	struct dray_view view;

	if (!PyArg_ParseTuple(args, "O&O&:moveaxis", numbers_take, &from,
			      numbers_take, &to))
		return NULL;
	if (from.count != to.count)
		return PyErr_Format(PyExc_ValueError, "%d axes for %d places",
				    from.count, to.count);
	array_whole(self_of(self), &view);
	return made(self, &view,
		    dray_view_move_axes(&view, from.axes, to.axes, from.count,
					&view));
}

typedef int axes_function(const struct dray_view *view, const int *axes,
			  int count, struct dray_view *out);

/* Calls a function of some axes; None, or nothing, are all. */
static PyObject *with_axes(PyObject *self, PyObject *args, PyObject *keywords,
			   const char *format, axes_function *function)
{
	static char *names[] = { "axis", NULL };
	struct numbers axes = { .all = true };
	struct dray_view view;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, format, names,
					 numbers_take, &axes))
		return NULL;
	array_whole(self_of(self), &view);
	return made(self, &view,
		    function(&view, axes.all ? NULL : axes.axes, axes.count,
			     &view));
}

PyObject *array_squeeze(PyObject *self, PyObject *args, PyObject *keywords)
{
	return with_axes(self, args, keywords, "|O&:squeeze",
			 dray_view_squeeze);
}

PyObject *array_expand_dims(PyObject *self, PyObject *args, PyObject *keywords)
{
	return with_axes(self, args, keywords, "O&:expand_dims",
			 dray_view_expand);
}

PyObject *array_flip(PyObject *self, PyObject *args, PyObject *keywords)
{
	return with_axes(self, args, keywords, "|O&:flip", dray_view_flip);
}

PyObject *array_diagonal(PyObject *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "offset", "axis1", "axis2", NULL };
	Py_ssize_t offset = 0;
	int axis1 = 0, axis2 = 1;
	struct dray_view view;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|nii:diagonal", names,
					 &offset, &axis1, &axis2))
		return NULL;
	array_whole(self_of(self), &view);
	return made(self, &view,
		    dray_view_diagonal(&view, offset, axis1, axis2, &view));
}

PyObject *array_broadcast_to(PyObject *self, PyObject *object)
{
	struct numbers shape;
	struct dray_view view;

	if (!numbers_take(object, &shape))
		return NULL;
	array_whole(self_of(self), &view);
	return made(self, &view,
		    dray_view_broadcast(&view, shape.count, shape.list, &view));
}

/* Takes order= as the only keyword. */
static int order_take(PyObject *keywords, const char *format, NPY_ORDER *out)
{
	static char *names[] = { "order", NULL };
	PyObject *none = PyTuple_New(0);
	int taken = none &&
		    PyArg_ParseTupleAndKeywords(none, keywords, format, names,
						PyArray_OrderConverter, out);

	Py_XDECREF(none);
	return taken ? 0 : -1;
}

PyObject *array_reshape(PyObject *self, PyObject *args, PyObject *keywords)
{
	NPY_ORDER order = NPY_CORDER;
	struct numbers shape;
	struct dray_view view;
	PyObject *copy, *result;
	int ret;

	if (numbers_of(args, &shape) ||
	    order_take(keywords, "|$O&:reshape", &order))
		return NULL;
	array_whole(self_of(self), &view);
	ret = dray_view_reshape(&view, shape.count, shape.list,
				(enum dray_order)order, &view);
	if (ret != -EAGAIN)
		return made(self, &view, ret);
	copy = array_copy_in(self, order);
	if (!copy)
		return NULL;
	array_whole(self_of(copy), &view);
	ret = dray_view_reshape(&view, shape.count, shape.list,
				(enum dray_order)order, &view);
	result = made(copy, &view, ret);
	Py_DECREF(copy);
	return result;
}

/* A stride as an iterator compares it: an axis of one element has none. */
static int64_t reach(const struct dray_view *view, int axis)
{
	int64_t stride = view->shape[axis] == 1 ? 0 : view->strides[axis];

	return stride < 0 ? -stride : stride;
}

/*
 * Sorts the axes as they lie in memory, the slowest first.  Axes without a
 * stride stay in place, as in the iterator of NumPy.
 */
static void sort_axes(const struct dray_view *view, int *axes)
{
	int i, at, to;

	for (i = view->ndim - 1; i >= 0; i--) {
		to = i;
		for (at = i + 1; at < view->ndim; at++) {
			int64_t one = reach(view, i);
			int64_t other = reach(view, axes[at]);

			if (one && other && other <= one)
				break;
			if (one && other)
				to = at;
		}
		for (at = i; at < to; at++)
			axes[at] = axes[at + 1];
		axes[to] = i;
	}
}

/* Copies the elements in an order; the copy's are reshaped to one axis. */
static PyObject *flat_copy(PyObject *self, NPY_ORDER order)
{
	PyObject *source = Py_NewRef(self), *copy, *result;
	const int64_t rest = -1;
	int axes[DRAY_MAX_NDIM];
	struct dray_view view;
	int ret;

	if (order == NPY_KEEPORDER) {
		array_whole(self_of(self), &view);
		sort_axes(&view, axes);
		ret = dray_view_transpose(&view, axes, &view);
		Py_SETREF(source, made(self, &view, ret));
		order = NPY_CORDER;
	}
	copy = source ? array_copy_in(source, order) : NULL;
	Py_XDECREF(source);
	if (!copy)
		return NULL;
	array_whole(self_of(copy), &view);
	ret = dray_view_reshape(&view, 1, &rest, (enum dray_order)order, &view);
	result = made(copy, &view, ret);
	Py_DECREF(copy);
	return result;
}

PyObject *array_ravel(PyObject *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "order", NULL };
	NPY_ORDER order = NPY_CORDER;
	struct dray_view view;
	int ret;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O&:ravel", names,
					 PyArray_OrderConverter, &order))
		return NULL;
	array_whole(self_of(self), &view);
	ret = dray_view_ravel(&view, (enum dray_order)order, &view);
	return ret == -EAGAIN ? flat_copy(self, order) : made(self, &view, ret);
}

PyObject *array_real(PyObject *self, void *unused)
{
	struct dray_view view;

	(void)unused;
	array_whole(self_of(self), &view);
	return made_as(self, &view, dray_view_real(&view, &view), NULL);
}

PyObject *array_imag(PyObject *self, void *unused)
{
	struct dray_view view;

	(void)unused;
	array_whole(self_of(self), &view);
	return made_as(self, &view, dray_view_imag(&view, &view), NULL);
}

PyObject *array_view(PyObject *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "dtype", NULL };
	PyArray_Descr *descr = NULL;
	PyObject *result = NULL;
	struct dray_view view;
	dray_dtype dtype;
	int ret;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O&:view", names,
					 PyArray_DescrConverter2, &descr))
		return NULL;
	array_whole(self_of(self), &view);
	if (!descr)
		return made(self, &view, 0);
	ret = dtype_take(descr, &dtype);
	if (!ret)
		result = made_as(self, &view,
				 dray_view_as_type(&view, dtype, &view),
				 dray_dtype_itemsize(dtype) ? descr : NULL);
	if (!ret)
		dray_dtype_unref(dtype);
	Py_DECREF(descr);
	return result;
}

PyObject *array_windows(PyObject *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "window_shape", "axis", NULL };
	struct numbers window, axes = { .all = true };
	struct dray_view view;

	if (!PyArg_ParseTupleAndKeywords(
		    args, keywords, "O&|O&:sliding_window_view", names,
		    numbers_take, &window, numbers_take, &axes))
		return NULL;
	array_whole(self_of(self), &view);
	if (window.count != (axes.all ? view.ndim : axes.count))
		return PyErr_Format(PyExc_ValueError,
				    "%d extents of a window for %d axes",
				    window.count,
				    axes.all ? view.ndim : axes.count);
	return made(self, &view,
		    dray_view_windows(&view, window.count, window.list,
				      axes.all ? NULL : axes.axes, &view));
}

PyObject *array_as_strided(PyObject *self, PyObject *args)
{
	const struct dray_block *block = self_of(self)->array->reference;
	struct numbers shape, strides;
	struct dray_view view;

	if (!PyArg_ParseTuple(args, "O&O&:as_strided", numbers_take, &shape,
			      numbers_take, &strides))
		return NULL;
	if (shape.count != strides.count)
		return PyErr_Format(PyExc_ValueError, "%d extents, %d strides",
				    shape.count, strides.count);
	array_whole(self_of(self), &view);
	return made(self, &view,
		    dray_view_as_strided(&view, shape.count, shape.list,
					 strides.list, dray_block_data(block),
					 dray_block_size(block), &view));
}

PyObject *array_shares_memory(PyObject *self, PyObject *other)
{
	struct dray_view one, two;
	bool shared;
	int ret;

	if (!Py_IS_TYPE(other, Py_TYPE(self)))
		return PyErr_Format(PyExc_TypeError,
				    "the other is a %s, no dray.Array",
				    Py_TYPE(other)->tp_name);
	ret = dray_view_shares_memory(array_whole(self_of(self), &one),
				      array_whole(self_of(other), &two),
				      DRAY_SHARE_EXACT, &shared);
	return ret ? raise_array_error(ARRAY_SHAPE, ret)
		   : PyBool_FromLong(shared);
}
