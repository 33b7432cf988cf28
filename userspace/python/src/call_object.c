// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dray.Call: a call in flight, made of the arguments of CallQueue.submit().  It has its
 * arrays until the call has ended: if nobody has it before, the module does.
 */
#include <errno.h>
#include <string.h>

#include "calls.h"
#include "sequence.h"

/* Takes out=: nothing, an array, or a tuple of arrays and None. */
static int take_outputs(struct call_object *call, PyObject *out, int outputs,
			const struct dray_view **views, PyObject **given)
{
	int o;

	for (o = 0; o < outputs; o++) {
		PyObject *one = out;

		given[o] = NULL;
		views[o] = NULL;
		if (out && PyTuple_Check(out)) {
			if (PyTuple_GET_SIZE(out) != outputs) {
				PyErr_Format(PyExc_ValueError,
					     "out has %zd arrays, not %d",
					     PyTuple_GET_SIZE(out), outputs);
				return -1;
			}
			one = PyTuple_GET_ITEM(out, o);
		} else if (out && out != Py_None && outputs != 1) {
			PyErr_Format(PyExc_TypeError,
				     "out is a tuple of %d arrays", outputs);
			return -1;
		}
		if (!one || one == Py_None)
			continue;
		if (operand_output(one, &call->operands[call->count]))
			return -1;
		views[o] = &call->operands[call->count++].view;
		given[o] = one;
	}
	return 0;
}

/* Reads out= and where= of a vectorcall. */
static int take_keywords(PyObject *const *args, Py_ssize_t count,
			 PyObject *names, PyObject **out, PyObject **where)
{
	Py_ssize_t i;

	for (i = 0; names && i < PyTuple_GET_SIZE(names); i++) {
		PyObject *name = PyTuple_GET_ITEM(names, i);

		if (!PyUnicode_CompareWithASCIIString(name, "out"))
			*out = args[count + i];
		else if (!PyUnicode_CompareWithASCIIString(name, "where"))
			*where = args[count + i];
		else {
			PyErr_Format(
				PyExc_TypeError,
				"there is no argument %R, only out and where",
				name);
			return -1;
		}
	}
	return 0;
}

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

struct call_object *take_call(PyObject *queue, PyObject *const *args,
			      Py_ssize_t count, PyObject *names,
			      struct arguments *arguments)
{
	struct module_state *state = type_state(queue);
	PyObject *out = NULL, *where = NULL;
	struct ufunc_object *ufunc;
	struct call_object *call;
	bool weak, masked = false;
	int i;

	memset(&arguments->options, 0, sizeof(arguments->options));
	if (!queue_self(queue)->queue) {
		PyErr_SetString(PyExc_ValueError, "the queue is closed");
		return NULL;
	}
	if (!count) {
		PyErr_SetString(PyExc_TypeError, "a dray.ufunc is missing");
		return NULL;
	}
	if (executor_check_ufunc(Py_TYPE(queue), args[0]) ||
	    take_keywords(args, count, names, &out, &where))
		return NULL;
	ufunc = ufunc_self(args[0]);
	if (count - 1 != ufunc->inputs) {
		PyErr_Format(PyExc_TypeError, "%s takes %d inputs, not %zd",
			     dray_ufunc_name(ufunc->ufunc), ufunc->inputs,
			     count - 1);
		return NULL;
	}
	call = PyObject_New(struct call_object, state->call_type);
	if (!call)
		return NULL;
	call->event = NULL;
	call->queue = Py_NewRef(queue);
	call->ufunc = Py_NewRef(args[0]);
	call->results = NULL;
	call->wanted = NULL;
	call->frame.count = 0;
	call->count = 0;
	for (i = 0; i <= DRAY_UFUNC_MAX_OPERANDS; i++)
		operand_clear(&call->operands[i]);
	call->arguments = keep_arguments(args, count, names);
	if (!call->arguments)
		goto failed;
	for (i = 0; i < ufunc->inputs; i++) {
		if (operand_from(args[1 + i], &call->operands[i], &weak))
			goto failed;
		call->count++;
		arguments->inputs[i] = &call->operands[i].view;
		if (weak)
			arguments->options.weak |= (uint16_t)(1u << i);
	}
	if (take_outputs(call, out, ufunc->outputs, arguments->outputs,
			 arguments->given))
		goto failed;
	if (where && operand_mask(where, &call->operands[call->count], &masked))
		goto failed;
	if (masked)
		arguments->options.where = &call->operands[call->count++].view;
	if (operands_check(call->operands, call->count))
		goto failed;
	return call;

failed:
	Py_DECREF(call);
	return NULL;
}

