// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * NumPy's functions of a dray.Array, except ufuncs.  NumPy computes them as for
 * any foreign object: by the methods of the first argument, or over the memory.
 * Outputs become arrays of NumPy on the way, since its functions in C accept
 * no others, and the caller receives the same objects again.
 */
#include "arithmetic/array_ufunc.h"

/* Whether any of @types brings rules of its own: 1, 0, or -1 with an exception. */
static int types_have_rules(PyTypeObject *ours, PyObject *types)
{
	PyObject *fast = PySequence_Fast(types, "types are a sequence");
	Py_ssize_t i;
	int own = fast ? 0 : -1;

	for (i = 0; !own && i < PySequence_Fast_GET_SIZE(fast); i++) {
		PyObject *type = PySequence_Fast_GET_ITEM(fast, i);

		if (type != (PyObject *)ours)
			own = array_type_has_rules(type, "__array_function__");
	}
	Py_XDECREF(fast);
	return own;
}

/*
 * Returns the arguments with arrays of NumPy behind the first, of which any may be the
 * output, by its place; the first never is.
 */
static PyObject *arguments_for_numpy(PyObject *args)
{
	PyObject *given = PyTuple_New(PyTuple_GET_SIZE(args)), *item;
	Py_ssize_t i;

	for (i = 0; given && i < PyTuple_GET_SIZE(args); i++) {
		item = PyTuple_GET_ITEM(args, i);
		item = i ? array_numpy_of(item) : Py_NewRef(item);
		if (!item)
			Py_CLEAR(given);
		else
			PyTuple_SET_ITEM(given, i, item);
	}
	return given;
}

/* Sets @output, borrowed, to out= of the keywords; its array of NumPy replaces it. */
static int output_for_numpy(PyObject *keywords, PyObject **output)
{
	PyObject *array;
	int ret;

	*output = PyDict_GetItemString(keywords, "out");
	if (!*output || !array_is(*output))
		return 0;
	array = array_as_numpy(*output);
	ret = array ? PyDict_SetItemString(keywords, "out", array) : -1;
	Py_XDECREF(array);
	return ret;
}

/* Calls a function of NumPy; returns an output of the caller itself. */
static PyObject *function_call(PyObject *function, PyObject *args,
			       PyObject *named)
{
	PyObject *given = arguments_for_numpy(args), *output = NULL;
	PyObject *keywords = given ? PyDict_Copy(named) : NULL, *result = NULL;
	Py_ssize_t i;

	if (keywords && !output_for_numpy(keywords, &output))
		result = PyObject_Call(function, given, keywords);
	if (result && output && result == PyDict_GetItemString(keywords, "out"))
		Py_SETREF(result, Py_NewRef(output));
	for (i = 1; result && i < PyTuple_GET_SIZE(args); i++)
		if (result == PyTuple_GET_ITEM(given, i))
			Py_SETREF(result, Py_NewRef(PyTuple_GET_ITEM(args, i)));
	Py_XDECREF(keywords);
	Py_XDECREF(given);
	return result;
}

PyObject *array_array_function(PyObject *self, PyObject *args)
{
	PyObject *function, *types, *given, *named, *implementation, *result;
	int own;

	if (!PyArg_ParseTuple(args, "OOO!O!:__array_function__", &function,
			      &types, &PyTuple_Type, &given, &PyDict_Type,
			      &named))
		return NULL;
	own = types_have_rules(Py_TYPE(self), types);
	if (own < 0)
		return NULL;
	if (own)
		Py_RETURN_NOTIMPLEMENTED;
	implementation = PyObject_GetAttrString(function, "_implementation");
	if (!implementation) {
		/* Functions that make an array, asked by like=. */
		PyErr_Clear();
		Py_RETURN_NOTIMPLEMENTED;
	}
	result = function_call(implementation, given, named);
	Py_DECREF(implementation);
	return result;
}

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
