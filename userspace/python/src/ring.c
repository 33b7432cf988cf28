// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Frames objects: the ring of a stream as an iterator.  The program has one
 * frame at hand, which goes back to the engine with the next step.  Then its
 * array becomes read-only; the memory stays as long as an array refers to it.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "module.h"

struct frames_object {
	PyObject_HEAD PyObject *stream;
	PyObject *arrays; /* a tuple: the whole frames, by their indices */
	bool sends;
	double timeout; /* of a step in seconds, below 0: none */
	uint64_t last; /* number of the last packet received */

	/* by the thread that set it, in the critical section of the object */
	bool busy;
	bool at_hand; /* point is valid, and its frame is the program's */
	PyObject *array; /* of the frame at hand, or NULL */
	struct dray_point point;
	uint64_t lost; /* packets just before it */
	/* frames that flush() acquired, for steps to come */
	struct dray_point *spare;
	uint32_t spare_first, spare_end;
};

static struct frames_object *frames_of(PyObject *self)
{
	return (struct frames_object *)self;
}

static Py_ssize_t count_of(const struct frames_object *self)
{
	return PyTuple_GET_SIZE(self->arrays);
}

/* Gives the frames to the stream. */
static int give(struct dray_stream *stream, PyObject *arrays,
		unsigned int flags)
{
	Py_ssize_t i, count = PyTuple_GET_SIZE(arrays);
	struct operand *operands = calloc(count + 1, sizeof(*operands));
	const struct dray_view **views = calloc(count + 1, sizeof(*views));
	int ret = -ENOMEM;

	if (!operands || !views) {
		PyErr_NoMemory();
		goto out;
	}
	for (i = 0; i < count; i++) {
		if (operand_take(PyTuple_GET_ITEM(arrays, i), "frame",
				 OPERAND_EMPTY | OPERAND_FOREIGN, &operands[i]))
			goto out;
		views[i] = &operands[i].view;
	}
	Py_BEGIN_ALLOW_THREADS
	ret = dray_stream_ring(stream, views, (size_t)count, flags);
	Py_END_ALLOW_THREADS
	if (ret)
		raise_error(ret);
out:
	free(operands);
	free(views);
	return ret;
}

PyObject *frames_new(PyObject *module, PyObject *args)
{
	struct module_state *state = module_state(module);
	struct dray_stream_counts counts = { 0 };
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
	PyObject_GC_Track(self);
	self->spare = calloc(count_of(self) + 1, sizeof(*self->spare));
	if (!self->spare)
		PyErr_NoMemory();
	stream = self->spare ? stream_enter(object) : NULL;
	if (stream) {
		ret = dray_stream_counts(stream, &counts, sizeof(counts));
		if (ret)
			raise_error(ret);
		else
			ret = give(stream, arrays,
				   overwrite ? DRAY_RING_OVERWRITE : 0);
		stream_leave(object);
	}
	self->last = counts.submitted;
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
	Py_XDECREF(self->array);
	Py_DECREF(self->arrays);
	Py_DECREF(self->stream);
	free(self->spare);
	PyObject_GC_Del(object);
	Py_DECREF(type);
}

/*
 * Begins a step, which one thread makes at a time.  NULL if another one does,
 * with ValueError, and without an exception if the stream is closed.
 */
static struct dray_stream *begin(struct frames_object *self)
{
	struct dray_stream *stream = NULL;
	bool busy;

	Py_BEGIN_CRITICAL_SECTION(self);
	busy = self->busy;
	self->busy = true;
	Py_END_CRITICAL_SECTION();
	if (busy) {
		PyErr_Format(PyExc_ValueError,
			     "another thread waits for a frame of %s",
			     stream_name(self->stream));
		return NULL;
	}
	stream = stream_enter(self->stream);
	if (stream)
		return stream;
	PyErr_Clear();
	self->busy = false;
	return NULL;
}

static void end(struct frames_object *self)
{
	stream_leave(self->stream);
	Py_BEGIN_CRITICAL_SECTION(self);
	self->busy = false;
	Py_END_CRITICAL_SECTION();
}

/* Makes the array of the frame at hand read-only, since the engine gets it. */
static void retire(struct frames_object *self)
{
	PyObject *array;

	Py_BEGIN_CRITICAL_SECTION(self);
	array = self->array;
	self->array = NULL;
	Py_END_CRITICAL_SECTION();
	if (array)
		PyArray_CLEARFLAGS((PyArrayObject *)array, NPY_ARRAY_WRITEABLE);
	Py_XDECREF(array);
}

