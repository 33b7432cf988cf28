// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dray.Array: an object over libdray's array.  The library does the work on
 * shapes and elements; values of Python, and text, are left to NumPy, by an
 * array of NumPy over the same memory.
 */
#include "array_object.h"

PyObject *array_wrap(PyTypeObject *type, struct dray_array *array,
		     PyArray_Descr *descr, PyObject *capsule, PyObject *base)
{
	struct array_object *self = NULL;

	if (descr)
		Py_INCREF(descr);
	else
		descr = dtype_descr(array->dtype);
	if (descr)
		self = PyObject_New(struct array_object, type);
	if (!self) {
		Py_XDECREF(descr);
		dray_array_unref(array);
		return NULL;
	}
	self->array = array;
	self->descr = descr;
	self->capsule = Py_XNewRef(capsule);
	self->base = Py_XNewRef(base);
	return (PyObject *)self;
}

struct dray_view *array_whole(const struct array_object *self,
			      struct dray_view *view)
{
	return dray_array_view(self->array, view);
}

PyObject *array_over_as(struct array_object *self, const struct dray_view *view,
			PyArray_Descr *descr)
{
	struct dray_array *array;
	int ret;

	ret = dray_array_over(view, &self->array->block, &array);
	if (ret)
		return raise_array_error(ARRAY_SHAPE, ret);
	return array_wrap(Py_TYPE(self), array, descr, self->capsule,
			  self->base);
}

PyObject *array_over(struct array_object *self, const struct dray_view *view)
{
	return array_over_as(self, view, self->descr);
}

/* Memory goes back with the GIL, which a handler of NumPy may need. */
static void array_dealloc(PyObject *object)
{
	struct array_object *self = (struct array_object *)object;
	PyTypeObject *type = Py_TYPE(object);

	dray_array_unref(self->array);
	Py_DECREF(self->descr);
	Py_XDECREF(self->capsule);
	Py_XDECREF(self->base);
	PyObject_Free(self);
	Py_DECREF(type);
}

PyObject *array_numbers(const int64_t *from, int count)
{
	PyObject *tuple = PyTuple_New(count);
	PyObject *number;
	int i;

	for (i = 0; tuple && i < count; i++) {
		number = PyLong_FromLongLong(from[i]);
		if (!number)
			Py_CLEAR(tuple);
		else
			PyTuple_SET_ITEM(tuple, i, number);
	}
	return tuple;
}

static PyObject *array_shape(PyObject *self, void *unused)
{
	struct dray_view view;

	(void)unused;
	array_whole((struct array_object *)self, &view);
	return array_numbers(view.shape, view.ndim);
}

static PyObject *array_strides(PyObject *self, void *unused)
{
	struct dray_view view;

	(void)unused;
	array_whole((struct array_object *)self, &view);
	return array_numbers(view.strides, view.ndim);
}

static PyObject *array_ndim(PyObject *self, void *unused)
{
	(void)unused;
	return PyLong_FromLong(((struct array_object *)self)->array->ndim);
}

static int64_t size_of(PyObject *self)
{
	struct dray_view view;

	return dray_view_size(array_whole((struct array_object *)self, &view));
}

static PyObject *array_size(PyObject *self, void *unused)
{
	(void)unused;
	return PyLong_FromLongLong(size_of(self));
}

static uint32_t itemsize_of(PyObject *self)
{
	return dray_dtype_itemsize(((struct array_object *)self)->array->dtype);
}

static PyObject *array_itemsize(PyObject *self, void *unused)
{
	(void)unused;
	return PyLong_FromUnsignedLong(itemsize_of(self));
}

static PyObject *array_nbytes(PyObject *self, void *unused)
{
	(void)unused;
	return PyLong_FromLongLong(size_of(self) * itemsize_of(self));
}

static PyObject *array_dtype(PyObject *self, void *unused)
{
	(void)unused;
	return Py_NewRef(((struct array_object *)self)->descr);
}

static PyObject *array_typestr(PyObject *self, void *unused)
{
	(void)unused;
	return PyObject_GetAttrString(
		(PyObject *)((struct array_object *)self)->descr, "str");
}

static PyObject *array_flags(PyObject *self, void *unused)
{
	(void)unused;
	return record_array_flags(
		type_state(self),
		(uint32_t)((struct array_object *)self)->array->flags);
}

