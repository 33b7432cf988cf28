// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * From memory of other libraries to a dray.Array, and back, without a copy.  Other
 * protocols use an array of NumPy in between: NumPy reads and writes formats,
 * interfaces and capsules.
 */
#include <string.h>

#include "object/array_object.h"

#include <numpy/arrayscalars.h>

PyObject *array_as_numpy(PyObject *object)
{
	struct array_object *self = array_self(object);
	npy_intp shape[DRAY_MAX_NDIM], strides[DRAY_MAX_NDIM];
	struct dray_view view;
	PyObject *array;
	int i;

	if (array_check_reachable(self))
		return NULL;
	array_whole(self, &view);
	for (i = 0; i < view.ndim; i++) {
		shape[i] = (npy_intp)view.shape[i];
		strides[i] = (npy_intp)view.strides[i];
	}
	Py_INCREF(self->descr);
	/* Without an address NumPy would allocate; there are no elements then. */
	array = PyArray_NewFromDescr(
		&PyArray_Type, self->descr, view.ndim, shape, strides,
		view.data ? view.data : shape,
		view.flags & DRAY_WRITE ? NPY_ARRAY_WRITEABLE : 0, NULL);
	if (array &&
	    PyArray_SetBaseObject((PyArrayObject *)array, Py_NewRef(object)))
		Py_CLEAR(array);
	return array;
}

PyObject *array_of_numpy(PyObject *object)
{
	return PyArray_Check(object)
		       ? Py_NewRef(object)
		       : PyArray_FromAny(object, NULL, 0, 0, 0, NULL);
}

int array_describe(PyArrayObject *array, struct dray_view *out)
{
	int64_t shape[DRAY_MAX_NDIM], strides[DRAY_MAX_NDIM];
	dray_dtype dtype;
	int i, ret;

	if (dtype_take(PyArray_DESCR(array), &dtype))
		return -1;
	for (i = 0; i < PyArray_NDIM(array); i++) {
		shape[i] = PyArray_DIM(array, i);
		strides[i] = PyArray_STRIDE(array, i);
	}
	ret = dray_view_init(out, PyArray_DATA(array), dtype,
			     PyArray_NDIM(array), shape, strides);
	if (ret) {
		dray_dtype_unref(dtype);
		raise_array_error(ARRAY_SHAPE, ret);
		return -1;
	}
	if (!PyArray_ISWRITEABLE(array))
		out->flags &= ~DRAY_WRITE;
	return 0;
}

/* Makes an object over the memory of an array of NumPy. */
static PyObject *over_numpy(PyTypeObject *type, PyArrayObject *owner)
{
	struct dray_array *array;
	struct dray_block *block;
	struct dray_view view;
	int64_t low, high;
	int ret;

	if (array_describe(owner, &view))
		return NULL;
	dray_view_span(&view, &low, &high);
	ret = dray_block_create_external((char *)view.data + low,
					 (size_t)(high - low),
					 view.flags & (DRAY_READ | DRAY_WRITE),
					 array_drop_owner, owner, &block);
	if (!ret) {
		Py_INCREF(owner);
		ret = dray_array_over(&view, block, &array);
		dray_block_unref(block);
	}
	dray_dtype_unref(view.dtype);
	if (ret)
		return raise_array_error(ARRAY_SHAPE, ret);
	return array_without_device(array_wrap(
		type, array, PyArray_DESCR(owner), NULL, (PyObject *)owner));
}

/* Returns an array of NumPy over a buffer; never a copy. */
static PyObject *over_buffer(PyObject *object)
{
	PyObject *memory = PyMemoryView_FromObject(object);
	PyObject *array, *base;

	if (!memory)
		return NULL;
	array = PyArray_FromAny(memory, NULL, 0, 0, 0, NULL);
	Py_DECREF(memory);
	base = array ? PyArray_BASE((PyArrayObject *)array) : NULL;
	if (array && !(base && PyMemoryView_Check(base))) {
		Py_CLEAR(array);
		PyErr_Format(
			PyExc_TypeError,
			"the buffer of %s %s has a format that is not an array's",
			article_of(Py_TYPE(object)->tp_name),
			Py_TYPE(object)->tp_name);
	}
	return array;
}

