// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dray.Call: a call in flight, made of the arguments of CallQueue.submit().  It has its
 * arrays until the call has ended: without a reference from the program, the module has it,
 * and the interpreter's main thread drops it.
 */
#include <errno.h>
#include <string.h>

#include "calls/calls.h"

/* Returns all arguments of a vectorcall. */
static PyObject *keep_arguments(PyObject *const *args, Py_ssize_t count,
				PyObject *names)
{
	Py_ssize_t all = count + (names ? PyTuple_GET_SIZE(names) : 0), i;
	PyObject *tuple = PyTuple_New(all);

	for (i = 0; tuple && i < all; i++)
		PyTuple_SET_ITEM(tuple, i, Py_NewRef(args[i]));
	return tuple;
}

struct call_object *make_call(struct module_state *state, PyObject *queue,
			      PyObject *source, struct ufunc_object *ufunc)
{
	struct call_object *call =
		(struct call_object *)state->call_type->tp_alloc(
			state->call_type, 0);

	if (!call)
		return NULL;
	call->queue = Py_NewRef(queue);
	call->ufunc = Py_NewRef(source);
	ufunc_arguments_begin(&call->taken, state, ufunc);
	return call;
}

struct call_object *take_call(PyObject *queue, PyObject *const *args,
			      Py_ssize_t count, PyObject *names)
{
	struct call_object *call;

	if (!queue_self(queue)->queue) {
		PyErr_SetString(PyExc_ValueError, "the queue is closed");
		return NULL;
	}
	if (!count) {
		PyErr_SetString(PyExc_TypeError, "a dray.ufunc is missing");
		return NULL;
	}
	if (!Py_IS_TYPE(args[0], type_state(queue)->ufunc_type)) {
		PyErr_Format(PyExc_TypeError, "a dray.ufunc is needed, not %R",
			     args[0]);
		return NULL;
	}
	call = make_call(type_state(queue), queue, args[0],
			 ufunc_self(args[0]));
	if (!call)
		return NULL;
	call->arguments = keep_arguments(args, count, names);
	if (!call->arguments ||
	    ufunc_arguments_take(&call->taken, args + 1, count - 1, names))
		Py_CLEAR(call);
	return call;
}

int take_results(struct call_object *call, struct dray_array **made,
		 PyObject *capsule)
{
	const struct module_state *state = call->taken.state;
	int o, outputs = call->taken.self->outputs;
	PyObject *results = PyTuple_New(outputs), *one;

	for (o = 0; o < outputs; o++) {
		if (!made[o])
			one = Py_NewRef(call->taken.outputs[o]);
		else
			one = array_wrap(state->array_type, made[o], NULL,
					 capsule, NULL);
		if (results && one)
			PyTuple_SET_ITEM(results, o, one);
		else
			Py_XDECREF(one);
		if (!one)
			Py_CLEAR(results);
	}
	if (results && outputs == 1) {
		one = Py_NewRef(PyTuple_GET_ITEM(results, 0));
		Py_DECREF(results);
		results = one;
	}
	call->results = results;
	return results ? 0 : -1;
}

static int object_wait_once(void *event, int milliseconds)
{
	return dray_event_wait(event, milliseconds);
}

static PyObject *call_wait(PyObject *object, PyObject *timeout)
{
	struct call_object *self = call_self(object);
	double limit;
	int ret, error;

	if (seconds_take(timeout, "timeout", &limit))
		return NULL;
	ret = wait_for_end(object_wait_once, self->event, limit);
	if (ret == -EINTR)
		return NULL;
	/* The queue's thread may add to them until the end. */
	if (ret != -ETIME && self->frame.count) {
		error = ufunc_report(&self->frame, self->wanted);
		self->frame.count = 0;
		if (error)
			return NULL;
		/* Its sentence again. */
		(void)dray_event_status(self->event);
	}
	return ret ? ufunc_error(ret) : Py_NewRef(self->results);
}

static PyObject *call_done(PyObject *self, void *unused)
{
	(void)unused;
	return PyBool_FromLong(dray_event_status(call_self(self)->event) != 0);
}