static PyObject *array_base(PyObject *self, void *unused)
{
	PyObject *base = ((struct array_object *)self)->base;

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

PyObject *array_handler_name(PyObject *self, void *unused)
{
	const struct dray_handler *handler =
		handler_of((struct array_object *)self);

	(void)unused;
	if (!handler)
		Py_RETURN_NONE;
	return PyUnicode_FromString(handler->name);
}

static PyObject *array_handler_version(PyObject *self, void *unused)
{
	const struct dray_handler *handler =
		handler_of((struct array_object *)self);

	(void)unused;
	if (!handler)
		Py_RETURN_NONE;
	return PyLong_FromLong(handler->version);
}

/* Calls a method of NumPy's array over the same memory. */
static PyObject *as_numpy_does(PyObject *self, const char *name, PyObject *args)
{
	PyObject *array = array_as_numpy(self);
	PyObject *method = array ? PyObject_GetAttrString(array, name) : NULL;
	PyObject *result = method ? PyObject_CallObject(method, args) : NULL;

	Py_XDECREF(method);
	Py_XDECREF(array);
	return result;
}

static PyObject *array_item(PyObject *self, PyObject *args)
{
	return as_numpy_does(self, "item", args);
}

static PyObject *array_tolist(PyObject *self, PyObject *unused)
{
	(void)unused;
	return as_numpy_does(self, "tolist", NULL);
}

static PyObject *array_str(PyObject *self)
{
	return as_numpy_does(self, "__str__", NULL);
}

/* "array(" of NumPy becomes "Array(", of the same length. */
static PyObject *array_repr(PyObject *self)
{
	PyObject *text = as_numpy_does(self, "__repr__", NULL);
	PyObject *rest, *result;

	if (!text)
		return NULL;
	rest = PyUnicode_Substring(text, 1, PyUnicode_GET_LENGTH(text));
	Py_DECREF(text);
	result = rest ? PyUnicode_FromFormat("A%U", rest) : NULL;
	Py_XDECREF(rest);
	return result;
}

/* Numbers of Python, of an array of one element. */
static PyObject *as_number(PyObject *self, PyObject *(*convert)(PyObject *))
{
	PyObject *array = array_as_numpy(self);
	PyObject *number = array ? convert(array) : NULL;

	Py_XDECREF(array);
	return number;
}

static PyObject *array_int(PyObject *self)
{
	return as_number(self, PyNumber_Long);
}

static PyObject *array_float(PyObject *self)
{
	return as_number(self, PyNumber_Float);
}

static PyObject *array_integer(PyObject *self)
{
	return as_number(self, PyNumber_Index);
}

static int array_bool(PyObject *self)
{
	PyObject *array = array_as_numpy(self);
	int truth = array ? PyObject_IsTrue(array) : -1;

	Py_XDECREF(array);
	return truth;
}

static PyObject *array_iter(PyObject *self)
{
	if (((struct array_object *)self)->array->ndim)
		return PySeqIter_New(self);
	PyErr_SetString(PyExc_TypeError, "iteration over a 0-d array");
	return NULL;
}

#define WITH_KEYWORDS(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef array_methods[] = {
	{ "empty", WITH_KEYWORDS(array_empty),
	  METH_VARARGS | METH_KEYWORDS | METH_CLASS,
	  "empty($type, /, shape, dtype=float, order='C')\n--\n\n"
	  "A new array with undefined elements, in memory of NumPy's current handler:\n"
	  "inside `with dray.memory():` in dray's memory." },
	{ "zeros", WITH_KEYWORDS(array_zeros),
	  METH_VARARGS | METH_KEYWORDS | METH_CLASS,
	  "zeros($type, /, shape, dtype=float, order='C')\n--\n\n"
	  "The same, and all bytes are zero." },
	{ "copy", WITH_KEYWORDS(array_copy), METH_VARARGS | METH_KEYWORDS,
	  "copy($self, /, order='C')\n--\n\n"
	  "A copy in order 'C', 'F', 'A' or 'K', in memory as that of empty()." },
	{ "astype", WITH_KEYWORDS(array_astype), METH_VARARGS | METH_KEYWORDS,
	  "astype($self, /, dtype, order='K', casting='unsafe', copy=True)\n--\n\n"
	  "A copy of another type; with copy=False the array itself, if it is one." },
	{ "transpose", array_transpose, METH_VARARGS,
	  "transpose($self, /, *axes)\n--\n\n"
	  "A view with its axes in another order, by default reversed." },
	{ "broadcast_to", array_broadcast_to, METH_O,
	  "broadcast_to($self, shape, /)\n--\n\n"
	  "A read-only view in which axes of one element are repeated." },
	{ "swapaxes", array_swapaxes, METH_VARARGS,
	  "swapaxes($self, axis1, axis2, /)\n--\n\nA view with two axes exchanged." },
	{ "moveaxis", array_moveaxis, METH_VARARGS,
	  "moveaxis($self, source, destination, /)\n--\n\n"
	  "A view with axes at other places; the others keep their order." },
	{ "squeeze", WITH_KEYWORDS(array_squeeze), METH_VARARGS | METH_KEYWORDS,
	  "squeeze($self, /, axis=None)\n--\n\nA view without axes of one element." },
	{ "expand_dims", WITH_KEYWORDS(array_expand_dims),
	  METH_VARARGS | METH_KEYWORDS,
	  "expand_dims($self, /, axis)\n--\n\nA view with more axes of one element." },
	{ "flip", WITH_KEYWORDS(array_flip), METH_VARARGS | METH_KEYWORDS,
	  "flip($self, /, axis=None)\n--\n\nA view with axes reversed." },
	{ "diagonal", WITH_KEYWORDS(array_diagonal),
	  METH_VARARGS | METH_KEYWORDS,
	  "diagonal($self, /, offset=0, axis1=0, axis2=1)\n--\n\n"
	  "A read-only view of the diagonal of two axes." },
	{ "reshape", WITH_KEYWORDS(array_reshape), METH_VARARGS | METH_KEYWORDS,
	  "reshape($self, /, *shape, order='C')\n--\n\n"
	  "A view with another shape, or if strides do not allow it, a copy." },
	{ "ravel", WITH_KEYWORDS(array_ravel), METH_VARARGS | METH_KEYWORDS,
	  "ravel($self, /, order='C')\n--\n\n"
	  "The elements along one axis: a view if they lie so, or else a copy." },
	{ "view", WITH_KEYWORDS(array_view), METH_VARARGS | METH_KEYWORDS,
	  "view($self, /, dtype=None)\n--\n\nThe same bytes as another type." },
	{ "sliding_window_view", WITH_KEYWORDS(array_windows),
	  METH_VARARGS | METH_KEYWORDS,
	  "sliding_window_view($self, /, window_shape, axis=None)\n--\n\n"
	  "A read-only view of every window of a shape." },
	{ "as_strided", array_as_strided, METH_VARARGS,
	  "as_strided($self, shape, strides, /)\n--\n\n"
	  "A view of any shape and strides inside of the array's memory." },
	{ "shares_memory", array_shares_memory, METH_O,
	  "shares_memory($self, other, /)\n--\n\n"
	  "Whether an element of each has a byte in common, exactly." },
	{ "save", WITH_KEYWORDS(array_save), METH_VARARGS | METH_KEYWORDS,
	  "save($self, /, path, *, page=False, new=False)\n--\n\n"
	  "Writes a .npy file: with its elements from a page's start on; or only if there\n"
	  "is none of that name." },
	{ "load", WITH_KEYWORDS(array_load),
	  METH_VARARGS | METH_KEYWORDS | METH_CLASS,
	  "load($type, /, path, *, node=None)\n--\n\n"
	  "A new array of the contents of a .npy file, in memory as that of empty(), or in a\n"
	  "buffer of a node, to take header and elements by O_DIRECT." },
	{ "map", WITH_KEYWORDS(array_map),
	  METH_VARARGS | METH_KEYWORDS | METH_CLASS,
	  "map($type, /, path, *, writable=False)\n--\n\n"
	  "An array over the bytes of a .npy file: writes change the file." },
	{ "take", WITH_KEYWORDS(array_take), METH_VARARGS | METH_KEYWORDS,
	  "take($self, /, indices, axis=None, mode='raise')\n--\n\n"
	  "A copy of the elements of some numbers along an axis, or of all in C order." },
	{ "put", WITH_KEYWORDS(array_put), METH_VARARGS | METH_KEYWORDS,
	  "put($self, /, indices, values, mode='raise')\n--\n\n"
	  "Sets the elements of some numbers in C order; values are repeated." },
	{ "sort", WITH_KEYWORDS(array_sort), METH_VARARGS | METH_KEYWORDS,
	  "sort($self, /, axis=-1)\n--\n\n"
	  "Sorts the elements along an axis in place; equal ones keep their order." },
	{ "argsort", WITH_KEYWORDS(array_argsort), METH_VARARGS | METH_KEYWORDS,
	  "argsort($self, /, axis=-1)\n--\n\n"
	  "The indices that would sort it; of all elements in C order with None." },
	{ "argmax", WITH_KEYWORDS(array_argmax), METH_VARARGS | METH_KEYWORDS,
	  "argmax($self, /, axis=None)\n--\n\n"
	  "The index of the first largest element along an axis, or of all." },
	{ "argmin", WITH_KEYWORDS(array_argmin), METH_VARARGS | METH_KEYWORDS,
	  "argmin($self, /, axis=None)\n--\n\n"
	  "The index of the first smallest element along an axis, or of all." },
	{ "nonzero", array_nonzero, METH_NOARGS,
	  "nonzero($self, /)\n--\n\n"
	  "The indices of elements that are not zero: an Array for each axis." },
	{ "where", array_where, METH_VARARGS,
	  "where($self, yes, no, /)\n--\n\n"
	  "A new array: of `yes` where the element is true, else of `no`." },
	{ "fill", array_fill, METH_O,
	  "fill($self, value, /)\n--\n\nSets all elements." },
	{ "item", array_item, METH_VARARGS,
	  "item($self, /, *args)\n--\n\n"
	  "One element as an object of Python, as of NumPy's array." },
	{ "tolist", array_tolist, METH_NOARGS,
	  "tolist($self, /)\n--\n\nThe elements as nested lists." },
	{ "__array__", WITH_KEYWORDS(array_to_numpy),
	  METH_VARARGS | METH_KEYWORDS,
	  "__array__($self, /, dtype=None, copy=None)\n--\n\n"
	  "NumPy's array over the same memory, or a copy." },
	{ NULL, NULL, 0, NULL },
};

