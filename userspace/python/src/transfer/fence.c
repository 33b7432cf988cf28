// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Fence objects: the point where a transfer is done.  Until then a fence keeps
 * the arrays alive that the engine reads and writes.  Dropping it early does no
 * harm: the library parks memory that is freed while an engine uses it.
 */
#include <errno.h>

#include "base/module.h"

#include <structmember.h>

struct fence_object {
	PyObject_HEAD struct dray_fence *fence; /* NULL: done from the start */
	PyObject *weak; /* references of Python that keep nothing */
	struct node_entry *entry; /* its queue must not end before it */
	PyObject *dst; /* NULL when done */
	PyObject *src; /* NULL when done, and for a fill */
};

PyObject *fence_new(struct module_state *state, struct dray_fence *fence,
		    struct node_entry *entry, PyObject *dst, PyObject *src)
{
	struct fence_object *self;

	self = (struct fence_object *)state->fence_type->tp_alloc(
		state->fence_type, 0);
	if (!self) {
		if (fence)
			dray_fence_unref(fence);
		return NULL;
	}
	self->fence = fence;
	self->entry = entry ? node_entry_ref(entry) : NULL;
	self->dst = Py_XNewRef(dst);
	self->src = Py_XNewRef(src);
	return (PyObject *)self;
}

static int fence_traverse(PyObject *object, visitproc visit, void *arg)
{
	struct fence_object *self = (struct fence_object *)object;

	Py_VISIT(Py_TYPE(object));
	Py_VISIT(self->dst);
	Py_VISIT(self->src);
	return 0;
}

static int fence_clear(PyObject *object)
{
	struct fence_object *self = (struct fence_object *)object;

	Py_CLEAR(self->dst);
	Py_CLEAR(self->src);
	return 0;
}

static void fence_dealloc(PyObject *object)
{
	struct fence_object *self = (struct fence_object *)object;
	PyTypeObject *type = Py_TYPE(object);

	PyObject_GC_UnTrack(object);
	if (self->weak)
		PyObject_ClearWeakRefs(object);
	fence_clear(object);
	if (self->fence)
		dray_fence_unref(self->fence);
	node_entry_put(self->entry);
	PyObject_GC_Del(object);
	Py_DECREF(type);
}

/* Drops the arrays after the end.  Two threads may notice it together. */
static void fence_release(struct fence_object *self)
{
	PyObject *dst, *src;

	Py_BEGIN_CRITICAL_SECTION(self);
	dst = self->dst;
	src = self->src;
	self->dst = NULL;
	self->src = NULL;
	Py_END_CRITICAL_SECTION();
	Py_XDECREF(dst);
	Py_XDECREF(src);
}

static int fence_wait_once(void *fence, int milliseconds)
{
	return dray_fence_wait(fence, milliseconds);
}

/* @limit: seconds, below 0: none */
static int fence_wait_for(struct fence_object *self, double limit)
{
	int ret = 0;

	if (self->fence)
		ret = wait_for_end(fence_wait_once, self->fence, limit);
	if (ret == -EINTR)
		return -1;
	if (ret != -ETIME)
		fence_release(self);
	if (!ret)
		return 0;
	raise_error(ret);
	return -1;
}

int fence_take(struct module_state *state, PyObject *object,
	       struct dray_fence **out)
{
	if (Py_TYPE(object) != state->fence_type) {
		PyErr_Format(PyExc_TypeError, "fences has %s %s, no dray.Fence",
			     article_of(Py_TYPE(object)->tp_name),
			     Py_TYPE(object)->tp_name);
		return -1;
	}
	*out = ((struct fence_object *)object)->fence;
	return 0;
}

int fence_finish(PyObject *fence)
{
	return fence_wait_for((struct fence_object *)fence, -1);
}

static PyObject *fence_wait(PyObject *self, PyObject *timeout)
{
	double limit;

	if (seconds_take(timeout, "timeout", &limit) ||
	    fence_wait_for((struct fence_object *)self, limit))
		return NULL;
	Py_RETURN_NONE;
}

static PyObject *fence_done(PyObject *object, void *unused)
{
	struct fence_object *self = (struct fence_object *)object;

	(void)unused;
	if (self->fence && !dray_fence_status(self->fence))
		Py_RETURN_FALSE;
	fence_release(self);
	Py_RETURN_TRUE;
}

static PyObject *fence_time(PyObject *object, PyObject *unused)
{
	struct fence_object *self = (struct fence_object *)object;
	uint64_t time_ns = 0;
	int ret = self->fence ? dray_fence_time(self->fence, &time_ns) : 0;

	(void)unused;
	return ret ? raise_error(ret)
		   : PyFloat_FromDouble(1e-9 * (double)time_ns);
}

static PyObject *fence_fileno(PyObject *object, PyObject *unused)
{
	struct fence_object *self = (struct fence_object *)object;
	int fd = self->fence ? dray_fence_fd(self->fence) : -1;

	(void)unused;
	if (fd >= 0)
		return PyLong_FromLong(fd);
	PyErr_SetString(
		PyExc_ValueError,
		"the CPU made this transfer: it is done, and there is no file descriptor to poll");
	return NULL;
}

/* Returns 0 before the end, 1 after it, or the negative errno of a failure. */
static PyObject *fence_status(PyObject *object, PyObject *unused)
{
	const struct fence_object *self = (struct fence_object *)object;

	(void)unused;
	return PyLong_FromLong(self->fence ? dray_fence_status(self->fence)
					   : 1);
}

static PyMethodDef fence_methods[] = {
	{ "_wait", fence_wait, METH_O, SIGNATURE("_wait($self, timeout, /)") },
	{ "_time", fence_time, METH_NOARGS, SIGNATURE("_time($self, /)") },
	{ "_fileno", fence_fileno, METH_NOARGS,
	  SIGNATURE("_fileno($self, /)") },
	{ "_status", fence_status, METH_NOARGS,
	  SIGNATURE("_status($self, /)") },
	{ NULL, NULL, 0, NULL },
};

static PyGetSetDef fence_properties[] = {
	{ "done", fence_done, NULL,
	  "Whether the transfer is over; wait() tells whether it failed.",
	  NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyMemberDef fence_members[] = {
	{ "__weaklistoffset__", T_PYSSIZET, offsetof(struct fence_object, weak),
	  READONLY, NULL },
	{ NULL, 0, 0, 0, NULL },
};

static PyType_Slot fence_slots[] = {
	{ Py_tp_new, made_elsewhere },
	{ Py_tp_doc, "The part of dray.Fence in C." },
	{ Py_tp_dealloc, fence_dealloc },
	{ Py_tp_traverse, fence_traverse },
	{ Py_tp_clear, fence_clear },
	{ Py_tp_methods, fence_methods },
	{ Py_tp_members, fence_members },
	{ Py_tp_getset, fence_properties },
	{ 0, NULL },
};

PyType_Spec fence_type_spec = {
	.name = "dray._dray.FenceBase",
	.basicsize = sizeof(struct fence_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
		 Py_TPFLAGS_IMMUTABLETYPE,
	.slots = fence_slots,
};
