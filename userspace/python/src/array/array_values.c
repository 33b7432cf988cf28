// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A dray.Array as values and text of Python, which NumPy makes by an array of its
 * own over the same memory.
 */
#include <string.h>

#include "object/array_object.h"
#include "object/user_type.h"

/* Returns NumPy's array over the same memory; of a user type, an array of its values. */
static PyObject *values_of(PyObject *self)
{
	const dray_dtype dtype = array_self(self)->dtype;
	PyObject *array = array_as_numpy(self);

	if (array && user_type_of(dtype))
		Py_SETREF(array, user_type_call(dtype, "_values", array));
	return array;
}

/* Calls a method of NumPy's array over the same memory. */
static PyObject *as_numpy_does(PyObject *self, const char *name, PyObject *args)
{
	PyObject *array = values_of(self);
	PyObject *method = array ? PyObject_GetAttrString(array, name) : NULL;
	PyObject *result = method ? PyObject_CallObject(method, args) : NULL;

	Py_XDECREF(method);
	Py_XDECREF(array);
	return result;
}

/* Returns an element of a usual type as Python's object; else NULL. */
static PyObject *element_value(const struct array_object *self,
			       const char *element)
{
	const uint64_t size = dray_dtype_itemsize(self->dtype);
	union {
		double real;
		float single;
		int64_t integer;
		int32_t number;
		uint8_t byte;
	} value;

	if (size <= sizeof(value))
		memcpy(&value, element, size);
	switch (self->dtype) {
	case DRAY_FLOAT64:
		return PyFloat_FromDouble(value.real);
	case DRAY_FLOAT32:
		return PyFloat_FromDouble((double)value.single);
	case DRAY_INT64:
		return PyLong_FromLongLong(value.integer);
	case DRAY_INT32:
		return PyLong_FromLong(value.number);
	case DRAY_UINT8:
		return PyLong_FromLong(value.byte);
	default:
		return NULL;
	}
}

PyObject *array_item(PyObject *object, PyObject *args)
{
	struct array_object *self = array_self(object);
	const char *element = NULL;
	PyObject *index = args, *value = NULL;

	if (PyTuple_GET_SIZE(args) == 1)
		index = PyTuple_GET_ITEM(args, 0);
	if (self->flags & DRAY_READ)
		element = array_element_at(self, index);
	if (element)
		value = element_value(self, element);
	return value || PyErr_Occurred() ? value
					 : as_numpy_does(object, "item", args);
}

PyObject *array_tolist(PyObject *self, PyObject *unused)
{
	(void)unused;
	return as_numpy_does(self, "tolist", NULL);
}

/* Returns a text without elements, for those that the CPU does not reach. */
static PyObject *values_described(const struct array_object *self)
{
	PyObject *shape = size_tuple(array_shape_of(self), self->ndim);
	PyObject *sentence = array_unreachable(self), *text = NULL;

	if (shape && sentence)
		text = PyUnicode_FromFormat(
			"<dray.Array of shape %R and %R, %U>", shape,
			self->descr, sentence);
	Py_XDECREF(shape);
	Py_XDECREF(sentence);
	return text;
}

/* Calls a method of a user type with NumPy's array, else one of the array. */
static PyObject *values_text(PyObject *self, const char *of_user,
			     const char *of_numpy)
{
	const dray_dtype dtype = array_self(self)->dtype;
	PyObject *array, *text;

	if (!user_type_of(dtype))
		return as_numpy_does(self, of_numpy, NULL);
	array = array_as_numpy(self);
	text = array ? user_type_call(dtype, of_user, array) : NULL;
	Py_XDECREF(array);
	return text;
}

PyObject *array_str(PyObject *self)
{
	if (!(array_self(self)->flags & DRAY_READ))
		return values_described(array_self(self));
	return values_text(self, "_str", "__str__");
}

/* "array(" of NumPy becomes "Array(", of the same length. */
PyObject *array_repr(PyObject *self)
{
	PyObject *text, *rest, *result;

	if (!(array_self(self)->flags & DRAY_READ))
		return values_described(array_self(self));
	text = values_text(self, "_repr", "__repr__");
	if (!text)
		return NULL;
	rest = PyUnicode_Substring(text, 1, PyUnicode_GET_LENGTH(text));
	Py_DECREF(text);
	result = rest ? PyUnicode_FromFormat("A%U", rest) : NULL;
	Py_XDECREF(rest);
	return result;
}

/* Numbers of Python, of an array of one element. */
static PyObject *as_number(PyObject *self, PyObject *(*convert)(PyObject *))
{
	PyObject *array = values_of(self);
	PyObject *number = array ? convert(array) : NULL;

	Py_XDECREF(array);
	return number;
}

PyObject *array_int(PyObject *self)
{
	return as_number(self, PyNumber_Long);
}

PyObject *array_float(PyObject *self)
{
	return as_number(self, PyNumber_Float);
}

PyObject *array_integer(PyObject *self)
{
	return as_number(self, PyNumber_Index);
}

int array_bool(PyObject *object)
{
	const struct array_object *self = array_self(object);
	PyObject *array = array_as_numpy(object);
	int truth = -1;

	if (array && user_type_of(self->dtype) &&
	    PyArray_SIZE((PyArrayObject *)array) == 1)
		truth = dray_dtype_functions(self->dtype)
				->nonzero(self->dtype, self->data);
	else if (array)
		truth = PyObject_IsTrue(array);
	if (PyErr_Occurred())
		truth = -1;
	Py_XDECREF(array);
	return truth;
}

int array_contains(PyObject *self, PyObject *value)
{
	PyObject *array = values_of(self);
	int found = array ? PySequence_Contains(array, value) : -1;

	Py_XDECREF(array);
	return found;
}

PyObject *array_format(PyObject *self, PyObject *args)
{
	PyObject *unused;

	if (!PyArg_ParseTuple(args, "U:__format__", &unused))
		return NULL;
	return as_numpy_does(self, "__format__", args);
}

/* Pickles the elements: Array(array of NumPy). */
PyObject *array_reduce(PyObject *self, PyObject *unused)
{
	PyObject *array = array_as_numpy(self);

	(void)unused;
	return array ? Py_BuildValue("(O(N))", Py_TYPE(self), array) : NULL;
}

PyObject *array_iter(PyObject *self)
{
	if (array_self(self)->ndim)
		return PySeqIter_New(self);
	PyErr_SetString(PyExc_TypeError, "iteration over a 0-d array");
	return NULL;
}
