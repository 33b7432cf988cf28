// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The buffer of a dray.Array: NumPy's over the same memory, with a format that describes
 * the type, or refused.
 */
#include <string.h>

#include "object/array_object.h"

/* Returns the library's format of a type, to be freed; NULL: there is none. */
static char *buffer_format_of(dray_dtype dtype)
{
	int length = dray_dtype_to_pep3118(dtype, NULL, 0);
	char *format = length < 0 ? NULL : PyMem_Malloc((size_t)length + 1);

	if (format)
		dray_dtype_to_pep3118(dtype, format, (size_t)length + 1);
	return format;
}

/* Whether there are titles in a type, which formats lack. */
static bool has_titles(dray_dtype dtype)
{
	size_t count = dray_dtype_field_count(dtype), i;
	struct dray_dtype_field field;

	if (!count && dray_dtype_shape(dtype, NULL))
		return has_titles(dray_dtype_base(dtype));
	for (i = 0; i < count; i++) {
		dray_dtype_get_field(dtype, i, &field);
		if (field.title || has_titles(field.dtype))
			return true;
	}
	return false;
}

/*
 * Whether NumPy's format describes a type.  It forgets gaps behind the last field,
 * and raw data, a user type too, is read as a structure without fields.
 */
static bool format_describes(const char *format, dray_dtype dtype)
{
	char *wanted, *read = NULL;
	dray_dtype there = 0;
	bool same;

	if (!dray_dtype_field_count(dtype))
		return dray_dtype_kind(dtype) != 'V' &&
		       !(dray_dtype_flags(dtype) & DRAY_DTYPE_USER);
	if (has_titles(dtype))
		return false;
	wanted = buffer_format_of(dtype);
	if (!dray_dtype_from_pep3118(format, &there))
		read = buffer_format_of(there);
	same = wanted && read && !strcmp(wanted, read);
	dray_dtype_unref(there);
	PyMem_Free(wanted);
	PyMem_Free(read);
	return same;
}

/* Whether NumPy reads a type from a buffer with another format. */
static bool numpy_reads(const Py_buffer *buffer, char *format,
			PyArray_Descr *descr)
{
	Py_buffer other = *buffer;
	PyObject *memory, *array;
	bool reads;

	other.obj = NULL;
	other.format = format;
	memory = PyMemoryView_FromBuffer(&other);
	array = memory ? PyArray_FromAny(memory, NULL, 0, 0, 0, NULL) : NULL;
	reads = array && PyArray_EquivTypes(
				 PyArray_DESCR((PyArrayObject *)array), descr);
	PyErr_Clear();
	Py_XDECREF(array);
	Py_XDECREF(memory);
	return reads;
}

/*
 * Sets the library's format of a buffer, where NumPy reads it.  The module keeps the
 * text of each type, since a buffer only borrows its format.
 */
static bool use_own_format(struct module_state *state,
			   const struct array_object *object, Py_buffer *buffer)
{
	PyObject *key = (PyObject *)object->descr, *text, *made;
	char *format;

	text = PyDict_GetItemWithError(state->formats, key);
	if (!text && !PyErr_Occurred()) {
		format = buffer_format_of(object->dtype);
		made = format && !has_titles(object->dtype) &&
				       numpy_reads(buffer, format,
						   object->descr)
			       ? PyBytes_FromString(format)
			       : Py_NewRef(Py_None);
		PyMem_Free(format);
		/* Another thread may be faster. */
		text = made ? PyDict_SetDefault(state->formats, key, made)
			    : NULL;
		Py_XDECREF(made);
	}
	PyErr_Clear();
	if (!text || text == Py_None)
		return false;
	buffer->format = PyBytes_AS_STRING(text);
	return true;
}

/* NumPy's format of a number in the machine's byte order; NULL: another type. */
static char *number_format(PyArray_Descr *descr)
{
	static char formats[][3] = { "?", "b", "B",  "h",  "H", "i",
				     "I", "l", "L",  "q",  "Q", "f",
				     "d", "g", "Zf", "Zd", "Zg" };
	static char half[] = "e";

	if (!PyArray_ISNBO(descr->byteorder))
		return NULL;
	if (descr->type_num == NPY_HALF)
		return half;
	return descr->type_num <= NPY_CLONGDOUBLE ? formats[descr->type_num]
						  : NULL;
}

/*
 * Fills the buffer of aligned numbers without an array of NumPy in between.  False: the
 * caller wants a certain order or less than strides, or NumPy's rules for extents of
 * 0 and 1 and for addresses apply.
 */
static bool fill_buffer(PyObject *self, Py_buffer *buffer, int flags)
{
	struct array_object *object = array_self(self);
	const uint64_t size = dray_dtype_itemsize(object->dtype);
	const int order = flags & ~PyBUF_STRIDES;
	uint64_t places = (uintptr_t)object->data;
	char *format = number_format(object->descr);
	Py_ssize_t count = 1; /* elements, then bytes */
	int i;

	if (sizeof(Py_ssize_t) != sizeof(int64_t) || !format || !object->ndim ||
	    (flags & PyBUF_STRIDES) != PyBUF_STRIDES ||
	    (order & PyBUF_C_CONTIGUOUS) || (order & PyBUF_F_CONTIGUOUS) ||
	    (order & PyBUF_ANY_CONTIGUOUS) ||
	    ((flags & PyBUF_WRITABLE) && !(object->flags & DRAY_WRITE)))
		return false;
	for (i = 0; i < object->ndim; i++) {
		if (object->numbers[i] < 2 ||
		    __builtin_mul_overflow(count, object->numbers[i], &count))
			return false;
		places |= (uint64_t)object->numbers[object->ndim + i];
	}
	if (places & (size - 1) ||
	    __builtin_mul_overflow(count, (Py_ssize_t)size, &count))
		return false;
	*buffer = (Py_buffer){
		.buf = object->data,
		.obj = Py_NewRef(self),
		.len = count,
		.itemsize = (Py_ssize_t)size,
		.readonly = !(object->flags & DRAY_WRITE),
		.ndim = object->ndim,
		.format = flags & PyBUF_FORMAT ? format : NULL,
		.shape = (Py_ssize_t *)object->numbers,
		.strides = (Py_ssize_t *)object->numbers + object->ndim,
	};
	return true;
}

int array_get_buffer(PyObject *self, Py_buffer *buffer, int flags)
{
	const struct array_object *object = array_self(self);
	PyObject *array, *sentence;
	int ret;

	if (!(object->flags & DRAY_READ)) {
		sentence = array_unreachable(object);
		if (sentence)
			PyErr_SetObject(PyExc_BufferError, sentence);
		Py_XDECREF(sentence);
		buffer->obj = NULL;
		return -1;
	}
	if (fill_buffer(self, buffer, flags))
		return 0;
	array = array_as_numpy(self);
	ret = array ? PyObject_GetBuffer(array, buffer, flags) : -1;
	if (!ret && buffer->format &&
	    !format_describes(buffer->format, object->dtype) &&
	    !use_own_format(type_state(self), object, buffer)) {
		PyBuffer_Release(buffer);
		PyErr_Format(PyExc_BufferError,
			     "the format of a buffer does not describe %R",
			     object->descr);
		ret = -1;
	}
	if (ret)
		buffer->obj = NULL;
	Py_XDECREF(array);
	return ret;
}
