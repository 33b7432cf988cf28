// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Types of elements: from NumPy's objects to words of the library, and back. */
#include "module.h"
#include <errno.h>

int dtype_take(PyArray_Descr *descr, dray_dtype *out)
{
	const char *text = NULL;
	PyObject *typestr;

	if (PyDataType_REFCHK(descr) || PyDataType_HASFIELDS(descr) ||
	    PyDataType_HASSUBARRAY(descr)) {
		PyErr_Format(PyExc_TypeError, "%R is not a type of dray.Array",
			     descr);
		return -1;
	}
	typestr = PyObject_GetAttrString((PyObject *)descr, "str");
	if (typestr)
		text = PyUnicode_AsUTF8(typestr);
	if (text && dray_dtype_parse(text, out))
		raise_array_error(ARRAY_TYPE, -EINVAL);
	Py_XDECREF(typestr);
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
