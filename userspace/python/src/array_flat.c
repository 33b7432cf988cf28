// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * array.flat: the elements in C order, one after the other or by their number.
 * It is its own iterator, as NumPy's flatiter is.  An index is read as an array
 * of numbers, for dray_take() and dray_put().
 */
#include "array_object.h"

struct flat_object {
	PyObject_HEAD struct array_object *array;
	struct dray_iterator next; /* under the object's critical section */
};

static struct flat_object *flat_of(PyObject *object)
{
	return (struct flat_object *)object;
}

PyObject *array_flat(PyObject *self, void *unused)
{
	PyTypeObject *type = type_state(self)->flat_type;
	struct flat_object *flat = PyObject_New(struct flat_object, type);
	struct dray_view view;
	int ret;

	(void)unused;
	if (!flat)
		return NULL;
	flat->array = (struct array_object *)Py_NewRef(self);
	ret = dray_iterator_init(&flat->next, array_whole(flat->array, &view));
	if (!ret)
		return (PyObject *)flat;
	Py_DECREF(flat);
	return raise_array_error(ARRAY_SHAPE, ret);
}

int array_set_flat(PyObject *self, PyObject *value, void *unused)
{
	PyObject *flat = value ? array_flat(self, unused) : NULL;
	int ret = flat ? PyObject_SetItem(flat, Py_Ellipsis, value) : -1;

	if (!value)
		PyErr_SetString(PyExc_AttributeError, "flat cannot be deleted");
	Py_XDECREF(flat);
	return ret;
}

static void flat_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	Py_DECREF(flat_of(self)->array);
	PyObject_Free(self);
	Py_DECREF(type);
}

static PyObject *element(const struct flat_object *flat, const char *data)
{
	if (array_check_reachable(flat->array))
		return NULL;
	/* NumPy copies the element. */
	return PyArray_Scalar((void *)(uintptr_t)data, flat->array->descr,
			      NULL);
}

static PyObject *flat_next(PyObject *self)
{
	struct flat_object *flat = flat_of(self);
	const char *data = NULL;

	Py_BEGIN_CRITICAL_SECTION(self);
	if (dray_iterator_more(&flat->next)) {
		data = flat->next.data;
		dray_iterator_next(&flat->next);
	}
	Py_END_CRITICAL_SECTION();
	return data ? element(flat, data) : NULL;
}

static Py_ssize_t flat_length(PyObject *self)
{
	return (Py_ssize_t)flat_of(self)->next.size;
}

/* Writes the number of an element; negative ones count from the end. */
static int flat_number_take(const struct flat_object *flat, PyObject *key,
			    int64_t *out)
{
	Py_ssize_t at = PyNumber_AsSsize_t(key, PyExc_IndexError);
	int64_t size = flat->next.size;

	if (at == -1 && PyErr_Occurred())
		return -1;
	*out = at < 0 ? at + size : at;
	if (*out >= 0 && *out < size)
		return 0;
	PyErr_Format(PyExc_IndexError,
		     "index %zd is out of bounds of %lld elements", at,
		     (long long)size);
	return -1;
}

/* Returns the numbers of a slice. */
static PyObject *numbers_of_slice(const struct flat_object *flat, PyObject *key)
{
	Py_ssize_t start, stop, step;
	npy_intp count, i, *numbers;
	PyObject *array;

	if (PySlice_Unpack(key, &start, &stop, &step))
		return NULL;
	count = PySlice_AdjustIndices((Py_ssize_t)flat->next.size, &start,
				      &stop, step);
	array = PyArray_SimpleNew(1, &count, NPY_INTP);
	if (!array)
		return NULL;
	numbers = PyArray_DATA((PyArrayObject *)array);
	for (i = 0; i < count; i++)
		numbers[i] = start + i * step;
	return array;
}

