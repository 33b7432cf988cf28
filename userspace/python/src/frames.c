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

/* Frames of an earlier loop may still be sent.  -1 with an exception. */
static int finish_rest(PyObject *stream)
{
	int ret = stream_finish_rest(stream, -1);

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
	self = PyObject_GC_New(struct frames_object, state->frames_type);
	if (!self)
		return NULL;
	memset((char *)self + sizeof(PyObject), 0,
	       sizeof(*self) - sizeof(PyObject));
	self->stream = Py_NewRef(object);
	self->arrays = Py_NewRef(arrays);
	self->timeout = limit;
	self->sends = stream_sends(object);
	self->ended = true; /* until it has begun */
	PyObject_GC_Track(self);
	self->spare = calloc(PyTuple_GET_SIZE(self->arrays) + 1,
			     sizeof(*self->spare));
	if (!self->spare)
		PyErr_NoMemory();
	stream = self->spare && !finish_rest(object) ? stream_enter(object)
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

PyObject *frames_poll(PyObject *module, PyObject *object)
{
	struct module_state *state = module_state(module);
	PyObject *array;

	if (Py_TYPE(object) != state->frames_type)
		return PyErr_Format(PyExc_TypeError,
				    "frames is not a dray.Frames but %s",
				    Py_TYPE(object)->tp_name);
	array = ring_step(frames_of(object), 0);
	if (array)
		return array;
	if (!PyErr_Occurred())
		PyErr_SetNone(PyExc_StopAsyncIteration);
	if (!PyErr_ExceptionMatches(PyExc_TimeoutError))
		return NULL;
	PyErr_Clear();
	Py_RETURN_NONE;
}

static PyObject *frames_flush(PyObject *object, PyObject *args,
			      PyObject *keywords)
{
	static char *names[] = { "timeout", NULL };
	struct frames_object *self = frames_of(object);
	PyObject *timeout = Py_None;
	double limit;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:flush", names,
					 &timeout) ||
	    seconds_take(timeout, "timeout", &limit))
		return NULL;
	if (self->sends)
		return ring_flush(self, limit);
	return PyErr_Format(PyExc_ValueError, "%s receives, it cannot send",
			    stream_name(self->stream));
}

static PyObject *frames_flush_async(PyObject *self, PyObject *unused)
{
	(void)unused;
	return stream_python(self, "flush_async", NULL, NULL);
}

static PyObject *frames_close(PyObject *object, PyObject *args,
			      PyObject *keywords)
{
	static char *names[] = { "timeout", NULL };
	PyObject *timeout = Py_None;
	double limit;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:close", names,
					 &timeout) ||
	    seconds_take(timeout, "timeout", &limit) ||
	    ring_end(frames_of(object), false, limit))
		return NULL;
	Py_RETURN_NONE;
}

static PyObject *frames_enter(PyObject *self, PyObject *unused)
{
	(void)unused;
	return Py_NewRef(self);
}

/* After an exception nobody waits for frames. */
static PyObject *frames_exit(PyObject *object, PyObject *args)
{
	struct frames_object *self = frames_of(object);
	PyObject *kind, *value, *traceback;

	if (!PyArg_ParseTuple(args, "OOO:__exit__", &kind, &value,
			      &traceback) ||
	    ring_end(self, kind != Py_None, self->timeout))
		return NULL;
	Py_RETURN_FALSE;
}

static PyObject *frames_anext(PyObject *self)
{
	return stream_python(self, "next_frame", NULL, NULL);
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
		   : record_ring_counts(type_state(object), &counts);
}

