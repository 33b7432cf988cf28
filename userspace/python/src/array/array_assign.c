// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * a[index] = value: values become views, which the library converts and copies.
 * NumPy makes elements of other objects of Python.
 */
#include "frame/array_convert.h"
#include "array/array_steps.h"
#include "object/user_type.h"

/* Elements that are written: all of a view, or the elements that arrays pick. */
struct target {
	PyObject *array;
	const struct dray_view *view;
	const struct steps *steps; /* NULL: all */
};

/* @value is converted, and repeated as needed. */
static int assign_numbers(const struct target *to,
			  const struct dray_view *value)
{
	struct array_conversion conversion;
	int ret;

	if (array_convert_enter(&conversion, to->array, value->dtype,
				to->view->dtype))
		return -1;
	ret = to->steps
		      ? dray_index_set(to->view, to->steps->list,
				       to->steps->count, value)
		      : dray_view_convert(to->view, value, DRAY_CASTING_UNSAFE);
	if (ret)
		raise_array_error(to->steps ? ARRAY_INDEX : ARRAY_CAST, ret);
	return array_convert_leave(&conversion);
}

/* Converts text before it is written: its exceptions differ from an index's. */
static int assign_text(const struct target *to, const struct dray_view *text)
{
	struct dray_array *values;
	struct dray_view view;
	int ret = dray_array_like(text, to->view->dtype, DRAY_ORDER_K, &values);

	if (!ret) {
		ret = dray_view_convert(dray_array_view(values, &view), text,
					DRAY_CASTING_UNSAFE);
		if (!ret)
			ret = assign_numbers(to, &view);
		else
			raise_array_error(ARRAY_CAST, ret);
		dray_array_unref(values);
	} else {
		raise_array_error(ARRAY_CAST, ret);
	}
	return ret ? -1 : 0;
}

static bool assign_is_text(dray_dtype dtype)
{
	return dray_dtype_kind(dtype) == 'S' || dray_dtype_kind(dtype) == 'U';
}

static int py_array_assign(const struct target *to,
			   const struct dray_view *value)
{
	if (to->steps && assign_is_text(value->dtype) &&
	    !assign_is_text(to->view->dtype))
		return assign_text(to, value);
	return assign_numbers(to, value);
}

/* The same, of a view of array_describe(). */
static int assign_described(const struct target *to,
			    const struct dray_view *value)
{
	int ret = py_array_assign(to, value);

	dray_dtype_unref(value->dtype);
	return ret;
}

PyObject *array_values(struct array_object *self, PyObject *value)
{
	if (user_type_of(self->dtype))
		return user_type_call(self->dtype, "_elements", value);
	Py_INCREF(self->descr);
	return PyArray_FromAny(value, self->descr, 0, 0, NPY_ARRAY_FORCECAST,
			       NULL);
}

/* Returns an array without axes, with @value as its element. */
static PyArrayObject *assign_element_of(struct array_object *self,
					PyObject *value)
{
	PyObject *nowhere, *element;

	if (user_type_of(self->dtype))
		return (PyArrayObject *)array_values(self, value);
	nowhere = PyTuple_New(0);
	Py_INCREF(self->descr);
	element = PyArray_NewFromDescr(&PyArray_Type, self->descr, 0, NULL,
				       NULL, NULL, 0, NULL);
	/* NumPy reads an Array as text if it is asked for a single number. */
	value = Py_IS_TYPE(value, Py_TYPE(self)) ? array_as_numpy(value)
						 : Py_NewRef(value);
	if (!nowhere || !element || !value ||
	    PyObject_SetItem(element, nowhere, value))
		Py_CLEAR(element);
	Py_XDECREF(nowhere);
	Py_XDECREF(value);
	return (PyArrayObject *)element;
}

/* Assigns an array of NumPy, taken over; NULL is an error. */
static int assign_numpy(const struct target *to, PyArrayObject *array)
{
	struct dray_view view;
	int ret = array ? array_describe(array, &view) : -1;

	if (!ret)
		ret = assign_described(to, &view);
	Py_XDECREF(array);
	return ret;
}

