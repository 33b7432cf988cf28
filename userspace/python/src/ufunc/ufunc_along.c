// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Arguments of functions that go along axes, and their calls. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "frame/array_convert.h"
#include "ufunc/ufunc_along.h"

void along_begin(struct along *from, struct module_state *state)
{
	from->axes.all = false;
	from->axes.count = 1;
	from->axes.list[0] = 0;
	from->axes.axes[0] = 0;
	from->state = state;
	from->ufunc = NULL;
	from->ddof = 0;
	operand_clear(&from->in);
	operand_clear(&from->indices);
	operand_clear(&from->to);
	operand_clear(&from->initial);
	operand_clear(&from->mask);
	from->output = NULL;
	from->dtype = 0;
	from->array = from->numbers = NULL;
	from->out = from->first = from->where = from->mean = NULL;
	from->descr = NULL;
	from->axis = 0;
	from->several = false;
	from->keepdims = 0;
	from->element = true;
}

int along_axes_take(PyObject *argument, void *out)
{
	struct along *from = out;
	Py_ssize_t number;

	from->several = PyTuple_Check(argument);
	if (from->several || argument == Py_None)
		return numbers_take(argument, &from->axes);
	if (PyBool_Check(argument)) {
		PyErr_SetString(PyExc_TypeError,
				"an axis is an int, not a bool");
		return 0;
	}
	if (!ssize_take(argument, &number))
		return 0;
	from->axes.all = false;
	from->axes.count = 1;
	from->axes.list[0] = number;
	from->axes.axes[0] =
		number < INT_MIN || number > INT_MAX ? INT_MAX : (int)number;
	return 1;
}

int along_keepdims_take(PyObject *argument, void *out)
{
	Py_ssize_t number = 0;

	if (!ssize_take(argument, &number))
		return 0;
	*(int *)out = number != 0;
	return 1;
}

int along_one_axis(struct along *from, const char *method)
{
	if (from->axes.all && from->in.view.ndim == 1) {
		from->axis = 0;
		return 0;
	}
	if (from->axes.all || from->axes.count != 1) {
		PyErr_Format(PyExc_ValueError,
			     "%s() goes along one axis, not several", method);
		return -1;
	}
	from->axis = from->axes.axes[0];
	return along_check_axis(from->axes.list[0], from->in.view.ndim);
}

void along_end(struct along *from)
{
	operand_drop(&from->in);
	operand_drop(&from->indices);
	operand_drop(&from->to);
	operand_drop(&from->initial);
	operand_drop(&from->mask);
	dray_dtype_unref(from->dtype);
	Py_XDECREF(from->descr);
}

int along_operands(struct along *from)
{
	bool weak;

	if (from->out == Py_Ellipsis) {
		from->element = false;
		from->out = NULL;
	}
	if (from->descr && dtype_take(from->descr, &from->dtype))
		return -1;
	if (operand_from(from->array, &from->in, &weak) ||
	    array_warn_of_parts(from->in.view.dtype, from->dtype))
		return -1;
	return from->out ? operand_single(from->out, &from->to, &from->output)
			 : 0;
}

/* Raises NumPy's exception for an axis that does not exist. */
static int axis_error(int64_t axis, int ndim)
{
	PyObject *class = numpy_exception("AxisError"), *error;

	error = class ? PyObject_CallFunction(class, "Li", (long long)axis,
					      ndim)
		      : NULL;
	if (error)
		PyErr_SetObject(class, error);
	Py_XDECREF(error);
	Py_XDECREF(class);
	return -1;
}

/* A number without axes has axes 0 and -1, as for NumPy. */
int along_check_axis(int64_t axis, int ndim)
{
	const int most = ndim ? ndim : 1;

	return axis >= -most && axis < most ? 0 : axis_error(axis, ndim);
}

int along_check_operands(const struct along *from)
{
	return operands_check(&from->in, 1) ||
			       operands_check(&from->indices, 1) ||
			       operands_check(&from->to, 1) ||
			       operands_check(&from->initial, 1) ||
			       operands_check(&from->mask, 1)
		       ? -1
		       : 0;
}

PyObject *along_compute(struct along *from, along_function *function)
{
	struct dray_array *array = NULL;
	struct ufunc_frame frame;
	PyObject *result = NULL;
	int ret;

	if (along_check_operands(from) ||
	    ufunc_enter(&frame, from->state, !from->output,
			dray_view_size(&from->in.view)))
		return NULL;
	ret = function(from, from->output ? &from->to.view : NULL, &array);
	if (ufunc_leave(&frame, ret)) {
		if (!ret)
			dray_array_unref(array);
	} else if (from->output) {
		result = Py_NewRef(from->output);
	} else {
		result = ufunc_result(&frame, array, from->element);
	}
	ufunc_end(&frame);
	return result;
}

int along_reduction(struct along *from)
{
	bool weak, masked;
	int i;

	if (along_operands(from))
		return -1;
	/* NumPy's word for an argument that is not given. */
	if (from->first &&
	    !strcmp(Py_TYPE(from->first)->tp_name, "_NoValueType"))
		from->first = NULL;
	for (i = 0; i < from->axes.count; i++) {
		/* Only an axis that stands by itself may be one of a number. */
		if (from->several && !from->in.view.ndim)
			return axis_error(from->axes.list[i], 0);
		if (along_check_axis(from->axes.list[i], from->in.view.ndim))
			return -1;
	}
	if (from->first && from->first != Py_None &&
	    operand_from(from->first, &from->initial, &weak))
		return -1;
	return from->where ? operand_mask(from->where, &from->mask, &masked)
			   : 0;
}

struct dray_reduce_options *along_options(struct along *from,
					  struct dray_reduce_options *out)
{
	const bool masked = from->where && from->where != Py_True;

	*out = (struct dray_reduce_options){
		.dtype = from->dtype,
		.axes = from->axes.all ? NULL : from->axes.axes,
		.axes_count = from->axes.all ? 0 : from->axes.count,
		.flags = (from->axes.all ? DRAY_REDUCE_ALL_AXES : 0) |
			 (from->keepdims ? DRAY_REDUCE_KEEPDIMS : 0) |
			 (from->first == Py_None ? DRAY_REDUCE_NO_INITIAL : 0),
		.initial = from->first && from->first != Py_None
				   ? &from->initial.view
				   : NULL,
		.where = masked ? &from->mask.view : NULL,
	};
	return out;
}
