// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A dray.Array in another shape: a view, or a copy if strides do not allow one.
 */
#include <errno.h>

#include "object/array_numbers.h"

/* Returns a copy of @object in an order, in another shape. */
static PyObject *reshaped_copy(PyObject *object, NPY_ORDER order, int ndim,
			       const int64_t *shape)
{
	PyObject *copy = array_copy_in(object, order), *result;
	struct dray_view view;
	int ret;

	if (!copy)
		return NULL;
	array_whole(array_self(copy), &view);
	ret = dray_view_reshape(&view, ndim, shape, (enum dray_order)order,
				&view);
	result = array_result(copy, &view, ret);
	Py_DECREF(copy);
	return result;
}

PyObject *array_reshape(PyObject *self, PyObject *const *args, Py_ssize_t count,
			PyObject *names)
{
	static const struct signature signature = {
		"reshape",
		0,
		0,
		{ { "order", order_take }, { "copy", object_take } }
	};
	NPY_ORDER order = NPY_CORDER;
	PyObject *copies = Py_None;
	struct numbers shape;
	struct dray_view view;
	int ret, copy = 0;

	if (numbers_of(args, count, &shape) ||
	    arguments_take(&signature, args + count, 0, names,
			   (void *[]){ &order, &copies }))
		return NULL;
	if (copies != Py_None)
		copy = PyObject_IsTrue(copies);
	if (copy < 0)
		return NULL;
	if (copy)
		return reshaped_copy(self, order, shape.count, shape.list);
	array_whole(array_self(self), &view);
	ret = dray_view_reshape(&view, shape.count, shape.list,
				(enum dray_order)order, &view);
	if (ret == -EAGAIN && copies != Py_None)
		return PyErr_Format(
			PyExc_ValueError,
			"copy=False: the strides do not allow a view of this shape");
	return ret == -EAGAIN
		       ? reshaped_copy(self, order, shape.count, shape.list)
		       : array_result(self, &view, ret);
}

/* A stride as an iterator compares it: an axis of one element has none. */
static int64_t array_shapes_reach(const struct dray_view *view, int axis)
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
			int64_t one = array_shapes_reach(view, i);
			int64_t other = array_shapes_reach(view, axes[at]);

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

/* Copies the elements in an order, to one axis. */
static PyObject *flat_copy(PyObject *self, NPY_ORDER order)
{
	PyObject *source = Py_NewRef(self), *result;
	const int64_t rest = -1;
	int axes[DRAY_MAX_NDIM];
	struct dray_view view;
	int ret;

	if (order == NPY_KEEPORDER) {
		array_whole(array_self(self), &view);
		sort_axes(&view, axes);
		ret = dray_view_transpose(&view, axes, &view);
		Py_SETREF(source, array_result(self, &view, ret));
		order = NPY_CORDER;
	}
	result = source ? reshaped_copy(source, order, 1, &rest) : NULL;
	Py_XDECREF(source);
	return result;
}

PyObject *array_ravel(PyObject *self, PyObject *const *args, Py_ssize_t count,
		      PyObject *names)
{
	static const struct signature signature = {
		"ravel", 0, 1, { { "order", order_take } }
	};
	NPY_ORDER order = NPY_CORDER;
	struct dray_view view;
	int ret;

	if (arguments_take(&signature, args, count, names,
			   (void *[]){ &order }))
		return NULL;
	array_whole(array_self(self), &view);
	ret = dray_view_ravel(&view, (enum dray_order)order, &view);
	return ret == -EAGAIN ? flat_copy(self, order)
			      : array_result(self, &view, ret);
}
