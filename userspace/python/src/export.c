// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Records of arrays: plain bytes that lead another process to the memory.
 */
#include <errno.h>
#include <string.h>

#include "module.h"

/* Undoes an export whose record nobody gets. */
static void drop(const char *array_record)
{
	struct dray_ipc_record record;

	memcpy(&record, array_record, sizeof(record));
	Py_BEGIN_ALLOW_THREADS
	dray_ipc_revoke(&record);
	Py_END_ALLOW_THREADS
}

/* Bytes, or NULL and the error of the library without an exception. */
static PyObject *export(const struct operand *operand, uint32_t flags,
			int *error)
{
	char record[DRAY_ARRAY_RECORD_SIZE];
	PyObject *bytes;
	size_t size;

	Py_BEGIN_ALLOW_THREADS
	*error = dray_array_export(&operand->view, flags, record,
				   sizeof(record), &size);
	Py_END_ALLOW_THREADS
	if (*error)
		return NULL;
	bytes = PyBytes_FromStringAndSize(record, (Py_ssize_t)size);
	if (!bytes)
		drop(record);
	return bytes;
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

/* A record of an array begins with that of its memory. */
PyObject *export_revoke(PyObject *module, PyObject *object)
{
	struct dray_ipc_record record;
	Py_buffer bytes;
	int error;

	(void)module;
	if (PyObject_GetBuffer(object, &bytes, PyBUF_SIMPLE))
		return NULL;
	if (bytes.len < (Py_ssize_t)sizeof(record)) {
		PyErr_Format(PyExc_ValueError,
			     "a record of %zd bytes, the shortest has %zu",
			     bytes.len, sizeof(record));
		PyBuffer_Release(&bytes);
		return NULL;
	}
	memcpy(&record, bytes.buf, sizeof(record));
	PyBuffer_Release(&bytes);
	Py_BEGIN_ALLOW_THREADS
	error = dray_ipc_revoke(&record);
	Py_END_ALLOW_THREADS
	if (error)
		return raise_error(error);
	Py_RETURN_NONE;
}

/* All of them: others may be made between two questions. */
static struct dray_ipc_handover *list_handovers(size_t *count)
{
	struct dray_ipc_handover *list = NULL, *larger;
	size_t room = 0;

	for (;;) {
		dray_ipc_handovers(list, room, count);
		if (*count <= room)
			return list;
		room = *count + 16;
		larger = PyMem_RawRealloc(list, room * sizeof(*list));
		if (!larger) {
			PyMem_RawFree(list);
			*count = 0;
			PyErr_NoMemory();
			return NULL;
		}
		list = larger;
	}
}

PyObject *export_waiting(PyObject *module, PyObject *unused)
{
	struct dray_ipc_handover *handovers;
	PyObject *list, *entry;
	size_t count, i;

	(void)module;
	(void)unused;
	handovers = list_handovers(&count);
	if (PyErr_Occurred())
		return NULL;
	list = PyList_New(0);
	for (i = 0; list && i < count; i++) {
		entry = Py_BuildValue(
			"(y#Kd)", (char *)handovers[i].record.bytes,
			(Py_ssize_t)sizeof(handovers[i].record.bytes),
			(unsigned long long)handovers[i].size,
			(double)handovers[i].age_ms / 1000);
		if (!entry || PyList_Append(list, entry))
			Py_CLEAR(list);
		Py_XDECREF(entry);
	}
	PyMem_RawFree(handovers);
	return list;
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
