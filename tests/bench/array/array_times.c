// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A Python module that times calls of NumPy's C API and of libdray on the same
 * arrays.  The loop is in C, so the cost of Python is in neither.
 *
 * To add a contender, write its function and add it to the table of its file.
 */
#define NO_IMPORT_ARRAY
#include "array_times.h"

#include <string.h>

static const struct contender *const tables[] = {
	copy_contenders,
	view_contenders,
	walk_contenders,
	index_contenders,
};

static contender_call *contender_find(const char *name)
{
	const struct contender *contender;
	size_t i;

	for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		for (contender = tables[i]; contender->name; contender++) {
			if (strcmp(contender->name, name) == 0)
				return contender->call;
		}
	}
	PyErr_Format(PyExc_ValueError, "no contender %s", name);
	return NULL;
}

static PyObject *array_time(PyObject *self, PyObject *args)
{
	struct call call = { 0 };
	contender_call *run;
	const char *name;
	Py_ssize_t loops, i;
	double begin;

	(void)self;
	if (!PyArg_ParseTuple(args, "snO!O!|O!", &name, &loops, &PyArray_Type,
			      &call.dst, &PyArray_Type, &call.src,
			      &PyArray_Type, &call.index))
		return NULL;
	run = contender_find(name);
	if (!run || view_of(call.dst, &call.to) ||
	    view_of(call.src, &call.from) ||
	    (call.index && view_of(call.index, &call.by)))
		return NULL;
	call.bytes = (size_t)PyArray_NBYTES(call.dst);
	begin = seconds(name);
	for (i = 0; i < loops; i++) {
		if (run(&call) < 0) {
			if (!PyErr_Occurred())
				PyErr_SetString(PyExc_RuntimeError,
						dray_last_error());
			return NULL;
		}
	}
	return PyFloat_FromDouble((seconds(name) - begin) * 1e9 /
				  (double)loops);
}

static PyObject *array_contenders(PyObject *self, PyObject *none)
{
	PyObject *names = PyList_New(0), *name;
	const struct contender *contender;
	size_t i;
	int ret = names ? 0 : -1;

	(void)self;
	(void)none;
	for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		for (contender = tables[i]; !ret && contender->name;
		     contender++) {
			name = PyUnicode_FromString(contender->name);
			ret = name ? PyList_Append(names, name) : -1;
			Py_XDECREF(name);
		}
	}
	if (ret)
		Py_CLEAR(names);
	return names;
}

static PyMethodDef methods[] = {
	{ "time", array_time, METH_VARARGS,
	  "time(contender, loops, dst, src[, index]): ns of one call" },
	{ "contenders", array_contenders, METH_NOARGS,
	  "contenders(): the names of all" },
	{ NULL, NULL, 0, NULL },
};

PyMODINIT_FUNC PyInit_array_times(void);

PyMODINIT_FUNC PyInit_array_times(void)
{
	PyObject *module = make_module("array_times", methods);

	if (module && view_contenders_init())
		Py_CLEAR(module);
	return module;
}
