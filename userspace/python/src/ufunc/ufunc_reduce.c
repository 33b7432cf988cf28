// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Methods of a ufunc that go along axes: reduce(), accumulate(), reduceat(), ufunc_reduce_at(). */
#include "array/array_steps.h"
#include "ufunc/ufunc_along.h"

static int py_ufunc_reduce(struct along *from, const struct dray_view *to,
			   struct dray_array **out)
{
	struct dray_reduce_options options;

	return dray_ufunc_reduce(from->ufunc, &from->in.view, to,
				 along_options(from, &options), out);
}

static void ufunc_reduce_begin(struct along *from, PyObject *self)
{
	along_begin(from, type_state(self));
	from->ufunc = ufunc_self(self)->ufunc;
}

PyObject *ufunc_reduce(PyObject *self, PyObject *const *args, Py_ssize_t count,
		       PyObject *names)
{
	static const struct signature signature = {
		"reduce",
		1,
		7,
		{ { "array", object_take },
		  { "axis", along_axes_take },
		  { "dtype", type_or_none_take },
		  { "out", object_take },
		  { "keepdims", along_keepdims_take },
		  { "initial", object_take },
		  { "where", object_take } }
	};
	PyObject *result = NULL;
	struct along from;

	ufunc_reduce_begin(&from, self);
	if (!arguments_take(&signature, args, count, names,
			    (void *[]){ &from.array, &from, &from.descr,
					&from.out, &from.keepdims, &from.first,
					&from.where }) &&
	    !along_reduction(&from))
		result = along_compute(&from, py_ufunc_reduce);
	along_end(&from);
	return result;
}

static int ufunc_reduce_accumulate(struct along *from,
				   const struct dray_view *to,
				   struct dray_array **out)
{
	return dray_ufunc_accumulate(from->ufunc, &from->in.view, from->axis,
				     from->dtype, to, out);
}

PyObject *ufunc_accumulate(PyObject *self, PyObject *const *args,
			   Py_ssize_t count, PyObject *names)
{
	static const struct signature signature = {
		"accumulate",
		1,
		4,
		{ { "array", object_take },
		  { "axis", along_axes_take },
		  { "dtype", type_or_none_take },
		  { "out", object_take } }
	};
	PyObject *result = NULL;
	struct along from;

	ufunc_reduce_begin(&from, self);
	if (!arguments_take(&signature, args, count, names,
			    (void *[]){ &from.array, &from, &from.descr,
					&from.out }) &&
	    !along_operands(&from) && !along_one_axis(&from, "accumulate"))
		result = along_compute(&from, ufunc_reduce_accumulate);
	along_end(&from);
	return result;
}

static int ufunc_reduce_reduceat(struct along *from, const struct dray_view *to,
				 struct dray_array **out)
{
	return dray_ufunc_reduceat(from->ufunc, &from->in.view,
				   &from->indices.view, from->axis, from->dtype,
				   to, out);
}

/* Takes a short list of ints without an array of NumPy; false for anything else. */
static bool take_few(struct along *from)
{
	PyObject *list = from->numbers;
	int64_t count, i;

	if (!PyList_CheckExact(list))
		return false;
	count = PyList_GET_SIZE(list);
	if (count < 1 || count > ALONG_FEW)
		return false;
	for (i = 0; i < count; i++)
		if (!int64_of(PyList_GET_ITEM(list, i), &from->few[i]))
			return false;
	return !dray_view_init(&from->indices.view, from->few, DRAY_INT64, 1,
			       &count, NULL);
}

/* Takes numbers of elements; a list without any is one of integers. */
static int take_indices(struct along *from)
{
	bool weak;

	if (take_few(from))
		return 0;
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
		  { "axis", along_axes_take },
		  { "dtype", type_or_none_take },
		  { "out", object_take } }
	};
	PyObject *result = NULL;
	struct along from;

	ufunc_reduce_begin(&from, self);
	if (!arguments_take(&signature, args, count, names,
			    (void *[]){ &from.array, &from.numbers, &from,
					&from.descr, &from.out }) &&
	    !along_operands(&from) && !take_indices(&from) &&
	    !along_one_axis(&from, "reduceat"))
		result = along_compute(&from, ufunc_reduce_reduceat);
	along_end(&from);
	return result;
}

/* The elements of the largest of all operands. */
static int64_t elements_of(const struct along *from, const struct steps *steps)
{
	int64_t most = dray_view_size(&from->to.view), size;
	size_t i;

	for (i = 0; i < steps->kept_count; i++) {
		size = dray_view_size(steps->kept[i].view);
		if (size > most)
			most = size;
	}
	return most;
}

/* Computes at an index of any kind, as a[index] takes it. */
static int ufunc_reduce_at(struct along *from, struct array_object *target,
			   PyObject *index, const struct dray_view *values)
{
	struct ufunc_frame frame;
	struct dray_view view;
	struct steps steps;
	int ret;

	ret = steps_take(&steps, target, index);
	if (!ret)
		ret = along_check_operands(from);
	if (!ret)
		ret = ufunc_enter(&frame, from->state, false,
				  elements_of(from, &steps));
	if (!ret) {
		ret = dray_ufunc_at_index(from->ufunc,
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
	ufunc_reduce_begin(&from, self);
	/* Checks the type first, with the error for those without a loop. */
	ret = operand_output(args[0], &from.to);
	if (!ret)
		target = array_from(from.state->array_type, args[0]);
	if (target && inputs == 2)
		ret = operand_from(args[2], &from.in, &weak);
	if (target && !ret)
		ret = ufunc_reduce_at(&from, array_self(target), args[1],
				      inputs == 2 ? &from.in.view : NULL);
	Py_XDECREF(target);
	along_end(&from);
	if (!target || ret)
		return NULL;
	Py_RETURN_NONE;
}
