// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The end of a packet.  An event keeps its stream open, and
 * the stream keeps the array until the end was noticed.
 */
#include <errno.h>

#include "stream.h"

#include <structmember.h>

struct event_object {
	PyObject_HEAD PyObject *stream;
	PyObject *weak; /* references of Python that keep nothing */
	struct packet *packet;
	Py_ssize_t itemsize; /* of the array */
};

static struct event_object *event_of(PyObject *self)
{
	return (struct event_object *)self;
}

struct packet *event_packet(PyObject *self)
{
	return event_of(self)->packet;
}

static struct dray_event *event_in(PyObject *self)
{
	return event_packet(self)->event;
}

PyObject *event_new(struct module_state *state, PyObject *stream,
		    Py_ssize_t itemsize)
{
	struct packet *packet = packet_new();
	struct event_object *self;

	if (!packet)
		return PyErr_NoMemory();
	self = (struct event_object *)state->event_type->tp_alloc(
		state->event_type, 0);
	if (!self) {
		packet_put(stream, packet);
		return NULL;
	}
	self->stream = Py_NewRef(stream);
	self->packet = packet;
	self->itemsize = itemsize;
	return (PyObject *)self;
}

static int event_traverse(PyObject *object, visitproc visit, void *arg)
{
	Py_VISIT(Py_TYPE(object));
	Py_VISIT(event_of(object)->stream);
	return 0;
}

static void event_dealloc(PyObject *object)
{
	struct event_object *self = event_of(object);
	PyTypeObject *type = Py_TYPE(object);

	PyObject_GC_UnTrack(object);
	if (self->weak)
		PyObject_ClearWeakRefs(object);
	packet_put(self->stream, self->packet);
	Py_DECREF(self->stream);
	PyObject_GC_Del(object);
	Py_DECREF(type);
}

static int event_point(PyObject *self, struct dray_point *point)
{
	int ret;

	memset(point, 0, sizeof(*point));
	ret = dray_event_point(event_in(self), point, sizeof(*point));
	if (ret)
		raise_error(ret);
	else
		packet_end(event_of(self)->stream, event_packet(self));
	return ret;
}

static PyObject *event_count(PyObject *self, void *unused)
{
	Py_ssize_t itemsize = event_of(self)->itemsize;
	struct dray_point point;

	(void)unused;
	if (event_point(self, &point))
		return NULL;
	if (point.bytes % (uint64_t)itemsize)
		return raise_message(
			-EBADMSG,
			PyUnicode_FromFormat(
				"packet %llu of %s moved %llu bytes, not a multiple of elements of %zd bytes",
				(unsigned long long)point.number,
				stream_name(event_of(self)->stream),
				(unsigned long long)point.bytes, itemsize));
	return PyLong_FromUnsignedLongLong(point.bytes / (uint64_t)itemsize);
}

static int event_wait_once(void *event, int milliseconds)
{
	return dray_event_wait(event, milliseconds);
}

/* Waits for the end; no exception but of a signal handler. */
static int event_wait_for(PyObject *self, double limit)
{
	int ret = wait_for_end(event_wait_once, event_in(self), limit);

	if (ret != -EINTR && ret != -ETIME && ret != -ECHILD)
		packet_end(event_of(self)->stream, event_packet(self));
	return ret;
}

/* Returns the count of elements, or raises the error of a wait. */
static PyObject *event_result(PyObject *self, int error)
{
	if (!error)
		return event_count(self, NULL);
	return error == -EINTR ? NULL : raise_error(error);
}

/* Cancels the packet and waits for its end.  A closed stream is without others. */
static int py_event_cancel(PyObject *self)
{
	PyObject *stream = event_of(self)->stream;
	int ret;

	if (!stream_enter(stream)) {
		PyErr_Clear();
		return 0;
	}
	Py_BEGIN_ALLOW_THREADS
	ret = dray_event_cancel(event_in(self));
	/* The engine was stopped, so that this ends. */
	while (!ret && dray_event_wait(event_in(self), -1) == -EINTR)
		;
	Py_END_ALLOW_THREADS
	if (!ret)
		packet_end(stream, event_packet(self));
	stream_leave(stream);
	return ret;
}

/*
 * Cancels the packet after a timeout, unless it ends at this moment.  The sentence
 * names the time that the program set: the submission may have used a part of it.
 */
