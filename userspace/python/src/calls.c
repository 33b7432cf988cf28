// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Queues of calls of ufuncs, executors that are IPs between streams, and calls in
 * flight.  A Call has its arrays until the call has ended: its end waits.
 */
#include <errno.h>
#include <string.h>

#include "calls.h"
#include "stream.h"

struct executor_object {
	struct executor_head head;
	PyObject *ufunc;
	dray_dtype dtypes[DRAY_UFUNC_MAX_OPERANDS];
	PyObject *streams; /* a tuple; each is entered */
};

struct queue_object {
	PyObject_HEAD struct dray_call_queue *queue; /* NULL: closed */
	PyObject *executors; /* a tuple */
};

struct call_object {
	PyObject_HEAD struct dray_event *event;
	PyObject *queue;
	PyObject *ufunc;
	PyObject *arguments; /* a tuple: the memory of operands is theirs */
	PyObject *results; /* a tuple, or one array */
	int count;
	struct ufunc_operand operands[DRAY_UFUNC_MAX_OPERANDS + 1];
};

static struct executor_object *executor_self(PyObject *object)
{
	return (struct executor_object *)object;
}

static struct queue_object *queue_self(PyObject *object)
{
	return (struct queue_object *)object;
}

static struct call_object *call_self(PyObject *object)
{
	return (struct call_object *)object;
}

/* Enters streams; they stay open as long as the executor. */
static int enter_streams(struct module_state *state, PyObject *sequence,
			 struct dray_stream **out, PyObject *streams,
			 Py_ssize_t *taken)
{
	PyObject *fast = PySequence_Fast(sequence, "tx and rx are sequences");
	Py_ssize_t i, count;
	int ret = 0;

	if (!fast)
		return -1;
	count = PySequence_Fast_GET_SIZE(fast);
	if (count > DRAY_UFUNC_MAX_OPERANDS) {
		PyErr_Format(PyExc_ValueError, "%zd streams, at most %d", count,
			     DRAY_UFUNC_MAX_OPERANDS);
		ret = -1;
	}
	for (i = 0; !ret && i < count; i++) {
		PyObject *stream = PySequence_Fast_GET_ITEM(fast, i);

		if (!Py_IS_TYPE(stream, state->stream_type)) {
			PyErr_Format(
				PyExc_TypeError,
				"a stream of dray.stream() is needed, not %R",
				stream);
			ret = -1;
			break;
		}
		out[i] = stream_enter(stream);
		if (!out[i] || PyList_Append(streams, stream)) {
			if (out[i])
				stream_leave(stream);
			ret = -1;
		}
	}
	*taken = count;
	Py_DECREF(fast);
	return ret;
}

static void leave_streams(PyObject *streams)
{
	Py_ssize_t i;

	for (i = 0; streams && i < PyList_GET_SIZE(streams); i++)
		stream_leave(PyList_GET_ITEM(streams, i));
	Py_XDECREF(streams);
}

int executor_take_types(PyObject *types, int count, dray_dtype *dtypes)
{
	PyObject *fast = PySequence_Fast(types, "types is a sequence");
	PyArray_Descr *descr;
	int o, ret = 0;

	if (!fast)
		return -1;
	if (PySequence_Fast_GET_SIZE(fast) != count) {
		PyErr_Format(PyExc_ValueError,
			     "%zd types, the ufunc has %d operands",
			     PySequence_Fast_GET_SIZE(fast), count);
		ret = -1;
	}
	for (o = 0; !ret && o < count; o++) {
		ret = PyArray_DescrConverter(PySequence_Fast_GET_ITEM(fast, o),
					     &descr)
			      ? dtype_take(descr, &dtypes[o])
			      : -1;
		if (!ret)
			Py_DECREF(descr);
	}
	Py_DECREF(fast);
	return ret;
}

int executor_check_ufunc(PyTypeObject *type, PyObject *object)
{
	struct module_state *state = PyType_GetModuleState(type);

	if (Py_IS_TYPE(object, state->ufunc_type))
		return 0;
	PyErr_Format(PyExc_TypeError, "a dray.ufunc is needed, not %R", object);
	return -1;
}

