// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Operators of dray.Array, by dray's ufuncs.  If dray lacks a loop for the types, NumPy's
 * array over the same memory computes.
 */
#include <stddef.h>
#include <string.h>

#include "arithmetic/array_ufunc.h"

#define SLOT(name) offsetof(PyNumberMethods, nb_##name)

/* An operator, and the same of Python for NumPy's arrays. */
struct operator
{
	const char *name;
	PyObject *(*numpy)(PyObject *, PyObject *);
	PyObject *(*in_place)(PyObject *, PyObject *);
	/* The place of its slot. */
	size_t slot;
	/* Whether its result may lie in an operand of the same type. */
	bool reuses;
};

static PyObject *operators_power(PyObject *a, PyObject *b)
{
	return PyNumber_Power(a, b, Py_None);
}

static PyObject *power_in_place(PyObject *a, PyObject *b)
{
	return PyNumber_InPlacePower(a, b, Py_None);
}

/* Returns the value of an attribute of an object's type, or NULL. */
static PyObject *of_type(PyObject *object, const char *name)
{
	PyObject *value =
		PyObject_GetAttrString((PyObject *)Py_TYPE(object), name);

	if (!value)
		PyErr_Clear();
	return value;
}

/*
 * Whether the other operand is to compute, as NumPy's arrays decide: its type is a
 * subclass of theirs, opts out of ufuncs, or states a higher priority.
 */
static bool is_left_to(PyObject *other, bool in_place)
{
	PyObject *rules, *priority;
	bool left;

	if (array_is_plain(other))
		return false;
	if (PyArray_Check(other))
		return !in_place;
	rules = of_type(other, "__array_ufunc__");
	if (rules) {
		left = rules == Py_None;
		Py_DECREF(rules);
		return left;
	}
	priority = PyObject_GetAttrString(other, "__array_priority__");
	left = priority && PyFloat_AsDouble(priority) > 0;
	PyErr_Clear();
	Py_XDECREF(priority);
	return left;
}

/* Whether a ufunc of NumPy is to ask both operands: the other brings rules of its own. */
static bool operators_has_rules(PyObject *other)
{
	PyObject *rules, *numpys;

	if (array_is_plain(other))
		return false;
	rules = of_type(other, "__array_ufunc__");
	numpys = PyArray_Check(other)
			 ? PyObject_GetAttrString((PyObject *)&PyArray_Type,
						  "__array_ufunc__")
			 : NULL;
	Py_XDECREF(rules);
	Py_XDECREF(numpys);
	return rules != numpys;
}

/* Lets a ufunc of NumPy ask the operands.  @output: NULL: a new array */
static PyObject *ask_both(const char *name, PyObject *a, PyObject *b,
			  PyObject *output)
{
	PyObject *numpy = PyImport_ImportModule("numpy");
	PyObject *ufunc = numpy ? PyObject_GetAttrString(numpy, name) : NULL;
	PyObject *args = Py_BuildValue("(OO)", a, b);
	PyObject *out = output ? Py_BuildValue("{s:(O)}", "out", output) : NULL;
	PyObject *result = NULL;

	if (ufunc && args && !out == !output)
		result = PyObject_Call(ufunc, args, out);
	Py_XDECREF(out);
	Py_XDECREF(args);
	Py_XDECREF(ufunc);
	Py_XDECREF(numpy);
	return result;
}

/* Lets NumPy's arrays compute, to @output or to a new array. */
static PyObject *operators_ask_numpy(struct module_state *state,
				     PyObject *(*function)(PyObject *,
							   PyObject *),
				     PyObject *a, PyObject *b, PyObject *output)
{
	PyObject *left = array_numpy_of(a);
	PyObject *right = left ? array_numpy_of(b) : NULL;
	PyObject *result = right ? function(left, right) : NULL;

	Py_XDECREF(left);
	Py_XDECREF(right);
	if (!result || !output)
		return array_of_result(state, result);
	Py_DECREF(result);
	return Py_NewRef(output);
}