/* Whether NumPy's C structure describes a type: it lacks units and fields. */
static bool structure_describes(PyArray_Descr *descr)
{
	return !PyDataType_HASFIELDS(descr) && !strchr("mMU", descr->kind);
}

/*
 * Whether NumPy's dictionary describes a type: its list of fields lacks fields that
 * overlap, and NumPy reads gaps as fields.
 */
static bool dictionary_describes(PyArray_Descr *descr)
{
	PyArray_Descr *read = NULL;
	PyObject *list;
	bool same;

	if (!PyDataType_HASFIELDS(descr))
		return true;
	list = PyObject_GetAttrString((PyObject *)descr, "descr");
	same = list && PyArray_DescrConverter(list, &read) &&
	       PyArray_EquivTypes(read, descr);
	PyErr_Clear();
	Py_XDECREF(list);
	Py_XDECREF(read);
	return same;
}

/* Returns an array of NumPy over an interface, or NotImplemented. */
static PyObject *over_interface(PyObject *object)
{
	/* Py_NotImplemented is borrowed in some versions of NumPy: keep it. */
	PyObject *array = PyArray_FromInterface(object);

	if (array != Py_NotImplemented)
		return array;
	array = PyArray_FromStructInterface(object);
	if (!array || array == Py_NotImplemented ||
	    structure_describes(PyArray_DESCR((PyArrayObject *)array)))
		return array;
	/* NumPy reads bytes of text as characters. */
	Py_DECREF(array);
	return PyErr_Format(
		PyExc_TypeError,
		"__array_struct__ of %s %s does not describe its type",
		article_of(Py_TYPE(object)->tp_name), Py_TYPE(object)->tp_name);
}

/* Whether it is NumPy's scalar of a structure in an array, with that memory. */
static bool is_structure(PyObject *object)
{
	return PyArray_IsScalar(object, Void) &&
	       !(((PyVoidScalarObject *)object)->flags & NPY_ARRAY_OWNDATA);
}

/* Returns an array of NumPy over the bytes of a scalar. */
static PyObject *over_scalar(PyObject *object)
{
	PyArray_Descr *descr = PyArray_DescrFromScalar(object);
	PyObject *memory = descr ? PyMemoryView_FromObject(object) : NULL;
	PyObject *array = NULL;

	if (memory) {
		array = PyArray_NewFromDescr(
			&PyArray_Type, descr, 0, NULL, NULL,
			PyMemoryView_GET_BUFFER(memory)->buf, 0, NULL);
		descr = NULL;
	}
	Py_XDECREF(descr);
	if (array && PyArray_SetBaseObject((PyArrayObject *)array, memory))
		Py_CLEAR(array);
	else if (!array)
		Py_XDECREF(memory);
	return array;
}

/* Whether a scalar's buffer names another type: plain bytes, or a structure. */
static bool is_typeless(PyObject *object)
{
	return PyArray_IsScalar(object, Datetime) ||
	       PyArray_IsScalar(object, Timedelta) ||
	       (PyArray_IsScalar(object, String) && PyBytes_GET_SIZE(object)) ||
	       PyArray_IsScalar(object, Void);
}

/* Returns an array of NumPy over the memory of @object. */
static PyObject *numpy_over(PyObject *object)
{
	PyObject *array;

	if (PyArray_Check(object))
		return Py_NewRef(object);
	if (is_structure(object))
		return PyArray_FromScalar(object, NULL);
	if (is_typeless(object))
		return over_scalar(object);
	if (PyObject_CheckBuffer(object))
		return over_buffer(object);
	array = over_interface(object);
	if (array != Py_NotImplemented)
		return array;
	return PyErr_Format(
		PyExc_TypeError,
		"%s %s has no memory for dray.Array: it is not an array, nor has it the buffer protocol or __array_interface__",
		article_of(Py_TYPE(object)->tp_name), Py_TYPE(object)->tp_name);
}

