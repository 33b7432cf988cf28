// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * a[index]: indices of Python become steps of the library.  Lists and arrays are
 * read as views, which the steps keep.  A scalar is made by NumPy.
 */
#include "array/array_steps.h"
#include "object/user_type.h"

/* Reads a part of a slice; a number that is too long becomes the longest. */
static int index_take_part(PyObject *part, int64_t *out)
{
	*out = DRAY_OMIT;
	if (part == Py_None)
		return 0;
	if (int64_of(part, out))
		goto out;
	if (!PyIndex_Check(part)) {
		PyErr_Format(PyExc_TypeError,
			     "a slice has %s %s, which is not an integer",
			     article_of(Py_TYPE(part)->tp_name),
			     Py_TYPE(part)->tp_name);
		return -1;
	}
	*out = PyNumber_AsSsize_t(part, NULL);
	if (*out == -1 && PyErr_Occurred())
		return -1;
out:
	if (*out == DRAY_OMIT)
		++*out;
	return 0;
}

static int take_slice(PyObject *object, struct dray_index *out)
{
	const PySliceObject *slice = (PySliceObject *)object;

	*out = DRAY_ALL;
	if (index_take_part(slice->start, &out->start) ||
	    index_take_part(slice->stop, &out->stop))
		return -1;
	return index_take_part(slice->step, &out->step);
}

static bool is_integer_kind(dray_dtype dtype)
{
	return dray_dtype_kind(dtype) == 'i' || dray_dtype_kind(dtype) == 'u';
}

/* Whether @object is an array without axes, of an integer. */
static bool is_integer_in_array(PyObject *object, PyTypeObject *array_type)
{
	const struct array_object *array = array_self(object);

	if (Py_IS_TYPE(object, array_type))
		return !array->ndim && is_integer_kind(array->dtype);
	return PyArray_Check(object) &&
	       !PyArray_NDIM((PyArrayObject *)object) &&
	       PyArray_ISINTEGER((PyArrayObject *)object);
}

/* Whether NumPy reads @object, not an int, as a single integer; arrays are asked apart. */
static bool index_is_integer(PyObject *object, PyTypeObject *array_type)
{
	return !PyBool_Check(object) && !PyArray_IsScalar(object, Bool) &&
	       !PyArray_Check(object) && !Py_IS_TYPE(object, array_type) &&
	       PyIndex_Check(object);
}

static int index_take_integer(PyObject *object, struct dray_index *out)
{
	int64_t at;

	if (!int64_of(object, &at)) {
		at = PyNumber_AsSsize_t(object, PyExc_IndexError);
		if (at == -1 && PyErr_Occurred())
			return -1;
	}
	*out = DRAY_AT(at);
	return 0;
}

/* Returns an array of NumPy; integers for an empty object other than an array. */
static PyObject *as_indices(PyObject *object)
{
	PyObject *array = array_of_numpy(object), *integers;

	if (!array || PyArray_Check(object) ||
	    PyArray_SIZE((PyArrayObject *)array))
		return array;
	integers = PyArray_Cast((PyArrayObject *)array, NPY_INTP);
	Py_DECREF(array);
	return integers;
}

static int fail_index(PyObject *object)
{
	PyErr_Format(
		PyExc_IndexError,
		"an index is an integer, a slice, ..., None, or an array of integers or booleans, not %s %s",
		article_of(Py_TYPE(object)->tp_name), Py_TYPE(object)->tp_name);
	return -1;
}

static int array_index_describe(struct steps *steps, PyObject *object,
				struct dray_view *view)
{
	struct kept *kept = &steps->kept[steps->kept_count];

	if (Py_IS_TYPE(object, steps->array_type)) {
		if (array_check_reachable(array_self(object)))
			return -1;
		array_whole(array_self(object), view);
		dray_dtype_ref(view->dtype);
		kept->object = Py_NewRef(object);
		return 0;
	}
	kept->object = as_indices(object);
	if (kept->object &&
	    PyDataType_REFCHK(PyArray_DESCR((PyArrayObject *)kept->object)))
		fail_index(object);
	else if (kept->object &&
		 !array_describe((PyArrayObject *)kept->object, view))
		return 0;
	if (kept->object && PyErr_ExceptionMatches(PyExc_TypeError))
		fail_index(object);
	Py_CLEAR(kept->object);
	return -1;
}

