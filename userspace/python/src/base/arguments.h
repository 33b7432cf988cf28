/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Arguments of methods with METH_FASTCALL; Python has no public parser for them. */
#ifndef DRAY_PYTHON_ARGUMENTS_H
#define DRAY_PYTHON_ARGUMENTS_H

#include "base/module.h"

#define MAX_PARAMETERS 8

struct parameter {
	const char *name; /* NULL ends the list */
	/* Converts an argument, as for "O&" of PyArg_ParseTuple(); 0: failed. */
	int (*take)(PyObject *argument, void *out);
};

struct signature {
	const char *function; /* in sentences */
	int required; /* count of the first parameters that must be given */
	int positional; /* count of the first ones that need no name */
	struct parameter parameters[MAX_PARAMETERS + 1];
};

/*
 * Converts arguments, each into the variable that @out has for its parameter.  If
 * one is not given its variable stays as it was.  -1 with TypeError, or with the
 * exception of a converter; variables before that one are set.
 * @args: @count by their place, then those of @names, a tuple or NULL
 */
int arguments_take(const struct signature *signature, PyObject *const *args,
		   Py_ssize_t count, PyObject *names, void *const *out);

/* Converters: a borrowed PyObject *, an int, a Py_ssize_t, an int of 0 or 1. */
int object_take(PyObject *argument, void *out);
int int_take(PyObject *argument, void *out);
int ssize_take(PyObject *argument, void *out);
int truth_take(PyObject *argument, void *out);
/* An NPY_ORDER, an NPY_CASTING, a new reference to a PyArray_Descr (None: NULL). */
int order_take(PyObject *argument, void *out);
int casting_take(PyObject *argument, void *out);
int type_take(PyObject *argument, void *out);
int type_or_none_take(PyObject *argument, void *out);

/*
 * Calls a function of a module of the package with @self before the arguments, as
 * METH_FASTCALL has them.
 */
PyObject *python_call(const char *module, const char *name, PyObject *self,
		      PyObject *const *args, Py_ssize_t count,
		      PyObject *names);

#endif /* DRAY_PYTHON_ARGUMENTS_H */
