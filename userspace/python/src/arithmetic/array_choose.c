// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Elements of a dray.Array by their number, their order and their value. */
#include <limits.h>

#include "arithmetic/array_ufunc.h"
#include "ufunc/ufunc_along.h"

/* Converts an axis, for "O&"; None is all elements in C order. */
static int axis_take(PyObject *object, void *result)
{
	int *out = result;
	Py_ssize_t axis;

	*out = DRAY_FLAT;
	if (object == Py_None)
		return 1;
	axis = PyNumber_AsSsize_t(object, NULL);
	if (axis == -1 && PyErr_Occurred())
		return 0;
	*out = axis <= INT_MIN || axis > INT_MAX ? INT_MAX : (int)axis;
	return 1;
}

static int mode_take(PyObject *object, void *result)
{
	static const enum dray_index_mode modes[] = {
		[NPY_CLIP] = DRAY_INDEX_CLIP,
		[NPY_WRAP] = DRAY_INDEX_WRAP,
		[NPY_RAISE] = DRAY_INDEX_RAISE,
	};
	enum dray_index_mode *out = result;
	NPY_CLIPMODE mode = NPY_RAISE;

	/* It returns NPY_SUCCEED with an exception for some ints. */
	if (PyArray_ClipmodeConverter(object, &mode) == NPY_FAIL ||
	    PyErr_Occurred())
		return 0;
	*out = modes[mode];
	return 1;
}

/* Returns @array, which it owns, with integers; an empty list counts as such. */
static PyObject *as_integers(PyObject *array, bool list)
{
	PyArrayObject *from = (PyArrayObject *)array;
	PyArray_Descr *intp = PyArray_DescrFromType(NPY_INTP);
	PyObject *integers;

	if (PyArray_CanCastArrayTo(from, intp, NPY_SAME_KIND_CASTING) ||
	    (list && !PyArray_SIZE(from))) {
		/* Integers of this type stay where they are. */
		integers = PyArray_FromArray(from, intp, NPY_ARRAY_FORCECAST);
	} else {
		Py_DECREF(intp);
		integers = PyErr_Format(PyExc_TypeError,
					"indices are integers, not %R",
					PyArray_DESCR(from));
	}
	Py_DECREF(array);
	return integers;
}

/* Returns integers as an array of NumPy, and their view. */
static PyObject *indices_take(PyObject *object, struct dray_view *view)
{
	PyObject *array = array_of_numpy(object);

	if (array)
		array = as_integers(array, !PyArray_Check(object));
	if (array && array_describe((PyArrayObject *)array, view))
		Py_CLEAR(array);
	return array;
}

/* Returns @array, which it owns, or its only element, as NumPy does. */
static PyObject *element_or_array(PyObject *array)
{
	PyObject *nowhere, *element;

	if (!array || array_self(array)->ndim)
		return array;
	nowhere = PyTuple_New(0);
	element = nowhere ? array_get(array, nowhere) : NULL;
	Py_XDECREF(nowhere);
	Py_DECREF(array);
	return element;
}

/* Arguments of a function of the library that makes an array. */
struct choose_choice {
	struct dray_view view;
	struct dray_view indices;
	int axis;
	enum dray_index_mode mode;
	int (*find)(const struct dray_view *view, int axis,
		    struct dray_array **out);
};

static int array_choose_take(void *context, struct dray_array **out)
{
	const struct choose_choice *choice = context;

	return dray_take(&choice->view, &choice->indices, choice->axis,
			 choice->mode, out);
}

PyObject *array_take(PyObject *self, PyObject *const *args, Py_ssize_t count,
		     PyObject *names)
{
	static const struct signature signature = { "take",
						    1,
						    4,
						    { { "indices",
							object_take },
						      { "axis", axis_take },
						      { "out", object_take },
						      { "mode", mode_take } } };
	struct choose_choice choice = { .axis = DRAY_FLAT,
					.mode = DRAY_INDEX_RAISE };
	PyObject *object, *out = Py_None, *indices, *result;

	if (arguments_take(&signature, args, count, names,
			   (void *[]){ &object, &choice.axis, &out,
				       &choice.mode }) ||
	    array_check_reachable(array_self(self)))
		return NULL;
	if (out != Py_None)
		return array_by_numpy(self, "take", args, count, names);
	indices = indices_take(object, &choice.indices);
	if (!indices)
		return NULL;
	array_whole(array_self(self), &choice.view);
	result = array_made(Py_TYPE(self), ARRAY_INDEX, array_choose_take,
			    &choice, array_self(self)->descr);
	Py_DECREF(indices);
	return element_or_array(result);
}

/* Writes values to the elements of some numbers. */
static int array_choose_put(struct array_object *self,
			    const struct dray_view *at, PyObject *value,
			    enum dray_index_mode mode)
{
	PyObject *values = array_values(self, value);
	struct dray_view view, from;
	int ret = -1;

	if (values && !array_describe((PyArrayObject *)values, &from)) {
		ret = dray_put(array_whole(self, &view), at, &from, mode);
		if (ret)
			raise_array_error(ARRAY_INDEX, ret);
		dray_dtype_unref(from.dtype);
	}
	Py_XDECREF(values);
	return ret ? -1 : 0; /* Slots of Python know no other error. */
}

PyObject *array_put(PyObject *self, PyObject *const *args, Py_ssize_t count,
		    PyObject *names)
{
	static const struct signature signature = { "put",
						    2,
						    3,
						    { { "indices",
							object_take },
						      { "values", object_take },
						      { "mode", mode_take } } };
	enum dray_index_mode mode = DRAY_INDEX_RAISE;
	PyObject *object, *value, *indices;
	struct dray_view at;
	int ret;

	if (arguments_take(&signature, args, count, names,
			   (void *[]){ &object, &value, &mode }))
		return NULL;
	if (array_check_writable(array_self(self)))
		return NULL;
	indices = indices_take(object, &at);
	if (!indices)
		return NULL;
	ret = array_choose_put(array_self(self), &at, value, mode);
	Py_DECREF(indices);
	if (ret)
		return NULL;
	Py_RETURN_NONE;
}

