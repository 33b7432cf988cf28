// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Properties of a dray.Array: its shape and type, and the memory in which it lies. */
#include "object/array_object.h"

static PyObject *array_shape(PyObject *self, void *unused)
{
	(void)unused;
	return size_tuple(array_shape_of(array_self(self)),
			  array_self(self)->ndim);
}

static PyObject *array_strides(PyObject *self, void *unused)
{
	(void)unused;
	return size_tuple(array_strides_of(array_self(self)),
			  array_self(self)->ndim);
}

static PyObject *array_ndim(PyObject *self, void *unused)
{
	(void)unused;
	return PyLong_FromLong(array_self(self)->ndim);
}

static int64_t facts_size_of(PyObject *self)
{
	struct dray_view view;

	return dray_view_size(array_whole(array_self(self), &view));
}

static PyObject *array_size(PyObject *self, void *unused)
{
	(void)unused;
	return PyLong_FromLongLong(facts_size_of(self));
}

static uint32_t itemsize_of(PyObject *self)
{
	return dray_dtype_itemsize(array_self(self)->dtype);
}

static PyObject *array_itemsize(PyObject *self, void *unused)
{
	(void)unused;
	return PyLong_FromUnsignedLong(itemsize_of(self));
}

static PyObject *array_nbytes(PyObject *self, void *unused)
{
	(void)unused;
	return PyLong_FromLongLong(facts_size_of(self) * itemsize_of(self));
}

static PyObject *array_dtype(PyObject *self, void *unused)
{
	(void)unused;
	return Py_NewRef(array_self(self)->descr);
}

static PyObject *array_typestr(PyObject *self, void *unused)
{
	(void)unused;
	return PyObject_GetAttrString((PyObject *)array_self(self)->descr,
				      "str");
}

static PyObject *array_flags(PyObject *self, void *unused)
{
	(void)unused;
	return record_array_flags(type_state(self), array_self(self)->flags);
}

static PyObject *array_base(PyObject *self, void *unused)
{
	PyObject *base = array_self(self)->base;

	(void)unused;
	return Py_NewRef(base ? base : Py_None);
}

/* The handler of the memory, through those that only divide it by size. */
static const struct dray_handler *handler_of(const struct array_object *self)
{
	const struct dray_array *array = self->array;
	const struct dray_handler *handler = dray_array_handler(array);

	return handler ? dray_handler_behind(handler,
					     dray_block_data(array->reference))
		       : NULL;
}

static PyObject *array_own_handler_name(PyObject *self)
{
	const struct dray_handler *handler = handler_of(array_self(self));

	if (!handler)
		Py_RETURN_NONE;
	return PyUnicode_FromString(handler->name);
}

/* Names the handler that allocated the memory of @array, its owner. */
static PyObject *numpy_handler_name(PyArrayObject *array, PyObject *capsule)
{
	const struct dray_handler *handler = handler_in(capsule);

	if (!handler)
		return NULL;
	handler = dray_handler_behind(handler, PyArray_DATA(array));
	return PyUnicode_FromString(handler->name);
}

/*
 * Returns the next object between a view and the owner of its memory: an
 * array's base, a memoryview's object, or an attribute "base" (as_strided()
 * puts such an object between).  A new reference; NULL at the end, or with the
 * exception that asking for "base" raised.
 */
static PyObject *owner_of(PyObject *object)
{
	PyObject *owner;

	if (PyArray_Check(object))
		return Py_XNewRef(PyArray_BASE((PyArrayObject *)object));
	if (PyMemoryView_Check(object))
		return Py_XNewRef(PyMemoryView_GET_BUFFER(object)->obj);
	owner = PyObject_GetAttrString(object, "base");
	if (!owner && PyErr_ExceptionMatches(PyExc_AttributeError))
		PyErr_Clear();
	return owner;
}

/* Returns @object, or the array that it gives as a Series of pandas does. */
static PyObject *array_of(PyObject *object)
{
	PyObject *array;

	if (PyArray_Check(object))
		return Py_NewRef(object);
	array = PyObject_CallMethod(object, "__array__", NULL);
	if (!array && !PyErr_ExceptionMatches(PyExc_AttributeError))
		return NULL;
	if (array && PyArray_Check(array))
		return array;
	PyErr_Clear();
	Py_XDECREF(array);
	return PyErr_Format(PyExc_TypeError,
			    "a is not a NumPy array and gives none: it is %s",
			    Py_TYPE(object)->tp_name);
}

/* Names the handler of the memory of @object, or of the owner behind it. */
static PyObject *handler_name_of(PyTypeObject *array_type, PyObject *object)
{
	PyObject *next, *capsule, *name;
	int depth;

	Py_INCREF(object);
	/* Any object may have a "base": do not follow it for ever. */
	for (depth = 0; object && object != Py_None && depth < 1000; depth++) {
		if (PyArray_Check(object) &&
		    PyArray_CHKFLAGS((PyArrayObject *)object,
				     NPY_ARRAY_OWNDATA)) {
			capsule = PyArray_HANDLER((PyArrayObject *)object);
			if (capsule) {
				name = numpy_handler_name(
					(PyArrayObject *)object, capsule);
				Py_DECREF(object);
				return name;
			}
		}
		if (Py_IS_TYPE(object, array_type)) {
			name = array_own_handler_name(object);
			if (name != Py_None) {
				Py_DECREF(object);
				return name;
			}
			Py_DECREF(name);
		}
		next = owner_of(object);
		Py_DECREF(object);
		object = next;
	}
	Py_XDECREF(object);
	if (PyErr_Occurred())
		return NULL;
	Py_RETURN_NONE;
}

