// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Executors: IPs between streams, and devices of OpenCL.  dray/_calls.py has the classes
 * and checks the arguments: tuples of as many types as operands, of capsules of streams,
 * and of arrays.
 */
#include <errno.h>

#include "calls/calls.h"

static void *executor_ref(void *executor)
{
	return dray_executor_ref(executor);
}

static void executor_unref(void *executor)
{
	dray_executor_unref(executor);
}

const struct handle_kind executor_kind = { "an executor of dray", executor_ref,
					   executor_unref };

static void types_drop(const dray_dtype *dtypes)
{
	int o;

	for (o = 0; o < DRAY_UFUNC_MAX_OPERANDS; o++)
		dray_dtype_unref(dtypes[o]);
}

/* Takes a ufunc and the types of its operands; types_drop() follows. */
static int loop_types_take(PyObject *callable, PyObject *types,
			   struct dray_ufunc **ufunc, dray_dtype *dtypes)
{
	int o;

	*ufunc = ufunc_self(callable)->ufunc;
	for (o = 0; o < PyTuple_GET_SIZE(types); o++)
		if (dtype_take((PyArray_Descr *)PyTuple_GET_ITEM(types, o),
			       &dtypes[o]))
			return -1;
	return 0;
}

/* Operands of calls: the streams get rings over their memory. */
struct rings {
	struct ufunc_operand *operands;
	struct dray_view const **views;
	Py_ssize_t count;
};

static void drop_rings(struct rings *rings)
{
	while (rings->count)
		operand_drop(&rings->operands[--rings->count]);
	PyMem_Free(rings->operands);
	PyMem_Free(rings->views);
}

/* Takes the arrays of all calls, inputs and then outputs. */
static int take_rings(PyObject *arrays, struct rings *rings)
{
	const size_t all = (size_t)PyTuple_GET_SIZE(arrays);
	struct ufunc_operand *operand;
	bool weak;

	rings->operands = PyMem_Calloc(all, sizeof(rings->operands[0]));
	rings->views = PyMem_Calloc(all, sizeof(const struct dray_view *));
	if (!rings->operands || !rings->views) {
		PyErr_NoMemory();
		return -1;
	}
	while ((size_t)rings->count < all) {
		operand = &rings->operands[rings->count];
		operand_clear(operand);
		rings->views[rings->count] = &operand->view;
		if (operand_from(PyTuple_GET_ITEM(arrays, rings->count++),
				 operand, &weak))
			return -1;
	}
	return 0;
}

static int streams_take(PyObject *capsules, struct dray_stream **out)
{
	Py_ssize_t i;

	if (PyTuple_GET_SIZE(capsules) > DRAY_UFUNC_MAX_OPERANDS) {
		PyErr_Format(PyExc_ValueError, "%zd streams, at most %d",
			     PyTuple_GET_SIZE(capsules),
			     DRAY_UFUNC_MAX_OPERANDS);
		return -1;
	}
	for (i = 0; i < PyTuple_GET_SIZE(capsules); i++)
		out[i] = PyCapsule_GetPointer(PyTuple_GET_ITEM(capsules, i),
					      STREAM_CAPSULE);
	return 0;
}