/* Whether arguments are more than axis=, as kind=, of which Python takes care. */
static bool asks_for_order(Py_ssize_t count, PyObject *names)
{
	return count > 1 ||
	       (names && (count || PyTuple_GET_SIZE(names) > 1 ||
			  PyUnicode_CompareWithASCIIString(
				  PyTuple_GET_ITEM(names, 0), "axis")));
}

PyObject *array_sort(PyObject *self, PyObject *const *args, Py_ssize_t count,
		     PyObject *names)
{
	static const struct signature signature = {
		"sort", 0, 1, { { "axis", int_take } }
	};
	struct dray_view view;
	int axis = -1, ret;

	if (asks_for_order(count, names))
		return python_call("dray._methods", "sort", self, args, count,
				   names);
	if (arguments_take(&signature, args, count, names,
			   (void *[]){ &axis }) ||
	    array_check_reachable(array_self(self)))
		return NULL;
	array_whole(array_self(self), &view);
	ret = dray_sort(&view, axis);
	if (ret)
		return raise_array_error(ARRAY_SHAPE, ret);
	/* A user type's function of Python raised. */
	if (PyErr_Occurred())
		return NULL;
	Py_RETURN_NONE;
}

static int array_choose_find(void *context, struct dray_array **out)
{
	const struct choose_choice *choice = context;

	return choice->find(&choice->view, choice->axis, out);
}

PyObject *array_argsort(PyObject *self, PyObject *const *args, Py_ssize_t count,
			PyObject *names)
{
	static const struct signature signature = {
		"argsort", 0, 1, { { "axis", axis_take } }
	};
	struct choose_choice choice = { .axis = -1, .find = dray_argsort };
	PyObject *flat, *result;

	if (asks_for_order(count, names))
		return python_call("dray._methods", "argsort", self, args,
				   count, names);
	if (arguments_take(&signature, args, count, names,
			   (void *[]){ &choice.axis }) ||
	    array_check_reachable(array_self(self)))
		return NULL;
	flat = choice.axis == DRAY_FLAT
		       ? PyObject_CallMethod(self, "ravel", NULL)
		       : Py_NewRef(self);
	if (!flat)
		return NULL;
	if (choice.axis == DRAY_FLAT)
		choice.axis = 0;
	array_whole((struct array_object *)flat, &choice.view);
	result = array_made(Py_TYPE(self), ARRAY_SHAPE, array_choose_find,
			    &choice, NULL);
	Py_DECREF(flat);
	return result;
}

static PyObject *choose_best(PyObject *self, PyObject *const *args,
			     Py_ssize_t count, PyObject *names,
			     const struct signature *signature,
			     int (*function)(const struct dray_view *view,
					     int axis, struct dray_array **out))
{
	struct choose_choice choice = { .axis = DRAY_FLAT, .find = function };
	PyObject *out = Py_None;

	if (arguments_take(signature, args, count, names,
			   (void *[]){ &choice.axis, &out }) ||
	    array_check_reachable(array_self(self)))
		return NULL;
	if (out != Py_None)
		return array_by_numpy(self, signature->function, args, count,
				      names);
	array_whole(array_self(self), &choice.view);
	if (choice.axis != DRAY_FLAT &&
	    along_check_axis(choice.axis, choice.view.ndim))
		return NULL;
	return element_or_array(array_made(Py_TYPE(self), ARRAY_INDEX,
					   array_choose_find, &choice, NULL));
}

PyObject *array_argmax(PyObject *self, PyObject *const *args, Py_ssize_t count,
		       PyObject *names)
{
	static const struct signature signature = {
		"argmax", 0, 2, { { "axis", axis_take }, { "out", object_take } }
	};

	return choose_best(self, args, count, names, &signature, dray_argmax);
}

PyObject *array_argmin(PyObject *self, PyObject *const *args, Py_ssize_t count,
		       PyObject *names)
{
	static const struct signature signature = {
		"argmin", 0, 2, { { "axis", axis_take }, { "out", object_take } }
	};

	return choose_best(self, args, count, names, &signature, dray_argmin);
}

/* Arrays: the first call makes all, and each call hands out the next. */
struct coordinates {
	struct dray_view view;
	struct dray_array *arrays[DRAY_MAX_NDIM];
	int next;
};

static int next_axis(void *context, struct dray_array **out)
{
	struct coordinates *all = context;
	int ret = all->next ? 0 : dray_nonzero(&all->view, all->arrays);

	if (!ret)
		*out = all->arrays[all->next++];
	return ret;
}

PyObject *array_nonzero(PyObject *self, PyObject *unused)
{
	struct coordinates all = { .next = 0 };
	PyObject *tuple, *array;
	int i, ndim;

	(void)unused;
	if (array_check_reachable(array_self(self)))
		return NULL;
	array_whole(array_self(self), &all.view);
	ndim = all.view.ndim;
	/* Without axes the call fails. */
	tuple = PyTuple_New(ndim ? ndim : 1);
	for (i = 0; tuple && i < PyTuple_GET_SIZE(tuple); i++) {
		array = array_made(Py_TYPE(self), ARRAY_SHAPE, next_axis, &all,
				   NULL);
		if (!array)
			Py_CLEAR(tuple);
		else
			PyTuple_SET_ITEM(tuple, i, array);
	}
	for (i = all.next; all.next && i < ndim; i++)
		dray_array_unref(all.arrays[i]);
	return tuple;
}
