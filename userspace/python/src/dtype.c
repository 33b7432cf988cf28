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

#define NUMBER(kind, type) DRAY_DTYPE(kind, DRAY_NATIVE_ORDER, sizeof(type))

/* Types by NumPy's number, in the machine's byte order; others are 0. */
static const dray_dtype numbers[] = {
	[NPY_BOOL] = DRAY_BOOL,
	[NPY_BYTE] = DRAY_INT8,
	[NPY_UBYTE] = DRAY_UINT8,
	[NPY_SHORT] = NUMBER('i', short),
	[NPY_USHORT] = NUMBER('u', short),
	[NPY_INT] = NUMBER('i', int),
	[NPY_UINT] = NUMBER('u', int),
	[NPY_LONG] = NUMBER('i', long),
	[NPY_ULONG] = NUMBER('u', long),
	[NPY_LONGLONG] = NUMBER('i', long long),
	[NPY_ULONGLONG] = NUMBER('u', long long),
	[NPY_FLOAT] = DRAY_FLOAT32,
	[NPY_DOUBLE] = DRAY_FLOAT64,
	[NPY_CFLOAT] = DRAY_COMPLEX64,
	[NPY_CDOUBLE] = DRAY_COMPLEX128,
	[NPY_HALF] = DRAY_FLOAT16,
};

static dray_dtype number_of(const PyArray_Descr *descr)
{
	int number = descr->type_num;

	if (number < 0 || !PyArray_ISNBO(descr->byteorder) ||
	    (size_t)number >= sizeof(numbers) / sizeof(numbers[0]))
		return 0;
	return numbers[number];
}

int dtype_take(PyArray_Descr *descr, dray_dtype *out)
{
	const char *text = NULL;
	PyObject *object;

	*out = number_of(descr);
	if (*out)
		return 0;
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

int dtype_take_object(PyObject *object, dray_dtype *out)
{
	PyArray_Descr *descr;
	int ret;

	if (PyArray_DescrConverter(object, &descr) == NPY_FAIL)
		return -1;
	ret = dtype_take(descr, out);
	Py_DECREF(descr);
	return ret;
}

/* Returns a list with an item for each field. */
static PyObject *
list_of(dray_dtype dtype,
	PyObject *(*item_of)(const struct dray_dtype_field *field))
{
	size_t count = dray_dtype_field_count(dtype), i;
	PyObject *list = PyList_New((Py_ssize_t)count), *item;
	struct dray_dtype_field field;

	for (i = 0; list && i < count; i++) {
		dray_dtype_get_field(dtype, i, &field);
		item = item_of(&field);
		if (!item)
			Py_CLEAR(list);
		else
			PyList_SET_ITEM(list, (Py_ssize_t)i, item);
	}
	return list;
}

static PyObject *name_of(const struct dray_dtype_field *field)
{
	return PyUnicode_FromString(field->name);
}

static PyObject *title_of(const struct dray_dtype_field *field)
{
	return Py_BuildValue("z", field->title);
}

static PyObject *offset_of(const struct dray_dtype_field *field)
{
	return PyLong_FromUnsignedLong(field->offset);
}

static PyObject *format_of(const struct dray_dtype_field *field)
{
	return (PyObject *)dtype_descr(field->dtype);
}

/* Returns the dictionary that describes a structure to NumPy. */
static PyObject *structure(dray_dtype dtype)
{
	bool aligned = dray_dtype_flags(dtype) & DRAY_DTYPE_ALIGNED;

	return Py_BuildValue("{sNsNsNsNsksO}", "names", list_of(dtype, name_of),
			     "titles", list_of(dtype, title_of), "formats",
			     list_of(dtype, format_of), "offsets",
			     list_of(dtype, offset_of), "itemsize",
			     (unsigned long)dray_dtype_itemsize(dtype),
			     "aligned", aligned ? Py_True : Py_False);
}

/* Returns the type and the shape of a sub-array. */
static PyObject *subarray(dray_dtype dtype)
{
	const int64_t *extents;
	int ndim = dray_dtype_shape(dtype, &extents);

	return Py_BuildValue("(NN)", dtype_descr(dray_dtype_base(dtype)),
			     size_tuple(extents, ndim));
}

static PyObject *typestr_of(dray_dtype dtype)
{
	char typestr[DRAY_DTYPE_TYPESTR_SIZE];
	int ret;

	/* NumPy does not know user types, which arrive as plain bytes. */
	if (!dray_dtype_is_builtin(dtype))
		dtype = DRAY_VOID(dray_dtype_itemsize(dtype));
	ret = dray_dtype_format(dtype, typestr, sizeof(typestr));
	return ret < 0 ? raise_error(ret) : PyUnicode_FromString(typestr);
}

/* Returns NumPy's number of a type, -1 if that does not describe it. */
static int type_number(dray_dtype dtype)
{
	switch (dtype) {
	case DRAY_BOOL:
		return NPY_BOOL;
	case DRAY_INT8:
		return NPY_INT8;
	case DRAY_INT16:
		return NPY_INT16;
	case DRAY_INT32:
		return NPY_INT32;
	case DRAY_INT64:
		return NPY_INT64;
	case DRAY_UINT8:
		return NPY_UINT8;
	case DRAY_UINT16:
		return NPY_UINT16;
	case DRAY_UINT32:
		return NPY_UINT32;
	case DRAY_UINT64:
		return NPY_UINT64;
	case DRAY_FLOAT16:
		return NPY_HALF;
	case DRAY_FLOAT32:
		return NPY_FLOAT;
	case DRAY_FLOAT64:
		return NPY_DOUBLE;
	case DRAY_COMPLEX64:
		return NPY_CFLOAT;
	case DRAY_COMPLEX128:
		return NPY_CDOUBLE;
	}
	return -1;
}

PyArray_Descr *dtype_descr(dray_dtype dtype)
{
	PyArray_Descr *descr = NULL;
	PyObject *object;

	if (type_number(dtype) >= 0)
		return PyArray_DescrFromType(type_number(dtype));
	if (dray_dtype_field_count(dtype))
		object = structure(dtype);
	else if (dray_dtype_shape(dtype, NULL))
		object = subarray(dtype);
	else
		object = typestr_of(dtype);
	if (!object)
		return NULL;
	if (PyArray_DescrConverter(object, &descr) == NPY_FAIL)
		descr = NULL;
	Py_DECREF(object);
	return descr;
}
