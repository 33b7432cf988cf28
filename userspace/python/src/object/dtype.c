// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Types of elements: from NumPy's objects to words of the library, and back. */
#include <errno.h>

#include "object/array_numbers.h"
#include "base/module.h"
#include "object/user_type.h"

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

static dray_dtype dtype_number_of(const PyArray_Descr *descr)
{
	int number = descr->type_num;

	if (number < 0 || !PyArray_ISNBO(descr->byteorder) ||
	    (size_t)number >= sizeof(numbers) / sizeof(numbers[0]))
		return 0;
	return numbers[number];
}

/* Returns a result of the library as 0, or as -1 with its exception. */
static int dtype_made(int ret)
{
	if (ret)
		raise_array_error(ARRAY_TYPE, ret);
	return ret ? -1 : 0;
}

/* Reads the type of a field, which may be a sub-array. */
static int dtype_take_part(PyArray_Descr *descr, dray_dtype *out)
{
	PyObject *pair, *extents;
	struct numbers shape;
	PyArray_Descr *base;
	dray_dtype item;
	int ret = -1;

	if (!PyDataType_HASSUBARRAY(descr))
		return dtype_take(descr, out);
	pair = PyObject_GetAttrString((PyObject *)descr, "subdtype");
	if (pair &&
	    PyArg_ParseTuple(pair, "O!O", &PyArrayDescr_Type, &base,
			     &extents) &&
	    numbers_take(extents, &shape) && !dtype_take_part(base, &item)) {
		ret = dtype_made(dray_dtype_create_subarray(item, shape.count,
							    shape.list, out));
		dray_dtype_unref(item);
	}
	Py_XDECREF(pair);
	return ret;
}

/* Reads a field; its texts live as long as NumPy's type. */
static int take_field(PyObject *fields, PyObject *name,
		      struct dray_dtype_field *out)
{
	PyObject *field = PyObject_GetItem(fields, name), *title = NULL;
	PyArray_Descr *descr;
	unsigned int offset;
	int ret = -1;

	if (!field || !PyArg_ParseTuple(field, "O!I|O", &PyArrayDescr_Type,
					&descr, &offset, &title))
		goto end;
	out->offset = offset;
	out->title = NULL;
	out->name = PyUnicode_AsUTF8(name);
	if (title && PyUnicode_Check(title))
		out->title = PyUnicode_AsUTF8(title);
	else if (title)
		PyErr_Format(PyExc_TypeError,
			     "the title of field %R is %R, not a text", name,
			     title);
	if (!PyErr_Occurred())
		ret = dtype_take_part(descr, &out->dtype);
end:
	Py_XDECREF(field);
	return ret;
}

static int take_fields(PyArray_Descr *descr, PyObject *names,
		       PyObject *itemsize, dray_dtype *out)
{
	const uint32_t flags = DRAY_DTYPE_PLACED |
			       (PyDataType_FLAGCHK(descr, NPY_ALIGNED_STRUCT)
					? DRAY_DTYPE_ALIGNED
					: 0);
	PyObject *of = PyObject_GetAttrString((PyObject *)descr, "fields");
	Py_ssize_t count = PyTuple_GET_SIZE(names), i;
	struct dray_dtype_field *fields =
		PyMem_Calloc(count ? (size_t)count : 1, sizeof(*fields));
	const unsigned long size = PyLong_AsUnsignedLong(itemsize);
	int ret = PyErr_Occurred() ? -1 : 0;

	if (!fields && !ret) {
		PyErr_NoMemory();
		ret = -1;
	}
	for (i = 0; !ret && i < count; i++)
		ret = take_field(of, PyTuple_GET_ITEM(names, i), &fields[i]);
	if (!ret)
		ret = dtype_made(dray_dtype_create_struct(
			fields, (size_t)count, flags, (uint32_t)size, out));
	for (i = 0; fields && i < count; i++)
		dray_dtype_unref(fields[i].dtype);
	PyMem_Free(fields);
	Py_XDECREF(of);
	return ret;
}

