// SPDX-License-Identifier: Apache-2.0 OR MIT
/* dray.StreamExecutor: an IP between streams that computes a loop of a ufunc. */
#include <errno.h>
#include <string.h>

#include "calls.h"
#include "stream.h"

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

/* Operands of calls: the streams get rings over their memory. */
struct rings {
	struct ufunc_operand *operands;
	struct dray_view const **views;
	Py_ssize_t count;
};

static void drop_rings(struct rings *rings)
{
	Py_ssize_t i;

	for (i = 0; i < rings->count; i++)
		operand_drop(&rings->operands[i]);
	PyMem_Free(rings->operands);
	PyMem_Free(rings->views);
}

/* Takes one call: a tuple of arrays, inputs and then outputs. */
static int take_ring(PyObject *tuple, int operands, struct rings *rings)
{
	bool weak;
	int o;

	if (!PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) != operands) {
		PyErr_Format(PyExc_TypeError,
			     "a ring is a tuple of %d arrays, not %R", operands,
			     tuple);
		return -1;
	}
	for (o = 0; o < operands; o++) {
		struct ufunc_operand *operand = &rings->operands[rings->count];

		operand_clear(operand);
		rings->views[rings->count++] = &operand->view;
		if (!array_is(PyTuple_GET_ITEM(tuple, o)) &&
		    !PyArray_Check(PyTuple_GET_ITEM(tuple, o))) {
			PyErr_Format(PyExc_TypeError,
				     "a ring lies over arrays, not over %R",
				     PyTuple_GET_ITEM(tuple, o));
			return -1;
		}
		if (operand_from(PyTuple_GET_ITEM(tuple, o), operand, &weak))
			return -1;
	}
	return 0;
}

/* Takes ring=; @kept: a tuple of its calls, one reference. */
static int take_rings(PyObject *given, int operands, struct rings *rings,
		      PyObject **kept)
{
	Py_ssize_t i, count;
	size_t all;

	*kept = PySequence_Tuple(given);
	if (!*kept)
		return -1;
	count = PyTuple_GET_SIZE(*kept);
	if (count > DRAY_MAX_FRAMES) {
		PyErr_Format(PyExc_ValueError, "%zd rings, at most %d", count,
			     (int)DRAY_MAX_FRAMES);
		return -1;
	}
	all = (size_t)count * (size_t)operands;
	rings->operands = PyMem_Calloc(all, sizeof(rings->operands[0]));
	rings->views = PyMem_Calloc(all, sizeof(const struct dray_view *));
	if (!rings->operands || !rings->views) {
		PyErr_NoMemory();
		return -1;
	}
	for (i = 0; i < count; i++)
		if (take_ring(PyTuple_GET_ITEM(*kept, i), operands, rings))
			return -1;
	return 0;
}

static PyObject *executor_new(PyTypeObject *type, PyObject *args,
			      PyObject *keywords)
{
	static char *names[] = { "ufunc",	"types", "tx",	    "rx",
				 "frame_bytes", "depth", "timeout", "stage",
				 "ring",	NULL };
	dray_dtype dtypes[DRAY_UFUNC_MAX_OPERANDS] = { 0 };
	struct dray_stream *tx[DRAY_UFUNC_MAX_OPERANDS];
	struct dray_stream *rx[DRAY_UFUNC_MAX_OPERANDS];
	struct dray_stream_executor_options options = {
		.dtypes = dtypes,
		.tx = tx,
		.rx = rx,
	};
	PyObject *ufunc, *types, *sends, *receives, *bytes = NULL;
	PyObject *ring = NULL, *kept = NULL;
	struct rings rings = { .count = 0 };
	struct executor_object *self = NULL;
	struct dray_executor *executor;
	Py_ssize_t tx_count, rx_count;
	long long depth = 0;
	double timeout = 10;
	PyObject *streams;
	int stage = 0, ret, o;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOOO|$OLdpO", names,
					 &ufunc, &types, &sends, &receives,
					 &bytes, &depth, &timeout, &stage,
					 &ring) ||
	    executor_check_ufunc(type, ufunc))
		return NULL;
	if (!(timeout >= 1e-9 && timeout <= 1e6)) {
		PyErr_SetString(PyExc_ValueError,
				"timeout is a nanosecond to 1000000 seconds");
		return NULL;
	}
	if (depth < 0 || depth > UINT32_MAX) {
		PyErr_Format(PyExc_ValueError,
			     "depth is 1 to 32 frames, or 0, not %lld", depth);
		return NULL;
	}
	if (bytes &&
	    size_take(bytes, "frame_bytes", 1u << 30, &options.frame_bytes))
		return NULL;
	options.ufunc = ufunc_self(ufunc)->ufunc;
	options.depth = (uint32_t)depth;
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
			  &rx_count) ||
	    (ring &&
	     take_rings(ring,
			ufunc_self(ufunc)->inputs + ufunc_self(ufunc)->outputs,
			&rings, &kept)))
		goto failed;
	options.ring = rings.views;
	options.ring_count = kept ? (uint32_t)PyTuple_GET_SIZE(kept) : 0;
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
	self->ring = kept;
	drop_rings(&rings);
	memcpy(self->dtypes, dtypes, sizeof(dtypes));
	return (PyObject *)self;