PyObject *handler_name(PyObject *module, PyObject *const *args,
		       Py_ssize_t count)
{
	PyObject *object, *capsule, *name = NULL;
	PyTypeObject *array_type;

	if (count > 1)
		return PyErr_Format(
			PyExc_TypeError,
			"handler_name() takes at most 1 argument, not %zd",
			count);
	if (!count || args[0] == Py_None) {
		capsule = PyDataMem_GetHandler();
		if (!capsule)
			return NULL;
		name = handler_capsule_name(capsule);
		Py_DECREF(capsule);
		return name;
	}
	array_type = module_state(module)->array_type;
	object = Py_IS_TYPE(args[0], array_type) ? Py_NewRef(args[0])
						 : array_of(args[0]);
	if (!object)
		return NULL;
	name = handler_name_of(array_type, object);
	Py_DECREF(object);
	return name;
}

/* The same as of dray.handler_name(), also of foreign memory. */
static PyObject *array_handler_name(PyObject *self, void *unused)
{
	(void)unused;
	return handler_name_of(Py_TYPE(self), self);
}

static PyObject *array_handler_version(PyObject *self, void *unused)
{
	const struct dray_handler *handler = handler_of(array_self(self));

	(void)unused;
	if (!handler)
		Py_RETURN_NONE;
	return PyLong_FromLong(handler->version);
}

static PyObject *array_flat(PyObject *self, void *unused)
{
	(void)unused;
	return python_call("dray._array", "flat", self, NULL, 0, NULL);
}

/* Sets the elements of a property that is a view, or the iterator flat. */
static int array_set_part(PyObject *self, PyObject *value, void *name)
{
	PyObject *part = value ? PyObject_GetAttrString(self, name) : NULL;
	int ret = part ? PyObject_SetItem(part, Py_Ellipsis, value) : -1;

	if (!value)
		PyErr_Format(PyExc_AttributeError, "%s cannot be deleted",
			     (const char *)name);
	Py_XDECREF(part);
	return ret;
}

PyObject *array_debug(PyObject *self, PyObject *unused)
{
	struct dray_array *root = array_self(self)->array, *view_array = NULL;
	PyObject *result = NULL;
	struct dray_view view;
	char *text = NULL;
	FILE *stream;
	size_t size;
	int ret;

	(void)unused;
	stream = open_memstream(&text, &size);
	if (!stream)
		return PyErr_NoMemory();
	ret = array_self(self)->root
		      ? dray_array_over(array_moved(array_self(self), &view),
					&root->block, &view_array)
		      : 0;
	if (!ret)
		ret = dray_block_dump(
			view_array ? &view_array->block : &root->block, stream);
	fclose(stream);
	result = ret ? raise_error(ret)
		     : PyUnicode_FromStringAndSize(text, (Py_ssize_t)size);
	free(text);
	dray_array_unref(view_array);
	return result;
}

PyGetSetDef array_properties[] = {
	{ "shape", array_shape, NULL, "Elements along each axis.", NULL },
	{ "strides", array_strides, NULL, "Bytes from one to the next.", NULL },
	{ "ndim", array_ndim, NULL, "Number of axes.", NULL },
	{ "size", array_size, NULL, "Number of elements.", NULL },
	{ "itemsize", array_itemsize, NULL, "Bytes of an element.", NULL },
	{ "nbytes", array_nbytes, NULL, "Bytes of all elements.", NULL },
	{ "dtype", array_dtype, NULL, "The type, NumPy's object.", NULL },
	{ "typestr", array_typestr, NULL, "The type as \"<f4\".", NULL },
	{ "flags", array_flags, NULL, "An ArrayFlags.", NULL },
	{ "base", array_base, NULL,
	  "The owner of foreign memory; None if it is the array's own.", NULL },
	{ "handler_name", array_handler_name, NULL,
	  "The handler that allocated the memory, as dray.handler_name() tells it.",
	  NULL },
	{ "handler_version", array_handler_version, NULL,
	  "The version of that handler; None if the memory is foreign.", NULL },
	{ "T", array_transposed, NULL, "transpose()", NULL },
	{ "flat", array_flat, array_set_part,
	  "The elements in C order, a FlatIterator; can be set.", "flat" },
	{ "real", array_real, array_set_part,
	  "A view of the real parts; can be set.", "real" },
	{ "imag", array_imag, array_set_part,
	  "A view of the imaginary parts, which can be set; of real numbers zeros.",
	  "imag" },
	{ "__array_interface__", array_interface, NULL,
	  "The array as a dictionary, for other packages.",
	  "__array_interface__" },
	{ "__array_struct__", array_interface, NULL, "The same for C.",
	  "__array_struct__" },
	{ NULL, NULL, NULL, NULL, NULL },
};
