// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Stream objects: a channel of a node that sends or receives packets.  Each
 * call keeps the stream open, so that close() in another thread ends it after
 * the last of them.  A list has the packets in flight: it keeps their arrays,
 * also if the program drops the events.
 */
#include <stddef.h>
#include <stdlib.h>

#include "module.h"
#include <structmember.h>

struct packet {
	struct packet *next;
	struct packet **link; /* in the stream's list; NULL: not there */
	size_t references; /* of the list and of an Event */
	struct dray_event *event; /* NULL: not submitted */
	PyObject *array; /* while it is in the list */
};

/* The critical section of the object guards all that changes. */
struct stream_object {
	PyObject_HEAD struct dray_stream *stream; /* NULL: closed */
	struct node_entry *entry;
	char name[DRAY_NAME_LEN];
	bool closing;
	size_t users; /* calls under way */
	struct packet *first; /* in flight, in the order of submission */
	struct packet **last;
	PyObject *weak;
};

static struct stream_object *stream_of(PyObject *self)
{
	return (struct stream_object *)self;
}

const char *stream_name(PyObject *self)
{
	return stream_of(self)->name;
}

static bool number_take(Py_ssize_t value, const char *name, uint32_t *out)
{
	if (value < 0 || (uint64_t)value > UINT32_MAX) {
		PyErr_Format(PyExc_ValueError, "%s is %zd: from 0 to %lu", name,
			     value, (unsigned long)UINT32_MAX);
		return false;
	}
	*out = (uint32_t)value;
	return true;
}

PyObject *stream_new(struct module_state *state, struct node_entry *entry,
		     PyObject *args, PyObject *keywords)
{
	static char *names[] = { "name", "points", "batch", NULL };
	struct dray_stream_options options = { .points = 0 };
	Py_ssize_t points = 0, batch = 0;
	struct stream_object *self;
	const char *name;
	int ret;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "s|$nn:stream", names,
					 &name, &points, &batch) ||
	    !number_take(points, "points", &options.points) ||
	    !number_take(batch, "batch", &options.batch))
		return NULL;
	self = PyObject_GC_New(struct stream_object, state->stream_type);
	if (!self)
		return NULL;
	memset((char *)self + offsetof(struct stream_object, stream), 0,
	       sizeof(*self) - offsetof(struct stream_object, stream));
	self->last = &self->first;
	self->entry = node_entry_ref(entry);
	PyOS_snprintf(self->name, sizeof(self->name), "%s", name);
	Py_BEGIN_ALLOW_THREADS
	ret = dray_stream_open(node_entry_node(entry), name, &options,
			       &self->stream);
	Py_END_ALLOW_THREADS
	PyObject_GC_Track(self);
	if (!ret)
		return (PyObject *)self;
	self->closing = true;
	raise_error(ret);
	Py_DECREF(self);
	return NULL;
}

/* Takes a packet off its list; returns the reference to its array. */
static PyObject *packet_unlink(struct stream_object *self,
			       struct packet *packet)
{
	PyObject *array = packet->array;

	if (!packet->link)
		return NULL;
	*packet->link = packet->next;
	if (packet->next)
		packet->next->link = packet->link;
	else
		self->last = packet->link;
	packet->link = NULL;
	packet->array = NULL;
	packet->references--;
	return array;
}

static void packet_free_unused(struct packet *packet)
{
	if (packet->references)
		return;
	dray_event_unref(packet->event);
	free(packet);
}

struct packet *packet_new(void)
{
	struct packet *packet = calloc(1, sizeof(*packet));

	if (packet)
		packet->references = 1;
	return packet;
}

struct dray_event *packet_event(const struct packet *packet)
{
	return packet->event;
}

/* Takes the first packet off the list if it has ended, or in any case. */
static bool drop_first(struct stream_object *self, bool ended)
{
	struct packet *packet;
	PyObject *array = NULL;
	bool dropped = false;

	Py_BEGIN_CRITICAL_SECTION(self);
	packet = self->first;
	if (packet && (ended || dray_event_status(packet->event))) {
		array = packet_unlink(self, packet);
		packet_free_unused(packet);
		dropped = true;
	}
	Py_END_CRITICAL_SECTION();
	Py_XDECREF(array);
	return dropped;
}

void packet_start(PyObject *stream, struct packet *packet,
		  struct dray_event *event, PyObject *array)
{
	struct stream_object *self = stream_of(stream);

