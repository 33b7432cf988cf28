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
		"reshape", 0, 0, { { "order", order_take } }
	};
	NPY_ORDER order = NPY_CORDER;
	struct numbers shape;
	struct dray_view view;
	int ret;

	if (numbers_of(args, count, &shape) ||
	    arguments_take(&signature, args + count, 0, names,
			   (void *[]){ &order }))
		return NULL;
	array_whole(array_self(self), &view);
	ret = dray_view_reshape(&view, shape.count, shape.list,
				(enum dray_order)order, &view);
	return ret == -EAGAIN
		       ? reshaped_copy(self, order, shape.count, shape.list)
		       : array_result(self, &view, ret);
}

PyObject *array_ravel(PyObject *self, PyObject *const *args, Py_ssize_t count,
		      PyObject *names)
{
	static const struct signature signature = {
		"ravel", 0, 1, { { "order", order_take } }
	};
	NPY_ORDER order = NPY_CORDER;
	const int64_t rest = -1;
	struct dray_view view;
	int ret;

	if (arguments_take(&signature, args, count, names,
			   (void *[]){ &order }))
		return NULL;
	array_whole(array_self(self), &view);
	ret = dray_view_ravel(&view, (enum dray_order)order, &view);
	if (ret != -EAGAIN)
		return array_result(self, &view, ret);
	if (order != NPY_KEEPORDER)
		return reshaped_copy(self, order, 1, &rest);
	return python_call("dray._array", "ravel_as_it_lies", self, NULL, 0,
			   NULL);
}