/* Lets the type of the other operand compute; NotImplemented if it does not. */
static PyObject *ask_other(const struct operator* operator, PyObject * a,
			   PyObject *b)
{
	const PyNumberMethods *numbers = Py_TYPE(b)->tp_as_number;
	binaryfunc slot = NULL;

	if (numbers)
		memcpy(&slot, (const char *)numbers + operator->slot,
		       sizeof(slot));
	if (!slot)
		Py_RETURN_NOTIMPLEMENTED;
	/* The slot of powers expects a modulus. */
	if (operator->slot == SLOT(power))
		return numbers->nb_power(a, b, Py_None);
	return slot(a, b);
}

/*
 * Leaves an operator to the other operand, as NumPy's arrays do.  Types that
 * refuse a dray.Array are asked again with an array of NumPy over the same memory.
 */
static PyObject *operators_leave(const struct operator* operator, PyObject * a,
				 PyObject *b)
{
	PyObject *result = Py_NewRef(Py_NotImplemented);

	/* On the right, it was asked before. */
	if (array_is(a))
		Py_SETREF(result, ask_other(operator, a, b));
	if (result != Py_NotImplemented)
		return result;
	Py_DECREF(result);
	return operators_ask_numpy(
		type_state(array_is(a) ? a : b), operator->numpy, a, b, NULL);
}

static PyObject *operators_compute(const struct operator* operator,
				   PyObject * a, PyObject *b, PyObject *output)
{
	struct module_state *state = type_state(array_is(a) ? a : b);
	PyObject *ufunc = ufunc_constant(state, operator->name), *result;
	PyObject *other = array_is(a) ? b : a, *place;

	if (is_left_to(other, output) && output)
		Py_RETURN_NOTIMPLEMENTED;
	if (is_left_to(other, output))
		return operators_leave(operator, a, b);
	if (operators_has_rules(other))
		return ask_both(operator->name, a, b, output);
	place = output;
	/* A class of the other operand may wrap the result. */
	if (!output && operator->reuses && array_is_plain(other))
		place = array_temporary(a,
					b, operator->slot == SLOT(true_divide));
	result = ufunc ? ufunc_call(ufunc, (PyObject *[]){ a, b, place },
				    place ? 3 : 2, NULL)
		       : NULL;
	if (result || (ufunc && !array_ask_numpy()))
		return result;
	return operators_ask_numpy(state, output ? operator->in_place : operator->numpy,
			 a, b, output);
}

static bool operand_is_standard(PyObject *operand)
{
	return array_is(operand) && array_self(operand)->standard;
}

/* The result of operands of which any may be of dray.xp. */
static PyObject *operators_result(PyObject *a, PyObject *b, PyObject *result)
{
	if (!operand_is_standard(a) && !operand_is_standard(b))
		return result;
	return array_standard(Py_TYPE(array_is(a) ? a : b), result);
}

