// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Records of arrays: plain bytes that lead another process to the memory.
 */
#include <errno.h>

#include "module.h"

/* Bytes, or NULL and the error of the library without an exception. */
static PyObject *export(const struct operand *operand, uint32_t flags,
			int *error)
{
	char record[DRAY_ARRAY_RECORD_SIZE];
	size_t size;

	Py_BEGIN_ALLOW_THREADS
	*error = dray_array_export(&operand->view, flags, record,
				   sizeof(record), &size);
	Py_END_ALLOW_THREADS
	if (*error)
		return NULL;
	return PyBytes_FromStringAndSize(record, (Py_ssize_t)size);
}

PyObject *export_array(PyObject *module, PyObject *args)
{
	struct operand operand;
	PyObject *array, *record;
	unsigned int flags;
	int error;

	(void)module;
	if (!PyArg_ParseTuple(args, "OI:export", &array, &flags) ||
	    operand_take_filled(array, "array", &operand))
		return NULL;
	record = export(&operand, flags, &error);
	return error ? raise_error(error) : record;
}

/* What may be read by others only is handed over for reading. */
PyObject *export_handover(PyObject *module, PyObject *array)
{
	struct operand operand;
	PyObject *record;
	int error;

	(void)module;
	if (operand_take(array, "array", &operand)) {
		if (!PyErr_ExceptionMatches(PyExc_ValueError) &&
		    !PyErr_ExceptionMatches(PyExc_TypeError))
			return NULL;
		PyErr_Clear();
		Py_RETURN_NONE;
	}
	if (operand.empty)
		Py_RETURN_NONE;
	record = export(&operand, DRAY_IPC_HANDOVER, &error);
	if (error == -EPERM)
		record = export(&operand,
				DRAY_IPC_HANDOVER | DRAY_IPC_READ_ONLY, &error);
	if (error == -EOPNOTSUPP || error == -EINVAL || error == -EPERM ||
	    error == -ENOSPC)
		Py_RETURN_NONE;
	return error ? raise_error(error) : record;
}

PyObject *export_wait(PyObject *module, PyObject *timeout)
{
	long timeout_ms = PyLong_AsLong(timeout);
	int error;

	(void)module;
	if (timeout_ms == -1 && PyErr_Occurred())
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	error = dray_ipc_wait((int)timeout_ms);
	Py_END_ALLOW_THREADS
	return PyBool_FromLong(!error);
}

/* NULL where None is given. */
static int take_node(PyObject *module, PyObject *object, struct dray_node **out)
{
	*out = NULL;
	if (object == Py_None)
		return 0;
	*out = node_of(module_state(module), object);
	return *out ? 0 : -1;
}

PyObject *export_open(PyObject *module, PyObject *args)
{
	struct dray_array *array;
	struct dray_node *node;
	PyObject *object;
	Py_buffer record;
	int error;

	if (!PyArg_ParseTuple(args, "y*O:open_record", &record, &object))
		return NULL;
	if (take_node(module, object, &node)) {
		PyBuffer_Release(&record);
		return NULL;
	}
	Py_BEGIN_ALLOW_THREADS
	error = dray_array_open(record.buf, (size_t)record.len, node, &array);
	Py_END_ALLOW_THREADS
	PyBuffer_Release(&record);
	return error ? raise_error(error) : ipc_wrap(array);
}

PyObject *export_bytes(PyObject *module, PyObject *args)
{
	static const struct dray_dtype byte = { 'u', '|', 0, 1 };
	struct dray_array *array;
	struct dray_node *node;
	PyObject *object;
	Py_ssize_t size;
	int64_t shape;
	int error;

	if (!PyArg_ParseTuple(args, "On:bytes_alone", &object, &size))
		return NULL;
	node = node_of(module_state(module), object);
	if (!node)
		return NULL;
	shape = size;
	Py_BEGIN_ALLOW_THREADS
	error = dray_array_create_alone(node, byte, 1, &shape, &array);
	Py_END_ALLOW_THREADS
	return error ? raise_error(error) : ipc_wrap(array);
}
