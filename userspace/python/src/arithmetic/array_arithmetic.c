// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Methods of a dray.Array that are calls of ufuncs: clip(), round(), conj() and dot(). */
#include <dray/array/statistics.h>

#include "arithmetic/array_ufunc.h"

/* Calls a ufunc of two operands, or of one if @b is NULL; @out: NULL or None: none. */
static PyObject *arithmetic_computed(struct module_state *state,
				     const char *name, PyObject *a, PyObject *b,
				     PyObject *out)
{
	PyObject *ufunc = ufunc_constant(state, name);
	PyObject *args[3] = { a, b };
	size_t count = b ? 2 : 1;

	if (out && out != Py_None)
		args[count++] = out;
	return ufunc ? ufunc_call(ufunc, args, count, NULL) : NULL;
}

/* Leaves out a limit, an int of Python, that no integer of the array passes. */
static void drop_limit(const struct array_object *self, PyObject **limit,
		       bool least)
{
	const unsigned int bits = dray_dtype_itemsize(self->dtype) * 8;
	const bool natural = dray_dtype_kind(self->dtype) == 'u';
	int64_t number, end;
	int overflow;

	if (!PyLong_CheckExact(*limit) ||
	    (!natural && dray_dtype_kind(self->dtype) != 'i'))
		return;
	number = PyLong_AsLongLongAndOverflow(*limit, &overflow);
	if (least) {
		end = natural ? 0 : INT64_MIN >> (64 - bits);
		if (overflow < 0 || (!overflow && number <= end))
			*limit = Py_None;
	} else if (natural && bits == 64) {
		PyLong_AsUnsignedLongLong(*limit);
		if (overflow > 0 && PyErr_Occurred())
			*limit = Py_None;
		PyErr_Clear();
	} else {
		end = INT64_MAX >> (natural ? 63 - bits : 64 - bits);
		if (overflow > 0 || (!overflow && number >= end))
			*limit = Py_None;
	}
}

/*
 * Clips to two numbers of Python, or two arrays of the same type, in a pass; NULL
 * without an exception: by two calls.
 */
static PyObject *array_clip_at_once(struct module_state *state, PyObject *self,
				    PyObject *least, PyObject *most)
{
	const struct dray_ufunc_options weak = { .size = sizeof(weak),
						 .weak = 2 };
	struct ufunc_operand operands[3];
	struct dray_array *made = NULL;
	PyObject *result = NULL;
	struct ufunc_frame frame;
	bool is_weak[3] = { false };
	int i, ret;

	for (i = 0; i < 3; i++)
		operand_clear(&operands[i]);
	if (!operand_from(self, &operands[0], &is_weak[0]) &&
	    !operand_from(least, &operands[1], &is_weak[1]) &&
	    !operand_from(most, &operands[2], &is_weak[2]) &&
	    is_weak[1] == is_weak[2] && !operands_check(operands, 3) &&
	    !ufunc_enter(&frame, state, true, ufunc_elements(operands, 3))) {
		ret = dray_clip(&operands[0].view, &operands[1].view,
				&operands[2].view, NULL,
				is_weak[1] ? &weak : NULL, &made);
		if (!ufunc_leave(&frame, ret))
			result = ufunc_result(&frame, made, true);
		ufunc_end(&frame);
	}
	for (i = 0; i < 3; i++)
		operand_drop(&operands[i]);
	if (!result)
		PyErr_Clear(); /* Two calls tell what is wrong. */
	return result;
}

/* Whether keywords are of a ufunc, as dtype=. */
static bool has_more_keywords(PyObject *names)
{
	static const char *const known[] = { "min", "max", "out" };
	Py_ssize_t i;
	size_t k;

	for (i = 0; names && i < PyTuple_GET_SIZE(names); i++) {
		for (k = 0; k < 3; k++)
			if (!PyUnicode_CompareWithASCIIString(
				    PyTuple_GET_ITEM(names, i), known[k]))
				break;
		if (k == 3)
			return true;
	}
	return false;
}