/* Returns the numbers of the true elements of @mask, taken over. */
static PyObject *numbers_of_mask(const struct flat_object *flat, PyObject *mask)
{
	PyArrayObject *array = (PyArrayObject *)mask;
	PyObject *tuple = NULL, *numbers = NULL;

	if (PyArray_NDIM(array) != 1 ||
	    PyArray_DIM(array, 0) != flat->next.size)
		PyErr_Format(
			PyExc_IndexError,
			"booleans for %lld elements are one axis of as many",
			(long long)flat->next.size);
	else
		tuple = PyArray_Nonzero(array);
	if (tuple)
		numbers = Py_NewRef(PyTuple_GET_ITEM(tuple, 0));
	Py_XDECREF(tuple);
	Py_DECREF(mask);
	return numbers;
}

/* Returns the numbers of any index but an integer, as an array of NumPy. */
static PyObject *numbers_of(const struct flat_object *flat, PyObject *key)
{
	bool given =
		PyArray_Check(key) || Py_IS_TYPE(key, Py_TYPE(flat->array));
	PyObject *array;
	int kind;

	if (PySlice_Check(key))
		return numbers_of_slice(flat, key);
	array = key == Py_None || PyTuple_Check(key) || PyBool_Check(key)
			? NULL
			: PyArray_FromAny(key, NULL, 0, 0, 0, NULL);
	if (PyErr_Occurred())
		return NULL;
	kind = array ? PyArray_TYPE((PyArrayObject *)array) : NPY_VOID;
	if (given && PyTypeNum_ISBOOL(kind))
		return numbers_of_mask(flat, array);
	if (PyTypeNum_ISINTEGER(kind))
		return array;
	if (array && !given && !PyArray_SIZE((PyArrayObject *)array)) {
		Py_SETREF(array,
			  PyArray_Cast((PyArrayObject *)array, NPY_INTP));
		return array;
	}
	Py_XDECREF(array);
	return PyErr_Format(
		PyExc_IndexError,
		"an index of flat is an integer, a slice, ..., or an array of integers or booleans, not %s %s",
		article_of(Py_TYPE(key)->tp_name), Py_TYPE(key)->tp_name);
}

/* Replaces an index of all elements by a slice, and (x,) by x; borrowed. */
static PyObject *simplify(PyObject *key, PyObject *all)
{
	if (PyTuple_Check(key) && PyTuple_GET_SIZE(key) == 1)
		key = PyTuple_GET_ITEM(key, 0);
	return key == Py_Ellipsis ||
			       (PyTuple_Check(key) && !PyTuple_GET_SIZE(key))
		       ? all
		       : key;
}

static bool flat_is_number(PyObject *key)
{
	return PyIndex_Check(key) && !PyBool_Check(key) &&
	       !PyArray_IsScalar(key, Bool) && !PySequence_Check(key);
}

static PyObject *get_one(const struct flat_object *flat, PyObject *key)
{
	struct dray_iterator it;
	int64_t at;

	if (flat_number_take(flat, key, &at))
		return NULL;
	dray_iterator_copy(&it, &flat->next);
	dray_iterator_go_flat(&it, at);
	return element(flat, it.data);
}

static PyObject *get(const struct flat_object *flat, PyObject *key)
{
	PyObject *numbers = numbers_of(flat, key), *result;

	if (!numbers)
		return NULL;
	result = array_take_flat(flat->array, numbers);
	Py_DECREF(numbers);
	return result;
}

static PyObject *flat_get(PyObject *self, PyObject *key)
{
	PyObject *all = PySlice_New(NULL, NULL, NULL), *result;

	if (!all)
		return NULL;
	key = simplify(key, all);
	result = flat_is_number(key) ? get_one(flat_of(self), key)
				     : get(flat_of(self), key);
	Py_DECREF(all);
	return result;
}

/* Returns a number as an array of one. */
static PyObject *one_number(const struct flat_object *flat, PyObject *key)
{
	const npy_intp one = 1;
	PyObject *array;
	int64_t at;

	if (flat_number_take(flat, key, &at))
		return NULL;
	array = PyArray_SimpleNew(1, (npy_intp *)&one, NPY_INTP);
	if (array)
		*(npy_intp *)PyArray_DATA((PyArrayObject *)array) =
			(npy_intp)at;
	return array;
}

