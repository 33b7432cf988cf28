// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Event objects: the end of one packet.  An event keeps its stream open, and
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
	self = PyObject_GC_New(struct event_object, state->event_type);
	if (!self) {
		packet_put(stream, packet);
		return NULL;
	}
	self->stream = Py_NewRef(stream);
	self->packet = packet;
	self->itemsize = itemsize;
	self->weak = NULL;
	PyObject_GC_Track(self);
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

/* Waits for the end; no exception but that of a signal handler. */
static int event_wait_for(PyObject *self, double limit)
{
	int ret = wait_for_end(event_wait_once, event_in(self), limit);

	if (ret != -EINTR && ret != -ETIME && ret != -ECHILD)
		packet_end(event_of(self)->stream, event_packet(self));
	return ret;
}

/* Returns the count of elements, or raises the error of a wait. */
static PyObject *answer(PyObject *self, int error)
{
	if (!error)
		return event_count(self, NULL);
	return error == -EINTR ? NULL : raise_error(error);
}

/* Cancels the packet and waits for its end.  A closed stream has no others. */
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
 * has the time that the program gave: the submission may have taken some of it.
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
		return answer(self, ret < 0 ? ret : 0);
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
	return answer(self, ret);
}

static PyObject *event_wait(PyObject *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "timeout", NULL };
	PyObject *timeout = Py_None;
	double limit;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:wait", names,
					 &timeout) ||
	    seconds_take(timeout, "timeout", &limit))
		return NULL;
	return answer(self, event_wait_for(self, limit));
}

static PyObject *event_cancel(PyObject *self, PyObject *unused)
{
	int ret = py_event_cancel(self);

	(void)unused;
	if (ret)
		return raise_error(ret);
	Py_RETURN_NONE;
}

static PyObject *event_await(PyObject *self)
{
	PyObject *module = PyImport_ImportModule("dray._stream");
	PyObject *result =
		module ? PyObject_CallMethod(module, "wait_in_loop", "O", self)
		       : NULL;

	Py_XDECREF(module);
	return result;
}

static PyObject *event_repr(PyObject *self)
{
	int status = dray_event_status(event_in(self));
	const char *name = stream_name(event_of(self)->stream);

	if (status == -ECHILD)
		return PyUnicode_FromFormat(
			"<dray.Event of %s, of the parent process>", name);
	if (status < 0)
		return PyUnicode_FromFormat("<dray.Event of %s, failed: %s>",
					    name, strerror(-status));
	return PyUnicode_FromFormat("<dray.Event of %s, %s>", name,
				    status ? "done" : "not done");
}

static PyMethodDef event_methods[] = {
	{ "wait", (PyCFunction)(void (*)(void))event_wait,
	  METH_VARARGS | METH_KEYWORDS,
	  "wait($self, /, timeout=None)\n--\n\n"
	  "Waits until the transfer ends, for at most timeout seconds, and returns\n"
	  "the count of elements.  Raises the transfer's error if it failed, TimeoutError\n"
	  "(ETIME) if the time runs out.  The transfer continues then, and after\n"
	  "KeyboardInterrupt." },
	{ "cancel", event_cancel, METH_NOARGS,
	  "cancel($self, /)\n--\n\n"
	  "Ends the transfer with OSError (ECANCELED), unless it is done.\n\n"
	  "Returns when nothing uses its array any more; bytes counts the moved bytes." },
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

static PyObject *event_bytes(PyObject *self, void *unused)
{
	struct dray_point point;

	(void)unused;
	return event_point(self, &point)
		       ? NULL
		       : PyLong_FromUnsignedLongLong(point.bytes);
}

static PyObject *event_number(PyObject *self, void *unused)
{
	struct dray_point point;

	(void)unused;
	return event_point(self, &point)
		       ? NULL
		       : PyLong_FromUnsignedLongLong(point.number);
}

static PyObject *event_time(PyObject *self, void *unused)
{
	struct dray_point point;

	(void)unused;
	return event_point(self, &point)
		       ? NULL
		       : PyFloat_FromDouble(1e-9 * (double)point.time_ns);
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
	{ "bytes", event_bytes, NULL,
	  "Bytes that moved, also if it failed.  BlockingIOError before the end.",
	  NULL },
	{ "number", event_number, NULL,
	  "Of the packet; each stream counts its packets.  BlockingIOError before the end.",
	  NULL },
	{ "time", event_time, NULL,
	  "When it ended, as of time.monotonic().  BlockingIOError before the end.",
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
	{ Py_tp_doc,
	  "The end of a packet; asyncio can await it, for the count of elements." },
	{ Py_tp_repr, event_repr },
	{ Py_am_await, event_await },
	{ Py_tp_dealloc, event_dealloc },
	{ Py_tp_traverse, event_traverse },
	{ Py_tp_methods, event_methods },
	{ Py_tp_members, event_members },
	{ Py_tp_getset, event_properties },
	{ 0, NULL },
};

PyType_Spec event_type_spec = {
	.name = "dray.Event",
	.basicsize = sizeof(struct event_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
		 Py_TPFLAGS_IMMUTABLETYPE,
	.slots = event_slots,
};