PyObject *executor_of_streams(PyObject *module, PyObject *args)
{
	dray_dtype dtypes[DRAY_UFUNC_MAX_OPERANDS] = { 0 };
	struct dray_stream *tx[DRAY_UFUNC_MAX_OPERANDS];
	struct dray_stream *rx[DRAY_UFUNC_MAX_OPERANDS];
	PyObject *type, *ufunc, *types, *sends, *receives, *arrays, *ring,
		*done;
	struct dray_stream_executor_options options = { .flags = 0 };
	unsigned long long bytes, timeout;
	struct rings rings = { .count = 0 };
	struct dray_executor *executor;
	PyObject *result = NULL, *kept;
	int stage, ret;

	(void)module;
	if (!PyArg_ParseTuple(args, "OOO!O!O!KIKpO!OO", &type, &ufunc,
			      &PyTuple_Type, &types, &PyTuple_Type, &sends,
			      &PyTuple_Type, &receives, &bytes, &options.depth,
			      &timeout, &stage, &PyTuple_Type, &arrays, &ring,
			      &done) ||
	    streams_take(sends, tx) || streams_take(receives, rx))
		return NULL;
	options.dtypes = dtypes;
	options.tx = tx;
	options.rx = rx;
	options.tx_count = (uint32_t)PyTuple_GET_SIZE(sends);
	options.rx_count = (uint32_t)PyTuple_GET_SIZE(receives);
	options.frame_bytes = bytes;
	options.timeout_ns = timeout;
	options.flags = stage ? DRAY_PACKET_STAGE : 0;
	options.ring_count = (uint32_t)PyTuple_GET_SIZE(ring);
	if (done != Py_None) {
		options.size = sizeof(options);
		options.done = interrupt_of(done);
		if (!options.done)
			return NULL;
	}
	kept = PyTuple_Pack(4, ufunc, sends, receives, ring);
	if (kept && !loop_types_take(ufunc, types, &options.ufunc, dtypes) &&
	    !take_rings(arrays, &rings)) {
		options.ring = rings.views;
		ret = dray_stream_executor_create(&options, &executor);
		result = ret ? ufunc_error(ret)
			     : handle_new(type, &executor_kind, 0, executor,
					  kept);
	}
	Py_XDECREF(kept);
	drop_rings(&rings);
	types_drop(dtypes);
	interrupt_put(options.done);
	return result;
}

PyObject *executor_reset(PyObject *module, PyObject *self)
{
	struct dray_executor *executor = handle_ref(self, &executor_kind);
	int ret;

	(void)module;
	if (!executor)
		return NULL;
	/* A call may use the streams. */
	Py_BEGIN_ALLOW_THREADS
	ret = dray_stream_executor_reset(executor);
	dray_executor_unref(executor);
	Py_END_ALLOW_THREADS
	if (ret)
		return raise_error(ret);
	Py_RETURN_NONE;
}

/* Returns two pairs of elements and seconds, or None. */
PyObject *executor_cost(PyObject *module, PyObject *args)
{
	dray_dtype dtypes[DRAY_UFUNC_MAX_OPERANDS] = { 0 };
	struct dray_executor *executor;
	PyObject *self, *of, *types, *result = NULL;
	struct dray_ufunc *ufunc;
	struct dray_call_cost cost;

	(void)module;
	if (!PyArg_ParseTuple(args, "OOO!", &self, &of, &PyTuple_Type, &types))
		return NULL;
	executor = handle_ref(self, &executor_kind);
	if (executor && !loop_types_take(of, types, &ufunc, dtypes)) {
		if (dray_executor_get_cost(executor, ufunc, dtypes, &cost))
			result = Py_NewRef(Py_None);
		else
			result = Py_BuildValue("((Ld)(Ld))",
					       (long long)cost.elements[0],
					       (double)cost.ns[0] / 1e9,
					       (long long)cost.elements[1],
					       (double)cost.ns[1] / 1e9);
	}
	types_drop(dtypes);
	handle_put(&executor_kind, executor);
	return result;
}

/* Takes such pairs; None: the loop is measured anew. */
PyObject *executor_set_cost(PyObject *module, PyObject *args)
{
	dray_dtype dtypes[DRAY_UFUNC_MAX_OPERANDS] = { 0 };
	struct dray_executor *executor;
	PyObject *self, *of, *types, *value;
	struct dray_ufunc *ufunc;
	struct dray_call_cost cost;
	long long elements[2];
	double seconds[2];
	int i, ret = -1;

	(void)module;
	if (!PyArg_ParseTuple(args, "OOO!O", &self, &of, &PyTuple_Type, &types,
			      &value) ||
	    (value != Py_None &&
	     !PyArg_ParseTuple(value, "(Ld)(Ld)", &elements[0], &seconds[0],
			       &elements[1], &seconds[1])))
		return NULL;
	for (i = 0; value != Py_None && i < 2; i++) {
		if (!(seconds[i] >= 0 && seconds[i] < 1e9))
			return PyErr_Format(
				PyExc_ValueError,
				"a cost is 0 to 1000000000 seconds");
		cost.elements[i] = elements[i];
		cost.ns[i] = (uint64_t)(seconds[i] * 1e9);
	}
	executor = handle_ref(self, &executor_kind);
	if (executor && !loop_types_take(of, types, &ufunc, dtypes)) {
		ret = dray_executor_set_cost(executor, ufunc, dtypes,
					     value == Py_None ? NULL : &cost);
		if (ret)
			ufunc_error(ret);
	}
	types_drop(dtypes);
	handle_put(&executor_kind, executor);
	return ret ? NULL : Py_NewRef(Py_None);
}