static PyObject *executor_new(PyTypeObject *type, PyObject *args,
			      PyObject *keywords)
{
	static char *names[] = { "ufunc",   "types",	   "tx",
				 "rx",	    "frame_bytes", "depth",
				 "timeout", "stage",	   NULL };
	dray_dtype dtypes[DRAY_UFUNC_MAX_OPERANDS] = { 0 };
	struct dray_stream *tx[DRAY_UFUNC_MAX_OPERANDS];
	struct dray_stream *rx[DRAY_UFUNC_MAX_OPERANDS];
	struct dray_stream_executor_options options = {
		.dtypes = dtypes,
		.tx = tx,
		.rx = rx,
	};
	PyObject *ufunc, *types, *sends, *receives, *bytes = NULL;
	struct executor_object *self = NULL;
	struct dray_executor *executor;
	Py_ssize_t tx_count, rx_count;
	unsigned int depth = 0;
	double timeout = 10;
	PyObject *streams;
	int stage = 0, ret, o;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOOO|$OIdp", names,
					 &ufunc, &types, &sends, &receives,
					 &bytes, &depth, &timeout, &stage) ||
	    executor_check_ufunc(type, ufunc))
		return NULL;
	if (!(timeout > 0 && timeout <= 1e6)) {
		PyErr_SetString(PyExc_ValueError,
				"timeout is above 0, at most 1000000 seconds");
		return NULL;
	}
	if (bytes &&
	    size_take(bytes, "frame_bytes", 1u << 30, &options.frame_bytes))
		return NULL;
	options.ufunc = ufunc_self(ufunc)->ufunc;
	options.depth = depth;
	options.timeout_ns = (uint64_t)(timeout * 1e9);
	options.flags = stage ? DRAY_PACKET_STAGE : 0;
	streams = PyList_New(0);
	if (!streams ||
	    executor_take_types(types,
				ufunc_self(ufunc)->inputs +
					ufunc_self(ufunc)->outputs,
				dtypes) ||
	    enter_streams(PyType_GetModuleState(type), sends, tx, streams,
			  &tx_count) ||
	    enter_streams(PyType_GetModuleState(type), receives, rx, streams,
			  &rx_count))
		goto failed;
	options.tx_count = (uint32_t)tx_count;
	options.rx_count = (uint32_t)rx_count;
	ret = dray_stream_executor_create(&options, &executor);
	if (ret) {
		ufunc_error(ret);
		goto failed;
	}
	self = PyObject_New(struct executor_object, type);
	if (!self) {
		dray_executor_unref(executor);
		goto failed;
	}
	self->head.executor = executor;
	self->ufunc = Py_NewRef(ufunc);
	self->streams = streams;
	memcpy(self->dtypes, dtypes, sizeof(dtypes));
	return (PyObject *)self;

failed:
	leave_streams(streams);
	for (o = 0; o < DRAY_UFUNC_MAX_OPERANDS; o++)
		dray_dtype_unref(dtypes[o]);
	return NULL;
}

static void executor_dealloc(PyObject *object)
{
	struct executor_object *self = executor_self(object);
	PyTypeObject *type = Py_TYPE(object);
	int o;

	dray_executor_unref(self->head.executor);
	leave_streams(self->streams);
	for (o = 0; o < DRAY_UFUNC_MAX_OPERANDS; o++)
		dray_dtype_unref(self->dtypes[o]);
	Py_DECREF(self->ufunc);
	PyObject_Free(object);
	Py_DECREF(type);
}

PyObject *executor_cost_of(struct dray_executor *executor,
			   struct dray_ufunc *ufunc, const dray_dtype *dtypes)
{
	struct dray_call_cost cost;

	if (dray_executor_get_cost(executor, ufunc, dtypes, &cost))
		Py_RETURN_NONE;
	return Py_BuildValue("((Ld)(Ld))", (long long)cost.elements[0],
			     (double)cost.ns[0] / 1e9,
			     (long long)cost.elements[1],
			     (double)cost.ns[1] / 1e9);
}

int executor_set_cost_of(struct dray_executor *executor,
			 struct dray_ufunc *ufunc, const dray_dtype *dtypes,
			 PyObject *value)
{
	struct dray_call_cost cost;
	long long elements[2];
	double seconds[2];
	int i, ret;

	if (value && value != Py_None) {
		if (!PyTuple_Check(value)) {
			PyErr_SetString(
				PyExc_TypeError,
				"a cost is None or two pairs of elements and seconds");
			return -1;
		}
		if (!PyArg_ParseTuple(value, "(Ld)(Ld)", &elements[0],
				      &seconds[0], &elements[1], &seconds[1]))
			return -1;
		for (i = 0; i < 2; i++) {
			if (!(seconds[i] >= 0 && seconds[i] < 1e9)) {
				PyErr_SetString(
					PyExc_ValueError,
					"a cost is 0 to 1000000000 seconds");
				return -1;
			}
			cost.elements[i] = elements[i];
			cost.ns[i] = (uint64_t)(seconds[i] * 1e9);
		}
	}
	ret = dray_executor_set_cost(executor, ufunc, dtypes,
				     value && value != Py_None ? &cost : NULL);
	if (ret)
		ufunc_error(ret);
	return ret ? -1 : 0;
}

