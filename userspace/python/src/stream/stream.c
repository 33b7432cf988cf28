// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Stream objects: a channel of a node that sends or receives packets.  Each
 * call keeps the stream open, so that close() in another thread ends it after
 * the last of them.
 */
#include <errno.h>

#include "ring.h"
#include "stream.h"

static struct stream_object *stream_of(PyObject *self)
{
	return (struct stream_object *)self;
}

const char *stream_name(PyObject *self)
{
	return stream_of(self)->name;
}

struct flight *stream_flight(PyObject *self)
{
	return &stream_of(self)->flight;
}

bool stream_sends(PyObject *self)
{
	return stream_of(self)->sends;
}

bool stream_closing(PyObject *self)
{
	return stream_of(self)->closing;
}

PyObject *stream_closed_error(PyObject *self)
{
	return PyErr_Format(PyExc_ValueError, "the stream %s is closed",
			    stream_name(self));
}

/* Whether the channel of an open stream sends. */
static int find_direction(struct stream_object *self)
{
	struct dray_node *node = node_entry_node(self->entry);
	struct dray_channel_info channel;
	uint32_t i;
	int ret;

	for (i = 0;; i++) {
		ret = dray_node_channel(node, i, &channel, sizeof(channel));
		if (ret)
			return ret;
		if (!strncmp(channel.name, self->name, sizeof(self->name)))
			break;
	}
	self->sends = channel.flags & DRAY_CHANNEL_SEND;
	self->shows = channel.flags & DRAY_CHANNEL_SHOW;
	return 0;
}

static PyObject *stream_new(struct module_state *state,
			    struct node_entry *entry, const char *name,
			    const struct dray_stream_options *options)
{
	struct stream_object *self;
	int ret;

	self = (struct stream_object *)state->stream_type->tp_alloc(
		state->stream_type, 0);
	if (!self)
		return NULL;
	flight_init(&self->flight);
	self->entry = node_entry_ref(entry);
	self->options = *options;
	PyOS_snprintf(self->name, sizeof(self->name), "%s", name);
	Py_BEGIN_ALLOW_THREADS
	ret = dray_stream_open(node_entry_node(entry), name, options,
			       &self->stream);
	if (!ret)
		ret = find_direction(self);
	Py_END_ALLOW_THREADS
	if (!ret)
		return (PyObject *)self;
	raise_error(ret);
	self->closing = !self->stream;
	Py_DECREF(self);
	return NULL;
}

PyObject *stream_open(PyObject *module, PyObject *args)
{
	struct dray_stream_options options = { .size = 0 };
	struct module_state *state = module_state(module);
	struct node_entry *entry;
	struct dray_node *node;
	PyObject *of, *result;
	const char *name;

	if (!PyArg_ParseTuple(args, "OsII", &of, &name, &options.points,
			      &options.batch))
		return NULL;
	node = node_of(state, of);
	if (!node)
		return NULL;
	entry = node_entry_get(node);
	if (!entry)
		return PyErr_NoMemory();
	result = stream_new(state, entry, name, &options);
	node_entry_put(entry);
	return result;
}

struct dray_stream *stream_enter(PyObject *object)
{
	struct stream_object *self = stream_of(object);
	struct dray_stream *stream = NULL;
	bool closing;

	Py_BEGIN_CRITICAL_SECTION(self);
	closing = self->closing;
	if (!closing && !self->renewing) {
		stream = self->stream;
		self->users++;
	}
	Py_END_CRITICAL_SECTION();
	if (closing)
		stream_closed_error(object);
	else if (!stream)
		raise_message(-EBUSY,
			      PyUnicode_FromFormat(
				      "another thread ends the frames of %s",
				      stream_name(object)));
	return stream;
}

/* Ends all packets, then lets their arrays go. */
static void end_stream(struct stream_object *self, struct dray_stream *stream)
{
	Py_BEGIN_ALLOW_THREADS
	dray_stream_close(stream);
	Py_END_ALLOW_THREADS
	flight_end((PyObject *)self, &self->flight);
}