static int array_flat_set(const struct flat_object *flat, PyObject *key,
			  PyObject *value)
{
	PyObject *numbers = flat_is_number(key) ? one_number(flat, key)
						: numbers_of(flat, key);
	int ret = numbers ? array_put_flat(flat->array, numbers, value) : -1;

	Py_XDECREF(numbers);
	return ret;
}

static int flat_set(PyObject *self, PyObject *key, PyObject *value)
{
	PyObject *all;
	int ret;

	if (!value) {
		PyErr_SetString(PyExc_TypeError,
				"elements of an array cannot be deleted");
		return -1;
	}
	if (PyTuple_Check(key) && !PyTuple_GET_SIZE(key)) {
		PyErr_SetString(PyExc_IndexError,
				"flat is not set by an index without axes");
		return -1;
	}
	all = PySlice_New(NULL, NULL, NULL);
	if (!all)
		return -1;
	ret = array_flat_set(flat_of(self), simplify(key, all), value);
	Py_DECREF(all);
	return ret;
}

static PyObject *flat_copy(PyObject *self, PyObject *unused)
{
	PyObject *all = PySlice_New(NULL, NULL, NULL);
	PyObject *result = all ? get(flat_of(self), all) : NULL;

	(void)unused;
	Py_XDECREF(all);
	return result;
}

static PyObject *flat_to_numpy(PyObject *self, PyObject *const *args,
			       Py_ssize_t count, PyObject *names)
{
	PyObject *copy = flat_copy(self, NULL), *result;

	if (!copy)
		return NULL;
	result = array_to_numpy(copy, args, count, names);
	Py_DECREF(copy);
	return result;
}

static PyObject *flat_base(PyObject *self, void *unused)
{
	(void)unused;
	return Py_NewRef((PyObject *)flat_of(self)->array);
}

static PyObject *flat_index(PyObject *self, void *unused)
{
	int64_t index;

	(void)unused;
	Py_BEGIN_CRITICAL_SECTION(self);
	index = flat_of(self)->next.index;
	Py_END_CRITICAL_SECTION();
	return PyLong_FromLongLong(index);
}

static PyObject *flat_coordinates(PyObject *self, void *unused)
{
	const struct flat_object *flat = flat_of(self);
	int64_t coordinates[DRAY_MAX_NDIM];

	(void)unused;
	Py_BEGIN_CRITICAL_SECTION(self);
	dray_iterator_coordinates(&flat->next, coordinates);
	Py_END_CRITICAL_SECTION();
	return size_tuple(coordinates, flat->array->ndim);
}

static PyMethodDef flat_methods[] = {
	{ "copy", flat_copy, METH_NOARGS,
	  "copy($self, /)\n--\n\nA new Array of the elements, with one axis." },
	{ "__array__", WITH_KEYWORDS(flat_to_numpy),
	  METH_FASTCALL | METH_KEYWORDS,
	  "__array__($self, /, dtype=None, copy=None)\n--\n\n"
	  "The same as an array of NumPy." },
	{ NULL, NULL, 0, NULL },
};

static PyGetSetDef flat_properties[] = {
	{ "base", flat_base, NULL, "The Array.", NULL },
	{ "index", flat_index, NULL, "The number of the next element.", NULL },
	{ "coords", flat_coordinates, NULL, "Its place along each axis.",
	  NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot flat_slots[] = {
	{ Py_tp_new, made_elsewhere },
	{ Py_tp_doc,
	  "The elements of an Array in C order: an iterator, and an index of numbers\n"
	  "instead of coordinates." },
	{ Py_tp_dealloc, flat_dealloc },
	{ Py_tp_iter, PyObject_SelfIter },
	{ Py_tp_iternext, flat_next },
	{ Py_mp_length, flat_length },
	{ Py_mp_subscript, flat_get },
	{ Py_mp_ass_subscript, flat_set },
	{ Py_tp_methods, flat_methods },
	{ Py_tp_getset, flat_properties },
	{ 0, NULL },
};

PyType_Spec flat_type_spec = {
	.name = "dray.FlatIterator",
	.basicsize = sizeof(struct flat_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
	.slots = flat_slots,
};
