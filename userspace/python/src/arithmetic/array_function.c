// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * NumPy's functions of a dray.Array for methods that dray lacks a loop for.  The functions
 * themselves, called by programs, are the work of dray/_numpy.py.
 */
#include "arithmetic/array_ufunc.h"

PyObject *array_by_numpy(PyObject *self, const char *name,
			 PyObject *const *args, Py_ssize_t count,
			 PyObject *names)
{
	const Py_ssize_t total = count + (names ? PyTuple_GET_SIZE(names) : 0);
	PyObject *numpy = PyImport_ImportModule("numpy"), *result = NULL;
	PyObject *function = numpy ? PyObject_GetAttrString(numpy, name) : NULL;
	PyObject *given = function ? PyTuple_New(total + 1) : NULL;
	PyObject *array = given ? array_as_numpy(self) : NULL;
	Py_ssize_t i;

	if (array) {
		PyTuple_SET_ITEM(given, 0, array);
		for (i = 0; i < total; i++)
			PyTuple_SET_ITEM(given, i + 1, Py_NewRef(args[i]));
		result = PyObject_Vectorcall(function,
					     PySequence_Fast_ITEMS(given),
					     (size_t)count + 1, names);
	}
	Py_XDECREF(given);
	Py_XDECREF(function);
	Py_XDECREF(numpy);
	for (i = 0; result && i < total; i++)
		if (result == args[i])
			return result;
	return array_of_result(type_state(self), result);
}
