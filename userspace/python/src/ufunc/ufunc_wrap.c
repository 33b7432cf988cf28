// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Outputs of a ufunc that become objects of a class of an input, as in NumPy: the method
 * __array_wrap__() of the highest __array_priority__, and of equal priorities the first,
 * is called for each output that is made.
 */
#include "ufunc/ufunc_arguments.h"

/* NumPy's, of objects without a priority and of scalars. */
#define PRIORITY 0.0
#define SCALAR_PRIORITY (-1000000.0)

/* Whether an object is an array without a class of its own. */
static bool wrap_is_plain(PyObject *object)
{
	return array_is(object) || PyArray_CheckExact(object);
}

static bool wrap_is_number(PyObject *object)
{
	return PyFloat_CheckExact(object) || PyLong_CheckExact(object) ||
	       PyComplex_CheckExact(object) || PyBool_Check(object) ||
	       PyList_CheckExact(object) || PyTuple_CheckExact(object) ||
	       PyUnicode_CheckExact(object) || PyBytes_CheckExact(object) ||
	       PyArray_IsAnyScalar(object);
}

/* Looks up an attribute; NULL without an exception if there is none. */
static int wrap_look_up(PyObject *object, const char *name, PyObject **out)
{
	*out = PyObject_GetAttrString(object, name);
	if (*out || !PyErr_ExceptionMatches(PyExc_AttributeError))
		return *out ? 0 : -1;
	PyErr_Clear();
	return 0;
}

static int wrap_priority(PyObject *object, double *out)
{
	PyObject *value;

	*out = PRIORITY;
	if (wrap_look_up(object, "__array_priority__", &value))
		return -1;
	if (!value)
		return 0;
	*out = PyFloat_AsDouble(value);
	Py_DECREF(value);
	return *out == -1 && PyErr_Occurred() ? -1 : 0;
}

/* Takes the method of @object, if it is before @wrap. */
static int wrap_consider(PyObject *object, PyObject **wrap, bool *found,
			 double *priority)
{
	double wanted = wrap_is_plain(object) ? PRIORITY : SCALAR_PRIORITY;
	PyObject *method = NULL;

	if (!wrap_is_plain(object) && !wrap_is_number(object)) {
		if (wrap_look_up(object, "__array_wrap__", &method))
			return -1;
		if (!method)
			return 0;
		if (wrap_priority(object, &wanted)) {
			Py_DECREF(method);
			return -1;
		}
	}
	/* A class is before an array of equal priority. */
	if (*found && wanted <= *priority &&
	    !(method && !*wrap && wanted == PRIORITY &&
	      *priority == PRIORITY)) {
		Py_XDECREF(method);
		return 0;
	}
	*found = true;
	*priority = wanted;
	Py_XSETREF(*wrap, method);
	return 0;
}

int ufunc_wrap_find(const struct ufunc_arguments *call, PyObject **out)
{
	double priority = SCALAR_PRIORITY;
	bool found = false;
	int i, ret = 0;

	*out = NULL;
	if (call->bare)
		return 0;
	for (i = 0; i < call->self->inputs && !ret; i++)
		ret = wrap_consider(call->args[i], out, &found, &priority);
	if (ret)
		Py_CLEAR(*out);
	return ret;
}

/* Makes the context of a method: the ufunc, its arguments, the number of the output. */
static PyObject *wrap_context(const struct ufunc_arguments *call, int o)
{
	const int inputs = call->self->inputs, outputs = call->self->outputs;
	PyObject *tuple, *given, *context;
	bool placed = false;
	int i;

	for (i = 0; i < outputs; i++)
		placed = placed || call->outputs[i];
	tuple = PyTuple_New(inputs + (placed ? outputs : 0));
	for (i = 0; tuple && i < PyTuple_GET_SIZE(tuple); i++) {
		given = i < inputs ? call->args[i] : call->outputs[i - inputs];
		PyTuple_SET_ITEM(tuple, i, Py_NewRef(given ? given : Py_None));
	}
	context = tuple ? Py_BuildValue("(OOi)", call->self, tuple, o) : NULL;
	Py_XDECREF(tuple);
	return context;
}

/* Calls a method as NumPy 2 does; if it refuses that, as NumPy 1 did. */
static PyObject *wrap_call(PyObject *wrap, PyObject *array, PyObject *context,
			   PyObject *element)
{
	PyObject *type, *value, *traceback, *result;

	result = PyObject_CallFunctionObjArgs(wrap, array, context, element,
					      NULL);
	if (result || !PyErr_ExceptionMatches(PyExc_TypeError))
		return result;
	PyErr_Fetch(&type, &value, &traceback);
	result = PyObject_CallFunctionObjArgs(wrap, array, context, NULL);
	if (!result && PyErr_ExceptionMatches(PyExc_TypeError)) {
		PyErr_Restore(type, value, traceback);
		return NULL;
	}
	Py_XDECREF(type);
	Py_XDECREF(value);
	Py_XDECREF(traceback);
	return result;
}

/* Makes a dray.Array of a plain array that a method returned. */
static PyObject *wrap_array_of(PyTypeObject *type, PyObject *result)
{
	PyObject *array;

	if (!result || !PyArray_CheckExact(result))
		return result;
	array = array_from(type, result);
	if (!array)
		return NULL;
	Py_DECREF(result);
	return array;
}

PyObject *ufunc_wrap_output(const struct ufunc_arguments *call, PyObject *wrap,
			    PyObject *made, int o)
{
	PyObject *array = array_as_numpy(made), *context, *result = NULL;

	Py_DECREF(made);
	context = array ? wrap_context(call, o) : NULL;
	if (context)
		result = wrap_call(
			wrap, array, context,
			!call->arrays && !PyArray_NDIM((PyArrayObject *)array)
				? Py_True
				: Py_False);
	Py_XDECREF(context);
	Py_XDECREF(array);
	return wrap_array_of(call->state->array_type, result);
}