static PyObject *call_cancel(PyObject *self, PyObject *unused)
{
	int ret = dray_event_cancel(call_self(self)->event);

	(void)unused;
	if (ret)
		return raise_error(ret);
	Py_RETURN_NONE;
}

void drop_ended_calls(struct module_state *state)
{
	Py_ssize_t i = state->running ? PyList_GET_SIZE(state->running) : 0;
	PyObject *call;

	/* Code of Python may run at the end of each, and change the list. */
	while (i-- > 0) {
		if (i >= PyList_GET_SIZE(state->running))
			continue;
		call = PyList_GET_ITEM(state->running, i);
		if (dray_event_status(call_self(call)->event) &&
		    PyList_SetSlice(state->running, i, i + 1, NULL))
			PyErr_Clear();
	}
}

static int drop_in_main_thread(void *module)
{
	drop_ended_calls(module_state(module));
	Py_DECREF((PyObject *)module);
	return 0;
}

/*
 * Runs without the GIL.  If too many functions wait for the main thread, the next
 * submission drops the call, and the module keeps a reference to itself.
 */
static void object_has_ended(void *module)
{
	(void)Py_AddPendingCall(drop_in_main_thread, module);
}

/* Gives a call that has not ended to the module. */
static void call_finalize(PyObject *object)
{
	PyObject *running = class_state(object)->running;
	PyObject *type, *value, *traceback;
	PyObject *module = class_module(object);

	if (!call_self(object)->event || !running ||
	    dray_event_status(call_self(object)->event))
		return;
	PyErr_Fetch(&type, &value, &traceback);
	if (PyList_Append(running, object))
		PyErr_Clear();
	else if (dray_event_on_end(call_self(object)->event, object_has_ended,
				   Py_NewRef(module)))
		Py_DECREF(module);
	PyErr_Restore(type, value, traceback);
}

static void call_dealloc(PyObject *object)
{
	struct call_object *self = call_self(object);
	PyTypeObject *type = Py_TYPE(object);

	if (PyObject_CallFinalizerFromDealloc(object) < 0)
		return;
	if (self->event) {
		Py_BEGIN_ALLOW_THREADS
		while (dray_event_wait(self->event, -1) == -EINTR)
			;
		Py_END_ALLOW_THREADS
		dray_event_unref(self->event);
	}
	if (self->taken.self)
		ufunc_arguments_drop(&self->taken);
	Py_XDECREF(self->arguments);
	Py_XDECREF(self->results);
	Py_XDECREF(self->wanted);
	Py_DECREF(self->ufunc);
	Py_DECREF(self->queue);
	type->tp_free(object);
	Py_DECREF(type);
}

static PyObject *call_fileno(PyObject *self, PyObject *unused)
{
	int fd = dray_event_fd(call_self(self)->event);

	(void)unused;
	return fd < 0 ? raise_error(-errno) : PyLong_FromLong(fd);
}

static PyMethodDef call_methods[] = {
	{ "_wait", call_wait, METH_O, SIGNATURE("_wait($self, timeout, /)") },
	{ "_cancel", call_cancel, METH_NOARGS, SIGNATURE("_cancel($self, /)") },
	{ "_fileno", call_fileno, METH_NOARGS, SIGNATURE("_fileno($self, /)") },
	{ NULL, NULL, 0, NULL },
};

static PyGetSetDef call_attributes[] = {
	{ "done", call_done, NULL, "Whether the call has ended.", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot call_slots[] = {
	{ Py_tp_new, made_elsewhere },
	{ Py_tp_dealloc, call_dealloc },
	{ Py_tp_finalize, call_finalize },
	{ Py_tp_methods, call_methods },
	{ Py_tp_getset, call_attributes },
	{ Py_tp_doc, "The part of dray.Call in C." },
	{ 0, NULL },
};

PyType_Spec call_type_spec = {
	.name = "dray._dray.CallBase",
	.basicsize = sizeof(struct call_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE |
		 Py_TPFLAGS_IMMUTABLETYPE,
	.slots = call_slots,
};
