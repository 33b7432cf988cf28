// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Methods of a ufunc that go along axes: reduce(), accumulate(), reduceat(), at(). */
#include <errno.h>
#include <string.h>

#include "array_numbers.h"
#include "array_steps.h"
#include "ufunc.h"

#include <dray/reduce.h>

/* Arguments of all of them. */
struct along {
	struct module_state *state;
	struct ufunc_object *self;
	struct ufunc_operand in;
	struct ufunc_operand indices;
	struct ufunc_operand to;
	struct ufunc_operand initial;
	struct ufunc_operand mask;
	PyObject *output; /* borrowed; NULL: made */
	dray_dtype dtype;
	PyObject *array, *out, *first, *where,
		*numbers; /* as they were given */
	PyArray_Descr *descr;
	struct numbers axes;
	int axis;
	int keepdims;
	bool element; /* results without axes are elements */
};

/* A call of the library. */
typedef int along_function(struct along *from, const struct dray_view *to,
			   struct dray_array **out);

static void begin(struct along *from, PyObject *self)
{
	memset(&from->axes, 0, offsetof(struct numbers, list));
	from->state = type_state(self);
	from->self = ufunc_self(self);
	operand_clear(&from->in);
	operand_clear(&from->indices);
	operand_clear(&from->to);
	operand_clear(&from->initial);
	operand_clear(&from->mask);
	from->output = NULL;
	from->dtype = 0;
	from->array = from->numbers = NULL;
	from->out = from->first = from->where = NULL;
	from->descr = NULL;
	from->axis = 0;
	from->keepdims = 0;
	from->element = true;
}

static void end(struct along *from)
{
	operand_drop(&from->in);
	operand_drop(&from->indices);
	operand_drop(&from->to);
	operand_drop(&from->initial);
	operand_drop(&from->mask);
	dray_dtype_unref(from->dtype);
	Py_XDECREF(from->descr);
}

/* Takes the operands that all have. */
static int operands(struct along *from)
{
	bool weak;

	if (from->out == Py_Ellipsis) {
		from->element = false;
		from->out = NULL;
	}
	if (from->descr && dtype_take(from->descr, &from->dtype))
		return -1;
	if (operand_from(from->array, &from->in, &weak))
		return -1;
	return from->out ? operand_single(from->out, &from->to, &from->output)
			 : 0;
}

/* Raises NumPy's exception for an axis that does not exist. */
static int axis_error(int64_t axis, int ndim)
{
	PyObject *module = PyImport_ImportModule("numpy.exceptions");
	PyObject *class, *error;

	if (!module) { /* before NumPy 1.25 */
		PyErr_Clear();
		module = PyImport_ImportModule("numpy");
	}
	class = module ? PyObject_GetAttrString(module, "AxisError") : NULL;
	error = class ? PyObject_CallFunction(class, "Li", (long long)axis,
					      ndim)
		      : NULL;
	if (error)
		PyErr_SetObject(class, error);
	Py_XDECREF(error);
	Py_XDECREF(class);
	Py_XDECREF(module);
	return -1;
}

/* A number without axes has axes 0 and -1, as for NumPy. */
static int check_axis(int64_t axis, int ndim)
{
	const int most = ndim ? ndim : 1;

	return axis >= -most && axis < most ? 0 : axis_error(axis, ndim);
}

