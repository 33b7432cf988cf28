// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The part of dray.nditer in C: the library's iterator, and views of the elements at which
 * it stands.  Views keep the object, and so buffers and copies, beyond close(): nothing
 * that is written to them then reaches an operand.
 */
#include "array/nditer_parts.h"

static void py_nditer_dealloc(PyObject *object)
{
	struct nditer_object *self = py_nditer_self(object);
	PyObject *type, *value, *traceback;
	PyTypeObject *class = Py_TYPE(object);

	PyErr_Fetch(&type, &value, &traceback);
	/* Errors of its conversions have no caller: close() raises them. */
	dray_nditer_destroy(self->iter);
	Py_XDECREF(self->kept);
	PyErr_Restore(type, value, traceback);
	class->tp_free(object);
	Py_DECREF(class);
}

static PyObject *py_nditer_close(PyObject *object, PyObject *unused)
{
	struct nditer_object *self = py_nditer_self(object);
	struct ufunc_frame frame;
	int ret;

	(void)unused;
	if (self->closed || !self->iter)
		Py_RETURN_NONE;
	self->closed = true;
	if (py_nditer_enter(object, &frame, false))
		return NULL;
	ret = dray_nditer_finish(self->iter);
	if (py_nditer_leave(&frame, ret))
		return NULL;
	Py_RETURN_NONE;
}

/* Makes an array of NumPy over elements, which keeps the iterator. */
static PyObject *py_nditer_array(PyObject *object, dray_dtype dtype, int ndim,
				 const int64_t *shape, const int64_t *strides,
				 char *data, bool writable)
{
	PyArray_Descr *descr = dtype_descr(dtype);
	npy_intp extents[DRAY_MAX_NDIM], steps[DRAY_MAX_NDIM];
	PyObject *array;
	int i;

	if (!descr)
		return NULL;
	for (i = 0; i < ndim; i++) {
		extents[i] = (npy_intp)shape[i];
		steps[i] = (npy_intp)strides[i];
	}
	array = PyArray_NewFromDescr(&PyArray_Type, descr, ndim, extents, steps,
				     data, writable ? NPY_ARRAY_WRITEABLE : 0,
				     NULL);
	if (!array)
		return NULL;
	PyArray_UpdateFlags((PyArrayObject *)array,
			    NPY_ARRAY_ALIGNED | NPY_ARRAY_C_CONTIGUOUS |
				    NPY_ARRAY_F_CONTIGUOUS);
	if (PyArray_SetBaseObject((PyArrayObject *)array, Py_NewRef(object)))
		Py_CLEAR(array);
	return array;
}

static bool py_nditer_writes(PyObject *object, int o)
{
	return py_nditer_self(object)->writes & 1u << o;
}

static PyObject *py_nditer_view(PyObject *object, int o)
{
	struct dray_nditer *iter = py_nditer_self(object)->iter;
	const bool loop = dray_nditer_flags(iter) & DRAY_NDITER_EXTERNAL_LOOP;

	return py_nditer_array(object, dray_nditer_dtype(iter, o), loop,
			       dray_nditer_count(iter),
			       dray_nditer_strides(iter) + o,
			       dray_nditer_data(iter)[o],
			       py_nditer_writes(object, o));
}

/* Returns view (number), or of all operands for -1, as a tuple. */
static PyObject *py_nditer_views(PyObject *object, PyObject *unused)
{
	struct dray_nditer *iter = py_nditer_at(object);
	PyObject *tuple, *view;
	int o, count;

	(void)unused;
	if (!iter)
		return NULL;
	count = dray_nditer_operands(iter);
	tuple = PyTuple_New(count);
	for (o = 0; tuple && o < count; o++) {
		view = py_nditer_view(object, o);
		if (!view)
			Py_CLEAR(tuple);
		else
			PyTuple_SET_ITEM(tuple, o, view);
	}
	return tuple;
}

static PyObject *py_nditer_value(PyObject *object, PyObject *unused)
{
	struct dray_nditer *iter = py_nditer_at(object);

	(void)unused;
	if (!iter)
		return NULL;
	return dray_nditer_operands(iter) == 1 ? py_nditer_view(object, 0)
					       : py_nditer_views(object, NULL);
}

/* Moves on: 1, 0 at the end, -1 with an exception. */
static int py_nditer_move(PyObject *object)
{
	struct nditer_object *self = py_nditer_self(object);
	struct ufunc_frame frame;
	bool more;

	if (self->ended)
		return 0;
	if (py_nditer_enter(object, &frame, false))
		return -1;
	more = dray_nditer_next(self->iter);
	if (py_nditer_leave(&frame, more ? 0 : dray_nditer_error(self->iter)))
		return -1;
	self->ended = !more;
	return more;
}

static PyObject *py_nditer_next(PyObject *object)
{
	struct nditer_object *self = py_nditer_self(object);

	if (!py_nditer_open(object) || self->ended || !py_nditer_at(object))
		return NULL;
	if (self->started && py_nditer_move(object) <= 0)
		return NULL;
	self->started = true;
	return py_nditer_value(object, NULL);
}

static PyObject *py_nditer_iternext(PyObject *object, PyObject *unused)
{
	int more = -1;

	if (py_nditer_open(object))
		more = py_nditer_self(object)->ended ? 0
		       : py_nditer_at(object)	     ? py_nditer_move(object)
						     : -1;
	(void)unused;
	return more < 0 ? NULL : PyBool_FromLong(more);
}

