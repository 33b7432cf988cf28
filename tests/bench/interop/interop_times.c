// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A Python module that times the functions of DLPack's C table, at the class of any
 * library's arrays.  The loop is in C, as a consumer's calls are.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <dray/array/dlpack.h>
#include <string.h>
#include <time.h>

#define ATTRIBUTE "__dlpack_c_exchange_api__"
#define CAPSULE "dlpack_exchange_api"

/* One call, on an object of the table's class; below 0 with an exception. */
typedef int contender_call(const struct dray_dlpack_api *api, PyObject *object);

static int tensor_call(const struct dray_dlpack_api *api, PyObject *object)
{
	struct dray_dlpack_versioned *tensor;
	int ret = api->managed_tensor_from_py_object_no_sync(object, &tensor);

	if (!ret)
		dray_dlpack_drop(tensor);
	return ret;
}

static int borrow_call(const struct dray_dlpack_api *api, PyObject *object)
{
	struct dray_dlpack_tensor tensor;

	return api->dltensor_from_py_object_no_sync(object, &tensor);
}

static int object_call(const struct dray_dlpack_api *api, PyObject *object)
{
	struct dray_dlpack_versioned *tensor;
	void *made;

	if (api->managed_tensor_from_py_object_no_sync(object, &tensor))
		return -1;
	if (api->managed_tensor_to_py_object_no_sync(tensor, &made)) {
		dray_dlpack_drop(tensor);
		return -1;
	}
	Py_DECREF((PyObject *)made);
	return 0;
}

static const struct contender {
	const char *name;
	contender_call *call;
} contenders[] = {
	{ "tensor", tensor_call },
	{ "borrowed tensor", borrow_call },
	{ "tensor and object", object_call },
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

/* The table stays with its class. */
static const struct dray_dlpack_api *table_of(PyObject *object)
{
	PyObject *capsule =
		PyObject_GetAttrString((PyObject *)Py_TYPE(object), ATTRIBUTE);
	const struct dray_dlpack_api *api = NULL;

	if (capsule)
		api = PyCapsule_GetPointer(capsule, CAPSULE);
	Py_XDECREF(capsule);
	return api;
}

/* Of this thread, so that other programs do not count. */
static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static PyObject *interop_time(PyObject *self, PyObject *args)
{
	const struct dray_dlpack_api *api;
	contender_call *run;
	PyObject *object;
	Py_ssize_t loops, i;
	const char *name;
	double begin;

	(void)self;
	if (!PyArg_ParseTuple(args, "snO", &name, &loops, &object))
		return NULL;
	run = contender_find(name);
	api = run ? table_of(object) : NULL;
	if (!api)
		return NULL;
	begin = seconds();
	for (i = 0; i < loops; i++) {
		if (run(api, object))
			return NULL;
	}
	return PyFloat_FromDouble((seconds() - begin) * 1e9 / (double)loops);
}

static PyMethodDef methods[] = {
	{ "time", interop_time, METH_VARARGS,
	  "time(contender, loops, array): ns of one call" },
	{ NULL, NULL, 0, NULL },
};

static struct PyModuleDef module = { PyModuleDef_HEAD_INIT,
				     .m_name = "interop_times",
				     .m_methods = methods };

PyMODINIT_FUNC PyInit_interop_times(void);

PyMODINIT_FUNC PyInit_interop_times(void)
{
	return PyModule_Create(&module);
}