/* Reads an array, or anything that NumPy converts to an array. */
static int index_take_array(struct steps *steps, PyObject *object,
			    struct dray_index *out)
{
	struct kept *kept = &steps->kept[steps->kept_count];
	struct dray_view *view = PyMem_Malloc(sizeof(*view));

	if (!view) {
		PyErr_NoMemory();
		return -1;
	}
	if (array_index_describe(steps, object, view)) {
		PyMem_Free(view);
		return -1;
	}
	kept->view = view;
	steps->kept_count++;
	if (!is_integer_kind(view->dtype) &&
	    dray_dtype_kind(view->dtype) != '?')
		return fail_index(object);
	if (!view->ndim && is_integer_kind(view->dtype)) {
		steps->copies = true;
		return index_take_integer(kept->object, out);
	}
	steps->integers = false;
	*out = DRAY_BY(view);
	steps->arrays = true;
	return 0;
}

/* Reads a slice, None or an ellipsis; returns 1 for other objects. */
static int take_part_of_axes(PyObject *object, struct dray_index *out)
{
	if (PySlice_Check(object))
		return take_slice(object, out);
	if (object == Py_None)
		*out = DRAY_NEWAXIS;
	else if (object == Py_Ellipsis)
		*out = DRAY_ELLIPSIS;
	else
		return 1;
	return 0;
}

static int take_step(PyObject *object, struct steps *steps)
{
	struct dray_index *out = &steps->list[steps->count];
	int ret;

	if (steps->count == MAX_STEPS) {
		PyErr_Format(PyExc_IndexError, "more than %d indices",
			     MAX_STEPS);
		return -1;
	}
	steps->count++;
	if (PyLong_CheckExact(object))
		return index_take_integer(object, out);
	ret = take_part_of_axes(object, out);
	if (ret <= 0) {
		steps->integers = false;
		return ret;
	}
	if (index_is_integer(object, steps->array_type)) {
		ret = index_take_integer(object, out);
		if (!ret || !PyErr_ExceptionMatches(PyExc_TypeError))
			return ret;
		/* Arrays of other libraries with a single element define __index__(), too. */
		PyErr_Clear();
	}
	if (is_integer_in_array(object, steps->array_type)) {
		steps->copies = true;
		return index_take_integer(object, out);
	}
	return index_take_array(steps, object, out);
}

/*
 * Reads the steps behind a slice that is wrong: as in NumPy, it is an error only
 * if all others are right.
 */
static void read_rest(struct steps *steps, PyObject *key, Py_ssize_t i)
{
	PyObject *type, *value, *traceback;

	PyErr_Fetch(&type, &value, &traceback);
	for (i++; i < PyTuple_GET_SIZE(key); i++) {
		PyObject *object = PyTuple_GET_ITEM(key, i);

		if (!PySlice_Check(object) && take_step(object, steps))
			break;
	}
	if (!PyErr_Occurred()) {
		PyErr_Restore(type, value, traceback);
		return;
	}
	Py_XDECREF(type);
	Py_XDECREF(value);
	Py_XDECREF(traceback);
}

int steps_take(struct steps *steps, struct array_object *self, PyObject *key)
{
	Py_ssize_t i;

	steps->count = 0;
	steps->kept_count = 0;
	steps->integers = true;
	steps->arrays = false;
	steps->copies = false;
	steps->array_type = Py_TYPE(self);
	if (!PyTuple_Check(key))
		return take_step(key, steps);
	for (i = 0; i < PyTuple_GET_SIZE(key); i++) {
		if (take_step(PyTuple_GET_ITEM(key, i), steps)) {
			if (PySlice_Check(PyTuple_GET_ITEM(key, i)))
				read_rest(steps, key, i);
			return -1;
		}
	}
	return 0;
}

void steps_drop(struct steps *steps)
{
	while (steps->kept_count) {
		struct kept *kept = &steps->kept[--steps->kept_count];

		dray_dtype_unref(kept->view->dtype);
		PyMem_Free(kept->view);
		Py_DECREF(kept->object);
	}
}

bool steps_are_one_element(const struct steps *steps,
			   const struct array_object *self)
{
	return steps->integers && steps->count == (size_t)self->ndim;
}

struct selection {
	const struct dray_view *view;
	const struct steps *steps;
};

static int select_elements(void *context, struct dray_array **out)
{
	const struct selection *from = context;

	return dray_index_get(from->view, from->steps->list, from->steps->count,
			      out);
}