static PyMethodDef frames_methods[] = {
	{ "flush", (PyCFunction)(void (*)(void))frames_flush,
	  METH_VARARGS | METH_KEYWORDS,
	  "flush($self, /, timeout=None)\n--\n\n"
	  "Sends the frame at hand, and waits until all frames are sent.\n"
	  "\n"
	  "timeout: seconds, then TimeoutError (ETIME).  OSError if a frame was not\n"
	  "sent, ValueError if the stream receives." },
	{ "flush_async", frames_flush_async, METH_NOARGS,
	  "flush_async($self, /)\n--\n\nFlushes for asyncio: `await frames.flush_async()`." },
	{ "close", (PyCFunction)(void (*)(void))frames_close,
	  METH_VARARGS | METH_KEYWORDS,
	  "close($self, /, timeout=None)\n--\n\n"
	  "Ends the ring: the stream can send, receive or use other frames.\n"
	  "\n"
	  "To receive, packets that were not read are lost, and later packets count from 1\n"
	  "again.  To send, waits until the frames are sent, without the one at hand.\n"
	  "`with` does the same at its end, but drops all after an exception; so does the\n"
	  "end of the last reference, without a wait: frames to be sent still are.\n"
	  "\n"
	  "timeout: seconds, then TimeoutError (ETIME).  May be called again." },
	{ "__enter__", frames_enter, METH_NOARGS,
	  "__enter__($self, /)\n--\n\nReturns the frames." },
	{ "__exit__", frames_exit, METH_VARARGS,
	  "__exit__($self, kind, value, traceback, /)\n--\n\nEnds the ring, as close()." },
	{ "counts", frames_counts, METH_NOARGS,
	  "counts($self, /)\n--\n\nCounters of the ring, as RingCounts." },
	{ "__class_getitem__", Py_GenericAlias, METH_O | METH_CLASS,
	  "Type checkers know the type of the frames: Frames[numpy.uint8]." },
	{ NULL, NULL, 0, NULL },
};

static const struct dray_point *at_hand(PyObject *object)
{
	struct frames_object *self = frames_of(object);

	if (self->at_hand)
		return &self->point;
	PyErr_Format(PyExc_ValueError, "no frame of %s is at hand",
		     stream_name(self->stream));
	return NULL;
}

static PyObject *frames_number(PyObject *self, void *unused)
{
	const struct dray_point *point = at_hand(self);

	(void)unused;
	return point ? PyLong_FromUnsignedLongLong(point->number) : NULL;
}

static PyObject *frames_bytes(PyObject *self, void *unused)
{
	const struct dray_point *point = at_hand(self);

	(void)unused;
	return point ? PyLong_FromUnsignedLongLong(point->bytes) : NULL;
}

static PyObject *frames_time(PyObject *self, void *unused)
{
	const struct dray_point *point = at_hand(self);

	(void)unused;
	return point ? PyFloat_FromDouble(1e-9 * (double)point->time_ns) : NULL;
}

static PyObject *frames_lost(PyObject *self, void *unused)
{
	(void)unused;
	return at_hand(self)
		       ? PyLong_FromUnsignedLongLong(frames_of(self)->lost)
		       : NULL;
}

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
	{ "number", frames_number, NULL,
	  "Of the packet in the frame at hand; each stream counts its packets.  To send,\n"
	  "of the last packet in the frame, or 0.",
	  NULL },
	{ "bytes", frames_bytes, NULL, "Of that packet.", NULL },
	{ "time", frames_time, NULL,
	  "When that packet ended, as of time.monotonic().", NULL },
	{ "lost", frames_lost, NULL,
	  "Packets that were overwritten just before the frame at hand.",
	  NULL },
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
	{ Py_tp_doc, "The frames of a ring, in turn." },
	{ Py_tp_iter, PyObject_SelfIter },
	{ Py_tp_iternext, frames_next },
	{ Py_am_aiter, PyObject_SelfIter },
	{ Py_am_anext, frames_anext },
	{ Py_tp_dealloc, frames_dealloc },
	{ Py_tp_traverse, frames_traverse },
	{ Py_tp_methods, frames_methods },
	{ Py_tp_getset, frames_properties },
	{ 0, NULL },
};

PyType_Spec frames_type_spec = {
	.name = "dray.Frames",
	.basicsize = sizeof(struct frames_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
		 Py_TPFLAGS_IMMUTABLETYPE,
	.slots = frames_slots,
};
