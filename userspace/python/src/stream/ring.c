// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Steps of a ring: the frame at hand goes back to the engine, and the next one
 * comes.
 */
#include <errno.h>
#include <math.h>

#include "ring.h"

/*
 * Begins a step, which one thread makes at a time.  NULL if another one does,
 * with ValueError, and without an exception if the stream is closed.
 */
static struct dray_stream *py_ring_begin(struct frames_object *self)
{
	struct dray_stream *stream = NULL;
	bool busy;

	if (self->ended)
		return NULL;
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

static void py_ring_end(struct frames_object *self)
{
	stream_leave(self->stream);
	Py_BEGIN_CRITICAL_SECTION(self);
	self->busy = false;
	Py_END_CRITICAL_SECTION();
}

/* Makes the array of the frame at hand read-only, since the engine gets it. */
static void ring_retire(struct frames_object *self)
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
struct python_passing {
	struct dray_stream *stream;
	uint32_t frame;
	size_t count; /* of frames to release: 1 or 0 */
	struct dray_point *points;
	size_t room; /* 0: releases only */
};

static int pass_once(void *object, int milliseconds)
{
	struct python_passing *passing = object;
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
static int py_ring_pass(struct frames_object *self, struct dray_stream *stream,
			struct dray_point *points, size_t room, double limit)
{
	struct python_passing passing = {
		.stream = stream,
		.frame = self->point.frame,
		.count = self->at_hand,
		.points = points,
		.room = room,
	};
	int ret;

	ring_retire(self);
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
static PyObject *ring_take(struct frames_object *self,
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

PyObject *ring_step(struct frames_object *self, double limit)
{
	struct dray_stream *stream = py_ring_begin(self);
	struct dray_point point = { .number = 0 };
	PyObject *result = NULL;
	int ret;

	if (!stream)
		return NULL;
	if (self->spare_first < self->spare_end) {
		ret = py_ring_pass(self, stream, NULL, 0, -1);
		if (!ret)
			point = self->spare[self->spare_first++];
	} else {
		self->spare_first = 0;
		self->spare_end = 0;
		ret = py_ring_pass(self, stream, &point, 1, limit);
	}
	if (ret != -EINTR && !stream_closing(self->stream) && !self->ended)
		result = ret < 0 ? raise_error(ret) : ring_take(self, &point);
	py_ring_end(self);
	return result;
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
	uint32_t count = (uint32_t)PyTuple_GET_SIZE(self->arrays);
	struct dray_point *points;
	int i, ret;

	ret = py_ring_pass(self, stream, NULL, 0, -1);
	gather_spare(self);
	while (ret >= 0 && self->spare_end < count) {
		points = self->spare + self->spare_end;
		ret = py_ring_pass(
			self, stream, points, count - self->spare_end,
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

PyObject *ring_flush(struct frames_object *self, double limit)
{
	struct dray_point broken = { .status = 0 };
	struct dray_stream *stream = py_ring_begin(self);
	int ret;

	if (!stream && self->ended)
		return PyErr_Format(PyExc_ValueError,
				    "the frames of %s are closed",
				    stream_name(self->stream));
	if (!stream)
		return PyErr_Occurred() ? NULL
					: stream_closed_error(self->stream);
	ret = acquire_all(self, stream, limit, &broken);
	if (broken.status)
		raise_status(self, &broken);
	else if (ret < 0 && ret != -EINTR)
		raise_error(ret);
	py_ring_end(self);
	if (PyErr_Occurred())
		return NULL;
	Py_RETURN_NONE;
}

struct draining {
	struct dray_stream *stream;
	struct dray_point *broken;
};

static int acquire_some(void *object, int milliseconds)
{
	const struct draining *draining = object;
	struct dray_point points[64];
	int i, ret;

	ret = dray_stream_acquire(draining->stream, points, 64, milliseconds);
	for (i = 0; i < ret; i++)
		if (points[i].status && !draining->broken->status)
			*draining->broken = points[i];
	return ret;
}

int ring_take_away(struct dray_stream *stream, double limit,
		   struct dray_point *broken)
{
	double until = limit < 0 ? -1 : seconds_now() + limit;
	struct draining draining = { stream, broken };
	int ret;

	for (;;) {
		Py_BEGIN_ALLOW_THREADS
		ret = dray_stream_ring(stream, NULL, 0, DRAY_RING_REPLACE);
		Py_END_ALLOW_THREADS
		if (ret != -EBUSY)
			return ret;
		ret = wait_for_end(acquire_some, &draining,
				   until < 0 ? -1
					     : fmax(until - seconds_now(), 0));
		if (ret < 0)
			return ret;
	}
}

/* Whether released frames are to be sent before the end. */
static bool ring_waits(const struct frames_object *self)
{
	const struct stream_object *stream =
		(const struct stream_object *)self->stream;

	return self->sends && !stream->shows;
}

static void forget_frame(struct frames_object *self)
{
	PyObject *array;

	Py_BEGIN_CRITICAL_SECTION(self);
	array = self->array;
	self->array = NULL;
	self->at_hand = false;
	self->ended = true;
	Py_END_CRITICAL_SECTION();
	Py_XDECREF(array);
}

static int ring_finish(struct frames_object *self, double limit)
{
	struct dray_point broken = { .status = 0 };
	struct dray_stream *stream = py_ring_begin(self);
	int ret;

	if (!stream)
		return PyErr_Occurred() ? -1 : 0;
	ret = ring_take_away(stream, limit, &broken);
	py_ring_end(self);
	if (!ret)
		forget_frame(self);
	if (ret && ret != -EINTR)
		raise_error(ret);
	else if (!ret && broken.status)
		raise_status(self, &broken);
	return PyErr_Occurred() ? -1 : 0;
}

int ring_end(struct frames_object *self, bool drops, double limit)
{
	PyObject *looked;
	int ret;

	if (self->ended)
		return 0;
	if (stream_closing(self->stream)) {
		forget_frame(self);
		return 0;
	}
	if (ring_waits(self) && !drops)
		return ring_finish(self, limit);
	forget_frame(self);
	ret = stream_renew(self->stream);
	if (ret) {
		raise_error(ret);
		return -1;
	}
	/* Tasks that wait for a frame look again. */
	looked = python_call("dray._stream", "look", self->stream, NULL, 0,
			     NULL);
	Py_XDECREF(looked);
	return looked ? 0 : -1;
}

void ring_abandon(struct frames_object *self)
{
	PyObject *type, *value, *traceback;

	if (self->ended || stream_closing(self->stream))
		return;
	PyErr_Fetch(&type, &value, &traceback);
	if (self->sends)
		stream_leave_rest(self->stream);
	else if (stream_renew(self->stream) && !stream_closing(self->stream))
		PyErr_Clear(); /* a child of fork(), which has no stream */
	PyErr_Restore(type, value, traceback);
}
