// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Operands of ufuncs.  Arrays of the library and of NumPy are used where they lie;
 * numbers of Python lie in the operand itself; of all else NumPy makes an array.
 */
#include "frame/ufunc.h"

void operand_drop(struct ufunc_operand *operand)
{
	if (operand->counted)
		dray_dtype_unref(operand->view.dtype);
	Py_CLEAR(operand->owner);
	operand->counted = false;
}

static int ufunc_operand_take_array(PyObject *object, struct ufunc_operand *out)
{
	if (array_check_reachable(array_self(object)))
		return -1;
	array_whole(array_self(object), &out->view);
	return 0;
}

static int ufunc_operand_take_numpy(PyObject *array, struct ufunc_operand *out)
{
	if (array_describe((PyArrayObject *)array, &out->view))
		return -1;
	out->array = (PyArrayObject *)array;
	out->counted = true;
	return 0;
}

static bool is_as_described(const struct ufunc_operand *operand)
{
	PyArrayObject *array = operand->array;
	const struct dray_view *view = &operand->view;
	int i;

	if (!array)
		return true;
	if (PyArray_DATA(array) != view->data ||
	    PyArray_NDIM(array) != view->ndim ||
	    (uint64_t)PyArray_ITEMSIZE(array) !=
		    dray_dtype_itemsize(view->dtype))
		return false;
	for (i = 0; i < view->ndim; i++)
		if (PyArray_DIM(array, i) != view->shape[i] ||
		    PyArray_STRIDE(array, i) != view->strides[i])
			return false;
	return true;
}

int operands_check(const struct ufunc_operand *operands, int count)
{
	int o;

	for (o = 0; o < count; o++)
		if (!is_as_described(&operands[o])) {
			PyErr_SetString(
				PyExc_ValueError,
				"an array was changed while other arguments were taken");
			return -1;
		}
	return 0;
}

/* Whether it is an array with a mask, of which the elements are half the values. */
static bool has_mask(PyObject *array)
{
	return !PyArray_CheckExact(array) &&
	       PyObject_HasAttrString(array, "mask") &&
	       PyObject_HasAttrString(array, "filled");
}

static int operand_take_number(struct ufunc_operand *out, dray_dtype dtype)
{
	int ret =
		dray_view_init(&out->view, &out->number, dtype, 0, NULL, NULL);

	if (ret)
		raise_error(ret);
	return ret ? -1 : 0;
}

static int operand_take_integer(PyObject *object, struct ufunc_operand *out)
{
	int overflow;
	int64_t integer = PyLong_AsLongLongAndOverflow(object, &overflow);

	if (!overflow) {
		out->number.integer = integer;
		return operand_take_number(out, DRAY_INT64);
	}
	if (overflow > 0) {
		out->number.natural = PyLong_AsUnsignedLongLong(object);
		if (!PyErr_Occurred())
			return operand_take_number(out, DRAY_UINT64);
		PyErr_Clear();
	}
	PyErr_SetString(PyExc_OverflowError,
			"an int of more than 64 bits is not a type of dray");
	return -1;
}

int operand_huge(PyObject *object, struct ufunc_operand *out)
{
	out->number.real = PyLong_AsDouble(object);
	if (out->number.real == -1 && PyErr_Occurred())
		return -1;
	return operand_take_number(out, DRAY_FLOAT64);
}

/* Takes a number of Python; 1: it is none. */
static int take_weak(PyObject *object, struct ufunc_operand *out)
{
	if (PyFloat_CheckExact(object)) {
		out->number.real = PyFloat_AS_DOUBLE(object);
		return operand_take_number(out, DRAY_FLOAT64);
	}
	if (PyLong_CheckExact(object))
		return operand_take_integer(object, out);
	if (PyComplex_CheckExact(object)) {
		out->number.pair[0] = PyComplex_RealAsDouble(object);
		out->number.pair[1] = PyComplex_ImagAsDouble(object);
		return operand_take_number(out, DRAY_COMPLEX128);
	}
	return 1;
}

int operand_from(PyObject *object, struct ufunc_operand *out, bool *weak)
{
	int ret;

	*weak = false;
	if (array_is(object))
		return ufunc_operand_take_array(object, out);
	if (PyArray_Check(object) && has_mask(object)) {
		PyErr_Format(
			PyExc_TypeError,
			"a %s has a mask, which dray would drop: NumPy's function of the same name keeps it",
			Py_TYPE(object)->tp_name);
		return -1;
	}
	if (PyArray_Check(object))
		return ufunc_operand_take_numpy(object, out);
	ret = take_weak(object, out);
	if (ret <= 0) {
		*weak = true;
		return ret;
	}
	out->owner = PyArray_FromAny(object, NULL, 0, 0, 0, NULL);
	return out->owner ? ufunc_operand_take_numpy(out->owner, out) : -1;
}

int operand_output(PyObject *object, struct ufunc_operand *out)
{
	if (array_is(object))
		return ufunc_operand_take_array(object, out);
	if (PyArray_Check(object))
		return ufunc_operand_take_numpy(object, out);
	PyErr_Format(PyExc_TypeError,
		     "an output is a dray.Array or an array of NumPy, not %s",
		     Py_TYPE(object)->tp_name);
	return -1;
}

int operand_mask(PyObject *object, struct ufunc_operand *out, bool *given)
{
	*given = object != Py_True;
	if (!*given)
		return 0;
	if (array_is(object) && array_self(object)->dtype == DRAY_BOOL)
		return ufunc_operand_take_array(object, out);
	/* Converts safely, so that only bools remain. */
	out->owner = PyArray_FromAny(object, PyArray_DescrFromType(NPY_BOOL), 0,
				     0, 0, NULL);
	return out->owner ? ufunc_operand_take_numpy(out->owner, out) : -1;
}

int operand_single(PyObject *object, struct ufunc_operand *out,
		   PyObject **array)
{
	if (object && PyTuple_Check(object)) {
		if (PyTuple_GET_SIZE(object) != 1) {
			PyErr_SetString(PyExc_ValueError,
					"out= has one array for each output");
			return -1;
		}
		object = PyTuple_GET_ITEM(object, 0);
	}
	*array = object == Py_None ? NULL : object;
	return *array ? operand_output(*array, out) : 0;
}
