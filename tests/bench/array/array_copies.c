// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Copies, conversions and new arrays. */
#define NO_IMPORT_ARRAY
#include "array_times.h"

#include <string.h>

#include <dray/array/cast.h>

/* It converts, too. */
static int copy_numpy(const struct call *call)
{
	return PyArray_CopyInto(call->dst, call->src);
}

static int copy_dray(const struct call *call)
{
	return dray_view_assign(&call->to, &call->from);
}

/* For arrays without gaps. */
static int copy_memory(const struct call *call)
{
	memcpy(call->to.data, call->from.data, call->bytes);
	return 0;
}

static int convert_dray(const struct call *call)
{
	return dray_view_convert(&call->to, &call->from, DRAY_CASTING_UNSAFE);
}

static int copy_by_two(const struct call *call)
{
	return dray_view_convert_threads(&call->to, &call->from,
					 DRAY_CASTING_NO, 2);
}

static int empty_numpy(const struct call *call)
{
	PyArray_Descr *dtype = PyArray_DESCR(call->src);

	Py_INCREF(dtype);
	return drop_object(PyArray_Empty(PyArray_NDIM(call->src),
					 PyArray_DIMS(call->src), dtype, 0));
}

static int empty_dray(const struct call *call)
{
	struct dray_array *array;

	return drop_array(dray_array_empty(call->from.dtype, call->from.ndim,
					   call->from.shape, &array),
			  &array);
}

static int zeros_numpy(const struct call *call)
{
	PyArray_Descr *dtype = PyArray_DESCR(call->src);

	Py_INCREF(dtype);
	return drop_object(PyArray_Zeros(PyArray_NDIM(call->src),
					 PyArray_DIMS(call->src), dtype, 0));
}

static int zeros_dray(const struct call *call)
{
	struct dray_array *array;

	return drop_array(dray_array_zeros(call->from.dtype, call->from.ndim,
					   call->from.shape, &array),
			  &array);
}

static int new_copy_numpy(const struct call *call)
{
	return drop_object(PyArray_NewCopy(call->src, NPY_CORDER));
}

static int new_copy_dray(const struct call *call)
{
	struct dray_array *array;

	return drop_array(dray_array_copy(&call->from, DRAY_ORDER_C, &array),
			  &array);
}

const struct contender copy_contenders[] = {
	{ "copy NumPy", copy_numpy },
	{ "copy dray", copy_dray },
	{ "copy NumPy, clock", copy_numpy },
	{ "copy dray, clock", copy_dray },
	{ "copy dray, 2 threads, clock", copy_by_two },
	{ "memcpy", copy_memory },
	{ "convert NumPy", copy_numpy },
	{ "convert dray", convert_dray },
	{ "empty NumPy", empty_numpy },
	{ "empty dray", empty_dray },
	{ "zeros NumPy", zeros_numpy },
	{ "zeros dray", zeros_dray },
	{ "new copy NumPy", new_copy_numpy },
	{ "new copy dray", new_copy_dray },
	{ NULL, NULL },
};
