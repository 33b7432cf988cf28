// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Arrays from one process to another.  A received array's base is a capsule
 * that holds libdray's array, and with it the mapping.  Its memory is closed
 * with the last view.
 */
#include <errno.h>

#include "object/array_object.h"

#define ARRAY_CAPSULE "dray.array"

/* Returns a descriptor; -1 with an exception that names the argument. */
static int take_socket(PyObject *object)
{
	int fd = PyObject_AsFileDescriptor(object);

	if (fd < 0 && PyErr_ExceptionMatches(PyExc_TypeError))
		PyErr_Format(PyExc_TypeError,
			     "sock is not a socket or a file descriptor but %s",
			     Py_TYPE(object)->tp_name);
	return fd;
}

PyObject *ipc_send(PyObject *module, PyObject *args)
{
	struct operand operand;
	PyObject *socket_object, *array;
	int socket, ret;

	(void)module;
	if (!PyArg_ParseTuple(args, "OO:send", &socket_object, &array))
		return NULL;
	socket = take_socket(socket_object);
	if (socket < 0)
		return NULL;
	if (operand_take(array, "array", OPERAND_EMPTY, &operand) ||
	    operand_check_shareable(&operand, "array"))
		return NULL;
	do {
		Py_BEGIN_ALLOW_THREADS
		ret = dray_view_send(socket, &operand.view);
		Py_END_ALLOW_THREADS
	} while (ret == -EINTR && !PyErr_CheckSignals());
	if (ret == -EINTR)
		return NULL;
	if (ret)
		return raise_error(ret);
	Py_RETURN_NONE;
}

static void array_capsule_destroy(PyObject *capsule)
{
	struct dray_array *array;
	struct node_entry *entry;

	array = PyCapsule_GetPointer(capsule, ARRAY_CAPSULE);
	entry = PyCapsule_GetContext(capsule);
	Py_BEGIN_ALLOW_THREADS
	dray_array_unref(array);
	Py_END_ALLOW_THREADS
	node_entry_put(entry);
}

/* Takes over @array, on failure too. */
static PyObject *ipc_array_capsule(struct dray_array *array)
{
	struct node_entry *entry = NULL;
	struct dray_location location;
	PyObject *capsule;

	/*
	 * Keep an entry of its node, so that its copies find a lasting queue.
	 */
	if (!dray_locate(array->data, &location)) {
		entry = node_entry_get(dray_buffer_node(location.buffer));
		if (!entry) {
			dray_array_unref(array);
			return PyErr_NoMemory();
		}
	}
	capsule = PyCapsule_New(array, ARRAY_CAPSULE, NULL);
	if (!capsule) {
		dray_array_unref(array);
		node_entry_put(entry);
		return NULL;
	}
	if (PyCapsule_SetContext(capsule, entry) ||
	    PyCapsule_SetDestructor(capsule, array_capsule_destroy))
		Py_UNREACHABLE(); /* fail only on an invalid capsule */
	return capsule;
}

PyObject *ipc_wrap_view(const struct dray_view *view, PyObject *base)
{
	npy_intp shape[DRAY_MAX_NDIM], strides[DRAY_MAX_NDIM];
	PyArray_Descr *descr;
	PyObject *array;
	int i;

	descr = dtype_descr(view->dtype);
	if (!descr) {
		Py_DECREF(base);
		return NULL;
	}
	for (i = 0; i < view->ndim; i++) {
		shape[i] = (npy_intp)view->shape[i];
		strides[i] = (npy_intp)view->strides[i];
	}
	array = PyArray_NewFromDescr(
		&PyArray_Type, descr, view->ndim, shape, strides, view->data,
		view->flags & DRAY_WRITE ? NPY_ARRAY_WRITEABLE : 0, NULL);
	if (!array) {
		Py_DECREF(base);
		return NULL;
	}
	if (PyArray_SetBaseObject((PyArrayObject *)array, base)) {
		Py_DECREF(array);
		return NULL;
	}
	return array;
}

PyObject *ipc_wrap_own(PyObject *module, struct dray_array *array)
{
	PyTypeObject *type = module_state(module)->array_type;
	PyObject *capsule = ipc_array_capsule(array), *object;

	if (!capsule)
		return NULL;
	object = array_wrap(type, dray_array_ref(array), NULL, capsule, NULL);
	Py_DECREF(capsule);
	return array_without_device(object);
}

PyObject *ipc_wrap(PyObject *module, struct dray_array *array)
{
	struct dray_view view;
	PyObject *base;

	/* NumPy reads elements whenever it likes. */
	if (dray_address_kind(array->data, NULL) == DRAY_MEMORY_DEVICE)
		return ipc_wrap_own(module, array);
	base = ipc_array_capsule(array);
	return base ? ipc_wrap_view(dray_array_view(array, &view), base) : NULL;
}

PyObject *ipc_receive(PyObject *module, PyObject *args)
{
	struct dray_node *node = NULL;
	struct dray_array *array;
	PyObject *socket_object, *object;
	int socket, ret;

	if (!PyArg_ParseTuple(args, "OO:receive", &socket_object, &object))
		return NULL;
	socket = take_socket(socket_object);
	if (socket < 0)
		return NULL;
	if (object != Py_None) {
		node = node_of(module_state(module), object);
		if (!node)
			return NULL;
	}
	do {
		Py_BEGIN_ALLOW_THREADS
		ret = dray_array_receive(socket, node, &array);
		Py_END_ALLOW_THREADS
	} while (ret == -EINTR && !PyErr_CheckSignals());
	if (ret == -EINTR)
		return NULL;
	if (ret)
		return raise_error(ret);
	return ipc_wrap(module, array);
}
