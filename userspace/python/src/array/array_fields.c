// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Fields of a dray.Array: a["x"], and a[["x", "y"]], a view of several. */
#include "object/array_object.h"

/* Whether @key is a list of names, and not empty. */
static bool is_list_of_names(PyObject *key)
{
	Py_ssize_t i;

	if (!PyList_Check(key) || !PyList_GET_SIZE(key))
		return false;
	for (i = 0; i < PyList_GET_SIZE(key); i++) {
		if (!PyUnicode_Check(PyList_GET_ITEM(key, i)))
			return false;
	}
	return true;
}

bool array_is_field(const struct array_object *self, PyObject *key)
{
	return PyDataType_HASFIELDS(self->descr) &&
	       (PyUnicode_Check(key) || is_list_of_names(key));
}

static PyObject *get_field(struct array_object *self, PyObject *key)
{
	const char *name = PyUnicode_AsUTF8(key);
	PyArray_Descr *descr;
	struct dray_view view;
	PyObject *result;

	if (!name)
		return NULL;
	if (dray_view_field(array_whole(self, &view), name, &view))
		return PyErr_Format(PyExc_ValueError, "no field of name %U",
				    key);
	descr = dtype_descr(view.dtype);
	if (!descr)
		return NULL;
	result = array_over_as(self, &view, descr);
	Py_DECREF(descr);
	return result;
}

/* Elements keep their size and the fields their places. */
static PyObject *get_fields(struct array_object *self, PyObject *names)
{
	PyObject *descr = PyObject_GetItem((PyObject *)self->descr, names);
	PyObject *result = NULL;
	struct dray_view view;

	if (!descr)
		return NULL;
	array_whole(self, &view);
	if (!dtype_take((PyArray_Descr *)descr, &view.dtype)) {
		result = array_over_as(self, &view, (PyArray_Descr *)descr);
		dray_dtype_unref(view.dtype);
	}
	Py_DECREF(descr);
	return result;
}

PyObject *array_get_field(struct array_object *self, PyObject *key)
{
	return PyUnicode_Check(key) ? get_field(self, key)
				    : get_fields(self, key);
}

int array_set_field(struct array_object *self, PyObject *key, PyObject *value)
{
	PyObject *field = array_get_field(self, key);
	int ret = field ? array_set(field, Py_Ellipsis, value) : -1;

	Py_XDECREF(field);
	return ret;
}