PyObject *array_clip(PyObject *self, PyObject *const *args, Py_ssize_t count,
		     PyObject *names)
{
	static const struct signature signature = { "clip",
						    0,
						    3,
						    { { "min", object_take },
						      { "max", object_take },
						      { "out",
							object_take } } };
	struct module_state *state = type_state(self);
	PyObject *least = Py_None, *most = Py_None, *out = Py_None;
	PyObject *above, *result;

	if (has_more_keywords(names))
		return python_call("dray._methods", "clip", self, args, count,
				   names);
	if (arguments_take(&signature, args, count, names,
			   (void *[]){ &least, &most, &out }))
		return NULL;
	if (out != Py_None)
		return array_by_numpy(self, "clip",
				      (PyObject *[]){ least, most, out }, 3,
				      NULL);
	drop_limit(array_self(self), &least, true);
	drop_limit(array_self(self), &most, false);
	if (least == Py_None && most == Py_None)
		return arithmetic_computed(state, "positive", self, NULL, NULL);
	if (least == Py_None)
		return arithmetic_computed(state, "minimum", self, most, NULL);
	if (most == Py_None)
		return arithmetic_computed(state, "maximum", self, least, NULL);
	result = array_clip_at_once(state, self, least, most);
	if (result)
		return result;
	above = arithmetic_computed(state, "maximum", self, least, NULL);
	if (!above)
		return NULL;
	result = arithmetic_computed(state, "minimum", above, most, NULL);
	Py_DECREF(above);
	return result;
}

/* Rounds floats to decimals. */
static PyObject *round_to(struct module_state *state, PyObject *self,
			  int decimals)
{
	struct dray_array *made = NULL;
	PyObject *result = NULL;
	struct ufunc_frame frame;
	struct dray_view view;
	int ret;

	if (array_check_reachable(array_self(self)))
		return NULL;
	array_whole(array_self(self), &view);
	if (ufunc_enter(&frame, state, true, dray_view_size(&view)))
		return NULL;
	ret = dray_round(&view, decimals, &made);
	if (!ufunc_leave(&frame, ret))
		result = ufunc_result(&frame, made, true);
	else
		dray_array_unref(made);
	ufunc_end(&frame);
	return result;
}

/* Lets NumPy round: complex numbers, integers to tens, and into outputs. */
static PyObject *round_by_numpy(PyObject *self, int decimals, PyObject *out)
{
	PyObject *args[2] = { PyLong_FromLong(decimals), out }, *result = NULL;

	if (args[0])
		result = array_by_numpy(self, "round", args, 2, NULL);
	Py_XDECREF(args[0]);
	return result;
}

PyObject *array_round(PyObject *self, PyObject *const *args, Py_ssize_t count,
		      PyObject *names)
{
	static const struct signature signature = {
		"round",
		0,
		2,
		{ { "decimals", int_take }, { "out", object_take } }
	};
	struct module_state *state = type_state(self);
	PyObject *out = Py_None;
	struct dray_view view;
	int decimals = 0;
	char kind;

	if (arguments_take(&signature, args, count, names,
			   (void *[]){ &decimals, &out }))
		return NULL;
	array_whole(array_self(self), &view);
	kind = dray_dtype_kind(view.dtype);
	if ((kind == 'i' || kind == 'u') && decimals >= 0 && out == Py_None)
		return arithmetic_computed(state, "positive", self, NULL, NULL);
	if (out != Py_None ||
	    (kind != 'b' &&
	     (kind != 'f' || decimals < -300 || decimals > 300) &&
	     (kind != 'c' || decimals)))
		return round_by_numpy(self, decimals, out);
	return decimals ? round_to(state, self, decimals)
			: arithmetic_computed(state, "rint", self, NULL, NULL);
}

PyObject *array_conj(PyObject *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "out", NULL };
	PyObject *out = Py_None;
	struct dray_view view;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:conj", names,
					 &out))
		return NULL;
	array_whole(array_self(self), &view);
	if (out == Py_None && strchr("?iuf", dray_dtype_kind(view.dtype)))
		return Py_NewRef(self);
	return arithmetic_computed(type_state(self), "conjugate", self, NULL,
				   out);
}

PyObject *array_dot(PyObject *self, PyObject *const *args, Py_ssize_t count,
		    PyObject *names)
{
	static const struct signature signature = {
		"dot", 1, 2, { { "", object_take }, { "out", object_take } }
	};
	PyObject *other, *out = Py_None;

	if (arguments_take(&signature, args, count, names,
			   (void *[]){ &other, &out }))
		return NULL;
	return out == Py_None
		       ? linear_dot_product(type_state(self), self, other, out)
		       : array_by_numpy(self, "dot",
					(PyObject *[]){ other, out }, 2, NULL);
}
