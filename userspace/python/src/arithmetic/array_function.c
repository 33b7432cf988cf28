// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * NumPy's functions of a dray.Array, except ufuncs.  NumPy computes them as for
 * any foreign object: by the methods of the first argument, or over the memory.
 * Outputs become arrays of NumPy on the way, since its functions in C accept
 * no others, and the caller receives the same objects again.  New arrays of
 * functions that make or join arrays become ours, so that dask.array keeps the
 * type of its chunks.
 */
#include <string.h>

#include "arithmetic/array_ufunc.h"

/*
 * NumPy's functions that make arrays, with like= too, or join them; and copyto(), which
 * others call on arrays that they made.
 */
static const char *const makers[] = {
	"append",    "arange",	     "array",  "asanyarray",  "asarray",
	"block",     "column_stack", "concat", "concatenate", "copy",
	"copyto",    "dstack",	     "empty",  "empty_like",  "eye",
	"full",	     "full_like",    "hstack", "identity",    "ones",
	"ones_like", "stack",	     "vstack", "zeros",	      "zeros_like",
};

/* Whether a function of NumPy makes an array: 1, 0, or -1 with an exception. */
static int function_is_maker(PyObject *function)
{
	PyObject *name = PyObject_GetAttrString(function, "__name__");
	const char *text = name ? PyUnicode_AsUTF8(name) : NULL;
	int found = text ? 0 : -1;
	size_t i;

	for (i = 0; !found && i < sizeof(makers) / sizeof(*makers); i++)
		found = !strcmp(text, makers[i]);
	Py_XDECREF(name);
	return found;
}

/* Whether the object is the caller's already, as an output. */
static bool arguments_have(PyObject *args, PyObject *named, PyObject *object)
{
	Py_ssize_t i;

	for (i = 0; i < PyTuple_GET_SIZE(args); i++)
		if (object == PyTuple_GET_ITEM(args, i))
			return true;
	return object == PyDict_GetItemString(named, "out");
}

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
 * Returns the arguments with arrays of NumPy from the @first on, of which any may be the
 * output, by its place.
 */
static PyObject *arguments_for_numpy(PyObject *args, Py_ssize_t first)
{
	PyObject *given = PyTuple_New(PyTuple_GET_SIZE(args)), *item;
	Py_ssize_t i;

	for (i = 0; given && i < PyTuple_GET_SIZE(args); i++) {
		item = PyTuple_GET_ITEM(args, i);
		item = i >= first ? array_numpy_of(item) : Py_NewRef(item);
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

/*
 * Calls a function of NumPy with its arrays from the @first argument on; returns an output
 * of the caller itself.
 */
static PyObject *function_call(PyObject *function, PyObject *args,
			       PyObject *named, Py_ssize_t first)
{
	PyObject *given = arguments_for_numpy(args, first), *output = NULL;
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
	int own, makes;

	if (!PyArg_ParseTuple(args, "OOO!O!:__array_function__", &function,
			      &types, &PyTuple_Type, &given, &PyDict_Type,
			      &named))
		return NULL;
	own = types_have_rules(Py_TYPE(self), types);
	if (own < 0)
		return NULL;
	if (own)
		Py_RETURN_NOTIMPLEMENTED;
	makes = function_is_maker(function);
	if (makes < 0)
		return NULL;
	implementation = PyObject_GetAttrString(function, "_implementation");
	if (!implementation) {
		PyErr_Clear();
		if (!makes)
			Py_RETURN_NOTIMPLEMENTED;
		/* NumPy removed the like= by which it asked us. */
		implementation = Py_NewRef(function);
	}
	/* Others use the methods of the first argument. */
	result = function_call(implementation, given, named, makes ? 0 : 1);
	Py_DECREF(implementation);
	if (makes && result && !arguments_have(given, named, result))
		result = array_of_result(type_state(self), result);
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