/* Returns a copy of an element, an array without axes. */
static PyObject *index_element(struct array_object *self, void *data)
{
	struct dray_view view;
	PyObject *element, *copy;

	array_whole(self, &view);
	view.data = data;
	view.ndim = 0;
	view.flags |= DRAY_C_CONTIGUOUS | DRAY_F_CONTIGUOUS;
	element = array_over(self, &view);
	copy = element ? array_copy_in(element, NPY_CORDER) : NULL;
	Py_XDECREF(element);
	return array_standard(Py_TYPE(self), copy);
}

/*
 * Returns a scalar of NumPy; a structure's scalar refers to the array's memory.  An element
 * of a user type is the type's value.
 */
static PyObject *index_scalar(struct array_object *self, void *data)
{
	PyObject *base = NULL, *result = NULL;

	if (array_check_reachable(self))
		return NULL;
	if (self->standard)
		return index_element(self, data);
	if (user_type_of(self->dtype))
		return user_type_value(user_type_of(self->dtype), data);
	if (dray_dtype_kind(self->dtype) == 'V')
		base = array_as_numpy((PyObject *)self);
	if (base || !PyErr_Occurred())
		result = PyArray_Scalar(data, self->descr, base);
	Py_XDECREF(base);
	return result;
}

static PyObject *index_get(struct array_object *self, const struct steps *steps)
{
	struct dray_view view;
	struct selection selection = { &view, steps };
	PyObject *result, *copy;
	int ret;

	array_whole(self, &view);
	if (steps->arrays && array_check_reachable(self))
		return NULL;
	if (steps->arrays) {
		result = array_made(Py_TYPE(self), ARRAY_INDEX, select_elements,
				    &selection, self->descr);
		return self->standard ? array_standard(Py_TYPE(self), result)
				      : result;
	}
	ret = dray_view_index(&view, steps->list, steps->count, &view);
	if (ret)
		return raise_array_error(ARRAY_INDEX, ret);
	if (steps_are_one_element(steps, self))
		return index_scalar(self, view.data);
	result = array_over(self, &view);
	if (!result || !steps->copies)
		return result;
	copy = array_copy_in(result, NPY_KEEPORDER);
	Py_DECREF(result);
	return self->standard ? array_standard(Py_TYPE(self), copy) : copy;
}

char *array_element_at(const struct array_object *self, PyObject *key)
{
	PyObject *const *list = &key;
	char *data = self->data;
	Py_ssize_t count = 1;
	int64_t at, extent;
	int i;

	if (PyTuple_CheckExact(key)) {
		list = PySequence_Fast_ITEMS(key);
		count = PyTuple_GET_SIZE(key);
	}
	if (count != self->ndim)
		return NULL;
	for (i = 0; i < self->ndim; i++) {
		extent = array_shape_of(self)[i];
		if (!int64_of(list[i], &at))
			return NULL;
		at += at < 0 ? extent : 0;
		if (at < 0 || at >= extent)
			return NULL;
		data += at * array_strides_of(self)[i];
	}
	return data;
}

PyObject *array_get(PyObject *object, PyObject *key)
{
	struct array_object *self = array_self(object);
	char *element = array_element_at(self, key);
	PyObject *result = NULL;
	struct steps steps;

	if (element)
		return index_scalar(self, element);
	if (array_is_field(self, key))
		return array_get_field(self, key);
	if (!steps_take(&steps, self, key))
		result = index_get(self, &steps);
	steps_drop(&steps);
	return result;
}

PyObject *number_of_element(Py_ssize_t at)
{
	if (at >= 0)
		return PyLong_FromSsize_t(at);
	PyErr_Format(PyExc_IndexError, "index is %zd below the first element",
		     -at);
	return NULL;
}

PyObject *array_at(PyObject *object, Py_ssize_t at)
{
	struct array_object *self = array_self(object);
	PyObject *key, *element;

	if (self->ndim == 1 && at >= 0 && at < array_shape_of(self)[0])
		return index_scalar(self,
				    (char *)self->data +
					    at * array_strides_of(self)[0]);
	key = number_of_element(at);
	element = key ? array_get(object, key) : NULL;
	Py_XDECREF(key);
	return element;
}

Py_ssize_t array_length(PyObject *object)
{
	const struct array_object *self = array_self(object);

	if (self->ndim)
		return (Py_ssize_t)array_shape_of(self)[0];
	PyErr_SetString(PyExc_TypeError, "len() of an array without axes");
	return -1;
}
