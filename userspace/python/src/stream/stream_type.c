// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Methods of Stream objects and their documentation. */
#include <stddef.h>

#include "stream.h"
#include <structmember.h>

static PyObject *stream_closes(PyObject *self, PyObject *unused)
{
	(void)unused;
	stream_end(self);
	Py_RETURN_NONE;
}

/* Raises ValueError for a closed stream. */
static PyObject *stream_check_open(PyObject *self, PyObject *unused)
{
	(void)unused;
	if (!stream_enter(self))
		return NULL;
	stream_leave(self);
	Py_RETURN_NONE;
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
	ret = dray_stream_counts(stream, &counts);
	stream_leave(self);
	return ret ? raise_error(ret)
		   : record_stream_counts(class_state(self), &counts);
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

static void stream_unhold(PyObject *capsule)
{
	PyObject *self = PyCapsule_GetContext(capsule);

	stream_leave(self);
	Py_DECREF(self);
}

/* Keeps the stream open as long as the result, a capsule. */
static PyObject *stream_hold(PyObject *self, PyObject *unused)
{
	struct dray_stream *stream = stream_enter(self);
	PyObject *capsule;

	(void)unused;
	if (!stream)
		return NULL;
	capsule = PyCapsule_New(stream, STREAM_CAPSULE, stream_unhold);
	if (!capsule || PyCapsule_SetContext(capsule, Py_NewRef(self)))
		stream_leave(self);
	return capsule;
}

static PyMethodDef stream_methods[] = {
	{ "_move", packet_move, METH_VARARGS,
	  SIGNATURE(
		  "_move($self, move, a, wait, timeout, deadline, stage, nonblock, fences, /)") },
	{ "_explain", packet_explain, METH_VARARGS,
	  SIGNATURE("_explain($self, a, stage, /)") },
	{ "_counts", stream_counts, METH_NOARGS,
	  SIGNATURE("_counts($self, /)") },
	{ "_cancel", stream_cancel, METH_NOARGS,
	  SIGNATURE("_cancel($self, /)") },
	{ "_fileno", stream_fileno, METH_NOARGS,
	  SIGNATURE("_fileno($self, /)") },
	{ "_ended", stream_ended, METH_NOARGS, SIGNATURE("_ended($self, /)") },
	{ "_close", stream_closes, METH_NOARGS, SIGNATURE("_close($self, /)") },
	{ "_hold", stream_hold, METH_NOARGS, SIGNATURE("_hold($self, /)") },
	{ "_check", stream_check_open, METH_NOARGS,
	  SIGNATURE("_check($self, /)") },
	{ NULL, NULL, 0, NULL },
};

static PyObject *stream_name_text(PyObject *self, void *unused)
{
	(void)unused;
	return PyUnicode_DecodeFSDefault(stream_name(self));
}

static PyObject *stream_node(PyObject *self, void *unused)
{
	(void)unused;
	return node_new(class_state(self),
			((struct stream_object *)self)->entry);
}

static PyObject *stream_closed(PyObject *self, void *unused)
{
	(void)unused;
	return PyBool_FromLong(stream_closing(self));
}

static PyGetSetDef stream_properties[] = {
	{ "name", stream_name_text, NULL, "The name of its channel.", NULL },
	{ "node", stream_node, NULL, "Its node.", NULL },
	{ "closed", stream_closed, NULL, "Whether close() was called.", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyMemberDef stream_members[] = {
	{ "__weaklistoffset__", T_PYSSIZET,
	  offsetof(struct stream_object, weak), READONLY, NULL },
	{ NULL, 0, 0, 0, NULL },
};

static PyType_Slot stream_slots[] = {
	{ Py_tp_new, made_elsewhere },
	{ Py_tp_doc, "The part of dray.Stream in C." },
	{ Py_tp_dealloc, stream_dealloc },
	{ Py_tp_traverse, stream_traverse },
	{ Py_tp_clear, stream_clear },
	{ Py_tp_methods, stream_methods },
	{ Py_tp_getset, stream_properties },
	{ Py_tp_members, stream_members },
	{ 0, NULL },
};

PyType_Spec stream_type_spec = {
	.name = "dray._dray.StreamBase",
	.basicsize = sizeof(struct stream_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
		 Py_TPFLAGS_IMMUTABLETYPE,
	.slots = stream_slots,
};
