// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The one table from error codes to Python's exceptions.  Any other error is an
 * OSError, which picks its own subclass by errno (PermissionError,
 * BlockingIOError, ConnectionResetError, ...).
 */
#include <errno.h>
#include <string.h>

#include "module.h"

struct error_class {
	int error;
	PyObject **class;
	bool with_errno; /* class takes (errno, sentence) */
};

static const struct error_class table[] = {
	{ EINVAL, &PyExc_ValueError, false },
	{ ERANGE, &PyExc_ValueError, false },
	{ EOVERFLOW, &PyExc_OverflowError, false },
	{ ENOMEM, &PyExc_MemoryError, false },
	{ EPERM, &PyExc_PermissionError, true },
	{ EACCES, &PyExc_PermissionError, true },
	/* A wait that ran out, and an engine that does not answer. */
	{ ETIME, &PyExc_TimeoutError, true },
	{ ETIMEDOUT, &PyExc_TimeoutError, true },
};

PyObject *raise_message(int error, PyObject *message)
{
	PyObject *class = PyExc_OSError;
	bool with_errno = true;
	PyObject *args;
	size_t i;

	if (!message)
		return NULL;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (table[i].error == -error) {
			class = *table[i].class;
			with_errno = table[i].with_errno;
			break;
		}
	}
	args = with_errno ? Py_BuildValue("(iO)", -error, message)
			  : PyTuple_Pack(1, message);
	Py_DECREF(message);
	if (!args)
		return NULL;
	PyErr_SetObject(class, args);
	Py_DECREF(args);
	return NULL;
}

PyObject *raise_error(int error)
{
	const char *sentence = dray_last_error();

	if (!*sentence)
		sentence = strerror(-error);
	/* The library may cut a long sentence inside a character. */
	return raise_message(error,
			     PyUnicode_DecodeUTF8(sentence,
						  (Py_ssize_t)strlen(sentence),
						  "replace"));
}
