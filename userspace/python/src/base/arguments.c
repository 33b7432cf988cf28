// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Arguments of methods with METH_FASTCALL: a table tells names and converters, and
 * no tuple or dictionary is made.
 */
#include <limits.h>

#include "base/arguments.h"

/* Returns the number of a parameter, -1 if there is none of that name. */
static int arguments_number_of(const struct signature *signature,
			       PyObject *name)
{
	const struct parameter *parameter = signature->parameters;
	int i;

	for (i = 0; parameter[i].name; i++) {
		/* Most names differ in their first letter. */
		if (PyUnicode_READ_CHAR(name, 0) ==
			    (Py_UCS4)parameter[i].name[0] &&
		    !PyUnicode_CompareWithASCIIString(name, parameter[i].name))
			return i;
	}
	PyErr_Format(PyExc_TypeError, "%s() has no argument %R",
		     signature->function, name);
	return -1;
}

/* Puts each argument at the place of its parameter. */
static int arguments_assign(const struct signature *signature,
			    PyObject *const *args, Py_ssize_t count,
			    PyObject *names, PyObject **given)
{
	Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0, i;
	int at;

	if (count > signature->positional) {
		PyErr_Format(
			PyExc_TypeError,
			"%s() takes at most %d positional arguments, not %zd",
			signature->function, signature->positional, count);
		return -1;
	}
	for (i = 0; i < count; i++)
		given[i] = args[i];
	for (i = 0; i < named; i++) {
		at = arguments_number_of(signature, PyTuple_GET_ITEM(names, i));
		if (at < 0)
			return -1;
		if (given[at]) {
			PyErr_Format(PyExc_TypeError, "%s() has two of %s",
				     signature->function,
				     signature->parameters[at].name);
			return -1;
		}
		given[at] = args[count + i];
	}
	return 0;
}

int arguments_take(const struct signature *signature, PyObject *const *args,
		   Py_ssize_t count, PyObject *names, void *const *out)
{
	const struct parameter *parameter = signature->parameters;
	PyObject *given[MAX_PARAMETERS] = { NULL };
	int i;

	if (arguments_assign(signature, args, count, names, given))
		return -1;
	for (i = 0; parameter[i].name; i++) {
		if (given[i]) {
			if (!parameter[i].take(given[i], out[i]))
				return -1;
		} else if (i < signature->required) {
			PyErr_Format(PyExc_TypeError,
				     "%s() misses its argument %s",
				     signature->function, parameter[i].name);
			return -1;
		}
	}
	return 0;
}

int object_take(PyObject *argument, void *out)
{
	*(PyObject **)out = argument;
	return 1;
}

int ssize_take(PyObject *argument, void *out)
{
	Py_ssize_t number = PyNumber_AsSsize_t(argument, PyExc_OverflowError);

	if (number == -1 && PyErr_Occurred())
		return 0;
	*(Py_ssize_t *)out = number;
	return 1;
}

int int_take(PyObject *argument, void *out)
{
	Py_ssize_t number;

	if (!ssize_take(argument, &number))
		return 0;
	if (number < INT_MIN || number > INT_MAX) {
		PyErr_Format(PyExc_OverflowError, "%zd does not fit an int",
			     number);
		return 0;
	}
	*(int *)out = (int)number;
	return 1;
}

int truth_take(PyObject *argument, void *out)
{
	int truth = PyObject_IsTrue(argument);

	if (truth >= 0)
		*(int *)out = truth;
	return truth >= 0;
}

int order_take(PyObject *argument, void *out)
{
	return PyArray_OrderConverter(argument, out);
}

int casting_take(PyObject *argument, void *out)
{
	return PyArray_CastingConverter(argument, out);
}

int type_take(PyObject *argument, void *out)
{
	return PyArray_DescrConverter(argument, out);
}

int type_or_none_take(PyObject *argument, void *out)
{
	return PyArray_DescrConverter2(argument, out);
}

/* Returns a module, imported by the first call. */
static PyObject *module_named(const char *name)
{
	PyObject *text = PyUnicode_InternFromString(name), *module;

	module = text ? PyImport_GetModule(text) : NULL;
	if (text && !module && !PyErr_Occurred())
		module = PyImport_Import(text);
	Py_XDECREF(text);
	return module;
}

PyObject *python_call(const char *module, const char *name, PyObject *self,
		      PyObject *const *args, Py_ssize_t count, PyObject *names)
{
	PyObject *given[MAX_PARAMETERS + 1] = { self }, *of, *function, *result;
	Py_ssize_t all = count + (names ? PyTuple_GET_SIZE(names) : 0);

	if (all > MAX_PARAMETERS)
		return PyErr_Format(PyExc_TypeError,
				    "%s() takes at most %d arguments, not %zd",
				    name, MAX_PARAMETERS, all);
	of = module_named(module);
	function = of ? PyObject_GetAttrString(of, name) : NULL;
	Py_XDECREF(of);
	if (!function)
		return NULL;
	if (all)
		memcpy(given + 1, args, (size_t)all * sizeof(PyObject *));
	result = PyObject_Vectorcall(function, given, (size_t)count + 1, names);
	Py_DECREF(function);
	return result;
}