static PyObject *executor_cost(PyObject *object, void *unused)
{
	const struct executor_object *self = executor_self(object);

	(void)unused;
	return executor_cost_of(self->head.executor,
				ufunc_self(self->ufunc)->ufunc, self->dtypes);
}

static int executor_set_cost(PyObject *object, PyObject *value, void *unused)
{
	const struct executor_object *self = executor_self(object);

	(void)unused;
	return executor_set_cost_of(self->head.executor,
				    ufunc_self(self->ufunc)->ufunc,
				    self->dtypes, value);
}

static PyGetSetDef executor_attributes[] = {
	{ "cost", executor_cost, executor_set_cost,
	  "The times of calls: two pairs of elements and seconds, of few and of many\n"
	  "elements; None: not measured.  May be set; None measures anew.",
	  NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot executor_slots[] = {
	{ Py_tp_getset, executor_attributes },
	{ Py_tp_new, executor_new },
	{ Py_tp_dealloc, executor_dealloc },
	{ Py_tp_doc,
	  "StreamExecutor(ufunc, types, tx, rx, *, frame_bytes=65536, depth=8,\n"
	  "               timeout=10.0, stage=False)\n--\n\n"
	  "An IP between streams that computes a loop of a ufunc.\n\n"
	  "types: of its inputs, then of its outputs.\n"
	  "tx: streams that send, one for each input, or one that gets the inputs of a\n"
	  "    frame one after the other.\n"
	  "rx: streams that receive, one for each output.\n"
	  "frame_bytes, depth: a call is cut into packets of so many bytes of its widest\n"
	  "    operand, of which so many are in flight.\n"
	  "timeout: seconds that a packet may take.\n"
	  "stage: lets the CPU copy operands that the engine cannot use.\n\n"
	  "The streams stay open as long as it." },
	{ 0, NULL },
};

PyType_Spec executor_type_spec = {
	.name = "dray.StreamExecutor",
	.basicsize = sizeof(struct executor_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
	.slots = executor_slots,
};

/* Closes a queue, after its calls. */
static void close_queue(struct queue_object *self)
{
	struct dray_call_queue *queue = self->queue;

	self->queue = NULL;
	Py_BEGIN_ALLOW_THREADS
	dray_call_queue_destroy(queue);
	Py_END_ALLOW_THREADS
}

static PyObject *queue_new(PyTypeObject *type, PyObject *args,
			   PyObject *keywords)
{
	static char *names[] = { "executors", NULL };
	struct module_state *state = PyType_GetModuleState(type);
	struct dray_executor *executors[16];
	PyObject *given = NULL, *tuple;
	struct dray_call_queue *queue;
	struct queue_object *self;
	Py_ssize_t i, count;
	int ret = 0;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O", names, &given))
		return NULL;
	tuple = given ? PySequence_Tuple(given) : PyTuple_New(0);
	if (!tuple)
		return NULL;
	count = PyTuple_GET_SIZE(tuple);
	for (i = 0; i < count && i < 16; i++) {
		PyObject *one = PyTuple_GET_ITEM(tuple, i);

		if (!Py_IS_TYPE(one, state->executor_type) &&
		    !Py_IS_TYPE(one, state->opencl_type)) {
			PyErr_Format(PyExc_TypeError,
				     "an executor of dray is needed, not %R",
				     one);
			Py_DECREF(tuple);
			return NULL;
		}
		executors[i] = ((struct executor_head *)one)->executor;
	}
	ret = dray_call_queue_create(executors, (size_t)count, &queue);
	if (ret) {
		Py_DECREF(tuple);
		return ufunc_error(ret);
	}
	self = PyObject_New(struct queue_object, type);
	if (!self) {
		dray_call_queue_destroy(queue);
		Py_DECREF(tuple);
		return NULL;
	}
	self->queue = queue;
	self->executors = tuple;
	return (PyObject *)self;
}

static void queue_dealloc(PyObject *object)
{
	PyTypeObject *type = Py_TYPE(object);

	close_queue(queue_self(object));
	Py_DECREF(queue_self(object)->executors);
	PyObject_Free(object);
	Py_DECREF(type);
}

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

/* A call on its way: its arguments as views. */
struct arguments {
	struct dray_ufunc_options options;
	const struct dray_view *inputs[DRAY_UFUNC_MAX_OPERANDS];
	const struct dray_view *outputs[DRAY_UFUNC_MAX_OPERANDS];
	PyObject *given[DRAY_UFUNC_MAX_OPERANDS];
	PyObject *where;
};

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

/* Makes a Call that is not submitted, with its operands. */
static struct call_object *take_call(PyObject *queue, PyObject *const *args,
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
	return call;

failed:
	Py_DECREF(call);
	return NULL;
}

/* Makes the result of arrays that were made, taken over, and those given. */
static int take_results(struct call_object *call, struct module_state *state,
			struct dray_array **made, PyObject **given,
			PyObject *capsule)
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

static PyObject *queue_submit(PyObject *self, PyObject *const *args,
			      Py_ssize_t count, PyObject *names)
{
	static const struct dray_fp_state quiet = { .buffer_size = 8192 };
	struct dray_array *made[DRAY_UFUNC_MAX_OPERANDS] = { NULL };
	const struct dray_handler *before;
	struct arguments arguments;
	struct dray_fp_state errors;
	struct call_object *call;
	PyObject *capsule;
	int ret;

	call = take_call(self, args, count, names, &arguments);
	if (!call)
		return NULL;
	capsule = PyDataMem_GetHandler();
	if (!capsule) {
		Py_DECREF(call);
		return NULL;
	}
	/* No program waits for a warning when the call runs. */
	dray_get_fp_state(&errors);
	dray_set_fp_state(&quiet);
	before = array_use_handler(capsule);
	ret = dray_call_queue_submit(queue_self(self)->queue,
				     ufunc_self(call->ufunc)->ufunc,
				     arguments.inputs, arguments.outputs,
				     &arguments.options, made, &call->event);
	dray_set_handler(before);
	dray_set_fp_state(&errors);
	if (ret)
		ufunc_error(ret);
	else
		ret = take_results(call, type_state(self), made,
				   arguments.given, capsule);
	Py_DECREF(capsule);
	if (ret)
		Py_CLEAR(call);
	return (PyObject *)call;
}

static PyObject *queue_explain(PyObject *self, PyObject *const *args,
			       Py_ssize_t count, PyObject *names)
{
	struct dray_call_explanation reply;
	struct arguments arguments;
	struct call_object *call;
	PyObject *result = NULL;
	int ret;

	call = take_call(self, args, count, names, &arguments);
	if (!call)
		return NULL;
	ret = dray_explain_call(queue_self(self)->queue,
				ufunc_self(call->ufunc)->ufunc,
				arguments.inputs, arguments.outputs,
				&arguments.options, &reply, sizeof(reply));
	if (ret)
		ufunc_error(ret);
	else
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
	  "submit($self, ufunc, /, *inputs, out=None, where=True)\n--\n\n"
	  "Submits a call, and returns a Call at once.\n\n"
	  "The operands must not change until it has ended; outputs are read then.\n"
	  "Errors of numbers, such as a division by 0, are ignored." },
	{ "explain", WITH_KEYWORDS(queue_explain),
	  METH_FASTCALL | METH_KEYWORDS,
	  "explain($self, ufunc, /, *inputs, out=None, where=True)\n--\n\n"
	  "Tells which executor would run a call, and why; computes nothing." },
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
	  "CallQueue(executors=())\n--\n\n"
	  "Calls of ufuncs that run one after the other, in a thread of the queue.\n\n"
	  "Each goes to the executor that takes the least time, the CPU among them.  The\n"
	  "first calls of a loop measure each of them." },
	{ 0, NULL },
};

PyType_Spec queue_type_spec = {
	.name = "dray.CallQueue",
	.basicsize = sizeof(struct queue_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
	.slots = queue_slots,
};

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
	int ret;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O", names,
					 &timeout) ||
	    seconds_take(timeout, "timeout", &limit))
		return NULL;
	ret = wait_for_end(wait_once, self->event, limit);
	if (ret == -EINTR)
		return NULL;
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

static void call_dealloc(PyObject *object)
{
	struct call_object *self = call_self(object);
	PyTypeObject *type = Py_TYPE(object);
	int i;

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
	Py_DECREF(self->ufunc);
	Py_DECREF(self->queue);
	PyObject_Free(object);
	Py_DECREF(type);
}

static PyMethodDef call_methods[] = {
	{ "wait", WITH_KEYWORDS(call_wait), METH_VARARGS | METH_KEYWORDS,
	  "wait($self, timeout=None)\n--\n\n"
	  "Returns the result when the call has ended, or raises its error; TimeoutError\n"
	  "after `timeout` seconds, and the call goes on." },
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
