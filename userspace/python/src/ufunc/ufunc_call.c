// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Calls of a ufunc, and its method outer().  An output that is given is returned as it
 * is; one that is made is a dray.Array, and without axes an element.
 */
#include <string.h>

#include <dray/array/reduce.h>

#include "frame/array_convert.h"
#include "ufunc/ufunc_arguments.h"

/*
 * Whether ints of more than 64 bits may be floats: beside floats, and in comparisons:
 * no integer equals one.
 */
static bool may_be_huge(const struct ufunc_arguments *call, int taken)
{
	static const char *const comparisons[] = { "equal",   "not_equal",
						   "less",    "less_equal",
						   "greater", "greater_equal" };
	const char *name = dray_ufunc_name(call->self->ufunc);
	size_t i;
	int o;

	for (o = 0; o < taken; o++) {
		const char kind = dray_dtype_kind(call->operands[o].view.dtype);

		if (kind == 'f' || kind == 'c')
			return true;
	}
	for (i = 0; i < sizeof(comparisons) / sizeof(comparisons[0]); i++)
		if (!strcmp(name, comparisons[i]))
			return true;
	return false;
}

/* Takes the inputs, numbers of Python last. */
static int inputs_take(struct ufunc_arguments *call, PyObject *const *args)
{
	const int inputs = call->self->inputs;
	bool weak;
	int i, huge = -1;

	for (i = 0; i < inputs; i++) {
		weak = false;
		if (operand_from(args[i], &call->operands[i], &weak)) {
			if (huge >= 0 || !PyLong_CheckExact(args[i]) ||
			    !PyErr_ExceptionMatches(PyExc_OverflowError))
				return -1;
			/* Until the other input is known. */
			PyErr_Clear();
			huge = i;
			call->operands[i].view.dtype = 0;
		}
		if (weak)
			call->options.weak |= (uint16_t)(1u << i);
	}
	if (huge < 0)
		return 0;
	if (may_be_huge(call, inputs))
		return operand_huge(args[huge], &call->operands[huge]);
	PyErr_SetString(PyExc_OverflowError,
			"an int of more than 64 bits is not a type of dray");
	return -1;
}

/*
 * Warns once for each operand whose imaginary parts a conversion loses: only "unsafe"
 * allows that.  The call itself raises other errors of types.
 */
static int warn_of_parts(const struct ufunc_arguments *call)
{
	const int operands = call->self->inputs + call->self->outputs;
	dray_dtype given[DRAY_UFUNC_MAX_OPERANDS];
	dray_dtype loop[DRAY_UFUNC_MAX_OPERANDS];
	int o, ret = 0;

	if (call->options.casting != 1 + DRAY_CASTING_UNSAFE)
		return 0;
	for (o = 0; o < operands; o++)
		given[o] = o < call->self->inputs ||
					   call->outputs[o - call->self->inputs]
				   ? call->operands[o].view.dtype
				   : 0;
	if (dray_ufunc_resolve_types(call->self->ufunc, given, &call->options,
				     loop))
		return 0;
	for (o = 0; !ret && o < operands; o++)
		ret = o < call->self->inputs
			      ? array_warn_of_parts(given[o], loop[o])
			      : array_warn_of_parts(loop[o], given[o]);
	for (o = 0; o < operands; o++)
		dray_dtype_unref(loop[o]);
	return ret;
}

int ufunc_arguments_take(struct ufunc_arguments *call, PyObject *const *args,
			 Py_ssize_t count, PyObject *names)
{
	const int inputs = call->self->inputs, outputs = call->self->outputs;
	Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0, i;

	if (count < inputs || count > inputs + outputs) {
		PyErr_Format(
			PyExc_TypeError,
			"%s() takes from %d to %d positional arguments but %zd %s given",
			dray_ufunc_name(call->self->ufunc), inputs,
			inputs + outputs, count, count == 1 ? "was" : "were");
		return -1;
	}
	for (i = inputs; i < count; i++)
		if (ufunc_output_take(call, (int)i - inputs, args[i]))
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
		if (ufunc_keyword_take(call, name, args[count + i]))
			return -1;
	}
	if (inputs_take(call, args))
		return -1;
	/* As NumPy 2.4 does. */
	if (call->masked && !call->placed && count == inputs)
		if (PyErr_WarnEx(
			    PyExc_UserWarning,
			    "where= without out= leaves elements undefined; out=None if that is meant",
			    1))
			return -1;
	if (warn_of_parts(call) ||
	    operands_check(call->operands, inputs + outputs))
		return -1;
	return operands_check(&call->mask, 1);
}

void ufunc_arguments_views(const struct ufunc_arguments *call,
			   const struct dray_view **views)
{
	const int inputs = call->self->inputs;
	int o;

	for (o = 0; o < inputs + call->self->outputs; o++)
		views[o] = o < inputs || call->outputs[o - inputs]
				   ? &call->operands[o].view
				   : NULL;
}

void ufunc_arguments_begin(struct ufunc_arguments *call,
			   struct module_state *state,
			   struct ufunc_object *self)
{
	int o;

	call->state = state;
	call->self = self;
	call->masked = false;
	call->placed = false;
	call->arrays = false;
	call->bare = false;
	call->types = NULL;
	memset(&call->options, 0, sizeof(call->options));
	memset(call->signature, 0, sizeof(call->signature));
	operand_clear(&call->mask);
	for (o = 0; o < DRAY_UFUNC_MAX_OPERANDS; o++) {
		operand_clear(&call->operands[o]);
		call->outputs[o] = NULL;
	}
}

