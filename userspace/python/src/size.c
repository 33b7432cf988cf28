// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Numbers of bytes from Python, of any type that is an integer there.  What
 * does not fit is named, with its value and what would.
 */
#include "module.h"

int size_take(PyObject *object, const char *name, uint64_t most, uint64_t *out)
{
	PyObject *number;
	uint64_t value;

	if (!PyIndex_Check(object)) {
		PyErr_Format(PyExc_TypeError, "%s is a %s, not a whole number",
			     name, Py_TYPE(object)->tp_name);
		return -1;
	}
	number = PyNumber_Index(object);
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
			     "%s is %R: a number of bytes from 0 to %llu", name,
			     number, (unsigned long long)most);
		Py_DECREF(number);
		return -1;
	}
	Py_DECREF(number);
	*out = value;
	return 0;
}

int min_bytes_take(PyObject *object, void *out)
{
	uint64_t bytes;

	if (size_take(object, "min_bytes", SIZE_MAX, &bytes))
		return 0;
	*(size_t *)out = (size_t)bytes;
	return 1;
}
