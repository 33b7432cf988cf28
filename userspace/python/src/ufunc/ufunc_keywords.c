// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Outputs and keywords of a call of a ufunc, which are NumPy's, threads= and fast=. */
#include <string.h>

#include "ufunc/ufunc_arguments.h"

/* Takes a type, None as any. */
static int any_type(PyObject *object, dray_dtype *out)
{
	*out = 0;
	return object == Py_None ? 0 : dtype_take_object(object, out);
}

/* Takes letters, such as "dd->d". */
static int letters_take(struct ufunc_arguments *call, PyObject *object)
{
	const int inputs = call->self->inputs, outputs = call->self->outputs;
	const char *text = PyUnicode_AsUTF8(object);
	int o = 0, ret = 0;

	if (!text)
		return -1;
	if ((int)strlen(text) != inputs + outputs + 2 ||
	    strncmp(text + inputs, "->", 2)) {
		PyErr_Format(
			PyExc_ValueError,
			"a signature of %s has %d letters, \"->\" and %d letters, not %R",
			dray_ufunc_name(call->self->ufunc), inputs, outputs,
			object);
		return -1;
	}
	for (; *text && !ret; text++) {
		if (*text == '-' || *text == '>')
			continue;
		object = PyUnicode_FromStringAndSize(text, 1);
		ret = object ? any_type(object, &call->signature[o++]) : -1;
		Py_XDECREF(object);
	}
	return ret;
}

static int signature_take(struct ufunc_arguments *call, PyObject *object)
{
	const int count = call->self->inputs + call->self->outputs;
	int o;

	if (PyUnicode_Check(object) && PyUnicode_GET_LENGTH(object) > 1) {
		if (letters_take(call, object))
			return -1;
	} else if (PyTuple_Check(object) && PyTuple_GET_SIZE(object) > 1) {
		if (PyTuple_GET_SIZE(object) != count) {
			PyErr_Format(PyExc_ValueError,
				     "a signature of %s has %d types, not %zd",
				     dray_ufunc_name(call->self->ufunc), count,
				     PyTuple_GET_SIZE(object));
			return -1;
		}
		for (o = 0; o < count; o++)
			if (any_type(PyTuple_GET_ITEM(object, o),
				     &call->signature[o]))
				return -1;
	} else {
		PyErr_SetString(
			PyExc_TypeError,
			"a signature is a text such as \"dd->d\", or a tuple of types");
		return -1;
	}
	call->options.signature = call->signature;
	return 0;
}

int ufunc_output_take(struct ufunc_arguments *call, int o, PyObject *object)
{
	if (object == Py_None)
		return 0;
	call->outputs[o] = object;
	return operand_output(object, &call->operands[call->self->inputs + o]);
}

static int outputs_take(struct ufunc_arguments *call, PyObject *object)
{
	const int outputs = call->self->outputs;
	int o;

	call->placed = true;
	if (object == Py_Ellipsis) {
		call->arrays = true;
		return 0;
	}
	if (!PyTuple_Check(object) && outputs > 1 && object != Py_None) {
		PyErr_Format(PyExc_TypeError,
			     "out= of %s is a tuple of %d arrays",
			     dray_ufunc_name(call->self->ufunc), outputs);
		return -1;
	}
	if (!PyTuple_Check(object))
		return ufunc_output_take(call, 0, object);
	if (PyTuple_GET_SIZE(object) != outputs) {
		PyErr_Format(PyExc_ValueError,
			     "out= of %s has %d arrays, not %zd",
			     dray_ufunc_name(call->self->ufunc), outputs,
			     PyTuple_GET_SIZE(object));
		return -1;
	}
	for (o = 0; o < outputs; o++)
		if (ufunc_output_take(call, o, PyTuple_GET_ITEM(object, o)))
			return -1;
	return 0;
}

/* Two keywords that choose types do not go together. */
static int types_once(struct ufunc_arguments *call, const char *keyword)
{
	if (call->types) {
		PyErr_Format(PyExc_TypeError,
			     "%s= and %s= of a ufunc do not go together",
			     call->types, keyword);
		return -1;
	}
	call->types = keyword;
	return 0;
}

