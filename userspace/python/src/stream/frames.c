// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Frames objects: the ring of a stream as an iterator. */
#include <stdlib.h>

#include "ring.h"

static struct frames_object *frames_of(PyObject *self)
{
	return (struct frames_object *)self;
}

/* Gives the frames to the stream; @base: number of the last packet before. */
static int frames_give(struct dray_stream *stream, PyObject *arrays,
		       unsigned int flags, uint64_t *base)
{
	struct dray_ring_counts counts = { 0 };
	const struct dray_view *views[DRAY_MAX_FRAMES];
	Py_ssize_t i, count = PyTuple_GET_SIZE(arrays);
	struct operand *operands = calloc(count + 1, sizeof(*operands));
	int ret = -1;

	if (!operands) {
		PyErr_NoMemory();
		return -1;
	}
	/* The library refuses more. */
	for (i = 0; i < count && i < DRAY_MAX_FRAMES; i++) {
		if (operand_take(PyTuple_GET_ITEM(arrays, i), "frame",
				 OPERAND_EMPTY | OPERAND_FOREIGN, &operands[i]))
			goto out;
		/* A step makes its frame read-only, as an array of NumPy. */
		if (!PyArray_Check(operands[i].object)) {
			PyErr_SetString(PyExc_TypeError,
					"frame is not a NumPy array");
			goto out;
		}
		views[i] = &operands[i].view;
	}
	Py_BEGIN_ALLOW_THREADS
	ret = dray_stream_ring(stream, views, (size_t)count, flags);
	Py_END_ALLOW_THREADS
	if (!ret)
		ret = dray_stream_ring_counts(stream, &counts);
	if (ret)
		raise_error(ret);
	*base = counts.base;
out:
	free(operands);
	return ret;
}

/* Waits for frames of an earlier loop that are still sent.  -1 with an exception. */
static int frames_await_rest(PyObject *stream, double limit)
{
	int ret = stream_finish_rest(stream, limit);

	if (ret && ret != -EINTR)
		raise_error(ret);
	return PyErr_Occurred() ? -1 : 0;
}

PyObject *frames_new(PyObject *module, PyObject *args)
{
	struct module_state *state = module_state(module);
	PyObject *object, *arrays, *timeout;
	struct frames_object *self;
	struct dray_stream *stream;
	int overwrite, ret = -1;
	double limit;

	if (!PyArg_ParseTuple(args, "O!O!pO:frames", state->stream_type,
			      &object, &PyTuple_Type, &arrays, &overwrite,
			      &timeout) ||
	    seconds_take(timeout, "timeout", &limit))
		return NULL;
	self = (struct frames_object *)state->frames_type->tp_alloc(
		state->frames_type, 0);
	if (!self)
		return NULL;
	self->stream = Py_NewRef(object);
	self->arrays = Py_NewRef(arrays);
	self->timeout = limit;
	self->sends = stream_sends(object);
	self->ended = true; /* until it has begun */
	self->spare = calloc(PyTuple_GET_SIZE(self->arrays) + 1,
			     sizeof(*self->spare));
	if (!self->spare)
		PyErr_NoMemory();
	stream = self->spare && !frames_await_rest(object, limit)
			 ? stream_enter(object)
			 : NULL;
	if (stream) {
		ret = frames_give(stream, arrays,
				  overwrite ? DRAY_RING_OVERWRITE : 0,
				  &self->last);
		stream_leave(object);
	}
	self->ended = ret != 0;
	if (!ret)
		return (PyObject *)self;
	Py_DECREF(self);
	return NULL;
}

static int frames_traverse(PyObject *object, visitproc visit, void *arg)
{
	struct frames_object *self = frames_of(object);

	Py_VISIT(Py_TYPE(object));
	Py_VISIT(self->stream);
	Py_VISIT(self->arrays);
	Py_VISIT(self->array);
	return 0;
}

static void frames_dealloc(PyObject *object)
{
	struct frames_object *self = frames_of(object);
	PyTypeObject *type = Py_TYPE(object);

	PyObject_GC_UnTrack(object);
	ring_abandon(self);
	Py_XDECREF(self->array);
	Py_DECREF(self->arrays);
	Py_DECREF(self->stream);
	free(self->spare);
	PyObject_GC_Del(object);
	Py_DECREF(type);
}

static PyObject *frames_next(PyObject *self)
{
	return ring_step(frames_of(self), frames_of(self)->timeout);
}

