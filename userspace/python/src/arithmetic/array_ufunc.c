// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * NumPy's ufuncs of a dray.Array, by __array_ufunc__: dray computes them, and NumPy
 * the calls for which dray lacks a loop, by their types or arguments.
 */
#include <string.h>

#include "arithmetic/array_ufunc.h"
#include "frame/numpy_errors.h"

int array_type_has_rules(PyObject *type, const char *protocol)
{
	PyObject *rule = PyObject_GetAttrString(type, protocol), *numpy;
	int own;

	if (!rule) {
		PyErr_Clear();
		return 0;
	}
	numpy = PyObject_GetAttrString((PyObject *)&PyArray_Type, protocol);
	own = !numpy ? -1 : rule != numpy;
	Py_XDECREF(numpy);
	Py_DECREF(rule);
	return own;
}

/* Whether a type of operand brings rules of its own for ufuncs. */
static int ufunc_has_rules(PyObject *object)
{
	return array_is_plain(object)
		       ? 0
		       : array_type_has_rules((PyObject *)Py_TYPE(object),
					      "__array_ufunc__");
}

bool array_is_plain(PyObject *object)
{
	return array_is(object) || PyArray_CheckExact(object) ||
	       PyFloat_CheckExact(object) || PyLong_CheckExact(object) ||
	       PyComplex_CheckExact(object) || PyBool_Check(object) ||
	       PyArray_CheckScalar(object) || PyList_CheckExact(object) ||
	       PyTuple_CheckExact(object);
}

/* Adds dray's functions for products; they are not ufuncs. */
static int add_products(PyObject *numpy, PyObject *found)
{
	static const char *const names[] = { "matmul", "matvec", "vecdot",
					     "vecmat" };
	PyObject *ours = PyImport_ImportModule("dray._dray"), *theirs, *object;
	size_t i;
	int ret = ours ? 0 : -1;

	for (i = 0; i < sizeof(names) / sizeof(names[0]) && !ret; i++) {
		theirs = PyObject_GetAttrString(numpy, names[i]);
		if (!theirs) {
			PyErr_Clear(); /* an older NumPy */
			continue;
		}
		object = PyObject_GetAttrString(ours, names[i]);
		ret = object ? PyDict_SetItem(found, theirs, object) : -1;
		Py_XDECREF(object);
		Py_DECREF(theirs);
	}
	Py_XDECREF(ours);
	return ret;
}

/* Makes the dictionary from NumPy's ufuncs to dray's. */
static PyObject *numpy_ufuncs(struct module_state *state)
{
	PyObject *numpy, *found = NULL, *name, *object, *theirs;
	Py_ssize_t at = 0;
	int ret = 0;

	if (state->numpy_ufuncs)
		return state->numpy_ufuncs;
	numpy = PyImport_ImportModule("numpy");
	found = numpy ? PyDict_New() : NULL;
	while (found && !ret &&
	       PyDict_Next(state->ufuncs, &at, &name, &object)) {
		theirs = PyObject_GetAttr(numpy, name);
		if (!theirs)
			PyErr_Clear(); /* an older NumPy */
		else
			ret = PyDict_SetItem(found, theirs, object);
		Py_XDECREF(theirs);
	}
	if (found && !ret)
		ret = add_products(numpy, found);
	Py_XDECREF(numpy);
	if (ret)
		Py_CLEAR(found);
	/* Another thread may be faster. */
	if (found && state->numpy_ufuncs)
		Py_DECREF(found);
	else
		state->numpy_ufuncs = found;
	return state->numpy_ufuncs;
}

PyObject *array_numpy_of(PyObject *object)
{
	return array_is(object) ? array_as_numpy(object) : Py_NewRef(object);
}

/* Returns a tuple with arrays of NumPy instead of dray's. */
static PyObject *numpy_tuple(PyObject *const *items, Py_ssize_t count)
{
	PyObject *tuple = PyTuple_New(count), *item;
	Py_ssize_t i;

	for (i = 0; tuple && i < count; i++) {
		item = PyTuple_CheckExact(items[i])
			       ? numpy_tuple(PySequence_Fast_ITEMS(items[i]),
					     PyTuple_GET_SIZE(items[i]))
			       : array_numpy_of(items[i]);
		if (!item)
			Py_CLEAR(tuple);
		else
			PyTuple_SET_ITEM(tuple, i, item);
	}
	return tuple;
}

