// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Sends, receives and shows: an array becomes a view, the keywords become options, and
 * an Event tells the end.  A call that waits is a submission and a wait for its
 * event.
 */
#include <errno.h>
#include <math.h>
#include <time.h>

#include "stream.h"

struct packet_request {
	PyObject *array;
	struct operand operand;
	struct dray_packet_options options;
	struct dray_fence *fences[DRAY_MAX_IN_FENCES];
	PyObject *held; /* the Fence objects, a tuple */
	double end; /* of the call, in seconds_now(); below 0: none */
	double limit; /* as given, in seconds */
	int (*submit)(struct dray_stream *stream, const struct dray_view *view,
		      const struct dray_packet_options *options,
		      struct dray_event **event);
	bool wait;
};

static int take_deadline(PyObject *deadline, uint64_t *out)
{
	double seconds;

	if (seconds_take(deadline, "deadline", &seconds))
		return -1;
	if (seconds == 0) {
		PyErr_SetString(
			PyExc_ValueError,
			"a deadline of 0 seconds: above 0, or None for none");
		return -1;
	}
	if (isinf(seconds) || seconds < 0)
		return 0;
	if (seconds * 1e9 > (double)DRAY_MAX_DEADLINE) {
		PyErr_Format(PyExc_ValueError,
			     "a deadline of %R seconds, the longest is %llu; "
			     "None or math.inf is none",
			     deadline, DRAY_MAX_DEADLINE / 1000000000);
		return -1;
	}
	*out = (uint64_t)ceil(seconds * 1e9);
	return 0;
}

static int packet_take_fences(struct module_state *state,
			      struct packet_request *request, PyObject *fences)
{
	struct dray_fence *fence;
	Py_ssize_t i;

	request->held = PySequence_Tuple(fences);
	if (!request->held)
		return -1;
	if (PyTuple_GET_SIZE(request->held) > DRAY_MAX_IN_FENCES) {
		PyErr_Format(PyExc_ValueError,
			     "%zd fences, a packet has up to %d",
			     PyTuple_GET_SIZE(request->held),
			     DRAY_MAX_IN_FENCES);
		return -1;
	}
	for (i = 0; i < PyTuple_GET_SIZE(request->held); i++) {
		if (fence_take(state, PyTuple_GET_ITEM(request->held, i),
			       &fence))
			return -1;
		if (fence)
			request->fences[request->options.fence_count++] = fence;
	}
	request->options.fences = request->fences;
	return 0;
}

static int packet_take_array(struct packet_request *request)
{
	if (operand_take(request->array, "a", OPERAND_EMPTY | OPERAND_FOREIGN,
			 &request->operand))
		return -1;
	return request->submit == dray_stream_recv
		       ? operand_check_writable(&request->operand, "a")
		       : 0;
}

/* Takes (array, wait, timeout, deadline, stage, nonblock, fences). */
static int take_request(PyObject *self, PyObject *args,
			struct packet_request *request)
{
	static int (*const submits[])(
		struct dray_stream *, const struct dray_view *,
		const struct dray_packet_options *,
		struct dray_event **) = { dray_stream_send, dray_stream_recv,
					  dray_stream_show };
	int move, wait, stage, nonblock;
	PyObject *timeout, *deadline, *fences;

	if (!PyArg_ParseTuple(args, "iOpOOppO", &move, &request->array, &wait,
			      &timeout, &deadline, &stage, &nonblock,
			      &fences) ||
	    seconds_take(timeout, "timeout", &request->limit))
		return -1;
	if (move < 0 || (size_t)move >= Py_ARRAY_LENGTH(submits)) {
		PyErr_Format(PyExc_ValueError, "move is %d, not from 0 to 2",
			     move);
		return -1;
	}
	request->submit = submits[move];
	request->wait = wait;
	request->end = request->limit < 0 ? -1 : seconds_now() + request->limit;
	request->options.flags = (stage ? DRAY_PACKET_STAGE : 0) |
				 (nonblock ? DRAY_PACKET_NONBLOCK : 0);
	return take_deadline(deadline, &request->options.deadline_ns) ||
	       packet_take_array(request) ||
	       packet_take_fences(class_state(self), request, fences);
}

static double packet_time_left(const struct packet_request *request)
{
	return request->end < 0 ? -1 : fmax(request->end - seconds_now(), 0);
}

static int wait_for_event(void *event, int milliseconds)
{
	return dray_event_wait(event, milliseconds);
}

static int wait_for_fence(void *fence, int milliseconds)
{
	return dray_fence_wait(fence, milliseconds);
}

/* Another stream of the user may have the slots: nothing tells their end. */
static int wait_a_little(void *unused, int milliseconds)
{
	const struct timespec time = { .tv_nsec = 2000000 };

	(void)unused;
	return milliseconds && nanosleep(&time, NULL) ? -EINTR : 0;
}

/* Returns a fence that the packet would wait for, or NULL. */
static struct dray_fence *pending_fence(const struct packet_request *request)
{
	uint32_t i;