/* One call: the frame at hand goes, and others come. */
struct passing {
	struct dray_stream *stream;
	uint32_t frame;
	size_t count; /* of frames to release: 1 or 0 */
	struct dray_point *points;
	size_t room; /* 0: releases only */
};

static int pass_once(void *object, int milliseconds)
{
	struct passing *passing = object;
	int ret;

	if (!passing->room)
		return passing->count ? dray_stream_release(passing->stream,
							    &passing->frame, 1)
				      : 0;
	ret = dray_stream_exchange(passing->stream, &passing->frame,
				   passing->count, passing->points,
				   passing->room, milliseconds);
	/* These come after the release. */
	if (ret == -ETIME || ret == -EINTR)
		passing->count = 0;
	return ret;
}

/* Returns the count of points, or a negative errno, as wait_for_end(). */
static int pass(struct frames_object *self, struct dray_stream *stream,
		struct dray_point *points, size_t room, double limit)
{
	struct passing passing = {
		.stream = stream,
		.frame = self->point.frame,
		.count = self->at_hand,
		.points = points,
		.room = room,
	};
	int ret;

	retire(self);
	ret = wait_for_end(pass_once, &passing, limit);
	/* If the call failed before the release, the frame stays. */
	self->at_hand = passing.count && ret < 0 && ret != -ECANCELED;
	return ret;
}

/* Raises the error of a frame that broke off. */
static PyObject *raise_status(const struct frames_object *self,
			      const struct dray_point *point)
{
	return raise_message(
		point->status,
		PyUnicode_FromFormat(
			"frame %llu of %s ended after %llu bytes: %s",
			(unsigned long long)point->number,
			stream_name(self->stream),
			(unsigned long long)point->bytes,
			strerror(-point->status)));
}

/* Returns the rows of a frame that came, a new array. */
static PyObject *rows_of(const struct frames_object *self)
{
	PyArrayObject *whole = (PyArrayObject *)PyTuple_GET_ITEM(
		self->arrays, self->point.frame);
	uint64_t size = (uint64_t)PyArray_NBYTES(whole), row = size;

	if (self->sends || self->point.bytes == size)
		return PyArray_View(whole, NULL, NULL);
	if (PyArray_NDIM(whole))
		row = size / (uint64_t)PyArray_DIM(whole, 0);
	if (self->point.bytes % row)
		return raise_message(
			-EBADMSG,
			PyUnicode_FromFormat(
				"frame %llu of %s has %llu bytes, its rows have %llu bytes each",
				(unsigned long long)self->point.number,
				stream_name(self->stream),
				(unsigned long long)self->point.bytes,
				(unsigned long long)row));
	return PySequence_GetSlice((PyObject *)whole, 0,
				   (Py_ssize_t)(self->point.bytes / row));
}

/* Makes the frame of @point the one at hand; returns its array. */
static PyObject *take(struct frames_object *self,
		      const struct dray_point *point)
{
	PyObject *array;

	self->lost = 0;
	if (!self->sends) {
		self->lost = point->number - self->last - 1;
		self->last = point->number;
	}
	if (point->status && self->sends) {
		/* The next step has the frame, so that it is not sent again. */
		self->spare[self->spare_end] = *point;
		self->spare[self->spare_end++].status = 0;
		return raise_status(self, point);
	}
	self->point = *point;
	self->at_hand = true;
	if (point->status)
		return raise_status(self, point);
	array = rows_of(self);
	Py_BEGIN_CRITICAL_SECTION(self);
	self->array = Py_XNewRef(array);
	Py_END_CRITICAL_SECTION();
	return array;
}

/* Makes one step within @limit seconds; NULL without an exception: the end. */
static PyObject *step(struct frames_object *self, double limit)
{
	struct dray_stream *stream = begin(self);
	struct dray_point point = { .number = 0 };
	PyObject *result = NULL;
	int ret;

	if (!stream)
		return NULL;
	if (self->spare_first < self->spare_end) {
		ret = pass(self, stream, NULL, 0, -1);
		if (!ret)
			point = self->spare[self->spare_first++];
	} else {
		self->spare_first = 0;
		self->spare_end = 0;
		ret = pass(self, stream, &point, 1, limit);
	}
	if (ret != -EINTR && !stream_closing(self->stream))
		result = ret < 0 ? raise_error(ret) : take(self, &point);
	end(self);
	return result;
}

static PyObject *frames_next(PyObject *self)
{
	return step(frames_of(self), frames_of(self)->timeout);
}

