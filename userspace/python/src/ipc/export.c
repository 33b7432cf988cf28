// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Records of arrays: plain bytes that lead another process to the memory.
 */
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/module.h"

/* Undoes an export if its record reaches no one. */
static void export_drop(const char *array_record)
{
	struct dray_ipc_record record;

	memcpy(&record, array_record, sizeof(record));
	Py_BEGIN_ALLOW_THREADS
	dray_ipc_revoke(&record);
	Py_END_ALLOW_THREADS
}

/* Returns a record as bytes; on failure NULL, with *ret and no exception. */
static PyObject *record_export(const struct operand *operand, uint32_t flags,
			       int *ret)
{
	char record[DRAY_VIEW_RECORD_SIZE];
	PyObject *bytes;
	size_t size;

	Py_BEGIN_ALLOW_THREADS
	*ret = dray_view_export(&operand->view, flags, record, sizeof(record),
				&size);
	Py_END_ALLOW_THREADS
	if (*ret)
		return NULL;
	bytes = PyBytes_FromStringAndSize(record, (Py_ssize_t)size);
	if (!bytes)
		export_drop(record);
	return bytes;
}

PyObject *export_of_array(PyObject *module, PyObject *args)
{
	struct operand operand;
	PyObject *array, *record;
	unsigned int flags;
	int ret;

	(void)module;
	if (!PyArg_ParseTuple(args, "OI:export", &array, &flags) ||
	    operand_take(array, "array", 0, &operand) ||
	    operand_check_shareable(&operand, "array"))
		return NULL;
	record = record_export(&operand, flags, &ret);
	return ret ? raise_error(ret) : record;
}

/*
 * Counts the descriptors this process may still open, as if the open ones were
 * dense.
 */
static rlim_t descriptors_left(rlim_t *most)
{
	struct rlimit limit = { 0 };
	int lowest;

	getrlimit(RLIMIT_NOFILE, &limit);
	*most = limit.rlim_cur;
	lowest = eventfd(0, EFD_CLOEXEC);
	if (lowest < 0)
		return 0;
	close(lowest);
	return limit.rlim_cur - (rlim_t)lowest;
}

/*
 * Whether @promised more descriptors leave the program a quarter of its limit.
 */
static bool has_descriptors(size_t promised)
{
	rlim_t most, left = descriptors_left(&most);

	return left > promised && left - promised >= most / 4;
}

/* Whether an array is too small for a record, and was not made for sharing. */
static bool export_is_small(const struct operand *operand, uint64_t min_bytes)
{
	const struct dray_location *where = &operand->location;
	int64_t bytes = dray_view_size(&operand->view) *
			dray_dtype_itemsize(operand->view.dtype);

	return (uint64_t)bytes < min_bytes &&
	       (where->pool || where->block_size >= min_bytes);
}

/*
 * Returns a record of an array to hand over, or None if it is to be copied.
 * Memory that others may only read is handed over for reading.
 */
PyObject *export_handover(PyObject *module, PyObject *args)
{
	struct operand operand;
	size_t min_bytes;
	PyObject *array, *record;
	size_t waiting;
	int ret;

	(void)module;
	if (!PyArg_ParseTuple(args, "OO&:handover", &array, min_bytes_take,
			      &min_bytes))
		return NULL;
	if (operand_take(array, "array", OPERAND_EMPTY, &operand)) {
		if (!PyErr_ExceptionMatches(PyExc_ValueError) &&
		    !PyErr_ExceptionMatches(PyExc_TypeError))
			return NULL;
		PyErr_Clear();
		Py_RETURN_NONE;
	}
	if (operand.empty || export_is_small(&operand, min_bytes))
		Py_RETURN_NONE;
	/* Each waiting array takes one here as soon as it is opened. */
	dray_ipc_handovers(NULL, 0, &waiting);
	if (!has_descriptors(waiting))
		Py_RETURN_NONE;
	record = record_export(&operand, DRAY_IPC_HANDOVER, &ret);
	if (ret == -EPERM)
		record = record_export(
			&operand, DRAY_IPC_HANDOVER | DRAY_IPC_READ_ONLY, &ret);
	switch (ret) {
	case -EOPNOTSUPP:
	case -EINVAL:
	case -EPERM:
	case -ENOSPC:
	case -EMFILE:
	case -ENFILE:
	case -EAGAIN:
		Py_RETURN_NONE;
	}
	return ret ? raise_error(ret) : record;
}

/* reduce_with(function, min_bytes): for reduce(). */
PyObject *export_reduce_with(PyObject *module, PyObject *args)
{
	struct module_state *state = module_state(module);
	PyObject *function;
	size_t min_bytes;

	if (!PyArg_ParseTuple(args, "OO&:reduce_with", &function,
			      min_bytes_take, &min_bytes))
		return NULL;
	Py_XSETREF(state->reduce, Py_NewRef(function));
	state->min_bytes = min_bytes;
	Py_RETURN_NONE;
}

