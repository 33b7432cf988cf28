// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Types of elements: from NumPy's objects to words of the library, and back. */
#include "module.h"
#include <errno.h>

/* Returns the text of a type; a structure's is a list or a dictionary. */
static PyObject *text_of(PyArray_Descr *descr)
{
	return PyDataType_HASFIELDS(descr)
		       ? PyObject_Str((PyObject *)descr)
		       : PyObject_GetAttrString((PyObject *)descr, "str");
}

int dtype_take(PyArray_Descr *descr, dray_dtype *out)
{
	const char *text = NULL;
	PyObject *object;

	if (PyDataType_REFCHK(descr) || PyDataType_HASSUBARRAY(descr)) {
		PyErr_Format(PyExc_TypeError, "%R is not a type of dray.Array",
			     descr);
		return -1;
	}
	object = text_of(descr);
	if (object)
		text = PyUnicode_AsUTF8(object);
	if (text && dray_dtype_parse(text, out))
		raise_array_error(ARRAY_TYPE, -EINVAL);
	Py_XDECREF(object);
	return PyErr_Occurred() ? -1 : 0;
}

PyArray_Descr *dtype_descr(dray_dtype dtype)
{
	PyArray_Descr *descr = NULL;
	PyObject *text;
	char typestr[DRAY_DTYPE_TYPESTR_SIZE];
	int ret;

	/* Structures arrive as plain bytes. */
	if (!dray_dtype_is_builtin(dtype))
		dtype = DRAY_VOID(dray_dtype_itemsize(dtype));
	ret = dray_dtype_format(dtype, typestr, sizeof(typestr));
	if (ret < 0)
		return (PyArray_Descr *)raise_error(ret);
	text = PyUnicode_FromString(typestr);
	if (!text)
		return NULL;
	if (PyArray_DescrConverter(text, &descr) == NPY_FAIL)
		descr = NULL;
	Py_DECREF(text);
	return descr;
}