/* Takes the next frame, or None if the step would wait. */
static PyObject *frames_poll(PyObject *object, PyObject *unused)
{
	PyObject *array = ring_step(frames_of(object), 0);

	(void)unused;
	if (array)
		return array;
	if (!PyErr_Occurred())
		PyErr_SetNone(PyExc_StopAsyncIteration);
	if (!PyErr_ExceptionMatches(PyExc_TimeoutError))
		return NULL;
	PyErr_Clear();
	Py_RETURN_NONE;
}

static PyObject *frames_flush(PyObject *object, PyObject *timeout)
{
	struct frames_object *self = frames_of(object);
	double limit;

	if (seconds_take(timeout, "timeout", &limit))
		return NULL;
	if (self->sends)
		return ring_flush(self, limit);
	return PyErr_Format(PyExc_ValueError, "%s receives, it cannot send",
			    stream_name(self->stream));
}

static PyObject *frames_close(PyObject *object, PyObject *args)
{
	PyObject *timeout;
	double limit;
	int drops;

	if (!PyArg_ParseTuple(args, "pO", &drops, &timeout) ||
	    seconds_take(timeout, "timeout", &limit) ||
	    ring_end(frames_of(object), drops, limit))
		return NULL;
	Py_RETURN_NONE;
}

static PyObject *frames_counts(PyObject *object, PyObject *unused)
{
	struct frames_object *self = frames_of(object);
	struct dray_ring_counts counts = { 0 };
	struct dray_stream *stream = stream_enter(self->stream);
	int ret;

	(void)unused;
	if (!stream)
		return NULL;
	ret = dray_stream_ring_counts(stream, &counts);
	stream_leave(self->stream);
	return ret ? raise_error(ret)
		   : record_ring_counts(class_state(object), &counts);
}

/* Returns number, bytes and time of the frame at hand, and packets lost before it. */
static PyObject *frames_tell(PyObject *object, PyObject *unused)
{
	const struct frames_object *self = frames_of(object);

	(void)unused;
	if (self->at_hand)
		return Py_BuildValue("(KKdK)",
				     (unsigned long long)self->point.number,
				     (unsigned long long)self->point.bytes,
				     1e-9 * (double)self->point.time_ns,
				     (unsigned long long)self->lost);
	return PyErr_Format(PyExc_ValueError, "no frame of %s is at hand",
			    stream_name(self->stream));
}

static PyMethodDef frames_methods[] = {
	{ "_poll", frames_poll, METH_NOARGS, SIGNATURE("_poll($self, /)") },
	{ "_flush", frames_flush, METH_O,
	  SIGNATURE("_flush($self, timeout, /)") },
	{ "_close", frames_close, METH_VARARGS,
	  SIGNATURE("_close($self, drops, timeout, /)") },
	{ "_counts", frames_counts, METH_NOARGS,
	  SIGNATURE("_counts($self, /)") },
	{ "_tell", frames_tell, METH_NOARGS, SIGNATURE("_tell($self, /)") },
	{ "__class_getitem__", Py_GenericAlias, METH_O | METH_CLASS,
	  "Type checkers know the type of the frames: Frames[numpy.uint8]." },
	{ NULL, NULL, 0, NULL },
};

static PyObject *frames_timeout(PyObject *self, void *unused)
{
	double timeout = frames_of(self)->timeout;

	(void)unused;
	if (timeout < 0)
		Py_RETURN_NONE;
	return PyFloat_FromDouble(timeout);
}

static PyObject *frames_stream(PyObject *self, void *unused)
{
	(void)unused;
	return Py_NewRef(frames_of(self)->stream);
}

static PyObject *frames_closed(PyObject *self, void *unused)
{
	(void)unused;
	return PyBool_FromLong(frames_of(self)->ended ||
			       stream_closing(frames_of(self)->stream));
}

static PyGetSetDef frames_properties[] = {
	{ "timeout", frames_timeout, NULL, "Seconds of a step, or None.",
	  NULL },
	{ "stream", frames_stream, NULL, "The stream.", NULL },
	{ "closed", frames_closed, NULL,
	  "Whether the ring is closed: by close(), `with` or the end of the stream.",
	  NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot frames_slots[] = {
	{ Py_tp_new, made_elsewhere },
	{ Py_tp_doc, "The part of dray.Frames in C." },
	{ Py_tp_iter, PyObject_SelfIter },
	{ Py_tp_iternext, frames_next },
	{ Py_tp_dealloc, frames_dealloc },
	{ Py_tp_traverse, frames_traverse },
	{ Py_tp_methods, frames_methods },
	{ Py_tp_getset, frames_properties },
	{ 0, NULL },
};

PyType_Spec frames_type_spec = {
	.name = "dray._dray.FramesBase",
	.basicsize = sizeof(struct frames_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
		 Py_TPFLAGS_IMMUTABLETYPE,
	.slots = frames_slots,
};