static int dtype_take_structure(PyArray_Descr *descr, dray_dtype *out)
{
	PyObject *names = PyObject_GetAttrString((PyObject *)descr, "names");
	PyObject *itemsize =
		PyObject_GetAttrString((PyObject *)descr, "itemsize");
	int ret = -1;

	if (names && itemsize && !Py_EnterRecursiveCall(" in a type")) {
		ret = take_fields(descr, names, itemsize, out);
		Py_LeaveRecursiveCall();
	}
	Py_XDECREF(itemsize);
	Py_XDECREF(names);
	return ret;
}

/* Reads a type that its text describes. */
static int take_text(PyArray_Descr *descr, dray_dtype *out)
{
	PyObject *object = PyObject_GetAttrString((PyObject *)descr, "str");
	const char *text = object ? PyUnicode_AsUTF8(object) : NULL;
	int ret = text ? dtype_made(dray_dtype_parse(text, out)) : -1;

	Py_XDECREF(object);
	return ret;
}

int dtype_take(PyArray_Descr *descr, dray_dtype *out)
{
	int found;

	*out = dtype_number_of(descr);
	if (*out)
		return 0;
	if (PyDataType_REFCHK(descr) || PyDataType_HASSUBARRAY(descr)) {
		PyErr_Format(PyExc_TypeError, "%R is not a type of dray.Array",
			     descr);
		return -1;
	}
	/* NumPy's text of another package's type says plain bytes. */
	if (descr->type_num < 0 || descr->type_num > NPY_HALF) {
		PyErr_Format(
			PyExc_TypeError,
			"%R is a type of another package than NumPy, not of dray.Array: view() as integers has its bytes",
			descr);
		return -1;
	}
	if (PyDataType_HASFIELDS(descr))
		return dtype_take_structure(descr, out);
	if (descr->type_num == NPY_VOID) {
		found = user_type_take(descr, out);
		if (found)
			return found < 0 ? -1 : 0;
	}
	return take_text(descr, out);
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
dtype_list_of(dray_dtype dtype,
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

static PyObject *dtype_name_of(const struct dray_dtype_field *field)
{
	return PyUnicode_FromString(field->name);
}

static PyObject *title_of(const struct dray_dtype_field *field)
{
	return Py_BuildValue("z", field->title);
}

static PyObject *field_offset_of(const struct dray_dtype_field *field)
{
	return PyLong_FromUnsignedLong(field->offset);
}

static PyObject *dtype_format_of(const struct dray_dtype_field *field)
{
	return (PyObject *)dtype_descr(field->dtype);
}

/* Returns the dictionary that describes a structure to NumPy. */
static PyObject *dtype_structure(dray_dtype dtype)
{
	bool aligned = dray_dtype_flags(dtype) & DRAY_DTYPE_ALIGNED;

	return Py_BuildValue("{sNsNsNsNsksO}", "names",
			     dtype_list_of(dtype, dtype_name_of), "titles",
			     dtype_list_of(dtype, title_of), "formats",
			     dtype_list_of(dtype, dtype_format_of), "offsets",
			     dtype_list_of(dtype, field_offset_of), "itemsize",
			     (unsigned long)dray_dtype_itemsize(dtype),
			     "aligned", aligned ? Py_True : Py_False);
}

/* Returns the type and the shape of a sub-array. */
static PyObject *dtype_subarray(dray_dtype dtype)
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

	/* User types of C arrive as plain bytes. */
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
	object = user_type_of(dtype);
	if (object)
		return user_type_descr(object);
	if (dray_dtype_field_count(dtype))
		object = dtype_structure(dtype);
	else if (dray_dtype_shape(dtype, NULL))
		object = dtype_subarray(dtype);
	else
		object = typestr_of(dtype);
	if (!object)
		return NULL;
	if (PyArray_DescrConverter(object, &descr) == NPY_FAIL)
		descr = NULL;
	Py_DECREF(object);
	return descr;
}