	Py_BEGIN_CRITICAL_SECTION(self);
	packet->event = event;
	packet->array = Py_NewRef(array);
	packet->references++;
	packet->link = self->last;
	*self->last = packet;
	self->last = &packet->next;
	Py_END_CRITICAL_SECTION();
	while (drop_first(self, false))
		;
}

void packet_end(PyObject *stream, struct packet *packet)
{
	PyObject *array;

	Py_BEGIN_CRITICAL_SECTION(stream);
	array = packet_unlink(stream_of(stream), packet);
	Py_END_CRITICAL_SECTION();
	Py_XDECREF(array);
}

void packet_put(PyObject *stream, struct packet *packet)
{
	(void)stream; /* if there is a GIL */
	Py_BEGIN_CRITICAL_SECTION(stream);
	packet->references--;
	packet_free_unused(packet);
	Py_END_CRITICAL_SECTION();
}

struct dray_event *packet_first(PyObject *stream)
{
	struct stream_object *self = stream_of(stream);
	struct dray_event *event = NULL;

	while (drop_first(self, false))
		;
	Py_BEGIN_CRITICAL_SECTION(self);
	if (self->first)
		event = dray_event_ref(self->first->event);
	Py_END_CRITICAL_SECTION();
	return event;
}

struct dray_stream *stream_enter(PyObject *object)
{
	struct stream_object *self = stream_of(object);
	struct dray_stream *stream = NULL;

	Py_BEGIN_CRITICAL_SECTION(self);
	if (!self->closing) {
		stream = self->stream;
		self->users++;
	}
	Py_END_CRITICAL_SECTION();
	if (!stream)
		PyErr_Format(PyExc_ValueError, "the stream %s is closed",
			     self->name);
	return stream;
}

/* Ends all packets, then lets their arrays go. */
static void end_stream(struct stream_object *self, struct dray_stream *stream)
{
	Py_BEGIN_ALLOW_THREADS
	dray_stream_close(stream);
	Py_END_ALLOW_THREADS
	while (drop_first(self, true))
		;
}

void stream_leave(PyObject *object)
{
	struct stream_object *self = stream_of(object);
	struct dray_stream *stream = NULL;

	Py_BEGIN_CRITICAL_SECTION(self);
	self->users--;
	if (self->closing && self->users) {
		/* Calls that wait for room go on, and are the last. */
		dray_stream_cancel(self->stream);
	} else if (self->closing) {
		stream = self->stream;
		self->stream = NULL;
	}
	Py_END_CRITICAL_SECTION();
	if (stream)
		end_stream(self, stream);
}

static void close_once(struct stream_object *self)
{
	bool first;

	Py_BEGIN_CRITICAL_SECTION(self);
	first = !self->closing;
	self->closing = true;
	self->users += first;
	Py_END_CRITICAL_SECTION();
	if (first)
		stream_leave((PyObject *)self);
}

/* Calls a function of dray/_stream.py with the stream before the arguments. */
static PyObject *call_python(PyObject *self, const char *name, PyObject *args,
			     PyObject *keywords)
{
	PyObject *module = PyImport_ImportModule("dray._stream");
	PyObject *function = NULL, *all = NULL, *result = NULL;
	Py_ssize_t i, count = args ? PyTuple_GET_SIZE(args) : 0;

	if (module)
		function = PyObject_GetAttrString(module, name);
	if (function)
		all = PyTuple_New(count + 1);
	if (all) {
		PyTuple_SET_ITEM(all, 0, Py_NewRef(self));
		for (i = 0; i < count; i++)
			PyTuple_SET_ITEM(all, i + 1,
					 Py_NewRef(PyTuple_GET_ITEM(args, i)));
		result = PyObject_Call(function, all, keywords);
	}
	Py_XDECREF(module);
	Py_XDECREF(function);
	Py_XDECREF(all);
	return result;
}

static PyObject *stream_send_async(PyObject *self, PyObject *args,
				   PyObject *keywords)
{
	return call_python(self, "send_async", args, keywords);
}

static PyObject *stream_recv_async(PyObject *self, PyObject *args,
				   PyObject *keywords)
{
	return call_python(self, "recv_async", args, keywords);
}

static PyObject *stream_close(PyObject *self, PyObject *unused)
{
	(void)unused;
	close_once(stream_of(self));
	/* Tasks that wait for its packets look again. */
	return call_python(self, "look", NULL, NULL);
}

static PyObject *stream_exit(PyObject *self, PyObject *args)
{
	PyObject *done = stream_close(self, NULL);

	(void)args;
	if (!done)
		return NULL;
	Py_DECREF(done);
	Py_RETURN_FALSE;
}