#ifdef DRAY_HAS_OPENCL
/* Takes (ufunc, types, source, function, by_address). */
static int opencl_take(PyObject *tuple, dray_dtype *dtypes,
		       struct dray_opencl_loop *loop)
{
	PyObject *ufunc, *types;
	int addresses;

	if (!PyArg_ParseTuple(tuple, "OO!szp", &ufunc, &PyTuple_Type, &types,
			      &loop->source, &loop->function, &addresses))
		return -1;
	loop->dtypes = dtypes;
	loop->flags = addresses ? DRAY_OPENCL_BY_ADDRESS : 0;
	return loop_types_take(ufunc, types, &loop->ufunc, dtypes);
}

static int opencl_create(PyObject *tuple,
			 struct dray_opencl_executor_options *options,
			 struct dray_executor **executor)
{
	const size_t count = (size_t)PyTuple_GET_SIZE(tuple);
	dray_dtype(*dtypes)[DRAY_UFUNC_MAX_OPERANDS];
	struct dray_opencl_loop *loops;
	int ret = -1;
	size_t i;

	loops = PyMem_Calloc(count + 1, sizeof(*loops));
	dtypes = PyMem_Calloc(count + 1, sizeof(*dtypes));
	if (!loops || !dtypes)
		PyErr_NoMemory();
	for (i = 0; loops && dtypes && i < count; i++)
		if (opencl_take(PyTuple_GET_ITEM(tuple, i), dtypes[i],
				&loops[i]))
			break;
	options->loops = loops;
	options->loops_count = (uint32_t)count;
	if (!PyErr_Occurred()) {
		Py_BEGIN_ALLOW_THREADS
		ret = dray_opencl_executor_create(options, executor);
		Py_END_ALLOW_THREADS
		if (ret)
			ufunc_error(ret);
	}
	for (i = 0; dtypes && i < count; i++)
		types_drop(dtypes[i]);
	PyMem_Free(dtypes);
	PyMem_Free(loops);
	return ret;
}

static int opencl_describe(const struct dray_executor *executor,
			   struct dray_opencl_device *out)
{
	return dray_opencl_executor_device(executor, out);
}
#else
/* Without libdray-opencl there are no objects, so that no device is asked for. */
static int opencl_create(PyObject *tuple,
			 struct dray_opencl_executor_options *options,
			 struct dray_executor **executor)
{
	(void)tuple;
	(void)options;
	(void)executor;
	raise_message(
		-EOPNOTSUPP,
		PyUnicode_FromString(
			"this dray was built without OpenCL's headers (Debian: opencl-c-headers)"));
	return -1;
}

static int opencl_describe(const struct dray_executor *executor,
			   struct dray_opencl_device *out)
{
	(void)executor;
	(void)out;
	return -EOPNOTSUPP;
}
#endif

PyObject *executor_of_opencl(PyObject *module, PyObject *args)
{
	struct dray_opencl_executor_options options = { .flags = 0 };
	struct dray_executor *executor;
	PyObject *type, *loops;
	int copies;

	(void)module;
	if (!PyArg_ParseTuple(args, "OO!zzzp", &type, &PyTuple_Type, &loops,
			      &options.platform, &options.device,
			      &options.build_options, &copies))
		return NULL;
	options.flags = copies ? DRAY_OPENCL_COPIES : 0;
	if (opencl_create(loops, &options, &executor))
		return NULL;
	return handle_new(type, &executor_kind, 0, executor, loops);
}

PyObject *opencl_device(PyObject *module, PyObject *self)
{
	struct dray_executor *executor = handle_ref(self, &executor_kind);
	struct dray_opencl_device device = { .size = sizeof(device) };
	int ret;

	if (!executor)
		return NULL;
	ret = opencl_describe(executor, &device);
	handle_put(&executor_kind, executor);
	return ret ? ufunc_error(ret)
		   : record_opencl_device(module_state(module), &device);
}