PyObject *frames_poll(PyObject *module, PyObject *object)
{
	struct module_state *state = module_state(module);
	PyObject *array;

	if (Py_TYPE(object) != state->frames_type)
		return PyErr_Format(PyExc_TypeError,
				    "frames is not a dray.Frames but %s",
				    Py_TYPE(object)->tp_name);
	array = step(frames_of(object), 0);
	if (array)
		return array;
	if (!PyErr_Occurred())
		PyErr_SetNone(PyExc_StopAsyncIteration);
	if (!PyErr_ExceptionMatches(PyExc_TimeoutError))
		return NULL;
	PyErr_Clear();
	Py_RETURN_NONE;
}

/* Moves the spare frames to the start of their list. */
static void gather_spare(struct frames_object *self)
{
	self->spare_end -= self->spare_first;
	memmove(self->spare, self->spare + self->spare_first,
		self->spare_end * sizeof(*self->spare));
	self->spare_first = 0;
}

/*
 * Acquires frames until the engine has none.  @broken: the first that broke
 * off, if its status is not 0.
 */
static int acquire_all(struct frames_object *self, struct dray_stream *stream,
		       double limit, struct dray_point *broken)
{
	double until = limit < 0 ? -1 : seconds_now() + limit;
	uint32_t count = (uint32_t)count_of(self);
	struct dray_point *points;
	int i, ret;

	ret = pass(self, stream, NULL, 0, -1);
	gather_spare(self);
	while (ret >= 0 && self->spare_end < count) {
		points = self->spare + self->spare_end;
		ret = pass(self, stream, points, count - self->spare_end,
			   until < 0 ? -1 : fmax(until - seconds_now(), 0));
		for (i = 0; i < ret; i++) {
			if (points[i].status && !broken->status)
				*broken = points[i];
			points[i].status = 0;
		}
		self->spare_end += ret > 0 ? (uint32_t)ret : 0;
	}
	return ret;
}

static PyObject *frames_flush(PyObject *object, PyObject *args,
			      PyObject *keywords)
{
	static char *names[] = { "timeout", NULL };
	struct frames_object *self = frames_of(object);
	struct dray_point broken = { .status = 0 };
	PyObject *timeout = Py_None;
	struct dray_stream *stream;
	double limit;
	int ret;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:flush", names,
					 &timeout) ||
	    seconds_take(timeout, "timeout", &limit))
		return NULL;
	if (!self->sends)
		return PyErr_Format(PyExc_ValueError,
				    "%s receives, it has nothing to send",
				    stream_name(self->stream));
	stream = begin(self);
	if (!stream)
		return PyErr_Occurred() ? NULL
					: stream_closed_error(self->stream);
	ret = acquire_all(self, stream, limit, &broken);
	if (broken.status)
		raise_status(self, &broken);
	else if (ret < 0 && ret != -EINTR)
		raise_error(ret);
	end(self);
	if (PyErr_Occurred())
		return NULL;
	Py_RETURN_NONE;
}

static PyObject *frames_flush_async(PyObject *self, PyObject *unused)
{
	(void)unused;
	return stream_python(self, "flush_async", NULL, NULL);
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
	ret = dray_stream_ring_counts(stream, &counts, sizeof(counts));
	stream_leave(self->stream);
	return ret ? raise_error(ret)
		   : record_ring_counts(type_state(object), &counts);
}

static PyMethodDef frames_methods[] = {
	{ "flush", (PyCFunction)(void (*)(void))frames_flush,
	  METH_VARARGS | METH_KEYWORDS,
	  "flush($self, /, timeout=None)\n--\n\n"
	  "Sends the frame at hand, and waits until all frames have been sent.\n"
	  "\n"
	  "timeout: seconds, then TimeoutError (ETIME).  OSError if a frame was not\n"
	  "sent, ValueError if the stream receives." },
	{ "flush_async", frames_flush_async, METH_NOARGS,
	  "flush_async($self, /)\n--\n\nFlushes for asyncio: `await frames.flush_async()`." },
	{ "counts", frames_counts, METH_NOARGS,
	  "counts($self, /)\n--\n\nCounters of the ring, as RingCounts." },
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

static PyGetSetDef frames_properties[] = {
	{ "number", frames_number, NULL,
	  "Of the packet in the frame at hand, counted from 1 in each stream; to send,\n"
	  "of the last one that the frame had, or 0.",
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
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot frames_slots[] = {
	{ Py_tp_doc, "The frames of a ring, one after the other." },
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
		 Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
	.slots = frames_slots,
};