static int dtype_keyword(struct ufunc_arguments *call, PyObject *object)
{
	if (object == Py_None)
		return 0;
	if (types_once(call, "dtype"))
		return -1;
	return any_type(object, &call->options.dtype);
}

static int signature_keyword(struct ufunc_arguments *call, PyObject *object)
{
	if (object == Py_None)
		return 0;
	if (types_once(call, "signature"))
		return -1;
	return signature_take(call, object);
}

static int sig_keyword(struct ufunc_arguments *call, PyObject *object)
{
	if (object == Py_None)
		return 0;
	if (types_once(call, "sig"))
		return -1;
	return signature_take(call, object);
}

static int casting_keyword(struct ufunc_arguments *call, PyObject *object)
{
	static const uint8_t rules[] = {
		[NPY_NO_CASTING] = DRAY_CASTING_NO,
		[NPY_EQUIV_CASTING] = DRAY_CASTING_EQUIV,
		[NPY_SAFE_CASTING] = DRAY_CASTING_SAFE,
		[NPY_SAME_KIND_CASTING] = DRAY_CASTING_SAME_KIND,
		[NPY_UNSAFE_CASTING] = DRAY_CASTING_UNSAFE,
	};
	NPY_CASTING casting = NPY_SAME_KIND_CASTING;

	if (!casting_take(object, &casting))
		return -1;
	if ((size_t)casting >= sizeof(rules)) {
		PyErr_Format(PyExc_ValueError, "%R is not a rule for ufuncs",
			     object);
		return -1;
	}
	call->options.casting = (uint8_t)(1 + rules[casting]);
	return 0;
}

static int order_keyword(struct ufunc_arguments *call, PyObject *object)
{
	static const char letters[] = {
		[NPY_CORDER] = 'C',
		[NPY_FORTRANORDER] = 'F',
		[NPY_KEEPORDER] = 'K',
	};
	NPY_ORDER order = NPY_KEEPORDER;

	if (!order_take(object, &order))
		return -1;
	call->options.order = order < 0 ? 'A' : letters[order];
	return 0;
}

static int where_keyword(struct ufunc_arguments *call, PyObject *object)
{
	if (operand_mask(object, &call->mask, &call->masked))
		return -1;
	if (call->masked)
		call->options.where = &call->mask.view;
	return 0;
}

static int subok_keyword(struct ufunc_arguments *call, PyObject *object)
{
	call->bare = object == Py_False;
	if (PyBool_Check(object))
		return 0;
	PyErr_SetString(PyExc_TypeError, "subok= is a bool");
	return -1;
}

static int threads_keyword(struct ufunc_arguments *call, PyObject *object)
{
	int threads;

	if (!int_take(object, &threads))
		return -1;
	if (threads < 0) {
		PyErr_Format(PyExc_ValueError, "%d threads cannot compute",
			     threads);
		return -1;
	}
	call->options.threads = (unsigned int)threads;
	return 0;
}

static int fast_keyword(struct ufunc_arguments *call, PyObject *object)
{
	int fast;

	if (!truth_take(object, &fast))
		return -1;
	if (fast)
		call->options.flags |= DRAY_UFUNC_FAST;
	return 0;
}

static const struct {
	const char *name;
	int (*take)(struct ufunc_arguments *call, PyObject *object);
} keywords[] = {
	{ "out", outputs_take },	{ "where", where_keyword },
	{ "dtype", dtype_keyword },	{ "casting", casting_keyword },
	{ "order", order_keyword },	{ "signature", signature_keyword },
	{ "sig", sig_keyword },		{ "subok", subok_keyword },
	{ "threads", threads_keyword }, { "fast", fast_keyword },
};

int ufunc_keyword_take(struct ufunc_arguments *call, PyObject *name,
		       PyObject *object)
{
	size_t i;

	for (i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++)
		if (!PyUnicode_CompareWithASCIIString(name, keywords[i].name))
			return keywords[i].take(call, object);
	PyErr_Format(PyExc_TypeError, "%s() has no argument %R",
		     dray_ufunc_name(call->self->ufunc), name);
	return -1;
}
