// SPDX-License-Identifier: Apache-2.0 OR MIT
/* dray.CallQueue: calls of ufuncs that run one after the other, by executors. */
#include <errno.h>
#include <string.h>

#include "calls/calls.h"
#include "calls/sequence.h"

/* Closes a queue, after its calls. */
static void close_queue(struct queue_object *self)
{
	struct dray_call_queue *queue = self->queue;

	self->queue = NULL;
	Py_BEGIN_ALLOW_THREADS
	dray_call_queue_destroy(queue);
	Py_END_ALLOW_THREADS
}

/*
 * Before the interpreter ends, since a thread may need it for a loop.  Calls that wait
 * for packets would keep it for ever.
 */
PyObject *close_queues(PyObject *module, PyObject *unused)
{
	struct module_state *state = module_state(module);
	struct queue_object *queue;

	(void)unused;
	do {
		for (queue = state->queues; queue && !queue->queue;)
			queue = queue->next;
		if (!queue)
			break;
		Py_INCREF(queue);
		(void)dray_call_queue_cancel(queue->queue);
		close_queue(queue);
		Py_DECREF(queue);
	} while (true);
	drop_ended_calls(state);
	Py_RETURN_NONE;
}

int calls_init(PyObject *module)
{
	PyObject *hooks = PyImport_ImportModule("atexit"), *hook, *done = NULL;

	module_state(module)->running = PyList_New(0);
	hook = PyObject_GetAttrString(module, "close_queues");
	if (hooks && hook)
		done = PyObject_CallMethod(hooks, "register", "O", hook);
	Py_XDECREF(done);
	Py_XDECREF(hook);
	Py_XDECREF(hooks);
	return done && module_state(module)->running ? 0 : -1;
}

static PyObject *queue_new(PyTypeObject *type, PyObject *args,
			   PyObject *keywords)
{
	static char *names[] = { "executors", "depth", NULL };
	/* A wait would keep the interpreter from calls that need it. */
	struct dray_call_queue_options options = {
		.size = sizeof(options),
		.flags = DRAY_CALLS_NONBLOCK,
	};
	struct module_state *state = PyType_GetModuleState(type);
	struct dray_executor *executors[16] = { NULL };
	PyObject *given = NULL, *tuple;
	struct dray_call_queue *queue;
	struct queue_object *self;
	Py_ssize_t i, count;
	int ret = 0;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OI", names, &given,
					 &options.depth))
		return NULL;
	tuple = given ? PySequence_Tuple(given) : PyTuple_New(0);
	if (!tuple)
		return NULL;
	count = PyTuple_GET_SIZE(tuple);
	for (i = 0; !ret && i < count && i < 16; i++) {
		executors[i] =
			handle_ref(PyTuple_GET_ITEM(tuple, i), &executor_kind);
		ret = executors[i] ? 0 : -1;
	}
	if (!ret) {
		ret = dray_call_queue_create(executors, (size_t)count, &options,
					     &queue);
		if (ret)
			ufunc_error(ret);
	}
	for (i = 0; i < 16; i++)
		handle_put(&executor_kind, executors[i]);
	if (ret) {
		Py_DECREF(tuple);
		return NULL;
	}
	self = PyObject_New(struct queue_object, type);
	if (!self) {
		dray_call_queue_destroy(queue);
		Py_DECREF(tuple);
		return NULL;
	}
	self->queue = queue;
	self->executors = tuple;
	self->next = state->queues;
	state->queues = self;
	return (PyObject *)self;
}

static void queue_dealloc(PyObject *object)
{
	PyTypeObject *type = Py_TYPE(object);
	struct queue_object **link = &type_state(object)->queues;

	while (*link != queue_self(object))
		link = &(*link)->next;
	*link = queue_self(object)->next;
	close_queue(queue_self(object));
	Py_DECREF(queue_self(object)->executors);
	PyObject_Free(object);
	Py_DECREF(type);
}

static int queue_wait_once(void *event, int milliseconds)
{
	return dray_event_wait(event, milliseconds);
}

int queue_await_room(struct module_state *state, PyObject *object)
{
	struct dray_call_queue *queue;
	struct dray_event *event;
	int ret;

	/* Another thread may close the queue meanwhile. */
	while ((queue = call_queue_of(state, object))) {
		event = dray_call_queue_full(queue);
		if (!event)
			return 0;
		ret = wait_for_end(queue_wait_once, event, -1);
		dray_event_unref(event);
		if (ret == -EDEADLK)
			raise_error(ret);
		if (ret == -EDEADLK || ret == -EINTR)
			return -1;
	}
	return -1;
}