static PyObject *stream_self(PyObject *self, PyObject *unused)
{
	(void)unused;
	if (!stream_enter(self))
		return NULL;
	stream_leave(self);
	return Py_NewRef(self);
}

static PyObject *stream_cancel(PyObject *self, PyObject *unused)
{
	struct dray_stream *stream = stream_enter(self);
	int ret;

	(void)unused;
	if (!stream)
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	ret = dray_stream_cancel(stream);
	Py_END_ALLOW_THREADS
	stream_leave(self);
	if (ret)
		return raise_error(ret);
	Py_RETURN_NONE;
}

static PyObject *stream_counts(PyObject *self, PyObject *unused)
{
	struct dray_stream *stream = stream_enter(self);
	struct dray_stream_counts counts = { 0 };
	int ret;

	(void)unused;
	if (!stream)
		return NULL;
	ret = dray_stream_counts(stream, &counts, sizeof(counts));
	stream_leave(self);
	return ret ? raise_error(ret)
		   : record_stream_counts(type_state(self), &counts);
}

static PyObject *stream_fileno(PyObject *self, PyObject *unused)
{
	struct dray_stream *stream = stream_enter(self);
	int fd;

	(void)unused;
	if (!stream)
		return NULL;
	fd = dray_stream_fd(stream);
	stream_leave(self);
	return PyLong_FromLong(fd);
}

static PyObject *stream_ended(PyObject *self, PyObject *unused)
{
	struct dray_stream *stream = stream_enter(self);
	uint64_t ended;

	(void)unused;
	if (!stream)
		return NULL;
	ended = dray_stream_ended(stream);
	stream_leave(self);
	return PyLong_FromUnsignedLongLong(ended);
}

static PyObject *stream_repr(PyObject *self)
{
	return PyUnicode_FromFormat(
		"<dray.Stream %s, back end %s%s>", stream_name(self),
		dray_node_backend(node_entry_node(stream_of(self)->entry)),
		stream_of(self)->closing ? ", closed" : "");
}

static int stream_traverse(PyObject *object, visitproc visit, void *arg)
{
	struct packet *packet;

	Py_VISIT(Py_TYPE(object));
	for (packet = stream_of(object)->first; packet; packet = packet->next)
		Py_VISIT(packet->array);
	return 0;
}

/* Arrays may go only after the engine: it writes to them. */
static int stream_clear(PyObject *object)
{
	close_once(stream_of(object));
	return 0;
}

static void stream_dealloc(PyObject *object)
{
	struct stream_object *self = stream_of(object);
	PyTypeObject *type = Py_TYPE(object);

	PyObject_GC_UnTrack(object);
	if (self->weak)
		PyObject_ClearWeakRefs(object);
	close_once(self);
	node_entry_put(self->entry);
	PyObject_GC_Del(object);
	Py_DECREF(type);
}

#define WITH_KEYWORDS(function) \
	((PyCFunction)(void (*)(void))(function)), METH_VARARGS | METH_KEYWORDS

