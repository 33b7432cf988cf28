// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The kind of the memory at an address, or of an array. */
#include "object/array_object.h"

static PyObject *kind_name_of(enum dray_memory_kind kind)
{
	return PyUnicode_FromString(dray_memory_kind_name(kind));
}

static PyObject *kind_at(PyObject *number, struct dray_node *node)
{
	PyObject *index = PyNumber_Index(number);
	unsigned long long address =
		index ? PyLong_AsUnsignedLongLong(index) : 0;

	Py_XDECREF(index);
	if (PyErr_Occurred() || address > UINTPTR_MAX) {
		PyErr_Clear();
		return PyErr_Format(PyExc_ValueError,
				    "a is %R: an address from 0 to %llu",
				    number, (unsigned long long)UINTPTR_MAX);
	}
	/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
	return kind_name_of(
		dray_address_kind((void *)(uintptr_t)address, node));
}

PyObject *memory_is_ours(PyObject *module, PyObject *object)
{
	struct dray_location where;
	struct dray_view view;
	const void *data;

	(void)module;
	if (PyArray_Check(object)) {
		data = PyArray_DATA((PyArrayObject *)object);
	} else if (array_is(object)) {
		array_whole(array_self(object), &view);
		data = view.data;
	} else {
		return PyErr_Format(
			PyExc_TypeError,
			"a is not an array of NumPy or a dray.Array but %s",
			Py_TYPE(object)->tp_name);
	}
	return PyBool_FromLong(!dray_locate(data, &where));
}

PyObject *memory_kind(PyObject *module, PyObject *args)
{
	const unsigned int also = OPERAND_EMPTY | OPERAND_FOREIGN;
	struct dray_node *node = NULL;
	enum dray_memory_kind kind;
	PyObject *object, *node_object;
	struct operand operand;
	int ret;

	if (!PyArg_ParseTuple(args, "OO:kind", &object, &node_object))
		return NULL;
	if (node_object != Py_None) {
		node = node_of(module_state(module), node_object);
		if (!node)
			return NULL;
	}
	/* Such as an address in rows(). */
	if (PyLong_Check(object) || PyArray_IsScalar(object, Integer))
		return kind_at(object, node);
	/* The kind that another library tells is that for its own devices. */
	if (array_is(object) && array_self(object)->kind != DRAY_MEMORY_UNKNOWN)
		return kind_name_of(node ? DRAY_MEMORY_UNKNOWN
					 : array_self(object)->kind);
	if (array_is(object)) {
		array_whole(array_self(object), &operand.view);
	} else if (operand_take(object, "a", also, &operand)) {
		return NULL;
	}
	ret = dray_view_kind(&operand.view, node, &kind);
	return ret ? raise_error(ret) : kind_name_of(kind);
}
