// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Makes the iterator of a dray.nditer, of arguments that dray/_nditer.py has checked; and
 * the frame around its calls of the library.
 */
#include "array/nditer_parts.h"

/* Errors of numbers in conversions follow the state of the thread. */
int py_nditer_enter(PyObject *self, struct ufunc_frame *frame, bool makes)
{
	return ufunc_enter(frame, class_state(self), makes, 0);
}

int py_nditer_leave(struct ufunc_frame *frame, int ret)
{
	ret = ufunc_leave(frame, ret);
	ufunc_end(frame);
	return ret;
}

/* Returns the iterator of an object that is open; NULL with ValueError. */
struct dray_nditer *py_nditer_open(PyObject *object)
{
	struct nditer_object *self = py_nditer_self(object);

	if (self->iter && !self->closed)
		return self->iter;
	PyErr_SetString(PyExc_ValueError, "Iterator is closed");
	return NULL;
}

/* The same at an element. */
struct dray_nditer *py_nditer_at(PyObject *object)
{
	struct dray_nditer *iter = py_nditer_open(object);

	if (iter && py_nditer_self(object)->ended) {
		PyErr_SetString(PyExc_ValueError, "Iterator is past the end");
		return NULL;
	}
	if (iter && py_nditer_self(object)->delayed) {
		PyErr_SetString(
			PyExc_ValueError,
			"the iterator delays its buffers: reset() makes them");
		return NULL;
	}
	return iter;
}

/* Starts over. */
void py_nditer_begin(struct nditer_object *self)
{
	int64_t start, end;

	dray_nditer_range(self->iter, &start, &end);
	self->started = false;
	self->ended = dray_nditer_size(self->iter) == 0 || start >= end;
}

/* Arguments of an iterator. */
struct nditer_arguments {
	struct ufunc_operand operands[DRAY_MAX_OPERANDS];
	const struct dray_view *views[DRAY_MAX_OPERANDS];
	uint32_t flags[DRAY_MAX_OPERANDS];
	dray_dtype dtypes[DRAY_MAX_OPERANDS];
	int axes[DRAY_MAX_OPERANDS][DRAY_MAX_NDIM];
	const int *maps[DRAY_MAX_OPERANDS];
	int64_t shape[DRAY_MAX_NDIM];
	struct dray_nditer_options options;
	int count;
};

static int py_nditer_operand(struct nditer_arguments *from, int o,
			     PyObject *object, PyObject *flags, PyObject *type)
{
	from->flags[o] = (uint32_t)PyLong_AsUnsignedLong(flags);
	if (PyErr_Occurred() ||
	    (type != Py_None && dtype_take_object(type, &from->dtypes[o])))
		return -1;
	if (object == Py_None)
		return 0;
	if (array_describe((PyArrayObject *)object, &from->operands[o].view))
		return -1;
	from->operands[o].counted = true;
	from->views[o] = &from->operands[o].view;
	return 0;
}

static int py_nditer_map(struct nditer_arguments *from, int o, PyObject *map)
{
	Py_ssize_t i;

	if (map == Py_None)
		return 0;
	for (i = 0; i < PyTuple_GET_SIZE(map); i++)
		from->axes[o][i] = (int)PyLong_AsLong(PyTuple_GET_ITEM(map, i));
	from->maps[o] = from->axes[o];
	return PyErr_Occurred() ? -1 : 0;
}

/* Takes a tuple of extents, -1 for those of the operands. */
static int py_nditer_shape(struct nditer_arguments *from, PyObject *shape)
{
	Py_ssize_t i;

	if (shape == Py_None)
		return 0;
	for (i = 0; i < PyTuple_GET_SIZE(shape); i++)
		from->shape[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(shape, i));
	from->options.shape = from->shape;
	return PyErr_Occurred() ? -1 : 0;
}

static struct dray_nditer *py_nditer_create(PyObject *self,
					    struct nditer_arguments *from)
{
	struct dray_nditer *iter = NULL;
	struct ufunc_frame frame;
	int ret;

	if (py_nditer_enter(self, &frame, true))
		return NULL;
	from->options.operand_flags = from->flags;
	from->options.dtypes = from->dtypes;
	ret = dray_nditer_create(from->views, from->count, &from->options,
				 &iter);
	if (!py_nditer_leave(&frame, ret))
		return iter;
	if (!ret)
		dray_nditer_destroy(iter);
	return NULL;
}

/*
 * Takes (operands, flags of each, types, flags, order, casting, axes, maps of axes,
 * shape, size of buffers): dray/_nditer.py checks them.
 */
PyObject *py_nditer_make(PyObject *object, PyObject *args)
{
	PyObject *operands, *flags, *types, *maps, *shape;
	struct nditer_object *self = py_nditer_self(object);
	struct nditer_arguments *from;
	unsigned int all;
	int order, casting, axes, o, ret = 0;
	long long size;

	if (!PyArg_ParseTuple(args, "O!O!O!ICiiOOL", &PyTuple_Type, &operands,
			      &PyTuple_Type, &flags, &PyTuple_Type, &types,
			      &all, &order, &casting, &axes, &maps, &shape,
			      &size))
		return NULL;
	if (self->iter || PyTuple_GET_SIZE(operands) > DRAY_MAX_OPERANDS ||
	    axes > DRAY_MAX_NDIM) {
		PyErr_SetString(
			PyExc_ValueError,
			"an iterator is made once, of few operands and axes");
		return NULL;
	}
	from = PyMem_Calloc(1, sizeof(*from));
	if (!from)
		return PyErr_NoMemory();
	from->count = (int)PyTuple_GET_SIZE(operands);
	from->options.flags = all;
	from->options.order = (char)order;
	from->options.casting = (uint8_t)casting;
	from->options.buffer_size = size;
	from->options.ndim = (int16_t)axes;
	for (o = 0; o < from->count && !ret; o++)
		ret = py_nditer_operand(from, o, PyTuple_GET_ITEM(operands, o),
					PyTuple_GET_ITEM(flags, o),
					PyTuple_GET_ITEM(types, o));
	if (!ret && maps != Py_None) {
		from->options.operand_axes = from->maps;
		for (o = 0; o < from->count && !ret; o++)
			ret = py_nditer_map(from, o, PyTuple_GET_ITEM(maps, o));
	}
	if (!ret)
		ret = py_nditer_shape(from, shape);
	if (!ret)
		self->iter = py_nditer_create(object, from);
	for (o = 0; o < from->count; o++) {
		if (from->flags[o] & DRAY_OPERAND_WRITE)
			self->writes |= 1u << o;
		operand_drop(&from->operands[o]);
		dray_dtype_unref(from->dtypes[o]);
	}
	PyMem_Free(from);
	if (!self->iter)
		return NULL;
	self->kept = Py_NewRef(operands);
	self->delayed = (all & DRAY_NDITER_BUFFERED) &&
			(all & DRAY_NDITER_DELAY_BUFFERS);
	py_nditer_begin(self);
	Py_RETURN_NONE;
}