#define OPERATOR(slot, ufunc, python, changes, number)                         \
	static const struct operator slot##_operator = { ufunc, python,        \
							 changes,              \
							 SLOT(number), true }; \
	static PyObject *slot(PyObject *a, PyObject *b)                        \
	{                                                                      \
		return operators_result(a, b,                                  \
					operators_compute(&slot##_operator, a, \
							  b, NULL));           \
	}                                                                      \
	static PyObject *slot##_in_place(PyObject *a, PyObject *b)             \
	{                                                                      \
		return operators_compute(&slot##_operator, a, b, a);           \
	}

OPERATOR(add, "add", PyNumber_Add, PyNumber_InPlaceAdd, add)
OPERATOR(subtract, "subtract", PyNumber_Subtract, PyNumber_InPlaceSubtract,
	 subtract)
OPERATOR(multiply, "multiply", PyNumber_Multiply, PyNumber_InPlaceMultiply,
	 multiply)
OPERATOR(divide, "divide", PyNumber_TrueDivide, PyNumber_InPlaceTrueDivide,
	 true_divide)
OPERATOR(floor_divide, "floor_divide", PyNumber_FloorDivide,
	 PyNumber_InPlaceFloorDivide, floor_divide)
OPERATOR(modulo, "remainder", PyNumber_Remainder, PyNumber_InPlaceRemainder,
	 remainder)
OPERATOR(and, "bitwise_and", PyNumber_And, PyNumber_InPlaceAnd, and)
OPERATOR(or, "bitwise_or", PyNumber_Or, PyNumber_InPlaceOr, or)
OPERATOR(xor, "bitwise_xor", PyNumber_Xor, PyNumber_InPlaceXor, xor)
OPERATOR(shift_left, "left_shift", PyNumber_Lshift, PyNumber_InPlaceLshift,
	 lshift)
OPERATOR(shift_right, "right_shift", PyNumber_Rshift, PyNumber_InPlaceRshift,
	 rshift)

static const struct operator matmul_operator = { "matmul",
						 PyNumber_MatrixMultiply,
						 PyNumber_InPlaceMatrixMultiply,
						 SLOT(matrix_multiply), false };

static PyObject *operators_product(PyObject *a, PyObject *b, PyObject *output)
{
	struct module_state *state = type_state(array_is(a) ? a : b);
	PyObject *other = array_is(a) ? b : a, *result;

	/* Others decide as about a ufunc. */
	if (is_left_to(other, output) || operators_has_rules(other))
		return operators_compute(&matmul_operator, a, b, output);
	result = linear_product(state, a, b, output ? output : Py_None);
	if (result || !array_ask_numpy())
		return result;
	return operators_compute(&matmul_operator, a, b, output);
}

static PyObject *operators_matmul(PyObject *a, PyObject *b)
{
	return operators_result(a, b, operators_product(a, b, NULL));
}

static PyObject *matmul_in_place(PyObject *a, PyObject *b)
{
	return operators_product(a, b, a);
}

static const struct operator power_operator = { "power", operators_power,
						power_in_place, SLOT(power),
						true };
static const struct operator divmod_operator = { "divmod", PyNumber_Divmod,
						 NULL, SLOT(divmod), false };

static PyObject *array_divmod(PyObject *a, PyObject *b)
{
	return operators_result(
		a, b, operators_compute(&divmod_operator, a, b, NULL));
}

static PyObject *operators_one(const char *name, PyObject *(*numpy)(PyObject *),
			       PyObject *self)
{
	struct module_state *state = type_state(self);
	PyObject *ufunc = ufunc_constant(state, name), *result, *array;

	result = ufunc ? ufunc_call(ufunc, &self, 1, NULL) : NULL;
	if (!result && (!ufunc || array_ask_numpy())) {
		array = array_as_numpy(self);
		result = array ? numpy(array) : NULL;
		Py_XDECREF(array);
		result = array_of_result(state, result);
	}
	return operators_result(self, self, result);
}

/*
 * Returns the name of the function that a power of inexact numbers is, as NumPy
 * chooses it; NULL: there is none.
 */
static const char *simple_power(PyObject *a, PyObject *exponent)
{
	const char kind =
		array_is(a) ? dray_dtype_kind(array_self(a)->dtype) : 0;
	double number;

	if (!PyFloat_CheckExact(exponent) && !PyLong_CheckExact(exponent))
		return NULL;
	number = PyFloat_AsDouble(exponent);
	if (number == -1 && PyErr_Occurred()) {
		PyErr_Clear();
		return NULL;
	}
	if (number == 2 && (kind == 'f' || kind == 'c' ||
			    ((kind == '?' || kind == 'i' || kind == 'u') &&
			     PyLong_CheckExact(exponent))))
		return "square";
	if (kind != 'f' && kind != 'c')
		return NULL;
	return number == -1    ? "reciprocal"
	       : number == 0.5 ? "sqrt"
	       : number == 1   ? "positive"
			       : NULL;
}

static PyObject *array_power(PyObject *a, PyObject *b, PyObject *modulus)
{
	const char *name = simple_power(a, b);
	PyObject *ufunc;

	if (modulus != Py_None)
		Py_RETURN_NOTIMPLEMENTED;
	ufunc = name ? ufunc_constant(type_state(a), name) : NULL;
	return operators_result(a, b,
				ufunc ? ufunc_call(ufunc, &a, 1, NULL)
				      : operators_compute(&power_operator, a, b,
							  NULL));
}

static PyObject *array_power_in_place(PyObject *a, PyObject *b,
				      PyObject *modulus)
{
	const char *name = simple_power(a, b);
	PyObject *ufunc;

	if (modulus != Py_None)
		Py_RETURN_NOTIMPLEMENTED;
	ufunc = name ? ufunc_constant(type_state(a), name) : NULL;
	return ufunc ? ufunc_call(ufunc, (PyObject *[]){ a, a }, 2, NULL)
		     : operators_compute(&power_operator, a, b, a);
}

static PyObject *array_negative(PyObject *self)
{
	return operators_one("negative", PyNumber_Negative, self);
}

static PyObject *array_positive(PyObject *self)
{
	return operators_one("positive", PyNumber_Positive, self);
}

static PyObject *array_absolute(PyObject *self)
{
	return operators_one("absolute", PyNumber_Absolute, self);
}

static PyObject *array_invert(PyObject *self)
{
	return operators_one("invert", PyNumber_Invert, self);
}

/* Compares by NumPy, also text and types without an order. */
static PyObject *compare_by_numpy(struct module_state *state, PyObject *self,
				  PyObject *other, int how)
{
	PyObject *array = array_as_numpy(self), *result;

	result = array ? PyObject_RichCompare(array, other, how) : NULL;
	Py_XDECREF(array);
	return array_of_result(state, result);
}

/* As operators_leave(). */
static PyObject *leave_comparison(struct module_state *state, PyObject *self,
				  PyObject *other, int how)
{
	static const int reversed[] = {
		[Py_LT] = Py_GT, [Py_LE] = Py_GE, [Py_EQ] = Py_EQ,
		[Py_NE] = Py_NE, [Py_GT] = Py_LT, [Py_GE] = Py_LE,
	};
	richcmpfunc compare = Py_TYPE(other)->tp_richcompare;
	PyObject *result = compare ? compare(other, self, reversed[how])
				   : Py_NewRef(Py_NotImplemented);

	if (result != Py_NotImplemented)
		return result;
	Py_DECREF(result);
	return compare_by_numpy(state, self, other, how);
}

static PyObject *operators_compare(PyObject *self, PyObject *other, int how)
{
	static const char *const names[] = {
		[Py_LT] = "less",    [Py_LE] = "less_equal",
		[Py_EQ] = "equal",   [Py_NE] = "not_equal",
		[Py_GT] = "greater", [Py_GE] = "greater_equal",
	};
	struct module_state *state = type_state(self);
	PyObject *ufunc = ufunc_constant(state, names[how]), *result;

	if (is_left_to(other, false))
		return leave_comparison(state, self, other, how);
	if (operators_has_rules(other))
		return ask_both(names[how], self, other, NULL);
	result = ufunc ? ufunc_call(ufunc, (PyObject *[]){ self, other }, 2,
				    NULL)
		       : NULL;
	if (result || (ufunc && !array_ask_numpy()))
		return result;
	return compare_by_numpy(state, self, other, how);
}

PyObject *array_compare(PyObject *self, PyObject *other, int how)
{
	return operators_result(self, other,
				operators_compare(self, other, how));
}

const PyType_Slot array_operators[ARRAY_OPERATORS] = {
	{ Py_nb_add, add },
	{ Py_nb_inplace_add, add_in_place },
	{ Py_nb_subtract, subtract },
	{ Py_nb_inplace_subtract, subtract_in_place },
	{ Py_nb_multiply, multiply },
	{ Py_nb_inplace_multiply, multiply_in_place },
	{ Py_nb_true_divide, divide },
	{ Py_nb_inplace_true_divide, divide_in_place },
	{ Py_nb_floor_divide, floor_divide },
	{ Py_nb_inplace_floor_divide, floor_divide_in_place },
	{ Py_nb_remainder, modulo },
	{ Py_nb_inplace_remainder, modulo_in_place },
	{ Py_nb_matrix_multiply, operators_matmul },
	{ Py_nb_inplace_matrix_multiply, matmul_in_place },
	{ Py_nb_and, and},
	{ Py_nb_inplace_and, and_in_place },
	{ Py_nb_or, or },
	{ Py_nb_inplace_or, or_in_place },
	{ Py_nb_xor, xor},
	{ Py_nb_inplace_xor, xor_in_place },
	{ Py_nb_lshift, shift_left },
	{ Py_nb_inplace_lshift, shift_left_in_place },
	{ Py_nb_rshift, shift_right },
	{ Py_nb_inplace_rshift, shift_right_in_place },
	{ Py_nb_power, array_power },
	{ Py_nb_inplace_power, array_power_in_place },
	{ Py_nb_divmod, array_divmod },
	{ Py_nb_negative, array_negative },
	{ Py_nb_positive, array_positive },
	{ Py_nb_absolute, array_absolute },
	{ Py_nb_invert, array_invert },
};