/* Calls a function of the library, and makes the result of Python. */
static PyObject *compute(struct along *from, along_function *function)
{
	struct dray_array *array = NULL;
	struct ufunc_frame frame;
	PyObject *result = NULL;
	int ret;

	if (ufunc_enter(&frame, from->state, !from->output,
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

static int reduce(struct along *from, const struct dray_view *to,
		  struct dray_array **out)
{
	const bool masked = from->where && from->where != Py_True;
	const struct dray_reduce_options options = {
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

	return dray_ufunc_reduce(from->self->ufunc, &from->in.view, to,
				 &options, out);
}

static int prepare_reduce(struct along *from)
{
	bool weak, masked;
	int i;

	if (operands(from))
		return -1;
	/* NumPy's word for an argument that is not given. */
	if (from->first &&
	    !strcmp(Py_TYPE(from->first)->tp_name, "_NoValueType"))
		from->first = NULL;
	for (i = 0; i < from->axes.count; i++)
		if (check_axis(from->axes.list[i], from->in.view.ndim))
			return -1;
	if (from->first && from->first != Py_None &&
	    operand_from(from->first, &from->initial, &weak))
		return -1;
	return from->where ? operand_mask(from->where, &from->mask, &masked)
			   : 0;
}

PyObject *ufunc_reduce(PyObject *self, PyObject *const *args, Py_ssize_t count,
		       PyObject *names)
{
	static const struct signature signature = {
		"reduce",
		1,
		7,
		{ { "array", object_take },
		  { "axis", numbers_take },
		  { "dtype", type_or_none_take },
		  { "out", object_take },
		  { "keepdims", truth_take },
		  { "initial", object_take },
		  { "where", object_take } }
	};
	PyObject *result = NULL;
	struct along from;

	begin(&from, self);
	from.axes.count = 1;
	from.axes.list[0] = 0;
	from.axes.axes[0] = 0;
	if (!arguments_take(&signature, args, count, names,
			    (void *[]){ &from.array, &from.axes, &from.descr,
					&from.out, &from.keepdims, &from.first,
					&from.where }) &&
	    !prepare_reduce(&from))
		result = compute(&from, reduce);
	end(&from);
	return result;
}

static int accumulate(struct along *from, const struct dray_view *to,
		      struct dray_array **out)
{
	return dray_ufunc_accumulate(from->self->ufunc, &from->in.view,
				     from->axis, from->dtype, to, out);
}

PyObject *ufunc_accumulate(PyObject *self, PyObject *const *args,
			   Py_ssize_t count, PyObject *names)
{
	static const struct signature signature = {
		"accumulate",
		1,
		4,
		{ { "array", object_take },
		  { "axis", int_take },
		  { "dtype", type_or_none_take },
		  { "out", object_take } }
	};
	PyObject *result = NULL;
	struct along from;

	begin(&from, self);
	if (!arguments_take(&signature, args, count, names,
			    (void *[]){ &from.array, &from.axis, &from.descr,
					&from.out }) &&
	    !operands(&from) && !check_axis(from.axis, from.in.view.ndim))
		result = compute(&from, accumulate);
	end(&from);
	return result;
}

static int reduceat(struct along *from, const struct dray_view *to,
		    struct dray_array **out)
{
	return dray_ufunc_reduceat(from->self->ufunc, &from->in.view,
				   &from->indices.view, from->axis, from->dtype,
				   to, out);
}

/* Takes numbers of elements; a list without any is one of integers. */
static int take_indices(struct along *from)
{
	bool weak;

	if (array_is(from->numbers))
		return operand_from(from->numbers, &from->indices, &weak);
	from->indices.owner = PyArray_FromAny(
		from->numbers, PyArray_DescrFromType(NPY_INTP), 0, 0, 0, NULL);
	if (!from->indices.owner ||
	    array_describe((PyArrayObject *)from->indices.owner,
			   &from->indices.view))
		return -1;
	from->indices.counted = true;
	return 0;
}

PyObject *ufunc_reduceat(PyObject *self, PyObject *const *args,
			 Py_ssize_t count, PyObject *names)
{
	static const struct signature signature = {
		"reduceat",
		2,
		5,
		{ { "array", object_take },
		  { "indices", object_take },
		  { "axis", int_take },
		  { "dtype", type_or_none_take },
		  { "out", object_take } }
	};
	PyObject *result = NULL;
	struct along from;

	begin(&from, self);
	if (!arguments_take(&signature, args, count, names,
			    (void *[]){ &from.array, &from.numbers, &from.axis,
					&from.descr, &from.out }) &&
	    !operands(&from) && !take_indices(&from) &&
	    !check_axis(from.axis, from.in.view.ndim))
		result = compute(&from, reduceat);
	end(&from);
	return result;
}

/* Computes at an index of any kind, as a[index] takes it. */
static int at(struct along *from, struct array_object *target, PyObject *index,
	      const struct dray_view *values)
{
	struct ufunc_frame frame;
	struct dray_view view;
	struct steps steps;
	int ret;

	ret = steps_take(&steps, target, index);
	if (!ret)
		ret = ufunc_enter(&frame, from->state, false, 0);
	if (!ret) {
		ret = dray_ufunc_at_index(from->self->ufunc,
					  array_whole(target, &view),
					  steps.list, steps.count, values);
		ret = ufunc_leave(&frame, ret);
		ufunc_end(&frame);
	}
	steps_drop(&steps);
	return ret;
}

PyObject *ufunc_at(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
	const int inputs = ufunc_self(self)->inputs;
	PyObject *target = NULL;
	struct along from;
	bool weak;
	int ret;

	if (count != 1 + inputs)
		return PyErr_Format(count < 2 || count > 3 ? PyExc_TypeError
							   : PyExc_ValueError,
				    "at() of %s takes %d arguments, not %zd",
				    dray_ufunc_name(ufunc_self(self)->ufunc),
				    1 + inputs, count);
	if (!array_is(args[0]) && !PyArray_Check(args[0]))
		return PyErr_Format(
			PyExc_TypeError,
			"at() changes a dray.Array or an array of NumPy, not %s",
			Py_TYPE(args[0])->tp_name);
	begin(&from, self);
	/* Checks the type first, with the error for those without a loop. */
	ret = operand_output(args[0], &from.to);
	if (!ret)
		target = array_from(from.state->array_type, args[0]);
	if (target && inputs == 2)
		ret = operand_from(args[2], &from.in, &weak);
	if (target && !ret)
		ret = at(&from, array_self(target), args[1],
			 inputs == 2 ? &from.in.view : NULL);
	Py_XDECREF(target);
	end(&from);
	if (!target || ret)
		return NULL;
	Py_RETURN_NONE;
}
