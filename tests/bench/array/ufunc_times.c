// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A Python module that times ufuncs of libdray and of NumPy on the same arrays, from C.
 * NumPy has no function of C for a call: its ufunc is an object that is called with a
 * vector of arguments, as a program in C has to do it.
 */
#define NO_IMPORT_ARRAY
#include "array_times.h"

#include <dray/array/reduce.h>
#include <string.h>

#define INPUTS 2

struct ufunc_call {
	struct dray_ufunc *ufunc;
	struct dray_view to, from[INPUTS];
	const struct dray_view *inputs[INPUTS], *outputs[1];
	struct dray_reduce_options reduce;
	int axis;
	/* of NumPy: the ufunc, or its method */
	PyObject *function;
	PyObject *arguments[INPUTS + 2]; /* borrowed */
	size_t count; /* without those in names */
	PyObject *names; /* of the last ones; may be NULL */
};

/* One call; below 0 after a failure. */
typedef int ufunc_contender(const struct ufunc_call *call);

static int call_dray(const struct ufunc_call *call)
{
	return dray_ufunc_call(call->ufunc, call->inputs, call->outputs, NULL,
			       NULL);
}

static int fast_dray(const struct ufunc_call *call)
{
	const struct dray_ufunc_options options = { .flags = DRAY_UFUNC_FAST };

	return dray_ufunc_call(call->ufunc, call->inputs, call->outputs,
			       &options, NULL);
}

static int reduce_dray(const struct ufunc_call *call)
{
	return dray_ufunc_reduce(call->ufunc, call->inputs[0], &call->to,
				 &call->reduce, NULL);
}

static int call_numpy(const struct ufunc_call *call)
{
	return drop_object(PyObject_Vectorcall(call->function, call->arguments,
					       call->count, call->names));
}

struct contender_entry {
	const char *name;
	ufunc_contender *call;
};

static const struct contender_entry contenders[] = {
	{ "call dray", call_dray },	{ "call dray, fast", fast_dray },
	{ "call NumPy", call_numpy },	{ "reduce dray", reduce_dray },
	{ "reduce NumPy", call_numpy }, { NULL, NULL },
};

static ufunc_contender *contender_find(const char *name)
{
	const struct contender_entry *entry;

	for (entry = contenders; entry->name; entry++) {
		if (strcmp(entry->name, name) == 0)
			return entry->call;
	}
	PyErr_Format(PyExc_ValueError, "no contender %s", name);
	return NULL;
}

/* Describes the operands to dray: one input for a reduction. */
static int prepare_dray(struct ufunc_call *call, const char *name,
			PyArrayObject *out, PyObject *inputs)
{
	Py_ssize_t i;

	call->ufunc = dray_ufunc_find(name);
	if (!call->ufunc) {
		PyErr_SetString(PyExc_ValueError, dray_last_error());
		return -1;
	}
	for (i = 0; i < PyTuple_GET_SIZE(inputs); i++) {
		if (view_of((PyArrayObject *)call->arguments[i],
			    &call->from[i]))
			return -1;
		call->inputs[i] = &call->from[i];
	}
	if (view_of(out, &call->to))
		return -1;
	call->outputs[0] = &call->to;
	return 0;
}

/* Takes the axis of a reduction: an integer, or None for all. */
static int prepare_axis(struct ufunc_call *call, PyObject *axis)
{
	if (axis == Py_None) {
		call->reduce.flags = DRAY_REDUCE_ALL_AXES;
		return 0;
	}
	call->axis = (int)PyLong_AsLong(axis);
	call->reduce.axes = &call->axis;
	call->reduce.axes_count = 1;
	return PyErr_Occurred() ? -1 : 0;
}

/* Finds NumPy's ufunc, or its method reduce (in, axis, dtype, out). */
static int prepare_numpy(struct ufunc_call *call, const char *name,
			 PyObject *out, PyObject *axis)
{
	PyObject *numpy = PyImport_ImportModule("numpy"), *ufunc;

	if (!numpy)
		return -1;
	ufunc = PyObject_GetAttrString(numpy, name);
	Py_DECREF(numpy);
	if (!ufunc)
		return -1;
	if (!axis) {
		call->function = ufunc;
	} else {
		call->function = PyObject_GetAttrString(ufunc, "reduce");
		Py_DECREF(ufunc);
		call->arguments[call->count++] = axis;
		call->arguments[call->count++] = Py_None;
	}
	call->arguments[call->count] = out;
	/* NumPy 2.4 warns if these two get their output by its place */
	if (!axis &&
	    (strcmp(name, "maximum") == 0 || strcmp(name, "minimum") == 0))
		call->names = Py_BuildValue("(s)", "out");
	else
		call->count++;
	return call->function && !PyErr_Occurred() ? 0 : -1;
}

/* Checks the inputs: one or two arrays. */
static int take_inputs(struct ufunc_call *call, PyObject *inputs, int is_reduce)
{
	Py_ssize_t count = PyTuple_GET_SIZE(inputs), i;

	if (count < 1 || count > (is_reduce ? 1 : INPUTS)) {
		PyErr_SetString(PyExc_ValueError, "a wrong number of inputs");
		return -1;
	}
	for (i = 0; i < count; i++) {
		call->arguments[i] = PyTuple_GET_ITEM(inputs, i);
		if (!PyArray_Check(call->arguments[i])) {
			PyErr_SetString(PyExc_TypeError, "not an array");
			return -1;
		}
	}
	call->count = (size_t)count;
	return 0;
}

static PyObject *ufunc_time(PyObject *self, PyObject *args)
{
	PyObject *inputs, *axis = NULL, *result = NULL;
	struct ufunc_call call = { 0 };
	const char *contender, *name;
	ufunc_contender *run;
	PyArrayObject *out;
	Py_ssize_t loops, i;
	double begin;

	(void)self;
	if (!PyArg_ParseTuple(args, "ssnO!O!|O", &contender, &name, &loops,
			      &PyArray_Type, &out, &PyTuple_Type, &inputs,
			      &axis))
		return NULL;
	run = contender_find(contender);
	if (!run || take_inputs(&call, inputs, axis != NULL) ||
	    prepare_dray(&call, name, out, inputs) ||
	    (axis && prepare_axis(&call, axis)) ||
	    prepare_numpy(&call, name, (PyObject *)out, axis))
		goto out;
	begin = seconds(contender);
	for (i = 0; i < loops; i++) {
		if (run(&call) < 0) {
			if (!PyErr_Occurred())
				PyErr_SetString(PyExc_RuntimeError,
						dray_last_error());
			goto out;
		}
	}
	result = PyFloat_FromDouble((seconds(contender) - begin) * 1e9 /
				    (double)loops);
out:
	Py_XDECREF(call.function);
	Py_XDECREF(call.names);
	return result;
}

static PyMethodDef methods[] = {
	{ "time", ufunc_time, METH_VARARGS,
	  "time(contender, ufunc, loops, out, inputs[, axis]): ns of one call" },
	{ NULL, NULL, 0, NULL },
};

PyMODINIT_FUNC PyInit_ufunc_times(void);

PyMODINIT_FUNC PyInit_ufunc_times(void)
{
	return make_module("ufunc_times", methods);
}
