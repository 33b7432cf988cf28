// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Views of a dray.Array with other axes and types: arguments of Python,
 * and the library's functions.  Each is named as NumPy's.
 */

#include "object/array_numbers.h"

PyObject *array_result(PyObject *self, const struct dray_view *view, int ret)
{
	return ret ? raise_array_error(ARRAY_SHAPE, ret)
		   : array_over(array_self(self), view);
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
	result = array_over_as(array_self(self), view, descr);
	Py_DECREF(descr);
	return result;
}

PyObject *array_transposed(PyObject *self, void *unused)
{
	struct dray_view view;

	(void)unused;
	array_whole(array_self(self), &view);
	return array_result(self, &view,
			    dray_view_transpose(&view, NULL, &view));
}

PyObject *array_transpose(PyObject *self, PyObject *const *args,
			  Py_ssize_t count)
{
	struct dray_view view;
	struct numbers axes;

	axes.all = true;
	if (count && numbers_of(args, count, &axes))
		return NULL;
	if (axes.all)
		return array_transposed(self, NULL);
	array_whole(array_self(self), &view);
	if (axes.count != view.ndim)
		return PyErr_Format(PyExc_ValueError,
				    "%d axes for an array of %d", axes.count,
				    view.ndim);
	return array_result(self, &view,
			    dray_view_transpose(&view, axes.axes, &view));
}

PyObject *array_swapaxes(PyObject *self, PyObject *const *args,
			 Py_ssize_t count)
{
	static const struct signature signature = { "swapaxes",
						    2,
						    2,
						    { { "axis1", int_take },
						      { "axis2", int_take } } };
	struct dray_view view;
	int one, other;

	if (arguments_take(&signature, args, count, NULL,
			   (void *[]){ &one, &other }))
		return NULL;
	array_whole(array_self(self), &view);
	return array_result(self, &view,
			    dray_view_swap_axes(&view, one, other, &view));
}

PyObject *array_moveaxis(PyObject *self, PyObject *const *args,
			 Py_ssize_t count)
{
	static const struct signature signature = {
		"moveaxis",
		2,
		2,
		{ { "source", numbers_take }, { "destination", numbers_take } }
	};
	struct numbers from, to;
	struct dray_view view;

	if (arguments_take(&signature, args, count, NULL,
			   (void *[]){ &from, &to }))
		return NULL;
	if (from.count != to.count)
		return PyErr_Format(PyExc_ValueError, "%d axes for %d places",
				    from.count, to.count);
	array_whole(array_self(self), &view);
	return array_result(self, &view,
			    dray_view_move_axes(&view, from.axes, to.axes,
						from.count, &view));
}

typedef int axes_function(const struct dray_view *view, const int *axes,
			  int count, struct dray_view *out);

/* Calls a function of some axes; None, or nothing, are all. */
static PyObject *with_axes(PyObject *self, PyObject *const *args,
			   Py_ssize_t count, PyObject *names,
			   const struct signature *signature,
			   axes_function *function)
{
	struct dray_view view;
	struct numbers axes;

	axes.all = true;
	axes.count = 0;
	if (arguments_take(signature, args, count, names, (void *[]){ &axes }))
		return NULL;
	array_whole(array_self(self), &view);
	return array_result(self, &view,
			    function(&view, axes.all ? NULL : axes.axes,
				     axes.count, &view));
}

PyObject *array_squeeze(PyObject *self, PyObject *const *args, Py_ssize_t count,
			PyObject *names)
{
	static const struct signature signature = {
		"squeeze", 0, 1, { { "axis", numbers_take } }
	};

	return with_axes(self, args, count, names, &signature,
			 dray_view_squeeze);
}

PyObject *array_expand_dims(PyObject *self, PyObject *const *args,
			    Py_ssize_t count, PyObject *names)
{
	static const struct signature signature = {
		"expand_dims", 1, 1, { { "axis", numbers_take } }
	};

	return with_axes(self, args, count, names, &signature,
			 dray_view_expand);
}

PyObject *array_flip(PyObject *self, PyObject *const *args, Py_ssize_t count,
		     PyObject *names)
{
	static const struct signature signature = {
		"flip", 0, 1, { { "axis", numbers_take } }
	};

	return with_axes(self, args, count, names, &signature, dray_view_flip);
}

PyObject *array_diagonal(PyObject *self, PyObject *const *args,
			 Py_ssize_t count, PyObject *names)
{
	static const struct signature signature = { "diagonal",
						    0,
						    3,
						    { { "offset", ssize_take },
						      { "axis1", int_take },
						      { "axis2", int_take } } };
	Py_ssize_t offset = 0;
	int axis1 = 0, axis2 = 1;
	struct dray_view view;

	if (arguments_take(&signature, args, count, names,
			   (void *[]){ &offset, &axis1, &axis2 }))
		return NULL;
	array_whole(array_self(self), &view);
	return array_result(self, &view,
			    dray_view_diagonal(&view, offset, axis1, axis2,
					       &view));
}