/* As NumPy: arrays are repeated, and lists are as deep as the elements that they fill, at most. */
static int assign_check_axes(const struct target *to, PyObject *value,
			     PyArrayObject *array)
{
	if (!array || to->steps || PyArray_NDIM(array) <= to->view->ndim ||
	    (!PyList_Check(value) && !PyTuple_Check(value)))
		return 0;
	PyErr_Format(PyExc_ValueError,
		     "a %s of %d axes for elements of %d: nest it less deep",
		     Py_TYPE(value)->tp_name, PyArray_NDIM(array),
		     to->view->ndim);
	return -1;
}

static int assign_object(struct array_object *self, const struct target *to,
			 PyObject *value)
{
	struct dray_view view;
	PyArrayObject *array;

	if (Py_IS_TYPE(value, Py_TYPE(self)))
		return array_check_reachable(array_self(value))
			       ? -1
			       : py_array_assign(to,
						 array_whole(array_self(value),
							     &view));
	if (PyArray_Check(value)) {
		if (!array_describe((PyArrayObject *)value, &view))
			return assign_described(to, &view);
		/* NumPy converts other types. */
		PyErr_Clear();
	}
	array = (PyArrayObject *)array_values(self, value);
	if (assign_check_axes(to, value, array))
		Py_CLEAR(array);
	return assign_numpy(to, array);
}

static int array_assign_set(struct array_object *self,
			    const struct steps *steps, PyObject *value)
{
	struct dray_view view;
	struct target to = { .array = (PyObject *)self, .view = &view };
	int ret;

	array_whole(self, &view);
	if (steps->arrays) {
		to.steps = steps;
		return assign_object(self, &to, value);
	}
	ret = dray_view_index(&view, steps->list, steps->count, &view);
	if (ret) {
		raise_array_error(ARRAY_INDEX, ret);
		return -1;
	}
	return steps_are_one_element(steps, self)
		       ? assign_numpy(&to, assign_element_of(self, value))
		       : assign_object(self, &to, value);
}

int array_check_writable(const struct array_object *self)
{
	if (self->flags & DRAY_WRITE)
		return 0;
	if (array_check_reachable(self))
		return -1;
	PyErr_SetString(PyExc_ValueError, "the array is read-only");
	return -1;
}

#define STORE(type, number)                               \
	do {                                              \
		type stored = (type)(number);             \
                                                          \
		if (stored != (number))                   \
			return false;                     \
		memcpy(element, &stored, sizeof(stored)); \
		return true;                              \
	} while (0)

/* Stores the usual numbers of Python; false for others, which NumPy converts. */
static bool store_number(char *element, dray_dtype dtype, PyObject *value)
{
	int64_t number;

	if (PyFloat_CheckExact(value) && dtype == DRAY_FLOAT64) {
		double real = PyFloat_AS_DOUBLE(value);

		memcpy(element, &real, sizeof(real));
		return true;
	}
	if (!int64_of(value, &number))
		return false;
	if (dtype == DRAY_INT64)
		STORE(int64_t, number);
	if (dtype == DRAY_INT32)
		STORE(int32_t, number);
	if (dtype == DRAY_INT16)
		STORE(int16_t, number);
	if (dtype == DRAY_INT8)
		STORE(int8_t, number);
	if (dtype == DRAY_UINT8)
		STORE(uint8_t, number);
	return false;
}

int array_set(PyObject *object, PyObject *key, PyObject *value)
{
	struct array_object *self = array_self(object);
	struct steps steps;
	char *element;
	int ret;

	if (!value) {
		PyErr_SetString(PyExc_ValueError,
				"elements of an array cannot be deleted");
		return -1;
	}
	if (array_check_writable(self))
		return -1;
	element = array_element_at(self, key);
	if (element && store_number(element, self->dtype, value))
		return 0;
	if (array_is_field(self, key))
		return array_set_field(self, key, value);
	ret = steps_take(&steps, self, key);
	if (!ret)
		ret = array_assign_set(self, &steps, value);
	steps_drop(&steps);
	return ret;
}

int array_set_at(PyObject *self, Py_ssize_t at, PyObject *value)
{
	PyObject *key = number_of_element(at);
	int ret = key ? array_set(self, key, value) : -1;

	Py_XDECREF(key);
	return ret;
}

PyObject *array_fill(PyObject *object, PyObject *value)
{
	struct array_object *self = array_self(object);
	struct dray_view view;
	struct target to = { .array = object,
			     .view = array_whole(self, &view) };

	if (array_check_writable(self) ||
	    assign_numpy(&to, assign_element_of(self, value)))
		return NULL;
	Py_RETURN_NONE;
}