static PyGetSetDef array_properties[] = {
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
	  "The handler that allocated the memory; None if it is foreign.",
	  NULL },
	{ "handler_version", array_handler_version, NULL,
	  "The version of that handler.", NULL },
	{ "T", array_transposed, NULL, "transpose()", NULL },
	{ "flat", array_flat, array_set_flat,
	  "The elements in C order, a FlatIterator; can be set.", NULL },
	{ "real", array_real, NULL, "A view of the real parts.", NULL },
	{ "imag", array_imag, NULL, "A view of the imaginary parts.", NULL },
	{ "__array_interface__", array_interface, NULL,
	  "The array as a dictionary, for other packages.",
	  "__array_interface__" },
	{ "__array_struct__", array_interface, NULL, "The same for C.",
	  "__array_struct__" },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot array_slots[] = {
	{ Py_tp_doc,
	  "Array(source, /)\n--\n\n"
	  "A strided array of libdray, over the memory of `source` without a copy:\n"
	  "of another Array, an array of NumPy, or an object with the buffer protocol\n"
	  "or with __array_interface__." },
	{ Py_tp_new, array_new },
	{ Py_tp_dealloc, array_dealloc },
	{ Py_tp_repr, array_repr },
	{ Py_tp_str, array_str },
	{ Py_tp_iter, array_iter },
	{ Py_mp_length, array_length },
	{ Py_mp_subscript, array_get },
	{ Py_mp_ass_subscript, array_set },
	{ Py_sq_item, array_at },
	{ Py_sq_ass_item, array_set_at },
	{ Py_nb_bool, array_bool },
	{ Py_nb_int, array_int },
	{ Py_nb_float, array_float },
	{ Py_nb_index, array_integer },
	{ Py_bf_getbuffer, array_get_buffer },
	{ Py_tp_methods, array_methods },
	{ Py_tp_getset, array_properties },
	{ 0, NULL },
};

PyType_Spec array_type_spec = {
	.name = "dray.Array",
	.basicsize = sizeof(struct array_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
	.slots = array_slots,
};