/* Returns an operand as it is iterated over. */
static PyObject *py_nditer_operand_at(PyObject *object, PyObject *number)
{
	struct dray_nditer *iter = py_nditer_open(object);
	const int o = (int)PyLong_AsLong(number);
	struct dray_view view;
	int ret;

	if (!iter || PyErr_Occurred())
		return NULL;
	ret = dray_nditer_operand(iter, o, &view);
	if (ret)
		return raise_error(ret);
	return py_nditer_array(object, view.dtype, view.ndim, view.shape,
			       view.strides, view.data,
			       py_nditer_writes(object, o));
}

/* Returns the types that the loop sees. */
static PyObject *py_nditer_types(PyObject *object, PyObject *unused)
{
	struct dray_nditer *iter = py_nditer_open(object);
	PyObject *tuple, *descr;
	int o, count;

	(void)unused;
	if (!iter)
		return NULL;
	count = dray_nditer_operands(iter);
	tuple = PyTuple_New(count);
	for (o = 0; tuple && o < count; o++) {
		descr = (PyObject *)dtype_descr(dray_nditer_dtype(iter, o));
		if (!descr)
			Py_CLEAR(tuple);
		else
			PyTuple_SET_ITEM(tuple, o, descr);
	}
	return tuple;
}

/* Returns a new dray.Array that was allocated for an operand, or None. */
static PyObject *py_nditer_allocated(PyObject *object, PyObject *number)
{
	struct dray_nditer *iter = py_nditer_open(object);
	const int o = (int)PyLong_AsLong(number);
	PyObject *capsule, *made;
	struct dray_array *array;

	if (!iter || PyErr_Occurred())
		return NULL;
	array = dray_nditer_array(iter, o);
	if (!array)
		Py_RETURN_NONE;
	capsule = PyDataMem_GetHandler();
	if (!capsule)
		return NULL;
	made = array_wrap(class_state(object)->array_type,
			  dray_array_ref(array), NULL, capsule, NULL);
	Py_DECREF(capsule);
	return made;
}

/* Makes another object of the class at the same place. */
static PyObject *py_nditer_copy(PyObject *object, PyObject *unused)
{
	struct nditer_object *self = py_nditer_self(object), *copy;
	struct dray_nditer *iter;
	struct ufunc_frame frame;
	PyObject *made;
	int ret;

	(void)unused;
	if (!py_nditer_open(object) || py_nditer_enter(object, &frame, false))
		return NULL;
	ret = dray_nditer_copy(self->iter, &iter);
	if (py_nditer_leave(&frame, ret)) {
		if (!ret)
			dray_nditer_destroy(iter);
		return NULL;
	}
	made = Py_TYPE(object)->tp_alloc(Py_TYPE(object), 0);
	if (!made) {
		dray_nditer_destroy(iter);
		return NULL;
	}
	copy = py_nditer_self(made);
	copy->iter = iter;
	copy->kept = Py_NewRef(object);
	copy->writes = self->writes;
	copy->started = self->started;
	copy->ended = self->ended;
	copy->delayed = self->delayed;
	return made;
}

static PyMethodDef nditer_methods[] = {
	{ "make", py_nditer_make, METH_VARARGS,
	  SIGNATURE(
		  "make($self, operands, operand_flags, types, flags, order, casting, axes, maps, shape, size, /)") },
	{ "close", py_nditer_close, METH_NOARGS,
	  "close($self, /)\n--\n\n"
	  "Writes buffers and copies back to the operands.  Nothing else follows it." },
	{ "iternext", py_nditer_iternext, METH_NOARGS,
	  "iternext($self, /)\n--\n\nMoves on; False at the end." },
	{ "copy", py_nditer_copy, METH_NOARGS,
	  "copy($self, /)\n--\n\nAnother iterator at the same place." },
	{ "is_first_visit", py_nditer_is_first_visit, METH_O,
	  "is_first_visit($self, number, /)\n--\n\n"
	  "Whether a reduced operand's elements are seen for the first time." },
	{ "_value", py_nditer_value, METH_NOARGS,
	  SIGNATURE("_value($self, /)") },
	{ "views", py_nditer_views, METH_NOARGS,
	  "views($self, /)\n--\n\nThe elements of all operands." },
	{ "_types", py_nditer_types, METH_NOARGS,
	  SIGNATURE("_types($self, /)") },
	{ "operand", py_nditer_operand_at, METH_O,
	  SIGNATURE("operand($self, number, /)") },
	{ "allocated", py_nditer_allocated, METH_O,
	  SIGNATURE("allocated($self, number, /)") },
	{ "axis_strides", py_nditer_axis_strides, METH_O,
	  SIGNATURE("axis_strides($self, axis, /)") },
	{ "jump", py_nditer_jump, METH_VARARGS,
	  SIGNATURE("jump($self, kind, numbers, /)") },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot nditer_slots[] = {
	{ Py_tp_doc,
	  "NditerBase(*arguments, **keywords)\n--\n\nThe part of dray.nditer in C." },
	{ Py_tp_new, PyType_GenericNew },
	{ Py_tp_dealloc, py_nditer_dealloc },
	{ Py_tp_iter, PyObject_SelfIter },
	{ Py_tp_iternext, py_nditer_next },
	{ Py_tp_methods, nditer_methods },
	{ Py_tp_getset, nditer_properties },
	{ 0, NULL },
};

PyType_Spec nditer_type_spec = {
	.name = "dray._dray.NditerBase",
	.basicsize = sizeof(struct nditer_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE |
		 Py_TPFLAGS_IMMUTABLETYPE,
	.slots = nditer_slots,
};
