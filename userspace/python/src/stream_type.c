// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Methods of Stream objects and their documentation. */
#include <stddef.h>

#include "stream.h"
#include <structmember.h>

PyObject *stream_python(PyObject *self, const char *name, PyObject *args,
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
	return stream_python(self, "send_async", args, keywords);
}

static PyObject *stream_recv_async(PyObject *self, PyObject *args,
				   PyObject *keywords)
{
	return stream_python(self, "recv_async", args, keywords);
}

static PyObject *stream_frames(PyObject *self, PyObject *args,
			       PyObject *keywords)
{
	return stream_python(self, "frames", args, keywords);
}

static PyObject *stream_close(PyObject *self, PyObject *unused)
{
	(void)unused;
	stream_end(self);
	/* Tasks that wait for its packets look again. */
	return stream_python(self, "look", NULL, NULL);
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
	ret = dray_stream_counts(stream, &counts);
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
		dray_node_backend(
			node_entry_node(((struct stream_object *)self)->entry)),
		stream_closing(self) ? ", closed" : "");
}

static PyMethodDef stream_methods[] = {
	{ "send", WITH_KEYWORDS(packet_send), METH_VARARGS | METH_KEYWORDS,
	  "send($self, a, /, *, wait=True, timeout=None, deadline=None, stage=False,\n"
	  "     nonblock=False, fences=())\n--\n\n"
	  "Sends the elements of a, in C order, as a single packet.\n"
	  "\n"
	  "Returns their count when the packet is sent, or with wait=False an\n"
	  "Event at once.  The array is kept until the end, and must not be written.\n"
	  "\n"
	  "timeout: most seconds of the call; then TimeoutError (ETIME).\n"
	  "deadline: most seconds of the transfer; then it ends with\n"
	  "TimeoutError (ETIMEDOUT); at most 600, and None or math.inf is none.\n"
	  "stage: lets the CPU copy the packet to a buffer if the engine cannot use the\n"
	  "array: memory of NumPy, or an alignment.\n"
	  "nonblock: BlockingIOError if the stream is full.\n"
	  "fences: of dray.copy(); the engine starts when they are done.\n"
	  "\n"
	  "If the call waits and raises, at a timeout or by KeyboardInterrupt, the\n"
	  "transfer is cancelled first: nothing uses the array any more.  If the\n"
	  "transfer succeeds at that moment, there is no TimeoutError.\n"
	  "\n"
	  "OSError (EOPNOTSUPP) if the engine cannot, with its limit; ValueError for a\n"
	  "closed stream, a stream that receives, and an array without elements." },
	{ "recv", WITH_KEYWORDS(packet_recv), METH_VARARGS | METH_KEYWORDS,
	  "recv($self, a, /, *, wait=True, timeout=None, deadline=None, stage=False,\n"
	  "     nonblock=False, fences=())\n--\n\n"
	  "Receives a packet into a, in C order, otherwise as send().\n"
	  "\n"
	  "Returns the count of received elements: a shorter packet ends the\n"
	  "transfer, a longer packet continues in the next.  The driver of the AXI DMA\n"
	  "does not report a longer packet: then only a deadline or a timeout ends the call.\n"
	  "OSError (EBADMSG) if the last element is not whole: receive such packets\n"
	  "into bytes, or ask Event.bytes.\n"
	  "The array must not be used until the end, and ValueError if it is\n"
	  "read-only or its elements share bytes." },
	{ "show", WITH_KEYWORDS(packet_show), METH_VARARGS | METH_KEYWORDS,
	  "show($self, a, /, *, deadline=None, stage=False, nonblock=False,\n"
	  "     fences=())\n--\n\n"
	  "Shows a, an array of rows, on the display of a stream such as \"display0\".\n"
	  "\n"
	  "It stays there until the next show replaces it: then the Event that is\n"
	  "returned is done.  The array is kept until then, and changes to it may be\n"
	  "seen.  The keywords are the same as send()'s.\n"
	  "\n"
	  "OSError (EOPNOTSUPP) if the display needs another alignment or stride;\n"
	  "ValueError for a stream that does not show." },
	{ "send_async", WITH_KEYWORDS(stream_send_async),
	  METH_VARARGS | METH_KEYWORDS,
	  "send_async($self, a, /, *, deadline=None, stage=False, fences=())\n--\n\n"
	  "Sends as send(), for asyncio: `await s.send_async(a)`.\n"
	  "\n"
	  "Submits at once if there is room; the result is a coroutine.  No thread waits.  If the task is cancelled, the transfer is too." },
	{ "recv_async", WITH_KEYWORDS(stream_recv_async),
	  METH_VARARGS | METH_KEYWORDS,
	  "recv_async($self, a, /, *, deadline=None, stage=False, fences=())\n--\n\n"
	  "Receives as recv(), for asyncio: `count = await s.recv_async(a)`.\n"
	  "\n"
	  "Submits at once if there is room; the result is a coroutine.  No thread waits.  If the task is cancelled, the transfer is too." },
	{ "frames", WITH_KEYWORDS(stream_frames), METH_VARARGS | METH_KEYWORDS,
	  "frames($self, /, shape, dtype='f8', *, count=8, overwrite=False,\n"
	  "       timeout=None, pool=None)\n--\n\n"
	  "Makes a ring of frames for the stream, and iterates over them without a copy.\n"
	  "\n"
	  "    for frame in s.frames((480, 640), 'u2', count=8): ...\n"
	  "    async for frame in s.frames((480, 640), 'u2'): ...\n"
	  "\n"
	  "Each packet fills a frame, an array of NumPy.  At the loop's next step the\n"
	  "engine gets the frame again: the array becomes read-only, and shows later\n"
	  "packets.  Copy a frame to keep it.  Its memory stays as long as the array.\n"
	  "A packet that is shorter than the frame makes fewer rows; OSError (EBADMSG)\n"
	  "if the last row is not whole.  For a longer packet, see recv().  The next step\n"
	  "continues after any error, also after TimeoutError and KeyboardInterrupt, with\n"
	  "the next packet.\n"
	  "\n"
	  "A stream that sends hands out frames to fill.  At the loop's next step the frame\n"
	  "is sent; flush() sends the last frame and waits:\n"
	  "\n"
	  "    frames = s.frames((480, 640), 'u2')\n"
	  "    for picture, frame in zip(pictures, frames):\n"
	  "        frame[:] = picture\n"
	  "    frames.flush()\n"
	  "\n"
	  "count: frames, 2 to 1024, in memory of pool or of a new pool on the node.\n"
	  "overwrite: a packet replaces the oldest waiting frame, if the program\n"
	  "is late.  By default the stream is held back.  Frames.lost counts such packets.\n"
	  "timeout: seconds of a step, then TimeoutError (ETIME).\n"
	  "\n"
	  "The ring ends with its last reference, as after `break`, or by close() or `with`;\n"
	  "so does the loop, and with the stream.  Until then send() and recv() are OSError\n"
	  "(EBUSY), as is a second ring." },
	{ "explain", WITH_KEYWORDS(packet_explain),
	  METH_VARARGS | METH_KEYWORDS,
	  "explain($self, a, /, *, stage=False)\n--\n\n"
	  "Says how a packet of a would be moved, as Explanation; moves nothing.\n"
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
	  "A file descriptor, readable for poll() when transfers end.\n"
	  "\n"
	  "It belongs to the stream.  ended() makes it quiet; `await` calls that, so\n"
	  "a program uses either of both." },
	{ "ended", stream_ended, METH_NOARGS,
	  "ended($self, /)\n--\n\n"
	  "The count of ended transfers; makes fileno() quiet until the next." },
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

static PyObject *stream_node(PyObject *self, void *unused)
{
	(void)unused;
	return node_new(type_state(self),
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
	{ Py_tp_doc,
	  "A channel that sends or receives packets; dray.stream() opens it." },
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
		 Py_TPFLAGS_IMMUTABLETYPE,
	.slots = stream_slots,
};