PyObject *array_broadcast_to(PyObject *self, PyObject *object)
{
	struct numbers shape;
	struct dray_view view;

	if (!numbers_take(object, &shape))
		return NULL;
	array_whole(array_self(self), &view);
	return array_result(self, &view,
			    dray_view_broadcast(&view, shape.count, shape.list,
						&view));
}

PyObject *array_real(PyObject *self, void *unused)
{
	struct dray_view view;

	(void)unused;
	array_whole(array_self(self), &view);
	return made_as(self, &view, dray_view_real(&view, &view), NULL);
}

/* Returns zeros that are not written, as NumPy does for real numbers. */
static PyObject *no_parts(PyObject *self, const struct dray_view *view)
{
	PyArray_Descr *descr = dtype_descr(view->dtype);
	npy_intp shape[DRAY_MAX_NDIM];
	PyObject *zeros, *result;
	int i;

	if (!descr)
		return NULL;
	for (i = 0; i < view->ndim; i++)
		shape[i] = (npy_intp)view->shape[i];
	zeros = PyArray_Zeros(view->ndim, shape, descr, 0);
	if (!zeros)
		return NULL;
	PyArray_CLEARFLAGS((PyArrayObject *)zeros, NPY_ARRAY_WRITEABLE);
	result = array_from(Py_TYPE(self), zeros);
	Py_DECREF(zeros);
	return result;
}

PyObject *array_imag(PyObject *self, void *unused)
{
	struct dray_view view;

	(void)unused;
	array_whole(array_self(self), &view);
	if (dray_dtype_kind(view.dtype) != 'c')
		return no_parts(self, &view);
	return made_as(self, &view, dray_view_imag(&view, &view), NULL);
}

PyObject *array_view(PyObject *self, PyObject *const *args, Py_ssize_t count,
		     PyObject *names)
{
	static const struct signature signature = {
		"view", 0, 1, { { "dtype", type_or_none_take } }
	};
	PyArray_Descr *descr = NULL;
	PyObject *result = NULL;
	struct dray_view view;
	dray_dtype dtype;
	int ret;

	if (arguments_take(&signature, args, count, names,
			   (void *[]){ &descr }))
		return NULL;
	array_whole(array_self(self), &view);
	if (!descr)
		return array_result(self, &view, 0);
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

PyObject *array_windows(PyObject *self, PyObject *const *args, Py_ssize_t count,
			PyObject *names)
{
	static const struct signature signature = {
		"sliding_window_view",
		1,
		2,
		{ { "window_shape", numbers_take }, { "axis", numbers_take } }
	};
	struct numbers window, axes;
	struct dray_view view;

	axes.all = true;
	if (arguments_take(&signature, args, count, names,
			   (void *[]){ &window, &axes }))
		return NULL;
	array_whole(array_self(self), &view);
	if (window.count != (axes.all ? view.ndim : axes.count))
		return PyErr_Format(PyExc_ValueError,
				    "%d extents of a window for %d axes",
				    window.count,
				    axes.all ? view.ndim : axes.count);
	return array_result(self, &view,
			    dray_view_windows(&view, window.count, window.list,
					      axes.all ? NULL : axes.axes,
					      &view));
}

PyObject *array_as_strided(PyObject *self, PyObject *const *args,
			   Py_ssize_t count)
{
	static const struct signature signature = {
		"as_strided",
		2,
		2,
		{ { "shape", numbers_take }, { "strides", numbers_take } }
	};
	const struct dray_block *block = array_self(self)->array->reference;
	struct numbers shape, strides;
	struct dray_view view;

	if (arguments_take(&signature, args, count, NULL,
			   (void *[]){ &shape, &strides }))
		return NULL;
	if (shape.count != strides.count)
		return PyErr_Format(PyExc_ValueError, "%d extents, %d strides",
				    shape.count, strides.count);
	array_whole(array_self(self), &view);
	return array_result(
		self, &view,
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
				    "the other is %s %s, no dray.Array",
				    article_of(Py_TYPE(other)->tp_name),
				    Py_TYPE(other)->tp_name);
	ret = dray_view_shares_memory(array_whole(array_self(self), &one),
				      array_whole(array_self(other), &two),
				      DRAY_SHARE_EXACT, &shared);
	return ret ? raise_array_error(ARRAY_SHAPE, ret)
		   : PyBool_FromLong(shared);
}
