// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Arrays of NumPy as views of dray, and the clock, for both modules. */
#define NO_IMPORT_ARRAY
#include "array_times.h"

#include <string.h>
#include <time.h>

int view_of(PyArrayObject *array, struct dray_view *view)
{
	int64_t shape[DRAY_MAX_NDIM], strides[DRAY_MAX_NDIM];
	int ndim = PyArray_NDIM(array), ret = -1, i;
	dray_dtype dtype;
	PyObject *typestr;

	for (i = 0; i < ndim; i++) {
		shape[i] = PyArray_DIM(array, i);
		strides[i] = PyArray_STRIDE(array, i);
	}
	typestr =
		PyObject_GetAttrString((PyObject *)PyArray_DESCR(array), "str");
	if (!typestr)
		return -1;
	ret = dray_dtype_parse(PyUnicode_AsUTF8(typestr), &dtype);
	if (!ret)
		ret = dray_view_init(view, PyArray_DATA(array), dtype, ndim,
				     shape, strides);
	Py_DECREF(typestr);
	if (ret)
		PyErr_SetString(PyExc_ValueError, dray_last_error());
	return ret;
}

double seconds(const char *contender)
{
	clockid_t clock = strstr(contender, "clock") ? CLOCK_MONOTONIC
						     : CLOCK_THREAD_CPUTIME_ID;
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