failed:
	drop_rings(&rings);
	Py_XDECREF(kept);
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
	Py_XDECREF(self->ring);
	for (o = 0; o < DRAY_UFUNC_MAX_OPERANDS; o++)
		dray_dtype_unref(self->dtypes[o]);
	Py_DECREF(self->ufunc);
	PyObject_Free(object);
	Py_DECREF(type);
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

static PyObject *executor_reset(PyObject *object, PyObject *unused)
{
	struct dray_executor *executor = executor_self(object)->head.executor;
	int ret;

	(void)unused;
	/* A call may have the streams. */
	Py_BEGIN_ALLOW_THREADS
	ret = dray_stream_executor_reset(executor);
	Py_END_ALLOW_THREADS
	if (ret)
		return raise_error(ret);
	Py_RETURN_NONE;
}

static PyMethodDef executor_methods[] = {
	{ "reset", executor_reset, METH_NOARGS,
	  "reset($self)\n--\n\n"
	  "Accepts calls again after a failure.  The IP holds no byte of it any more:\n"
	  "the program reset the IP, or received all that was left." },
	{ NULL, NULL, 0, NULL },
};

static PyGetSetDef executor_attributes[] = {
	{ "cost", executor_cost, executor_set_cost,
	  "The times of calls: two pairs of elements and seconds, of few and of many\n"
	  "elements; None: not measured.  May be set; None measures anew.",
	  NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot executor_slots[] = {
	{ Py_tp_getset, executor_attributes },
	{ Py_tp_methods, executor_methods },
	{ Py_tp_new, executor_new },
	{ Py_tp_dealloc, executor_dealloc },
	{ Py_tp_doc,
	  "StreamExecutor(ufunc, types, tx, rx, *, frame_bytes=65536, depth=8,\n"
	  "               timeout=10.0, stage=False, ring=())\n--\n\n"
	  "An IP between streams that computes a loop of a ufunc.\n\n"
	  "types: of its inputs, then of its outputs.\n"
	  "tx: streams that send, a stream for each input, or a single stream for the inputs\n"
	  "    of a frame in turn.\n"
	  "rx: streams that receive, a stream for each output.\n"
	  "frame_bytes, depth: a call is cut into packets of so many bytes of its widest\n"
	  "    operand, of which so many are in flight.\n"
	  "timeout: most seconds for a packet.\n"
	  "stage: lets the CPU copy operands that the engine cannot use, and convert\n"
	  "    operands of other types; masks need it, too.\n"
	  "ring: tuples of arrays, the operands of calls.  The streams get rings over these,\n"
	  "    which cost least, and only calls with the same arrays.\n\n"
	  "After a call that failed, the executor refuses calls until reset().\n\n"
	  "The streams stay open as long as it." },
	{ 0, NULL },
};

PyType_Spec executor_type_spec = {
	.name = "dray.StreamExecutor",
	.basicsize = sizeof(struct executor_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
	.slots = executor_slots,
};