static PyObject *give_up(PyObject *self, double asked)
{
	const char *name = stream_name(event_of(self)->stream);
	const unsigned long long ms = (unsigned long long)(asked * 1e3 + 0.5);
	struct dray_point point = { .bytes = 0 };
	int ret = py_event_cancel(self);

	if (ret)
		return raise_message(
			-ETIME,
			PyUnicode_FromFormat(
				"a packet of %s is still under way after %llu ms, and cannot be cancelled: %s",
				name, ms, dray_last_error()));
	ret = dray_event_status(event_in(self));
	if (ret != -ECANCELED ||
	    dray_event_point(event_in(self), &point, sizeof(point)))
		return event_result(self, ret < 0 ? ret : 0);
	return raise_message(
		-ETIME,
		PyUnicode_FromFormat(
			"packet %llu of %s is still under way after %llu ms; it was cancelled after %llu bytes",
			(unsigned long long)point.number, name, ms,
			(unsigned long long)point.bytes));
}

PyObject *event_finish(PyObject *self, double limit, double asked)
{
	PyObject *type, *value, *traceback;
	int ret = event_wait_for(self, limit);

	if (ret == -ETIME)
		return give_up(self, asked);
	if (ret == -EINTR) {
		PyErr_Fetch(&type, &value, &traceback);
		py_event_cancel(self);
		PyErr_Restore(type, value, traceback);
	}
	return event_result(self, ret);
}

static PyObject *event_wait(PyObject *self, PyObject *timeout)
{
	double limit;

	if (seconds_take(timeout, "timeout", &limit))
		return NULL;
	return event_result(self, event_wait_for(self, limit));
}

static PyObject *event_cancel(PyObject *self, PyObject *unused)
{
	int ret = py_event_cancel(self);

	(void)unused;
	if (ret)
		return raise_error(ret);
	Py_RETURN_NONE;
}

/* Returns 0 before the end, 1 after it, or the negative errno of a failure. */
static PyObject *event_status(PyObject *self, PyObject *unused)
{
	(void)unused;
	return PyLong_FromLong(dray_event_status(event_in(self)));
}

/* Returns bytes, number and time. */
static PyObject *event_tell(PyObject *self, PyObject *unused)
{
	struct dray_point point;

	(void)unused;
	if (event_point(self, &point))
		return NULL;
	return Py_BuildValue("(KKd)", (unsigned long long)point.bytes,
			     (unsigned long long)point.number,
			     1e-9 * (double)point.time_ns);
}

static PyMethodDef event_methods[] = {
	{ "_wait", event_wait, METH_O, SIGNATURE("_wait($self, timeout, /)") },
	{ "_cancel", event_cancel, METH_NOARGS,
	  SIGNATURE("_cancel($self, /)") },
	{ "_status", event_status, METH_NOARGS,
	  SIGNATURE("_status($self, /)") },
	{ "_tell", event_tell, METH_NOARGS, SIGNATURE("_tell($self, /)") },
	{ NULL, NULL, 0, NULL },
};

static PyObject *event_done(PyObject *self, void *unused)
{
	int status = dray_event_status(event_in(self));

	(void)unused;
	if (!status)
		Py_RETURN_FALSE;
	if (status == -ECHILD)
		return raise_error(status);
	packet_end(event_of(self)->stream, event_packet(self));
	Py_RETURN_TRUE;
}

static PyObject *event_stream(PyObject *self, void *unused)
{
	(void)unused;
	return Py_NewRef(event_of(self)->stream);
}

static PyGetSetDef event_properties[] = {
	{ "done", event_done, NULL,
	  "Whether the transfer is done; wait() raises its error if it failed.",
	  NULL },
	{ "count", event_count, NULL,
	  "Elements that moved.  BlockingIOError before the end, OSError (EBADMSG) if\n"
	  "the last element is not whole.",
	  NULL },
	{ "stream", event_stream, NULL, "The stream.", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyMemberDef event_members[] = {
	{ "__weaklistoffset__", T_PYSSIZET, offsetof(struct event_object, weak),
	  READONLY, NULL },
	{ NULL, 0, 0, 0, NULL },
};

static PyType_Slot event_slots[] = {
	{ Py_tp_new, made_elsewhere },
	{ Py_tp_doc, "The part of dray.Event in C." },
	{ Py_tp_dealloc, event_dealloc },
	{ Py_tp_traverse, event_traverse },
	{ Py_tp_methods, event_methods },
	{ Py_tp_members, event_members },
	{ Py_tp_getset, event_properties },
	{ 0, NULL },
};

PyType_Spec event_type_spec = {
	.name = "dray._dray.EventBase",
	.basicsize = sizeof(struct event_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
		 Py_TPFLAGS_IMMUTABLETYPE,
	.slots = event_slots,
};
