// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Numbers from Python: integers of any type, and bytes also as text, "64K".  An
 * error names the argument, its value and the limits.  Sizes as a tuple.
 */
#include "base/module.h"

/* Returns the shift of " K" or M, G, T, with or without B or iB; -1: unknown. */
static int unit_bits(const char *unit)
{
	static const char units[] = "KMGT";
	const char *found;

	if (*unit == ' ')
		unit++;
	found = *unit ? strchr(units, *unit & ~0x20) : NULL;

	if (!found)
		return -1;
	unit++;
	if (*unit && strcmp(unit, "B") != 0 && strcmp(unit, "iB") != 0)
		return -1;
	return 10 * (int)(found - units + 1);
}

/* Parses "64K" or "1G" to a number, a new reference. */
static PyObject *from_text(PyObject *object, const char *name)
{
	Py_ssize_t length;
	const char *text = PyUnicode_AsUTF8AndSize(object, &length);
	PyObject *digits, *bits, *number, *result;
	size_t count;
	int shift;

	if (!text)
		return NULL;
	count = strspn(text, "0123456789");
	shift = text[count] ? unit_bits(text + count) : 0;
	if (!count || shift < 0 || strlen(text) != (size_t)length)
		return PyErr_Format(
			PyExc_ValueError,
			"%s is %R: a number of bytes, or one with K, M, G or T as \"64K\"",
			name, object);
	digits = PyUnicode_FromStringAndSize(text, (Py_ssize_t)count);
	number = digits ? PyNumber_Long(digits) : NULL;
	bits = PyLong_FromLong(shift);
	result = number && bits ? PyNumber_Lshift(number, bits) : NULL;
	Py_XDECREF(digits);
	Py_XDECREF(number);
	Py_XDECREF(bits);
	return result;
}

/* Takes @number, a new reference or NULL; @unit is in the sentence of an error. */
static int py_size_take(PyObject *number, const char *name, uint64_t most,
			const char *unit, uint64_t *out)
{
	uint64_t value;
	int ret = -1;

	if (!number)
		return -1;
	value = PyLong_AsUnsignedLongLong(number);
	if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_OverflowError)) {
		Py_DECREF(number);
		return -1;
	}
	if (PyErr_Occurred() || value > most) {
		PyErr_Clear();
		PyErr_Format(PyExc_ValueError,
			     "%s is %R: a number%s from 0 to %llu", name,
			     number, unit, (unsigned long long)most);
	} else {
		*out = value;
		ret = 0;
	}
	Py_DECREF(number);
	return ret;
}

static PyObject *to_number(PyObject *object, const char *name)
{
	if (PyIndex_Check(object))
		return PyNumber_Index(object);
	return PyErr_Format(PyExc_TypeError, "%s is not a whole number but %s",
			    name, Py_TYPE(object)->tp_name);
}

int whole_take(PyObject *object, const char *name, uint64_t most, uint64_t *out)
{
	return py_size_take(to_number(object, name), name, most, "", out);
}

int size_take(PyObject *object, const char *name, uint64_t most, uint64_t *out)
{
	return py_size_take(PyUnicode_Check(object) ? from_text(object, name)
						    : to_number(object, name),
			    name, most, " of bytes", out);
}

/* Checks an argument by @take; the number as an int. */
static PyObject *number_check(PyObject *args,
			      int (*take)(PyObject *, const char *, uint64_t,
					  uint64_t *))
{
	unsigned long long most = SIZE_MAX;
	PyObject *object;
	const char *name;
	uint64_t number;

	if (!PyArg_ParseTuple(args, "Os|K", &object, &name, &most) ||
	    take(object, name, most, &number))
		return NULL;
	return PyLong_FromUnsignedLongLong(number);
}

PyObject *whole_number(PyObject *module, PyObject *args)
{
	(void)module;
	return number_check(args, whole_take);
}

PyObject *size_number(PyObject *module, PyObject *args)
{
	(void)module;
	return number_check(args, size_take);
}

int min_bytes_take(PyObject *object, void *out)
{
	uint64_t bytes;

	if (size_take(object, "min_bytes", SIZE_MAX, &bytes))
		return 0;
	*(size_t *)out = (size_t)bytes;
	return 1;
}

PyObject *size_tuple(const int64_t *from, int count)
{
	PyObject *tuple = PyTuple_New(count);
	PyObject *number;
	int i;

	for (i = 0; tuple && i < count; i++) {
		number = PyLong_FromLongLong(from[i]);
		if (!number)
			Py_CLEAR(tuple);
		else
			PyTuple_SET_ITEM(tuple, i, number);
	}
	return tuple;
}
