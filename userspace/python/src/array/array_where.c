// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * condition.where(yes, no).  A number of Python beside an array takes on the
 * array's type, as NumPy's result_type() has it.
 */
#include "object/array_object.h"

/* Arguments of dray_where(), and the owners of their memory. */
struct choices {
	struct dray_view condition;
	struct dray_view yes;
	struct dray_view no;
	PyObject *kept[2];
};

static int array_where_choose(void *context, struct dray_array **out)
{
	const struct choices *from = context;

	return dray_where(&from->condition, &from->yes, &from->no, out);
}

/* Returns a number of Python itself, of other objects the type. */
static PyObject *type_or_number(PyObject *object, PyTypeObject *array_type)
{
	if (PyLong_CheckExact(object) || PyFloat_CheckExact(object) ||
	    PyComplex_CheckExact(object))
		return Py_NewRef(object);
	if (Py_IS_TYPE(object, array_type))
		return Py_NewRef((PyObject *)array_self(object)->descr);
	object = PyArray_FromAny(object, NULL, 0, 0, 0, NULL);
	if (object)
		Py_SETREF(object, Py_NewRef((PyObject *)PyArray_DESCR(
					  (PyArrayObject *)object)));
	return object;
}

/* Returns NumPy's type for both. */
static PyArray_Descr *where_common_type(PyObject *one, PyObject *other,
					PyTypeObject *array_type)
{
	PyObject *numpy = PyImport_ImportModule("numpy"), *type = NULL;

	one = type_or_number(one, array_type);
	other = one ? type_or_number(other, array_type) : NULL;
	if (numpy && other)
		type = PyObject_CallMethod(numpy, "result_type", "OO", one,
					   other);
	Py_XDECREF(one);
	Py_XDECREF(other);
	Py_XDECREF(numpy);
	return (PyArray_Descr *)type;
}

/* Describes an array, made of @object if need be, and returns its owner. */
static PyObject *where_operand(PyObject *object, PyArray_Descr *descr,
			       PyTypeObject *array_type, struct dray_view *view)
{
	PyObject *array;

	if (Py_IS_TYPE(object, array_type)) {
		if (array_check_reachable(array_self(object)))
			return NULL;
		dray_dtype_ref(array_whole(array_self(object), view)->dtype);
		return Py_NewRef(object);
	}
	if (PyArray_Check(object))
		descr = NULL;
	Py_XINCREF(descr);
	array = PyArray_FromAny(object, descr, 0, 0, 0, NULL);
	if (array && array_describe((PyArrayObject *)array, view))
		Py_CLEAR(array);
	return array;
}

PyObject *array_where(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
	static const struct signature signature = {
		"where", 2, 2, { { "yes", object_take }, { "no", object_take } }
	};
	struct choices from = { .kept = { NULL, NULL } };
	PyTypeObject *type = Py_TYPE(self);
	PyObject *yes, *no, *result = NULL;
	PyArray_Descr *descr;

	if (arguments_take(&signature, args, count, NULL,
			   (void *[]){ &yes, &no }) ||
	    array_check_reachable(array_self(self)))
		return NULL;
	descr = where_common_type(yes, no, type);
	if (!descr)
		return NULL;
	array_whole(array_self(self), &from.condition);
	from.kept[0] = where_operand(yes, descr, type, &from.yes);
	if (from.kept[0])
		from.kept[1] = where_operand(no, descr, type, &from.no);
	if (from.kept[1]) {
		result = array_made(type, ARRAY_CAST, array_where_choose, &from,
				    NULL);
		dray_dtype_unref(from.no.dtype);
	}
	if (from.kept[0])
		dray_dtype_unref(from.yes.dtype);
	Py_XDECREF(from.kept[0]);
	Py_XDECREF(from.kept[1]);
	Py_DECREF(descr);
	return result;
}