static PyMethodDef stream_methods[] = {
	{ "send", WITH_KEYWORDS(packet_send),
	  "send($self, a, /, *, wait=True, timeout=None, deadline=None, stage=False,\n"
	  "     nonblock=False, fences=())\n--\n\n"
	  "Sends the elements of a, in C order, as one packet.\n"
	  "\n"
	  "Returns their count when the packet has been sent, or with wait=False an\n"
	  "Event at once.  The array is kept until the end, and must not be written.\n"
	  "\n"
	  "timeout: seconds that the call may take; then TimeoutError (ETIME).\n"
	  "deadline: seconds that the transfer may take; then it ends with\n"
	  "TimeoutError (ETIMEDOUT).\n"
	  "stage: lets the CPU copy the packet to a buffer if the engine cannot use the\n"
	  "array: memory of NumPy, or an alignment.\n"
	  "nonblock: BlockingIOError if the stream has no room for a packet.\n"
	  "fences: of dray.copy(); the engine starts when they are done.\n"
	  "\n"
	  "If the call waits and raises, at a timeout or by KeyboardInterrupt, the\n"
	  "transfer is cancelled first: nothing uses the array any more.  If the\n"
	  "transfer succeeds at that moment, there is no TimeoutError.\n"
	  "\n"
	  "OSError (EOPNOTSUPP) if the engine cannot, with its limit; ValueError for a\n"
	  "closed stream, for one that receives and for an array without elements." },
	{ "recv", WITH_KEYWORDS(packet_recv),
	  "recv($self, a, /, *, wait=True, timeout=None, deadline=None, stage=False,\n"
	  "     nonblock=False, fences=())\n--\n\n"
	  "Receives a packet into a, in C order, otherwise as send().\n"
	  "\n"
	  "Returns the count of elements that came: a shorter packet ends the\n"
	  "transfer, a longer one goes on in the next.  OSError (EBADMSG) if the last\n"
	  "element is not whole: receive such packets into bytes, or ask Event.bytes.\n"
	  "The array must not be used until the end, and ValueError if it is\n"
	  "read-only or its elements share bytes." },
	{ "send_async", WITH_KEYWORDS(stream_send_async),
	  "send_async($self, a, /, *, deadline=None, stage=False, fences=())\n--\n\n"
	  "Sends as send(), for asyncio: `await s.send_async(a)`.\n"
	  "\n"
	  "No thread waits.  If the task is cancelled, the transfer is too." },
	{ "recv_async", WITH_KEYWORDS(stream_recv_async),
	  "recv_async($self, a, /, *, deadline=None, stage=False, fences=())\n--\n\n"
	  "Receives as recv(), for asyncio: `count = await s.recv_async(a)`.\n"
	  "\n"
	  "No thread waits.  If the task is cancelled, the transfer is too." },
	{ "explain", WITH_KEYWORDS(packet_explain),
	  "explain($self, a, /, *, stage=False)\n--\n\n"
	  "Tells how a packet of a would be moved, as Explanation; moves nothing.\n"
	  "\n"
	  "engine is False if the CPU would make a staging copy.  Raises the errors\n"
	  "of send() or recv()." },
	{ "counts", stream_counts, METH_NOARGS,
	  "counts($self, /)\n--\n\nCounters since it was opened, as StreamCounts." },
	{ "cancel", stream_cancel, METH_NOARGS,
	  "cancel($self, /)\n--\n\n"
	  "Ends all transfers in flight with OSError (ECANCELED)." },
	{ "fileno", stream_fileno, METH_NOARGS,
	  "fileno($self, /)\n--\n\n"
	  "A file descriptor, readable for poll() when transfers have ended.\n"
	  "\n"
	  "It belongs to the stream.  ended() makes it quiet; `await` calls that, so\n"
	  "a program uses one of both." },
	{ "ended", stream_ended, METH_NOARGS,
	  "ended($self, /)\n--\n\n"
	  "The count of transfers that have ended; makes fileno() quiet until the next." },
	{ "close", stream_close, METH_NOARGS,
	  "close($self, /)\n--\n\n"
	  "Ends all transfers in flight with OSError (ECANCELED), and closes the stream.\n"
	  "\n"
	  "If other threads are in calls of the stream, it closes after the last.  Events\n"
	  "stay valid.  May be called again." },
	{ "__enter__", stream_self, METH_NOARGS,
	  "__enter__($self, /)\n--\n\nReturns the stream." },
	{ "__exit__", stream_exit, METH_VARARGS,
	  "__exit__($self, kind, value, traceback, /)\n--\n\nCloses the stream." },
	{ NULL, NULL, 0, NULL },
};

static PyObject *stream_name_text(PyObject *self, void *unused)
{
	(void)unused;
	return PyUnicode_DecodeFSDefault(stream_name(self));
}

static PyObject *stream_closed(PyObject *self, void *unused)
{
	(void)unused;
	return PyBool_FromLong(stream_of(self)->closing);
}

static PyGetSetDef stream_properties[] = {
	{ "name", stream_name_text, NULL, "The name of its channel.", NULL },
	{ "closed", stream_closed, NULL, "Whether close() was called.", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyMemberDef stream_members[] = {
	{ "__weaklistoffset__", T_PYSSIZET,
	  offsetof(struct stream_object, weak), READONLY, NULL },
	{ NULL, 0, 0, 0, NULL },
};

static PyType_Slot stream_slots[] = {
	{ Py_tp_doc,
	  "A channel that sends or receives packets; dray.stream() opens one." },
	{ Py_tp_repr, stream_repr },
	{ Py_tp_dealloc, stream_dealloc },
	{ Py_tp_traverse, stream_traverse },
	{ Py_tp_clear, stream_clear },
	{ Py_tp_methods, stream_methods },
	{ Py_tp_getset, stream_properties },
	{ Py_tp_members, stream_members },
	{ 0, NULL },
};

PyType_Spec stream_type_spec = {
	.name = "dray.Stream",
	.basicsize = sizeof(struct stream_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
		 Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
	.slots = stream_slots,
};
