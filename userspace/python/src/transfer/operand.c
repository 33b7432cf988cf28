// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * From a NumPy array or a dray.Array to a view of libdray.  All that transfers, syncs and
 * exports assume about an array is checked here: plain data, in a single live block,
 * with no element outside it.
 */
#include <errno.h>
#include <string.h>

#include "object/array_object.h"

/* Raises TypeError if the data would mean nothing elsewhere. */
static int take_dtype(PyArray_Descr *descr, Py_ssize_t size, const char *role,
		      dray_dtype *out)
{
	char order;

	if (PyDataType_REFCHK(descr)) {
		PyErr_Format(
			PyExc_TypeError,
			"%s: %R holds references to objects, which mean nothing outside of this process",
			role, descr);
		return -1;
	}
	if (size > UINT32_MAX) {
		PyErr_Format(PyExc_ValueError,
			     "%s: an element of %zd bytes is above %lu", role,
			     size, (unsigned long)UINT32_MAX);
		return -1;
	}
	order = descr->byteorder == '=' ? NPY_NATBYTE : descr->byteorder;
	*out = DRAY_DTYPE(descr->kind, order, size);
	/* Only letters of builtin types make a builtin type. */
	if (dray_dtype_is_builtin(*out) &&
	    dray_dtype_format(*out, NULL, 0) >= 0)
		return 0;
	PyErr_Format(PyExc_TypeError, "%s: %R is not plain data", role, descr);
	return -1;
}

/* Checks that no element lies outside the block around the lowest byte. */
static int operand_locate(struct operand *operand, const char *role,
			  unsigned int also)
{
	char *data = operand->view.data;
	struct dray_location *location = &operand->location;
	int64_t block_end;

	dray_view_span(&operand->view, &operand->low, &operand->high);
	operand->empty = operand->low == operand->high;
	if (operand->empty && (also & OPERAND_EMPTY))
		return 0;
	if (operand->empty) {
		PyErr_Format(PyExc_ValueError,
			     "%s: an array without elements has no address",
			     role);
		return -1;
	}
	if (dray_locate(data + operand->low, location)) {
		location->buffer = NULL;
		if (also & OPERAND_FOREIGN)
			return 0;
		PyErr_Format(
			PyExc_ValueError,
			"%s: the array's memory is not dray's: make it inside `with dray.memory():`",
			role);
		return -1;
	}
	block_end = (char *)location->block + location->block_size - data;
	if (operand->high > block_end) {
		PyErr_Format(
			PyExc_ValueError,
			"%s: the view reaches %lld bytes beyond its block of %llu bytes",
			role, (long long)(operand->high - block_end),
			(unsigned long long)location->block_size);
		return -1;
	}
	return 0;
}

/*
 * Raises TypeError.  A LostArray raises its own error, if it is asked for the
 * array as NumPy asks.
 */
static void operand_refuse(PyObject *object, const char *role)
{
	PyObject *structure =
		PyObject_GetAttrString(object, "__array_struct__");

	Py_XDECREF(structure);
	if (!structure && !PyErr_ExceptionMatches(PyExc_AttributeError))
		return;
	PyErr_Clear();
	PyErr_Format(PyExc_TypeError,
		     "%s is not a NumPy array or dray.Array but %s", role,
		     Py_TYPE(object)->tp_name);
}

/* Takes the type and the axes of an array of NumPy. */
static int operand_take_numpy(PyArrayObject *array, const char *role,
			      struct dray_view *view)
{
	int64_t shape[NPY_MAXDIMS], strides[NPY_MAXDIMS];
	int i, ndim = PyArray_NDIM(array);
	dray_dtype dtype;
	int ret;

	if (take_dtype(PyArray_DESCR(array), PyArray_ITEMSIZE(array), role,
		       &dtype))
		return -1;
	for (i = 0; i < ndim; i++) {
		shape[i] = PyArray_DIM(array, i);
		strides[i] = PyArray_STRIDE(array, i);
	}
	ret = dray_view_init(view, PyArray_DATA(array), dtype, ndim, shape,
			     strides);
	if (ret) {
		raise_error(ret);
		return -1;
	}
	if (!PyArray_ISWRITEABLE(array))
		view->flags &= ~DRAY_WRITE;
	return 0;
}

/* Does the same of a dray.Array, of which the library has checked all. */
static int operand_take_array(const struct array_object *array,
			      const char *role, struct dray_view *view)
{
	PyObject *sentence;

	array_moved(array, view);
	if (view->flags & DRAY_READ)
		return take_dtype(array->descr,
				  dray_dtype_itemsize(array->dtype), role,
				  &view->dtype);
	sentence = array_unreachable(array);
	if (sentence)
		PyErr_Format(PyExc_ValueError, "%s: %U", role, sentence);
	Py_XDECREF(sentence);
	return -1;
}

int operand_take(PyObject *object, const char *role, unsigned int also,
		 struct operand *out)
{
	out->object = object;
	if (PyArray_Check(object)) {
		out->descr = PyArray_DESCR((PyArrayObject *)object);
		if (operand_take_numpy((PyArrayObject *)object, role,
				       &out->view))
			return -1;
	} else if (array_is(object)) {
		out->descr = array_self(object)->descr;
		if (operand_take_array(array_self(object), role, &out->view))
			return -1;
	} else {
		operand_refuse(object, role);
		return -1;
	}
	return operand_locate(out, role, also);
}

int operand_check_writable(const struct operand *operand, const char *role)
{
	if (operand->view.flags & DRAY_WRITE)
		return 0;
	PyErr_Format(PyExc_ValueError, "%s: the array is read-only", role);
	return -1;
}

int operand_check_shareable(const struct operand *operand, const char *role)
{
	PyObject *args;

	/* A record names other types as plain bytes. */
	if (operand->descr->type_num < 0 ||
	    operand->descr->type_num > NPY_HALF) {
		PyErr_Format(
			PyExc_TypeError,
			"%s: %R is a type of another package than NumPy, which a record cannot name: view() as integers has its bytes",
			role, operand->descr);
		return -1;
	}
	if (operand->empty ||
	    dray_node_shareable(dray_buffer_node(operand->location.buffer)))
		return 0;
	args = Py_BuildValue(
		"(iN)", EOPNOTSUPP,
		PyUnicode_FromFormat(
			"%s: private memory cannot be passed on: make it inside `with dray.memory(shareable=True):`, or by dray.shared_zeros()",
			role));
	if (args)
		PyErr_SetObject(PyExc_OSError, args);
	Py_XDECREF(args);
	return -1;
}