void ufunc_arguments_drop(struct ufunc_arguments *call)
{
	int o;

	for (o = 0; o < call->self->inputs + call->self->outputs; o++) {
		operand_drop(&call->operands[o]);
		dray_dtype_unref(call->signature[o]);
	}
	operand_drop(&call->mask);
	dray_dtype_unref(call->options.dtype);
}

/* Calls the library, which makes the outputs that are not given. */
static int ufunc_call_compute(struct ufunc_arguments *call, bool outer,
			      struct dray_array **made)
{
	const struct dray_view *views[DRAY_UFUNC_MAX_OPERANDS];
	ufunc_arguments_views(call, views);
	if (outer) {
		/* Numbers are arrays, as NumPy has it. */
		call->options.weak = 0;
		return dray_ufunc_outer(call->self->ufunc, views[0], views[1],
					views[2], &call->options, made);
	}
	return dray_ufunc_call(call->self->ufunc, views,
			       views + call->self->inputs, &call->options,
			       made);
}

/* Returns an output that was given, or an object of the one that was made. */
static PyObject *call_output(struct ufunc_arguments *call,
			     struct ufunc_frame *frame, int o,
			     struct dray_array **made, PyObject *wrap)
{
	struct dray_array *array = made[o];
	PyObject *result;

	made[o] = NULL;
	if (call->outputs[o])
		return Py_NewRef(call->outputs[o]);
	result = ufunc_result(frame, array, !call->arrays && !wrap);
	if (!result || !wrap)
		return result;
	return ufunc_wrap_output(call, wrap, result, o);
}

static PyObject *call_results(struct ufunc_arguments *call,
			      struct ufunc_frame *frame,
			      struct dray_array **made, PyObject *wrap)
{
	const int outputs = call->self->outputs;
	PyObject *tuple, *result;
	int o;

	if (outputs == 1)
		return call_output(call, frame, 0, made, wrap);
	tuple = PyTuple_New(outputs);
	for (o = 0; tuple && o < outputs; o++) {
		result = call_output(call, frame, o, made, wrap);
		if (!result)
			Py_CLEAR(tuple);
		else
			PyTuple_SET_ITEM(tuple, o, result);
	}
	return tuple;
}

static int64_t ufunc_call_elements(const struct ufunc_arguments *call,
				   bool outer)
{
	const struct ufunc_operand *operands = call->operands;
	int64_t elements = ufunc_elements(operands, call->self->inputs), size;
	int o;

	if (outer &&
	    __builtin_mul_overflow(ufunc_elements(operands, 1),
				   ufunc_elements(operands + 1, 1), &elements))
		elements = INT64_MAX;
	for (o = 0; o < call->self->outputs; o++) {
		if (!call->outputs[o])
			continue;
		size = dray_view_size(&operands[call->self->inputs + o].view);
		if (size > elements)
			elements = size;
	}
	/* Threads of the library may need the GIL for a loop. */
	return call->options.threads > 1 ? INT64_MAX : elements;
}

static PyObject *ufunc_call_run(struct ufunc_arguments *call, bool outer)
{
	struct dray_array *made[DRAY_UFUNC_MAX_OPERANDS] = { NULL };
	struct ufunc_frame frame;
	PyObject *result = NULL, *wrap = NULL;
	bool makes = false;
	int o, ret;

	for (o = 0; o < call->self->outputs; o++)
		makes = makes || !call->outputs[o];
	if (ufunc_enter(&frame, call->state, makes,
			ufunc_call_elements(call, outer)))
		return NULL;
	if (!frame.thread || call->self->functions)
		call->options.threads = 1;
	ret = ufunc_call_compute(call, outer, made);
	if (!ufunc_leave(&frame, ret) &&
	    !(makes && !outer && ufunc_wrap_find(call, &wrap)))
		result = call_results(call, &frame, made, wrap);
	Py_XDECREF(wrap);
	for (o = 0; o < call->self->outputs && !ret; o++)
		dray_array_unref(made[o]);
	ufunc_end(&frame);
	return result;
}

static PyObject *call_or_outer(PyObject *object, PyObject *const *args,
			       Py_ssize_t count, PyObject *names, bool outer,
			       bool placed)
{
	struct ufunc_arguments call;
	PyObject *result = NULL;

	ufunc_arguments_begin(&call, type_state(object), ufunc_self(object));
	call.placed = placed;
	call.args = args;
	if (!ufunc_arguments_take(&call, args, count, names))
		result = ufunc_call_run(&call, outer);
	ufunc_arguments_drop(&call);
	return result;
}

PyObject *ufunc_call(PyObject *self, PyObject *const *args, size_t count,
		     PyObject *names)
{
	return call_or_outer(self, args, PyVectorcall_NARGS(count), names,
			     false, false);
}

PyObject *ufunc_call_for_numpy(PyObject *self, PyObject *const *args,
			       size_t count, PyObject *names)
{
	return call_or_outer(self, args, PyVectorcall_NARGS(count), names,
			     false, true);
}

PyObject *ufunc_outer(PyObject *self, PyObject *const *args, Py_ssize_t count,
		      PyObject *names)
{
	if (ufunc_self(self)->inputs != 2)
		return PyErr_Format(PyExc_ValueError,
				    "outer() is for ufuncs of two inputs");
	if (count != 2)
		return PyErr_Format(
			PyExc_TypeError,
			"outer() takes 2 positional arguments, not %zd", count);
	return call_or_outer(self, args, count, names, true, false);
}