PyObject *array_of_result(struct module_state *state, PyObject *result)
{
	PyObject *array;

	if (!result || !PyArray_CheckExact(result))
		return result;
	array = array_from(state->array_type, result);
	if (!array) {
		PyErr_Clear(); /* a type that dray.Array lacks */
		return result;
	}
	Py_DECREF(result);
	return array;
}

/* Returns dray's object for a result of NumPy's, which it owns. */
static PyObject *result_of(struct module_state *state, PyObject *result,
			   PyObject *outputs, Py_ssize_t i)
{
	PyObject *output;

	output = outputs && i < PyTuple_GET_SIZE(outputs)
			 ? PyTuple_GET_ITEM(outputs, i)
			 : Py_None;
	if (!result || output == Py_None || output == Py_Ellipsis)
		return array_of_result(state, result);
	Py_DECREF(result);
	return Py_NewRef(output);
}

static PyObject *results_of(struct module_state *state, PyObject *result,
			    PyObject *outputs)
{
	PyObject *tuple, *item;
	Py_ssize_t i;

	if (!result || !PyTuple_CheckExact(result))
		return result_of(state, result, outputs, 0);
	tuple = PyTuple_New(PyTuple_GET_SIZE(result));
	for (i = 0; tuple && i < PyTuple_GET_SIZE(result); i++) {
		item = result_of(state, Py_NewRef(PyTuple_GET_ITEM(result, i)),
				 outputs, i);
		if (!item)
			Py_CLEAR(tuple);
		else
			PyTuple_SET_ITEM(tuple, i, item);
	}
	Py_DECREF(result);
	return tuple;
}

/* Arguments of __array_ufunc__(). */
struct asked {
	PyObject *ufunc; /* NumPy's */
	PyObject *method;
	PyObject *const *args; /* inputs, then values of keywords */
	Py_ssize_t count; /* inputs */
	PyObject *names;
	PyObject *outputs; /* the value of out=, a tuple, or NULL */
};

/* Lets NumPy compute. */
static PyObject *ask_numpy(struct module_state *state,
			   const struct asked *asked)
{
	const Py_ssize_t named =
		asked->names ? PyTuple_GET_SIZE(asked->names) : 0;
	PyObject *args = numpy_tuple(asked->args, asked->count + named);
	PyObject *method = PyObject_GetAttr(asked->ufunc, asked->method);
	PyObject *result = NULL;

	if (args && method)
		result =
			PyObject_Vectorcall(method, PySequence_Fast_ITEMS(args),
					    (size_t)asked->count, asked->names);
	Py_XDECREF(method);
	Py_XDECREF(args);
	return results_of(state, result, asked->outputs);
}

bool array_ask_numpy(void)
{
	PyObject *type, *value, *traceback;

	if (!PyErr_ExceptionMatches(PyExc_TypeError) &&
	    !PyErr_ExceptionMatches(PyExc_OverflowError))
		return false;
	PyErr_Fetch(&type, &value, &traceback);
	if (traceback) {
		PyErr_Restore(type, value, traceback);
		return false;
	}
	Py_XDECREF(value);
	Py_DECREF(type);
	return true;
}

/* Lets dray compute, with NumPy's reactions to errors of numbers. */
static PyObject *ask_dray(struct module_state *state, PyObject *ours,
			  const struct asked *asked)
{
	PyObject *before = numpy_errors_enter(state), *method, *result = NULL;

	if (before && PyCFunction_Check(ours)) {
		method = NULL;
		result = PyObject_Vectorcall(
			ours, asked->args, (size_t)asked->count, asked->names);
	} else if (before && !PyUnicode_CompareWithASCIIString(asked->method,
							       "__call__")) {
		method = NULL;
		result = ufunc_call_for_numpy(
			ours, asked->args, (size_t)asked->count, asked->names);
	} else {
		method = before ? PyObject_GetAttr(ours, asked->method) : NULL;
	}
	if (method)
		result =
			PyObject_Vectorcall(method, asked->args,
					    (size_t)asked->count, asked->names);
	Py_XDECREF(method);
	numpy_errors_leave(state, before);
	return result;
}

