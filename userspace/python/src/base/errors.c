// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The table from error codes to Python's exceptions.  Any other error is an
 * OSError, which picks its own subclass by errno (PermissionError,
 * BlockingIOError, ConnectionResetError, ...).
 */
#include <errno.h>
#include <string.h>

#include "base/module.h"

struct error_class {
	int error;
	PyObject **class;
	bool with_errno; /* the class is called with (errno, sentence) */
};

static const struct error_class table[] = {
	{ EINVAL, &PyExc_ValueError, false },
	{ ERANGE, &PyExc_ValueError, false },
	{ EOVERFLOW, &PyExc_OverflowError, false },
	{ EDOM, &PyExc_FloatingPointError, false },
	{ ENOMEM, &PyExc_MemoryError, false },
	{ EPERM, &PyExc_PermissionError, true },
	{ EACCES, &PyExc_PermissionError, true },
	/* A wait that ran out, and an engine that does not answer. */
	{ ETIME, &PyExc_TimeoutError, true },
	{ ETIMEDOUT, &PyExc_TimeoutError, true },
};

/* Takes over @message. */
static PyObject *raise_class(const struct error_class *class, int error,
			     PyObject *message)
{
	PyObject *args = class->with_errno
				 ? Py_BuildValue("(iO)", -error, message)
				 : PyTuple_Pack(1, message);

	Py_DECREF(message);
	if (!args)
		return NULL;
	PyErr_SetObject(*class->class, args);
	Py_DECREF(args);
	return NULL;
}

static const struct error_class *errors_class_of(int error)
{
	static const struct error_class other = { 0, &PyExc_OSError, true };
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (table[i].error == -error)
			return &table[i];
	}
	return &other;
}

PyObject *raise_message(int error, PyObject *message)
{
	return message ? raise_class(errors_class_of(error), error, message)
		       : NULL;
}

static PyObject *last_sentence(int error)
{
	const char *sentence = dray_last_error();

	if (!*sentence)
		sentence = strerror(-error);
	/* The library may cut a long sentence inside a character. */
	return PyUnicode_DecodeUTF8(sentence, (Py_ssize_t)strlen(sentence),
				    "replace");
}

/* Types of which only functions make objects, and these. */
static const struct {
	const char *type, *makers;
} makers[] = {
	{ "Pool", "dray.pool() or Node.pool() makes one" },
	{ "Node", "dray.open() opens one" },
	{ "Stream", "dray.stream() opens one" },
	{ "Frames", "Stream.frames() makes them" },
	{ "Scope", "dray.memory() makes one" },
	{ "Fence", "dray.copy() and dray.fill() with wait=False return one" },
	{ "Event", "Stream.send() and its kin with wait=False return one" },
	{ "Call", "CallQueue.submit() returns one" },
	{ "FlatIterator", "Array.flat is one" },
	{ "XrtDevice", "dray.xrt_device() opens one" },
	{ "XrtBo", "dray.xrt_bo() makes one over an array" },
	{ "MemoryResource",
	  "other classes of dray.mr are resources; CallbackMemoryResource calls functions of Python" },
};

/* The name without a module, which classes in Python lack. */
static const char *short_name(const PyTypeObject *type)
{
	const char *name = strrchr(type->tp_name, '.');

	return name ? name + 1 : type->tp_name;
}

PyObject *made_elsewhere(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	const char *advice = "functions of dray return one";
	const char *name = short_name(type);
	const PyTypeObject *base;
	size_t i;

	(void)args;
	(void)keywords;
	for (base = type; base; base = base->tp_base) {
		for (i = 0; i < sizeof(makers) / sizeof(makers[0]); i++) {
			if (strcmp(makers[i].type, short_name(base)))
				continue;
			name = makers[i].type;
			advice = makers[i].makers;
		}
	}
	return PyErr_Format(PyExc_TypeError,
			    "cannot create 'dray.%s' instances: %s", name,
			    advice);
}

PyObject *raise_error(int error)
{
	/* A function of Python, called by the library, raised. */
	if (PyErr_Occurred())
		return NULL;
	return raise_message(error, last_sentence(error));
}

/*
 * Exceptions of dray.Array that differ: NumPy's, which is without an errno, and the
 * exception of an exchange that is impossible.
 */
static const struct {
	unsigned int steps;
	struct error_class class;
} array_table[] = {
	/* A copy that is not allowed. */
	{ ARRAY_CAST, { EAGAIN, &PyExc_ValueError, false } },
	{ ARRAY_SHAPE | ARRAY_CAST | ARRAY_INDEX,
	  { EPERM, &PyExc_ValueError, false } },
	{ ARRAY_SHAPE | ARRAY_CAST | ARRAY_INDEX,
	  { EOVERFLOW, &PyExc_ValueError, false } },
	{ ARRAY_FILE, { EBADMSG, &PyExc_ValueError, false } },
	{ ARRAY_INDEX, { ERANGE, &PyExc_IndexError, false } },
	{ ARRAY_TYPE, { EINVAL, &PyExc_TypeError, false } },
	{ ARRAY_CAST, { ERANGE, &PyExc_OverflowError, false } },
	{ ARRAY_CAST | ARRAY_INDEX, { EOPNOTSUPP, &PyExc_TypeError, false } },
	{ ARRAY_CAST | ARRAY_INDEX, { EILSEQ, &PyExc_ValueError, false } },
	{ ARRAY_EXCHANGE, { EINVAL, &PyExc_BufferError, false } },
	{ ARRAY_EXCHANGE, { EOVERFLOW, &PyExc_BufferError, false } },
	{ ARRAY_EXCHANGE, { EOPNOTSUPP, &PyExc_BufferError, false } },
	{ ARRAY_EXCHANGE, { EPROTO, &PyExc_BufferError, false } },
	{ ARRAY_EXCHANGE, { EPERM, &PyExc_BufferError, false } },
	{ ARRAY_CAST | ARRAY_INDEX, { ENOSPC, &PyExc_RuntimeError, false } },
};

PyObject *raise_array_error(enum array_step step, int error)
{
	PyObject *message;
	size_t i;

	/* A function of Python, called by the library, raised. */
	if (PyErr_Occurred())
		return NULL;
	message = last_sentence(error);
	for (i = 0; i < sizeof(array_table) / sizeof(array_table[0]); i++) {
		if (message && (array_table[i].steps & step) &&
		    array_table[i].class.error == -error)
			return raise_class(&array_table[i].class, error,
					   message);
	}
	return raise_message(error, message);
}

PyObject *numpy_exception(const char *name)
{
	PyObject *module = PyImport_ImportModule("numpy.exceptions"), *class;

	if (!module) { /* before NumPy 1.25 */
		PyErr_Clear();
		module = PyImport_ImportModule("numpy");
	}
	class = module ? PyObject_GetAttrString(module, name) : NULL;
	Py_XDECREF(module);
	return class;
}