PyObject *array_from(PyTypeObject *type, PyObject *object)
{
	PyObject *owner, *array;
	struct dray_view view;

	if (Py_IS_TYPE(object, type))
		return array_over(array_self(object),
				  array_whole(array_self(object), &view));
	owner = numpy_over(object);
	if (!owner)
		return NULL;
	array = over_numpy(type, (PyArrayObject *)owner);
	Py_DECREF(owner);
	return array;
}

PyObject *array_interface(PyObject *self, void *name)
{
	PyArray_Descr *descr = array_self(self)->descr;
	PyObject *array, *result;

	/* NumPy continues with the other property, or with __array__(), which raises. */
	if (!(array_self(self)->flags & DRAY_READ))
		return PyErr_Format(PyExc_AttributeError,
				    "%s: the CPU does not reach the elements",
				    name);
	/* NumPy continues with the other property, or with __array__(). */
	if (dray_dtype_flags(array_self(self)->dtype) & DRAY_DTYPE_LOCAL ||
	    (!strcmp(name, "__array_struct__") ? !structure_describes(descr)
					       : !dictionary_describes(descr)))
		return PyErr_Format(PyExc_AttributeError,
				    "%s does not describe %R", name, descr);
	array = array_as_numpy(self);
	result = array ? PyObject_GetAttrString(array, name) : NULL;
	Py_XDECREF(array);
	return result;
}

/* Converts or copies @array, as __array__() is asked to; steals its reference. */
static PyObject *numpy_converted(PyObject *array, PyArray_Descr *descr,
				 int copy)
{
	PyArrayObject *from = (PyArrayObject *)array;
	PyObject *result;

	if (!descr || PyArray_EquivTypes(PyArray_DESCR(from), descr)) {
		Py_XDECREF(descr);
		if (copy != 1)
			return array;
		result = PyArray_NewCopy(from, NPY_KEEPORDER);
	} else if (!copy) {
		Py_DECREF(descr);
		result = PyErr_Format(PyExc_ValueError,
				      "a conversion of the type takes a copy");
	} else {
		result = PyArray_FromArray(from, descr, NPY_ARRAY_FORCECAST);
	}
	Py_DECREF(array);
	return result;
}

PyObject *array_to_numpy(PyObject *self, PyObject *const *args,
			 Py_ssize_t count, PyObject *names)
{
	static const struct signature signature = {
		"__array__",
		0,
		2,
		{ { "dtype", type_or_none_take }, { "copy", object_take } }
	};
	PyObject *copy = Py_None, *array;
	PyArray_Descr *descr = NULL;
	int copies = -1; /* if needed */

	if (arguments_take(&signature, args, count, names,
			   (void *[]){ &descr, &copy })) {
		Py_XDECREF(descr);
		return NULL;
	}
	if (copy != Py_None)
		copies = PyObject_IsTrue(copy);
	array = copies < 0 && PyErr_Occurred() ? NULL : array_as_numpy(self);
	if (array)
		return numpy_converted(array, descr, copies);
	Py_XDECREF(descr);
	return NULL;
}

PyObject *array_standard(PyTypeObject *type, PyObject *result)
{
	PyObject *array = NULL, *pair;

	if (result && PyTuple_CheckExact(result) &&
	    PyTuple_GET_SIZE(result) == 2) {
		pair = Py_BuildValue(
			"(NN)",
			array_standard(type,
				       Py_NewRef(PyTuple_GET_ITEM(result, 0))),
			array_standard(type,
				       Py_NewRef(PyTuple_GET_ITEM(result, 1))));
		Py_DECREF(result);
		return pair;
	}
	if (result && PyArray_CheckScalar(result)) {
		array = PyArray_FromScalar(result, NULL);
		Py_SETREF(result, array ? array_from(type, array) : NULL);
		Py_XDECREF(array);
	}
	if (result && Py_IS_TYPE(result, type))
		array_self(result)->standard = true;
	return result;
}
