// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Properties of a dray.nditer, and its moves to other elements and axes. */
#include "array/nditer_parts.h"

static PyObject *py_nditer_numbers(const int64_t *numbers, int count)
{
	PyObject *tuple = PyTuple_New(count), *number;
	int i;

	for (i = 0; tuple && i < count; i++) {
		number = PyLong_FromLongLong(numbers[i]);
		if (!number)
			Py_CLEAR(tuple);
		else
			PyTuple_SET_ITEM(tuple, i, number);
	}
	return tuple;
}

/* The numbers of properties. */
enum nditer_fact {
	FACT_INDEX,
	FACT_POSITION,
	FACT_SIZE,
	FACT_NDIM,
	FACT_OPERANDS,
	FACT_FLAGS,
};

static PyObject *py_nditer_number(PyObject *object, void *fact)
{
	struct dray_nditer *iter = py_nditer_open(object);

	if (!iter)
		return NULL;
	switch ((enum nditer_fact)(intptr_t)fact) {
	case FACT_INDEX:
		return PyLong_FromLongLong(dray_nditer_index(iter));
	case FACT_POSITION:
		return PyLong_FromLongLong(dray_nditer_position(iter));
	case FACT_SIZE:
		return PyLong_FromLongLong(dray_nditer_size(iter));
	case FACT_NDIM:
		return PyLong_FromLong(dray_nditer_ndim(iter));
	case FACT_OPERANDS:
		return PyLong_FromLong(dray_nditer_operands(iter));
	case FACT_FLAGS:
		break;
	}
	return PyLong_FromUnsignedLong(dray_nditer_flags(iter));
}

static PyObject *py_nditer_finished(PyObject *object, void *unused)
{
	(void)unused;
	return PyBool_FromLong(py_nditer_self(object)->ended);
}

static PyObject *py_nditer_delayed(PyObject *object, void *unused)
{
	(void)unused;
	return PyBool_FromLong(py_nditer_self(object)->delayed);
}

static PyObject *py_nditer_closed(PyObject *object, void *unused)
{
	(void)unused;
	return PyBool_FromLong(!py_nditer_self(object)->iter ||
			       py_nditer_self(object)->closed);
}

static PyObject *py_nditer_needs_buffers(PyObject *object, void *unused)
{
	struct dray_nditer *iter = py_nditer_open(object);

	(void)unused;
	return iter ? PyBool_FromLong(dray_nditer_needs_buffers(iter)) : NULL;
}

static PyObject *py_nditer_extents(PyObject *object, void *unused)
{
	struct dray_nditer *iter = py_nditer_open(object);
	int64_t shape[DRAY_MAX_NDIM];

	(void)unused;
	if (!iter)
		return NULL;
	dray_nditer_shape(iter, shape);
	return py_nditer_numbers(shape, dray_nditer_ndim(iter));
}

static PyObject *py_nditer_coordinates(PyObject *object, void *unused)
{
	struct dray_nditer *iter = py_nditer_at(object);
	int64_t coordinates[DRAY_MAX_NDIM];
	int ret;

	(void)unused;
	if (!iter)
		return NULL;
	ret = dray_nditer_multi_index(iter, coordinates);
	return ret ? raise_error(ret)
		   : py_nditer_numbers(coordinates, dray_nditer_ndim(iter));
}

static PyObject *py_nditer_range(PyObject *object, void *unused)
{
	struct dray_nditer *iter = py_nditer_open(object);
	int64_t range[2];

	(void)unused;
	if (!iter)
		return NULL;
	dray_nditer_range(iter, &range[0], &range[1]);
	return py_nditer_numbers(range, 2);
}

PyObject *py_nditer_is_first_visit(PyObject *object, PyObject *number)
{
	struct dray_nditer *iter = py_nditer_at(object);
	const int o = (int)PyLong_AsLong(number);

	if (!iter || PyErr_Occurred())
		return NULL;
	return PyBool_FromLong(dray_nditer_is_first_visit(iter, o));
}