/* Whether another operand is to decide: 1, 0, or -1 with an exception. */
static int others_decide(const struct asked *asked)
{
	Py_ssize_t i;
	int ret = 0;

	for (i = 0; i < asked->count && !ret; i++)
		ret = ufunc_has_rules(asked->args[i]);
	for (i = 0;
	     asked->outputs && !ret && i < PyTuple_GET_SIZE(asked->outputs);
	     i++)
		ret = ufunc_has_rules(PyTuple_GET_ITEM(asked->outputs, i));
	return ret;
}

/*
 * Whether only an output is dray's, of a reduction: functions of NumPy such as mean()
 * continue with the result in place, if that is an array of NumPy.
 */
static bool is_step_of_numpy(const struct asked *asked)
{
	Py_ssize_t i;

	for (i = 0; i < asked->count; i++)
		if (array_is(asked->args[i]))
			return false;
	return asked->outputs &&
	       !PyUnicode_CompareWithASCIIString(asked->method, "reduce");
}

/* Whether an input is of a subclass of NumPy's array, which wraps results. */
static bool has_subclass(const struct asked *asked)
{
	Py_ssize_t i;

	for (i = 0; i < asked->count; i++)
		if (PyArray_Check(asked->args[i]) &&
		    !PyArray_CheckExact(asked->args[i]))
			return true;
	return false;
}

/* Whether an input is of dray.xp, and the result a new array. */
static bool makes_standard(const struct asked *asked)
{
	Py_ssize_t i;

	for (i = 0; i < asked->count && !asked->outputs; i++)
		if (array_is(asked->args[i]) &&
		    array_self(asked->args[i])->standard)
			return true;
	return false;
}

/*
 * Clears an exception of a product with an output of perhaps more axes, along which
 * NumPy repeats the result.
 */
static bool is_wider_output(PyObject *ours, const struct asked *asked)
{
	if (!PyCFunction_Check(ours) || !asked->outputs ||
	    !PyErr_ExceptionMatches(PyExc_ValueError))
		return false;
	PyErr_Clear();
	return true;
}

/* Lets dray compute, or NumPy if dray lacks a loop. */
static PyObject *ask_either(struct module_state *state,
			    const struct asked *asked)
{
	PyObject *ufuncs = numpy_ufuncs(state), *ours, *result;

	if (!ufuncs)
		return NULL;
	ours = PyDict_GetItemWithError(ufuncs, asked->ufunc);
	if (!ours && PyErr_Occurred())
		return NULL;
	/* A product is without methods. */
	if (ours && PyCFunction_Check(ours) &&
	    PyUnicode_CompareWithASCIIString(asked->method, "__call__"))
		ours = NULL;
	result = ours ? ask_dray(state, ours, asked) : NULL;
	if (ours &&
	    (result || !(array_ask_numpy() || is_wider_output(ours, asked))))
		return result;
	return ask_numpy(state, asked);
}

PyObject *array_array_ufunc(PyObject *self, PyObject *const *args,
			    Py_ssize_t count, PyObject *names)
{
	struct module_state *state = type_state(self);
	struct asked asked = { .names = names };
	PyObject *result;
	Py_ssize_t i;
	bool step;
	int decide;

	if (count < 2)
		return PyErr_Format(
			PyExc_TypeError,
			"__array_ufunc__() takes a ufunc and a method");
	if (!PyUnicode_Check(args[1]))
		return PyErr_Format(PyExc_TypeError,
				    "a method of a ufunc is a text, not %R",
				    args[1]);
	asked.ufunc = args[0];
	asked.method = args[1];
	asked.args = args + 2;
	asked.count = count - 2;
	for (i = 0; names && i < PyTuple_GET_SIZE(names); i++) {
		if (!PyUnicode_CompareWithASCIIString(
			    PyTuple_GET_ITEM(names, i), "out") &&
		    PyTuple_CheckExact(args[count + i]))
			asked.outputs = args[count + i];
	}
	decide = others_decide(&asked);
	if (decide < 0)
		return NULL;
	if (decide)
		Py_RETURN_NOTIMPLEMENTED;
	step = is_step_of_numpy(&asked);
	result = step || has_subclass(&asked) ? ask_numpy(state, &asked)
					      : ask_either(state, &asked);
	if (makes_standard(&asked))
		return array_standard(Py_TYPE(self), result);
	if (!result || !array_is(result) || !step)
		return result;
	Py_SETREF(result, array_as_numpy(result));
	return result;
}