/* The last call does this, and no other begins meanwhile. */
static int open_again(struct stream_object *self, struct dray_stream *old)
{
	struct dray_stream *stream = NULL;
	int ret;

	end_stream(self, old);
	Py_BEGIN_ALLOW_THREADS
	ret = dray_stream_open(node_entry_node(self->entry), self->name,
			       &self->options, &stream);
	Py_END_ALLOW_THREADS
	Py_BEGIN_CRITICAL_SECTION(self);
	self->stream = stream;
	self->renewing = false;
	self->has_rest = false;
	self->closing = self->closing || ret;
	if (self->closing)
		self->stream = NULL;
	else
		stream = NULL;
	Py_END_CRITICAL_SECTION();
	if (stream)
		end_stream(self, stream);
	return ret;
}

static int py_stream_leave(struct stream_object *self)
{
	struct dray_stream *stream = NULL;
	bool renews = false;

	Py_BEGIN_CRITICAL_SECTION(self);
	self->users--;
	if ((self->closing || self->renewing) && self->users) {
		/* Calls that wait for room go on, and are the last. */
		dray_stream_cancel(self->stream);
	} else if (self->closing || self->renewing) {
		renews = !self->closing;
		stream = self->stream;
		self->stream = NULL;
	}
	Py_END_CRITICAL_SECTION();
	if (renews)
		return open_again(self, stream);
	if (stream)
		end_stream(self, stream);
	return 0;
}

void stream_leave(PyObject *object)
{
	py_stream_leave(stream_of(object));
}

int stream_renew(PyObject *object)
{
	struct stream_object *self = stream_of(object);
	struct dray_stream_counts counts = { .size = sizeof(counts) };
	bool first = false;
	int ret = 0;

	Py_BEGIN_CRITICAL_SECTION(self);
	if (!self->closing && !self->renewing) {
		/* A child of fork() has only a copy: its parent uses the stream. */
		ret = dray_stream_counts(self->stream, &counts);
		first = ret != -ECHILD;
		self->renewing = first;
		self->users += first;
	}
	Py_END_CRITICAL_SECTION();
	return first ? py_stream_leave(self) : ret;
}

void stream_leave_rest(PyObject *object)
{
	struct stream_object *self = stream_of(object);

	Py_BEGIN_CRITICAL_SECTION(self);
	self->has_rest = true;
	Py_END_CRITICAL_SECTION();
}

int stream_finish_rest(PyObject *object, double limit)
{
	struct stream_object *self = stream_of(object);
	struct dray_point broken = { .status = 0 };
	struct dray_stream *stream;
	int ret;

	if (!self->has_rest)
		return 0;
	/* The last picture of a display never leaves it. */
	if (self->shows)
		return stream_renew(object);
	stream = stream_enter(object);
	if (!stream)
		return -EINTR;
	ret = ring_take_away(stream, limit, &broken);
	if (!ret)
		self->has_rest = false;
	stream_leave(object);
	return ret;
}

void stream_end(PyObject *object)
{
	struct stream_object *self = stream_of(object);
	bool first;

	Py_BEGIN_CRITICAL_SECTION(self);
	first = !self->closing;
	self->closing = true;
	self->users += first;
	Py_END_CRITICAL_SECTION();
	if (first)
		stream_leave(object);
}

int stream_traverse(PyObject *object, visitproc visit, void *arg)
{
	Py_VISIT(Py_TYPE(object));
	return flight_traverse(&stream_of(object)->flight, visit, arg);
}

/* Arrays may go only after the engine: it writes to them. */
int stream_clear(PyObject *object)
{
	stream_end(object);
	return 0;
}

void stream_dealloc(PyObject *object)
{
	struct stream_object *self = stream_of(object);
	PyTypeObject *type = Py_TYPE(object);

	PyObject_GC_UnTrack(object);
	if (self->weak)
		PyObject_ClearWeakRefs(object);
	stream_end(object);
	node_entry_put(self->entry);
	PyObject_GC_Del(object);
	Py_DECREF(type);
}