	for (i = 0; i < request->options.fence_count; i++)
		if (!dray_fence_status(request->fences[i]))
			return request->fences[i];
	return NULL;
}

/*
 * Waits until the submission may succeed, at most until the call's end: for a
 * fence, or for the packet that ends next.  0: try again
 */
static int wait_for_room(PyObject *self, const struct packet_request *request)
{
	struct dray_fence *fence = pending_fence(request);
	struct dray_event *event;
	double left = packet_time_left(request);
	int ret;

	if (left <= 0)
		return -ETIME;
	if (fence) {
		ret = wait_for_end(wait_for_fence, fence, left);
	} else {
		event = flight_first(self);
		if (!event)
			return wait_for_end(wait_a_little, NULL, left);
		ret = wait_for_end(wait_for_event, event, left);
		dray_event_unref(event);
	}
	/* If one of them has failed, the submission tells or goes on. */
	return ret == -EINTR || ret == -ETIME ? ret : 0;
}

/* Submits the packet; -EINTR with an exception. */
static int packet_submit(PyObject *self, struct dray_stream *stream,
			 const struct packet_request *request,
			 struct dray_event **event)
{
	struct dray_packet_options options = request->options;
	bool bounded =
		request->end >= 0 && !(options.flags & DRAY_PACKET_NONBLOCK);
	int ret;

	if (bounded)
		options.flags |= DRAY_PACKET_NONBLOCK;
	for (;;) {
		Py_BEGIN_ALLOW_THREADS
		ret = request->submit(stream, &request->operand.view, &options,
				      event);
		Py_END_ALLOW_THREADS
		if (ret == -EINTR && !PyErr_CheckSignals())
			continue;
		if (ret != -EAGAIN || !bounded)
			return ret;
		ret = wait_for_room(self, request);
		if (ret)
			return ret;
	}
}

/* Raises the error of a submission; adds the keyword that allows a copy. */
static PyObject *packet_refuse(int error)
{
	if (error != -EOPNOTSUPP || dray_last_failure() != DRAY_FAILURE_STAGE)
		return raise_error(error);
	return raise_message(error, PyUnicode_FromFormat("%s, stage=True does",
							 dray_last_error()));
}

static PyObject *not_started(PyObject *self, int error)
{
	if (error == -ETIME)
		raise_message(
			error,
			PyUnicode_FromFormat(
				"the time ran out before there was room in %s, nothing was submitted",
				stream_name(self)));
	else if (error != -EINTR)
		packet_refuse(error);
	return NULL;
}

/* Returns an Event of the submitted packet. */
static PyObject *packet_move_begin(PyObject *self,
				   const struct packet_request *request)
{
	bool waits = !(request->options.flags & DRAY_PACKET_NONBLOCK);
	struct dray_stream *stream;
	struct dray_event *event;
	PyObject *result;
	int ret;

	/* Frames of a loop before may still be sent. */
	ret = stream_finish_rest(self, waits ? packet_time_left(request) : 0);
	if (ret)
		return not_started(self,
				   ret == -ETIME && !waits ? -EAGAIN : ret);
	stream = stream_enter(self);
	if (!stream)
		return NULL;
	result = event_new(class_state(self), self,
			   dray_dtype_itemsize(request->operand.view.dtype));
	if (!result) {
		stream_leave(self);
		return NULL;
	}
	ret = packet_submit(self, stream, request, &event);
	if (!ret)
		packet_start(self, event_packet(result), event, request->array);
	stream_leave(self);
	if (!ret)
		return result;
	Py_DECREF(result);
	return not_started(self, ret);
}

PyObject *packet_move(PyObject *self, PyObject *args)
{
	struct packet_request request = { .held = NULL };
	PyObject *result, *event;

	event = take_request(self, args, &request)
			? NULL
			: packet_move_begin(self, &request);
	Py_XDECREF(request.held);
	if (!event || !request.wait)
		return event;
	result = event_finish(event, packet_time_left(&request), request.limit);
	Py_DECREF(event);
	return result;
}

PyObject *packet_explain(PyObject *self, PyObject *args)
{
	struct dray_explanation explanation = { 0 };
	struct dray_packet_options options = { 0 };
	const struct dray_view *view;
	struct dray_stream *stream;
	struct operand operand;
	PyObject *array;
	int ret, stage;

	if (!PyArg_ParseTuple(args, "Op", &array, &stage) ||
	    operand_take(array, "a", OPERAND_EMPTY | OPERAND_FOREIGN, &operand))
		return NULL;
	stream = stream_enter(self);
	if (!stream)
		return NULL;
	view = &operand.view;
	options.flags = stage ? DRAY_PACKET_STAGE : 0;
	Py_BEGIN_ALLOW_THREADS
	ret = dray_stream_explain(stream, &view, 1, &options, &explanation);
	Py_END_ALLOW_THREADS
	stream_leave(self);
	return ret ? packet_refuse(ret)
		   : record_explanation(class_state(self), &explanation);
}
