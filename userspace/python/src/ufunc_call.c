// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Calls of a ufunc, with NumPy's keywords, and its method outer().  An output that
 * is given is returned as it is; one that is made is a dray.Array, and without axes
 * an element.
 */
#include <string.h>

#include "ufunc.h"

#include <dray/reduce.h>

struct ufunc_arguments {
	struct module_state *state;
	struct ufunc_object *self;
	struct ufunc_operand operands[DRAY_UFUNC_MAX_OPERANDS];
	struct ufunc_operand mask;
	struct dray_ufunc_options options;
	PyObject *outputs[DRAY_UFUNC_MAX_OPERANDS]; /* borrowed; NULL: made */
	dray_dtype signature[DRAY_UFUNC_MAX_OPERANDS];
	bool masked;
	bool placed; /* out= was given, perhaps as None */
	bool arrays; /* out=...: results without axes are arrays too */
	const char *types; /* the keyword that chose types */
};

/* Takes a type, None as any. */
static int any_type(PyObject *object, dray_dtype *out)
{
	PyArray_Descr *descr;
	int ret;

	*out = 0;
	if (object == Py_None)
		return 0;
	if (PyArray_DescrConverter(object, &descr) == NPY_FAIL)
		return -1;
	ret = dtype_take(descr, out);
	Py_DECREF(descr);
	return ret;
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

static int one_output(struct ufunc_arguments *call, int o, PyObject *object)
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
		return one_output(call, 0, object);
	if (PyTuple_GET_SIZE(object) != outputs) {
		PyErr_Format(PyExc_ValueError,
			     "out= of %s has %d arrays, not %zd",
			     dray_ufunc_name(call->self->ufunc), outputs,
			     PyTuple_GET_SIZE(object));
		return -1;
	}
	for (o = 0; o < outputs; o++)
		if (one_output(call, o, PyTuple_GET_ITEM(object, o)))
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

/* Results are of one class. */
static int subok_keyword(struct ufunc_arguments *call, PyObject *object)
{
	(void)call;
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

static const struct {
	const char *name;
	int (*take)(struct ufunc_arguments *call, PyObject *object);
} keywords[] = {
	{ "out", outputs_take },	{ "where", where_keyword },
	{ "dtype", dtype_keyword },	{ "casting", casting_keyword },
	{ "order", order_keyword },	{ "signature", signature_keyword },
	{ "sig", signature_keyword },	{ "subok", subok_keyword },
	{ "threads", threads_keyword },
};

static int keyword_take(struct ufunc_arguments *call, PyObject *name,
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

/* Takes inputs, then outputs by their place, then keywords. */
static int arguments(struct ufunc_arguments *call, PyObject *const *args,
		     Py_ssize_t count, PyObject *names)
{
	const int inputs = call->self->inputs, outputs = call->self->outputs;
	Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0, i;
	bool weak;

	if (count < inputs || count > inputs + outputs) {
		PyErr_Format(
			PyExc_TypeError,
			"%s() takes from %d to %d positional arguments but %zd were given",
			dray_ufunc_name(call->self->ufunc), inputs,
			inputs + outputs, count);
		return -1;
	}
	for (i = inputs; i < count; i++)
		if (one_output(call, (int)i - inputs, args[i]))
			return -1;
	for (i = 0; i < named; i++) {
		PyObject *name = PyTuple_GET_ITEM(names, i);

		if (count > inputs &&
		    !PyUnicode_CompareWithASCIIString(name, "out")) {
			PyErr_SetString(
				PyExc_TypeError,
				"outputs are given by their place or by out=, not both");
			return -1;
		}
		if (keyword_take(call, name, args[count + i]))
			return -1;
	}
	for (i = 0; i < inputs; i++) {
		weak = false;
		if (operand_from(args[i], &call->operands[i], &weak))
			return -1;
		if (weak)
			call->options.weak |= (uint16_t)(1u << i);
	}
	/* As NumPy 2.4 does. */
	if (call->masked && !call->placed && count == inputs)
		return PyErr_WarnEx(
			PyExc_UserWarning,
			"where= without out= leaves elements undefined; out=None if that is meant",
			1);
	return 0;
}

/* Calls the library, which makes the outputs that are not given. */
static int compute(struct ufunc_arguments *call, bool outer,
		   struct dray_array **made)
{
	const struct dray_view *views[DRAY_UFUNC_MAX_OPERANDS];
	const int inputs = call->self->inputs;
	int o;

	for (o = 0; o < inputs + call->self->outputs; o++)
		views[o] = o < inputs || call->outputs[o - inputs]
				   ? &call->operands[o].view
				   : NULL;
	if (outer)
		return dray_ufunc_outer(call->self->ufunc, views[0], views[1],
					views[2], &call->options, made);
	return dray_ufunc_call(call->self->ufunc, views, views + inputs,
			       &call->options, made);
}

/* Returns what is returned of an output. */
static PyObject *output(struct ufunc_arguments *call, struct ufunc_frame *frame,
			int o, struct dray_array **made)
{
	struct dray_array *array = made[o];

	made[o] = NULL;
	if (call->outputs[o])
		return Py_NewRef(call->outputs[o]);
	return ufunc_result(frame, array, !call->arrays);
}

static PyObject *results(struct ufunc_arguments *call,
			 struct ufunc_frame *frame, struct dray_array **made)
{
	const int outputs = call->self->outputs;
	PyObject *tuple, *result;
	int o;

	if (outputs == 1)
		return output(call, frame, 0, made);
	tuple = PyTuple_New(outputs);
	for (o = 0; tuple && o < outputs; o++) {
		result = output(call, frame, o, made);
		if (!result)
			Py_CLEAR(tuple);
		else
			PyTuple_SET_ITEM(tuple, o, result);
	}
	return tuple;
}

static int64_t elements(const struct ufunc_arguments *call, bool outer)
{
	const struct ufunc_operand *operands = call->operands;

	if (!outer)
		return ufunc_elements(operands, call->self->inputs);
	return ufunc_elements(operands, 1) *
	       (ufunc_elements(operands + 1, 1) & INT32_MAX);
}

static PyObject *run(struct ufunc_arguments *call, bool outer)
{
	struct dray_array *made[DRAY_UFUNC_MAX_OPERANDS] = { NULL };
	struct ufunc_frame frame;
	PyObject *result = NULL;
	bool makes = false;
	int o, ret;

	for (o = 0; o < call->self->outputs; o++)
		makes = makes || !call->outputs[o];
	if (ufunc_enter(&frame, call->state, makes, elements(call, outer)))
		return NULL;
	ret = compute(call, outer, made);
	if (!ufunc_leave(&frame, ret))
		result = results(call, &frame, made);
	for (o = 0; o < call->self->outputs && !ret; o++)
		dray_array_unref(made[o]);
	ufunc_end(&frame);
	return result;
}

static PyObject *call_or_outer(PyObject *object, PyObject *const *args,
			       Py_ssize_t count, PyObject *names, bool outer)
{
	struct ufunc_arguments call;
	PyObject *result = NULL;
	int o;

	call.state = type_state(object);
	call.self = ufunc_self(object);
	call.masked = false;
	call.placed = false;
	call.arrays = false;
	call.types = NULL;
	memset(&call.options, 0, sizeof(call.options));
	memset(call.signature, 0, sizeof(call.signature));
	operand_clear(&call.mask);
	for (o = 0; o < DRAY_UFUNC_MAX_OPERANDS; o++) {
		operand_clear(&call.operands[o]);
		call.outputs[o] = NULL;
	}
	if (!arguments(&call, args, count, names))
		result = run(&call, outer);
	for (o = 0; o < call.self->inputs + call.self->outputs; o++) {
		operand_drop(&call.operands[o]);
		dray_dtype_unref(call.signature[o]);
	}
	operand_drop(&call.mask);
	dray_dtype_unref(call.options.dtype);
	return result;
}

PyObject *ufunc_call(PyObject *self, PyObject *const *args, size_t count,
		     PyObject *names)
{
	return call_or_outer(self, args, PyVectorcall_NARGS(count), names,
			     false);
}

PyObject *ufunc_outer(PyObject *self, PyObject *const *args, Py_ssize_t count,
		      PyObject *names)
{
	if (ufunc_self(self)->inputs != 2 || ufunc_self(self)->outputs != 1)
		return PyErr_Format(
			PyExc_ValueError,
			"outer() is for ufuncs that make one output of two inputs");
	if (count != 2)
		return PyErr_Format(
			PyExc_TypeError,
			"outer() takes 2 positional arguments, not %zd", count);
	return call_or_outer(self, args, count, names, true);
}