int take_results(struct call_object *call, struct module_state *state,
		 struct dray_array **made, PyObject **given, PyObject *capsule)
{
	int o, outputs = ufunc_self(call->ufunc)->outputs;
	PyObject *results = PyTuple_New(outputs), *one;

	for (o = 0; o < outputs; o++) {
		if (!made[o])
			one = Py_NewRef(given[o]);
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

PyObject *call_of_event(struct module_state *state, struct dray_event *event,
			PyObject *queue, PyObject *source, PyObject *arguments,
			PyObject *results)
{
	struct call_object *call =
		results ? PyObject_New(struct call_object, state->call_type)
			: NULL;
	int i;

	if (!call) {
		Py_BEGIN_ALLOW_THREADS
		while (dray_event_wait(event, -1) == -EINTR)
			;
		Py_END_ALLOW_THREADS
		dray_event_unref(event);
		Py_XDECREF(results);
		return NULL;
	}
	call->event = event;
	call->queue = Py_NewRef(queue);
	call->ufunc = Py_NewRef(source);
	call->arguments = Py_NewRef(arguments);
	call->results = results;
	call->wanted = NULL;
	call->frame.count = 0;
	call->count = 0;
	for (i = 0; i <= DRAY_UFUNC_MAX_OPERANDS; i++)
		operand_clear(&call->operands[i]);
	return (PyObject *)call;
}

static int wait_once(void *event, int milliseconds)
{
	return dray_event_wait(event, milliseconds);
}

static PyObject *call_wait(PyObject *object, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "timeout", NULL };
	struct call_object *self = call_self(object);
	PyObject *timeout = Py_None;
	double limit;
	int ret, error;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O", names,
					 &timeout) ||
	    seconds_take(timeout, "timeout", &limit))
		return NULL;
	ret = wait_for_end(wait_once, self->event, limit);
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

/* Gives a call that has not ended to the module. */
static void call_finalize(PyObject *object)
{
	PyObject *running = type_state(object)->running;
	PyObject *type, *value, *traceback;

	if (!call_self(object)->event || !running ||
	    dray_event_status(call_self(object)->event))
		return;
	PyErr_Fetch(&type, &value, &traceback);
	if (PyList_Append(running, object))
		PyErr_Clear();
	PyErr_Restore(type, value, traceback);
}

static void call_dealloc(PyObject *object)
{
	struct call_object *self = call_self(object);
	PyTypeObject *type = Py_TYPE(object);
	int i;

	if (PyObject_CallFinalizerFromDealloc(object) < 0)
		return;
	if (self->event) {
		Py_BEGIN_ALLOW_THREADS
		while (dray_event_wait(self->event, -1) == -EINTR)
			;
		Py_END_ALLOW_THREADS
		dray_event_unref(self->event);
	}
	for (i = 0; i <= DRAY_UFUNC_MAX_OPERANDS; i++)
		operand_drop(&self->operands[i]);
	Py_XDECREF(self->arguments);
	Py_XDECREF(self->results);
	Py_XDECREF(self->wanted);
	Py_DECREF(self->ufunc);
	Py_DECREF(self->queue);
	PyObject_Free(object);
	Py_DECREF(type);
}

static PyMethodDef call_methods[] = {
	{ "wait", WITH_KEYWORDS(call_wait), METH_VARARGS | METH_KEYWORDS,
	  "wait($self, timeout=None)\n--\n\n"
	  "Returns the result when the call has ended, or raises its error; TimeoutError\n"
	  "after `timeout` seconds, and the call goes on.  Warns once of errors of numbers." },
	{ "cancel", call_cancel, METH_NOARGS,
	  "cancel($self)\n--\n\n"
	  "Asks the call to end: one that waits does not start.  wait() tells." },
	{ NULL, NULL, 0, NULL },
};

static PyGetSetDef call_attributes[] = {
	{ "done", call_done, NULL, "Whether the call has ended.", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot call_slots[] = {
	{ Py_tp_dealloc, call_dealloc },
	{ Py_tp_finalize, call_finalize },
	{ Py_tp_methods, call_methods },
	{ Py_tp_getset, call_attributes },
	{ Py_tp_doc,
	  "A call of a queue, which has its arrays until it has ended." },
	{ 0, NULL },
};

PyType_Spec call_type_spec = {
	.name = "dray.Call",
	.basicsize = sizeof(struct call_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE |
		 Py_TPFLAGS_DISALLOW_INSTANTIATION,
	.slots = call_slots,
};
