// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Addresses of an array for its device, waits for it, and syncs between it and the
 * CPU.
 */
#include <stdlib.h>

#include "base/module.h"

PyObject *array_address(PyObject *module, PyObject *array)
{
	struct dray_segment segment;
	struct operand operand;
	uint64_t offset;
	size_t count;
	int ret;

	(void)module;
	if (operand_take(array, "a", 0, &operand))
		return NULL;
	offset = operand.location.offset - (uint64_t)operand.low;
	Py_BEGIN_ALLOW_THREADS
	ret = dray_buffer_addresses(operand.location.buffer, offset, 1,
				    &segment, 1, &count);
	Py_END_ALLOW_THREADS
	if (ret)
		return raise_error(ret);
	return PyLong_FromUnsignedLongLong(segment.address);
}

PyObject *array_segments(PyObject *module, PyObject *array)
{
	struct dray_segment *segments = NULL;
	PyObject *list = NULL, *item;
	struct operand operand;
	size_t room, count = 1, i;
	int ret;

	if (operand_take(array, "a", 0, &operand))
		return NULL;
	do {
		room = count;
		free(segments);
		segments = calloc(room, sizeof(*segments));
		if (!segments)
			return PyErr_NoMemory();
		Py_BEGIN_ALLOW_THREADS
		ret = dray_buffer_addresses(
			operand.location.buffer, operand.location.offset,
			(uint64_t)(operand.high - operand.low), segments, room,
			&count);
		Py_END_ALLOW_THREADS
		if (ret) {
			raise_error(ret);
			goto out;
		}
	} while (count > room);
	list = PyList_New((Py_ssize_t)count);
	for (i = 0; list && i < count; i++) {
		item = record_segment(module_state(module), &segments[i]);
		if (!item)
			Py_CLEAR(list);
		else
			PyList_SET_ITEM(list, (Py_ssize_t)i, item);
	}
out:
	free(segments);
	return list;
}

PyObject *array_sync(PyObject *module, PyObject *args)
{
	static const char *const names[] = { "to_device", "from_device",
					     "both" };
	static const enum dray_direction directions[] = { DRAY_TO_DEVICE,
							  DRAY_FROM_DEVICE,
							  DRAY_BIDIRECTIONAL };
	struct operand operand;
	const char *direction;
	PyObject *array;
	int owner, ret;
	size_t i;

	(void)module;
	if (!PyArg_ParseTuple(args, "Osi:sync", &array, &direction, &owner))
		return NULL;
	for (i = 0; i < 3 && strcmp(direction, names[i]); i++)
		;
	if (i == 3)
		return PyErr_Format(
			PyExc_ValueError,
			"direction is '%s': 'to_device', 'from_device' or 'both'",
			direction);
	if (operand_take(array, "a", OPERAND_EMPTY, &operand))
		return NULL;
	if (operand.empty)
		Py_RETURN_NONE;
	do {
		Py_BEGIN_ALLOW_THREADS
		ret = dray_view_sync(&operand.view, (enum dray_sync_owner)owner,
				     directions[i]);
		Py_END_ALLOW_THREADS
	} while (ret == -EINTR && !PyErr_CheckSignals());
	if (ret == -EINTR)
		return NULL;
	if (ret)
		return raise_error(ret);
	Py_RETURN_NONE;
}

/* One wait for wait_for_end(). */
struct view_wait {
	const struct dray_view *view;
	unsigned int access;
};

static int array_wait_once(void *context, int milliseconds)
{
	const struct view_wait *wait = context;

	return dray_view_wait(wait->view, wait->access, milliseconds);
}

PyObject *array_wait(PyObject *module, PyObject *args)
{
	struct view_wait wait;
	struct operand operand;
	PyObject *array, *timeout;
	int writes, ret;
	double limit;

	(void)module;
	if (!PyArg_ParseTuple(args, "OpO:wait_array", &array, &writes,
			      &timeout) ||
	    seconds_take(timeout, "timeout", &limit) ||
	    operand_take(array, "a", OPERAND_EMPTY | OPERAND_FOREIGN, &operand))
		return NULL;
	if (operand.empty)
		Py_RETURN_NONE;
	wait.view = &operand.view;
	wait.access = writes ? DRAY_ACCESS_WRITE : DRAY_ACCESS_READ;
	ret = wait_for_end(array_wait_once, &wait, limit);
	if (ret == -EINTR)
		return NULL;
	if (ret)
		return raise_error(ret);
	Py_RETURN_NONE;
}