/*
 * Pickles an array for ForkingPickler.  A small array is pickled as without
 * dray, so that a message of many is no slower.  An array of shared_zeros()
 * does not own its memory, but its base does: it goes on to the function.
 */
PyObject *export_reduce(PyObject *module, PyObject *array)
{
	const struct module_state *state = module_state(module);
	PyObject *base = PyArray_Check(array)
				 ? PyArray_BASE((PyArrayObject *)array)
				 : NULL;
	PyObject *owner = base && PyArray_Check(base) ? base : array;

	if (PyArray_Check(array) &&
	    PyArray_CHKFLAGS((PyArrayObject *)owner, NPY_ARRAY_OWNDATA) &&
	    (uint64_t)PyArray_NBYTES((PyArrayObject *)array) < state->min_bytes)
		return PyObject_CallMethodOneArg(array, state->reduce_ex,
						 state->protocol);
	return PyObject_CallOneArg(state->reduce, array);
}

/* Whether the program keeps enough descriptors if one more array is opened. */
PyObject *export_may_open(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	return PyBool_FromLong(has_descriptors(0));
}

/* Copies the array of a record into memory that NumPy allocates. */
PyObject *export_fetch(PyObject *module, PyObject *record)
{
	struct dray_view view;
	PyObject *array, *bytes = NULL;
	Py_buffer given;
	uint64_t size = 0;
	npy_intp room;
	int ret;

	(void)module;
	if (PyObject_GetBuffer(record, &given, PyBUF_SIMPLE))
		return NULL;
	ret = dray_view_fetch(given.buf, (size_t)given.len, NULL, 0, &size,
			      &view);
	if (ret == -ENOSPC && size <= NPY_MAX_INTP) {
		room = (npy_intp)size;
		bytes = PyArray_SimpleNew(1, &room, NPY_UINT8);
		if (!bytes) {
			PyBuffer_Release(&given);
			return NULL;
		}
		Py_BEGIN_ALLOW_THREADS
		ret = dray_view_fetch(given.buf, (size_t)given.len,
				      PyArray_DATA((PyArrayObject *)bytes),
				      size, &size, &view);
		Py_END_ALLOW_THREADS
	}
	PyBuffer_Release(&given);
	if (ret) {
		Py_XDECREF(bytes);
		return raise_error(ret);
	}
	/* The copy is private, as that of a pickle. */
	view.flags = DRAY_READ | DRAY_WRITE;
	array = ipc_wrap_view(&view, bytes);
	dray_dtype_unref(view.dtype);
	return array;
}

PyObject *export_wait(PyObject *module, PyObject *timeout)
{
	long timeout_ms = PyLong_AsLong(timeout);
	int ret;

	(void)module;
	if (timeout_ms == -1 && PyErr_Occurred())
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	ret = dray_ipc_wait((int)timeout_ms);
	Py_END_ALLOW_THREADS
	return PyBool_FromLong(!ret);
}

/* A record of an array begins with that of its memory. */
PyObject *export_revoke(PyObject *module, PyObject *object)
{
	struct dray_ipc_record record;
	Py_buffer bytes;
	int ret;

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
	ret = dray_ipc_revoke(&record);
	Py_END_ALLOW_THREADS
	if (ret)
		return raise_error(ret);
	Py_RETURN_NONE;
}

/* Lists all, although others may be made between two calls. */
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

/* Returns NULL for None. */
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
	int ret;

	if (!PyArg_ParseTuple(args, "y*O:open_record", &record, &object))
		return NULL;
	if (take_node(module, object, &node)) {
		PyBuffer_Release(&record);
		return NULL;
	}
	Py_BEGIN_ALLOW_THREADS
	ret = dray_array_open(record.buf, (size_t)record.len, node, &array);
	Py_END_ALLOW_THREADS
	PyBuffer_Release(&record);
	return ret ? raise_error(ret) : ipc_wrap(module, array);
}

PyObject *export_bytes(PyObject *module, PyObject *args)
{
	static const dray_dtype byte = DRAY_DTYPE('u', '|', 1);
	struct dray_array *array;
	struct dray_node *node;
	PyObject *object;
	Py_ssize_t size;
	int64_t shape;
	int ret;

	if (!PyArg_ParseTuple(args, "On:bytes_alone", &object, &size))
		return NULL;
	node = node_of(module_state(module), object);
	if (!node)
		return NULL;
	shape = size;
	Py_BEGIN_ALLOW_THREADS
	ret = dray_array_create_alone(node, byte, 1, &shape, &array);
	Py_END_ALLOW_THREADS
	return ret ? raise_error(ret) : ipc_wrap(module, array);
}
