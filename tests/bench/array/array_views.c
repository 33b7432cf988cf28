// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Views of an array of two axes: a struct of dray, an object of NumPy. */
#define NO_IMPORT_ARRAY
#include "array_times.h"

#include <dray/array/index.h>

/* [1:-1, ::2] */
static PyObject *slices;

int view_contenders_init(void)
{
	PyObject *slice = (PyObject *)&PySlice_Type;

	slices = Py_BuildValue("NN", PyObject_CallFunction(slice, "ii", 1, -1),
			       PyObject_CallFunction(slice, "OOi", Py_None,
						     Py_None, 2));
	return slices ? 0 : -1;
}

static int slice_numpy(const struct call *call)
{
	return drop_object(PyObject_GetItem((PyObject *)call->src, slices));
}

static int slice_dray(const struct call *call)
{
	const struct dray_index index[] = { DRAY_SLICE(1, -1, DRAY_OMIT),
					    DRAY_STEP(2) };
	struct dray_view view;

	return dray_view_index(&call->from, index, 2, &view);
}

static int transpose_numpy(const struct call *call)
{
	return drop_object(PyArray_Transpose(call->src, NULL));
}

static int transpose_dray(const struct call *call)
{
	struct dray_view view;

	return dray_view_transpose(&call->from, NULL, &view);
}

static int reshape_numpy(const struct call *call)
{
	npy_intp size = PyArray_SIZE(call->src);
	PyArray_Dims shape = { &size, 1 };

	return drop_object(PyArray_Newshape(call->src, &shape, NPY_CORDER));
}

static int reshape_dray(const struct call *call)
{
	const int64_t shape = dray_view_size(&call->from);
	struct dray_view view;

	return dray_view_reshape(&call->from, 1, &shape, DRAY_ORDER_C, &view);
}

/* The C API has no such function: this is the least that makes the view. */
static int broadcast_numpy(const struct call *call)
{
	npy_intp *dims = PyArray_DIMS(call->src);
	npy_intp *steps = PyArray_STRIDES(call->src);
	npy_intp shape[] = { 3, dims[0], dims[1] };
	npy_intp strides[] = { 0, steps[0], steps[1] };
	PyArray_Descr *dtype = PyArray_DESCR(call->src);
	PyObject *made;

	Py_INCREF(dtype);
	made = PyArray_NewFromDescr(&PyArray_Type, dtype, 3, shape, strides,
				    PyArray_DATA(call->src), 0, NULL);
	if (!made)
		return -1;
	Py_INCREF(call->src);
	if (PyArray_SetBaseObject((PyArrayObject *)made,
				  (PyObject *)call->src) < 0) {
		Py_DECREF(made);
		return -1;
	}
	return drop_object(made);
}

static int broadcast_dray(const struct call *call)
{
	const int64_t shape[] = { 3, call->from.shape[0], call->from.shape[1] };
	struct dray_view view;

	return dray_view_broadcast(&call->from, 3, shape, &view);
}

static int diagonal_numpy(const struct call *call)
{
	return drop_object(PyArray_Diagonal(call->src, 0, 0, 1));
}

static int diagonal_dray(const struct call *call)
{
	struct dray_view view;

	return dray_view_diagonal(&call->from, 0, 0, 1, &view);
}

const struct contender view_contenders[] = {
	{ "slice NumPy", slice_numpy },
	{ "slice dray", slice_dray },
	{ "transpose NumPy", transpose_numpy },
	{ "transpose dray", transpose_dray },
	{ "reshape NumPy", reshape_numpy },
	{ "reshape dray", reshape_dray },
	{ "broadcast NumPy", broadcast_numpy },
	{ "broadcast dray", broadcast_dray },
	{ "diagonal NumPy", diagonal_numpy },
	{ "diagonal dray", diagonal_dray },
	{ NULL, NULL },
};