static PyObject *queue_submit(PyObject *self, PyObject *const *args,
			      Py_ssize_t count, PyObject *names)
{
	const struct dray_view *views[DRAY_UFUNC_MAX_OPERANDS];
	struct dray_array *made[DRAY_UFUNC_MAX_OPERANDS] = { NULL };
	struct call_object *call;
	int ret;

	drop_ended_calls(type_state(self));
	call = take_call(self, args, count, names);
	if (!call)
		return NULL;
	ufunc_arguments_views(&call->taken, views);
	do {
		if (queue_await_room(type_state(self), self) ||
		    ufunc_enter(&call->frame, type_state(self), true, 0)) {
			Py_DECREF(call);
			return NULL;
		}
		ret = dray_call_queue_submit(queue_self(self)->queue,
					     call->taken.self->ufunc, views,
					     views + call->taken.self->inputs,
					     &call->taken.options, made,
					     &call->event);
		if (ufunc_leave_queued(&call->frame, &call->wanted))
			PyErr_Clear();
		if (ret == -EAGAIN) {
			ufunc_end(&call->frame);
			Py_CLEAR(call->wanted);
		}
	} while (ret == -EAGAIN);
	if (ret)
		ufunc_error(ret);
	else
		ret = take_results(call, made, call->frame.capsule);
	ufunc_end(&call->frame);
	if (ret)
		Py_CLEAR(call);
	return (PyObject *)call;
}

struct dray_call_queue *call_queue_of(struct module_state *state,
				      PyObject *object)
{
	if (!Py_IS_TYPE(object, state->queue_type)) {
		PyErr_Format(PyExc_TypeError,
			     "a dray.CallQueue is needed, not %R", object);
		return NULL;
	}
	if (!queue_self(object)->queue)
		PyErr_SetString(PyExc_ValueError, "the queue is closed");
	return queue_self(object)->queue;
}

static PyObject *queue_explain(PyObject *self, PyObject *const *args,
			       Py_ssize_t count, PyObject *names)
{
	const struct dray_view *views[DRAY_UFUNC_MAX_OPERANDS];
	struct dray_call_explanation reply = { .size = sizeof(reply) };
	struct call_object *call;
	PyObject *result = NULL;
	int ret;

	call = take_call(self, args, count, names);
	if (!call)
		return NULL;
	ufunc_arguments_views(&call->taken, views);
	/* Executors look at the memory that outputs would have. */
	if (ufunc_enter(&call->frame, type_state(self), true, 0)) {
		Py_DECREF(call);
		return NULL;
	}
	ret = dray_explain_call(queue_self(self)->queue,
				call->taken.self->ufunc, views,
				views + call->taken.self->inputs,
				&call->taken.options, &reply);
	ret = ufunc_leave(&call->frame, ret);
	ufunc_end(&call->frame);
	if (!ret)
		result = record_call_explanation(type_state(self), &reply);
	Py_DECREF(call);
	return result;
}

static PyObject *queue_close(PyObject *self, PyObject *unused)
{
	(void)unused;
	close_queue(queue_self(self));
	Py_RETURN_NONE;
}

static PyObject *queue_cancel(PyObject *self, PyObject *unused)
{
	struct dray_call_queue *queue = queue_self(self)->queue;
	int ret = queue ? dray_call_queue_cancel(queue) : 0;

	(void)unused;
	if (ret)
		return raise_error(ret);
	Py_RETURN_NONE;
}

static PyObject *queue_enter(PyObject *self, PyObject *unused)
{
	(void)unused;
	return Py_NewRef(self);
}

static PyObject *queue_exit(PyObject *self, PyObject *args)
{
	(void)args;
	close_queue(queue_self(self));
	Py_RETURN_FALSE;
}

static PyMethodDef queue_methods[] = {
	{ "submit", WITH_KEYWORDS(queue_submit), METH_FASTCALL | METH_KEYWORDS,
	  "submit($self, ufunc, /, *inputs, out=None, where=True, **keywords)\n--\n\n"
	  "Submits a call, with the arguments of ufunc(), and returns a Call at once.\n\n"
	  "The operands must not change until it ends; outputs are read then.\n"
	  "Errors of numbers, such as a division by 0, follow the submission's\n"
	  "errstate(); wait() raises them, or warns." },
	{ "explain", WITH_KEYWORDS(queue_explain),
	  METH_FASTCALL | METH_KEYWORDS,
	  "explain($self, ufunc, /, *inputs, out=None, where=True, **keywords)\n--\n\n"
	  "Says which executor would run a call, and why; computes nothing." },
	{ "cancel", queue_cancel, METH_NOARGS,
	  "cancel($self)\n--\n\n"
	  "Cancels all calls: those that wait end at once.  Later calls run." },
	{ "close", queue_close, METH_NOARGS,
	  "close($self)\n--\n\nWaits for the calls, and closes the queue." },
	{ "__enter__", queue_enter, METH_NOARGS,
	  "__enter__($self, /)\n--\n\nReturns the queue." },
	{ "__exit__", queue_exit, METH_VARARGS,
	  "__exit__($self, kind, value, traceback, /)\n--\n\nCloses the queue." },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot queue_slots[] = {
	{ Py_tp_new, queue_new },
	{ Py_tp_dealloc, queue_dealloc },
	{ Py_tp_methods, queue_methods },
	{ Py_tp_doc,
	  "CallQueue(executors=(), depth=0)\n--\n\n"
	  "Calls of ufuncs that run in turn, in a thread of the queue.\n\n"
	  "Each runs on the executor that needs the least time, the CPU among them.  The\n"
	  "first calls of a loop measure each of them.  At most `depth` calls wait or run, 0:\n"
	  "1024; another submission waits for any of them." },
	{ 0, NULL },
};

PyType_Spec queue_type_spec = {
	.name = "dray.CallQueue",
	.basicsize = sizeof(struct queue_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
	.slots = queue_slots,
};
