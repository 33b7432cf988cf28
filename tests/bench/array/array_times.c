// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A Python module that times calls of NumPy's C API and of libdray on the same
 * arrays.  The loop is in C, so the cost of Python is in neither.
 *
 * To add a contender, write its function and add it to the table.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>

#include <string.h>
#include <time.h>

#include <dray/array.h>

struct call {
	PyArrayObject *dst;
	PyArrayObject *src;
	struct dray_view to; /* the same arrays */
	struct dray_view from;
	size_t bytes; /* of the destination */
};

/* One call; below 0 after a failure. */
typedef int contender_call(const struct call *call);

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

static const struct {
	const char *name;
	contender_call *call;
} contenders[] = {
	{ "copy NumPy", copy_numpy },
	{ "copy dray", copy_dray },
	{ "memcpy", copy_memory },
};

static contender_call *contender_find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(contenders) / sizeof(contenders[0]); i++) {
		if (strcmp(contenders[i].name, name) == 0)
			return contenders[i].call;
	}
	PyErr_Format(PyExc_ValueError, "no contender %s", name);
	return NULL;
}

/* Describes an array of NumPy as a view of dray. */
static int view_of(PyArrayObject *array, struct dray_view *view)
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

/* Of this thread: other programs do not count. */
static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static PyObject *array_time(PyObject *self, PyObject *args)
{
	struct call call = { 0 };
	contender_call *run;
	const char *name;
	Py_ssize_t loops, i;
	double begin;

	(void)self;
	if (!PyArg_ParseTuple(args, "sO!O!n", &name, &PyArray_Type, &call.dst,
			      &PyArray_Type, &call.src, &loops))
		return NULL;
	run = contender_find(name);
	if (!run || view_of(call.dst, &call.to) ||
	    view_of(call.src, &call.from))
		return NULL;
	call.bytes = (size_t)PyArray_NBYTES(call.dst);
	begin = seconds();
	for (i = 0; i < loops; i++) {
		if (run(&call) < 0) {
			if (!PyErr_Occurred())
				PyErr_SetString(PyExc_RuntimeError,
						dray_last_error());
			return NULL;
		}
	}
	return PyFloat_FromDouble((seconds() - begin) * 1e9 / (double)loops);
}

static PyMethodDef methods[] = {
	{ "time", array_time, METH_VARARGS,
	  "time(contender, dst, src, loops): ns of one call" },
	{ NULL, NULL, 0, NULL },
};

static struct PyModuleDef module = {
	PyModuleDef_HEAD_INIT,
	"array_times",
	NULL,
	-1,
	methods,
	NULL,
	NULL,
	NULL,
	NULL,
};

PyMODINIT_FUNC PyInit_array_times(void);

PyMODINIT_FUNC PyInit_array_times(void)
{
	import_array();
	return PyModule_Create(&module);
}