PyObject *py_nditer_axis_strides(PyObject *object, PyObject *number)
{
	struct dray_nditer *iter = py_nditer_open(object);
	const int axis = (int)PyLong_AsLong(number);
	int64_t strides[DRAY_MAX_OPERANDS];
	int ret;

	if (!iter || PyErr_Occurred())
		return NULL;
	ret = dray_nditer_axis_strides(iter, axis, strides);
	return ret ? raise_error(ret)
		   : py_nditer_numbers(strides, dray_nditer_operands(iter));
}

/* Moves that may read buffers, and begin anew if they do not go to an element. */
enum nditer_jump {
	JUMP_RESET,
	JUMP_RANGE,
	JUMP_COORDINATES,
	JUMP_INDEX,
	JUMP_POSITION,
	JUMP_REMOVE_AXIS,
	JUMP_REMOVE_COORDINATES,
	JUMP_EXTERNAL_LOOP,
};

static int py_nditer_jump_to(struct dray_nditer *iter, int jump,
			     const int64_t *numbers)
{
	switch ((enum nditer_jump)jump) {
	case JUMP_RESET:
		return dray_nditer_reset(iter);
	case JUMP_RANGE:
		return dray_nditer_reset_range(iter, numbers[0], numbers[1]);
	case JUMP_COORDINATES:
		return dray_nditer_go(iter, numbers);
	case JUMP_INDEX:
		return dray_nditer_go_index(iter, numbers[0]);
	case JUMP_POSITION:
		return dray_nditer_go_position(iter, numbers[0]);
	case JUMP_REMOVE_AXIS:
		return dray_nditer_remove_axis(iter, (int)numbers[0]);
	case JUMP_REMOVE_COORDINATES:
		return dray_nditer_remove_multi_index(iter);
	case JUMP_EXTERNAL_LOOP:
		break;
	}
	return dray_nditer_enable_external_loop(iter);
}

/* Moves by (number of the jump, numbers). */
PyObject *py_nditer_jump(PyObject *object, PyObject *args)
{
	struct nditer_object *self = py_nditer_self(object);
	int64_t numbers[DRAY_MAX_NDIM] = { 0 };
	struct ufunc_frame frame;
	PyObject *tuple;
	int jump, ret;
	Py_ssize_t i;

	if (!PyArg_ParseTuple(args, "iO!", &jump, &PyTuple_Type, &tuple) ||
	    !py_nditer_open(object))
		return NULL;
	for (i = 0; i < PyTuple_GET_SIZE(tuple) && i < DRAY_MAX_NDIM; i++)
		numbers[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, i));
	if (PyErr_Occurred() || py_nditer_enter(object, &frame, false))
		return NULL;
	ret = py_nditer_jump_to(self->iter, jump, numbers);
	if (py_nditer_leave(&frame, ret))
		return NULL;
	py_nditer_begin(self);
	if (jump == JUMP_RESET || jump == JUMP_RANGE)
		self->delayed = false;
	Py_RETURN_NONE;
}

#define FACT(name, fact, text)                                               \
	{                                                                    \
		name, py_nditer_number, NULL, text, (void *)(intptr_t)(fact) \
	}

PyGetSetDef nditer_properties[] = {
	FACT("number", FACT_INDEX,
	     "The element in C or F order; -1: not kept."),
	FACT("position", FACT_POSITION, "Elements from the start."),
	FACT("itersize", FACT_SIZE, "The number of elements."),
	FACT("ndim", FACT_NDIM, "The number of axes."),
	FACT("nop", FACT_OPERANDS, "The number of operands."),
	FACT("flags", FACT_FLAGS, "The flags of the library."),
	{ "finished", py_nditer_finished, NULL, "Whether it is past the end.",
	  NULL },
	{ "delayed", py_nditer_delayed, NULL, "Whether reset() makes buffers.",
	  NULL },
	{ "closed", py_nditer_closed, NULL, "Whether close() was called.",
	  NULL },
	{ "needs_buffers", py_nditer_needs_buffers, NULL,
	  "Whether an operand is buffered.", NULL },
	{ "shape", py_nditer_extents, NULL, "The extents of its axes.", NULL },
	{ "coordinates", py_nditer_coordinates, NULL,
	  "The coordinates of the element.", NULL },
	{ "range", py_nditer_range, NULL, "The elements that it visits.",
	  NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};
