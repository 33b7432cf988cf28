// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Arrays of NumPy as views of dray, the clock, and the start, for all modules. */
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

PyObject *make_module(const char *name, PyMethodDef *methods)
{
	static struct PyModuleDef module = {
		PyModuleDef_HEAD_INIT,
		.m_size = -1,
	};

	module.m_name = name;
	module.m_methods = methods;
	import_array();
	return PyModule_Create(&module);
}

double seconds(const char *contender)
{
	clockid_t clock = strstr(contender, "clock") ? CLOCK_MONOTONIC
						     : CLOCK_THREAD_CPUTIME_ID;
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
