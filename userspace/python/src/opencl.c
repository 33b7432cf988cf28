// SPDX-License-Identifier: Apache-2.0 OR MIT
/* dray.OpenCLExecutor: loops of ufuncs that a device of OpenCL computes. */
#include "calls.h"

#define MOST_LOOPS 256

struct opencl_object {
	struct executor_head head;
	PyObject *ufuncs; /* a list: the loops are of them */
};

/* Loops on their way to the library; text and types are borrowed from them. */
struct loops {
	Py_ssize_t count;
	struct dray_opencl_loop of[MOST_LOOPS];
	dray_dtype dtypes[MOST_LOOPS][DRAY_UFUNC_MAX_OPERANDS];
};

#ifdef DRAY_HAS_OPENCL
static int opencl_create(const struct dray_opencl_executor_options *options,
			 struct dray_executor **out)
{
	return dray_opencl_executor_create(options, out);
}

static int fill_device(const struct dray_executor *executor,
		       struct dray_opencl_device *out)
{
	return dray_opencl_executor_device(executor, out);
}
#else
/* Without libdray-opencl there are no objects, so that no device is asked for. */
static int opencl_create(const struct dray_opencl_executor_options *options,
			 struct dray_executor **out)
{
	(void)options;
	(void)out;
	return dray_fail(
		-EOPNOTSUPP,
		"this dray was built without OpenCL's headers (Debian: opencl-c-headers)");
}

static int fill_device(const struct dray_executor *executor,
		       struct dray_opencl_device *out)
{
	(void)executor;
	(void)out;
	return -EOPNOTSUPP;
}
#endif

static struct opencl_object *opencl_self(PyObject *object)
{
	return (struct opencl_object *)object;
}

/* Takes (ufunc, types, source, function=None, by_address=False). */
static int take_loop(PyTypeObject *type, PyObject *tuple, struct loops *loops,
		     PyObject *ufuncs)
{
	struct dray_opencl_loop *loop = &loops->of[loops->count];
	dray_dtype *dtypes = loops->dtypes[loops->count];
	PyObject *ufunc, *types;
	int addresses = 0;

	if (!PyTuple_Check(tuple)) {
		PyErr_Format(PyExc_TypeError,
			     "a loop is a tuple (ufunc, types, source), not %R",
			     tuple);
		return -1;
	}
	if (!PyArg_ParseTuple(tuple,
			      "OOs|zp;a loop is a tuple (ufunc, types, source)",
			      &ufunc, &types, &loop->source, &loop->function,
			      &addresses) ||
	    executor_check_ufunc(type, ufunc) || PyList_Append(ufuncs, ufunc))
		return -1;
	loop->ufunc = ufunc_self(ufunc)->ufunc;
	loop->dtypes = dtypes;
	loop->flags = addresses ? DRAY_OPENCL_BY_ADDRESS : 0;
	loops->count++;
	return executor_take_types(
		types, ufunc_self(ufunc)->inputs + ufunc_self(ufunc)->outputs,
		dtypes);
}

static void drop_loops(struct loops *loops)
{
	Py_ssize_t i;
	int o;

	for (i = 0; i < loops->count; i++)
		for (o = 0; o < DRAY_UFUNC_MAX_OPERANDS; o++)
			dray_dtype_unref(loops->dtypes[i][o]);
	PyMem_Free(loops);
}

/* Returns the loops of a sequence, which has to outlive them. */
static struct loops *take_loops(PyTypeObject *type, PyObject *fast,
				PyObject *ufuncs)
{
	struct loops *loops;
	Py_ssize_t i;

	if (PySequence_Fast_GET_SIZE(fast) > MOST_LOOPS) {
		PyErr_Format(PyExc_ValueError, "%zd loops, at most %d",
			     PySequence_Fast_GET_SIZE(fast), MOST_LOOPS);
		return NULL;
	}
	loops = PyMem_Calloc(1, sizeof(*loops));
	if (!loops) {
		PyErr_NoMemory();
		return NULL;
	}
	for (i = 0; i < PySequence_Fast_GET_SIZE(fast); i++)
		if (take_loop(type, PySequence_Fast_GET_ITEM(fast, i), loops,
			      ufuncs)) {
			drop_loops(loops);
			return NULL;
		}
	return loops;
}

static PyObject *opencl_new(PyTypeObject *type, PyObject *args,
			    PyObject *keywords)
{
	static char *names[] = { "loops",   "platform", "device",
				 "options", "copies",	NULL };
	struct dray_opencl_executor_options options = { .flags = 0 };
	PyObject *given, *fast, *ufuncs = NULL;
	struct opencl_object *self = NULL;
	struct dray_executor *executor = NULL;
	struct loops *loops = NULL;
	int copies = 0, ret;

	if (!PyArg_ParseTupleAndKeywords(
		    args, keywords, "O|$zzzp:OpenCLExecutor", names, &given,
		    &options.platform, &options.device, &options.build_options,
		    &copies))
		return NULL;
	fast = PySequence_Tuple(given);
	if (fast)
		ufuncs = PyList_New(0);
	if (ufuncs)
		loops = take_loops(type, fast, ufuncs);
	if (!loops)
		goto done;
	options.loops = loops->of;
	options.loops_count = (uint32_t)loops->count;
	options.flags = copies ? DRAY_OPENCL_COPIES : 0;
	Py_BEGIN_ALLOW_THREADS
	ret = opencl_create(&options, &executor);
	Py_END_ALLOW_THREADS
	if (ret) {
		ufunc_error(ret);
		goto done;
	}
	self = PyObject_New(struct opencl_object, type);
	if (self) {
		self->head.executor = executor;
		self->ufuncs = Py_NewRef(ufuncs);
	} else {
		dray_executor_unref(executor);
	}

done:
	if (loops)
		drop_loops(loops);
	Py_XDECREF(ufuncs);
	Py_XDECREF(fast);
	return (PyObject *)self;
}

static void opencl_dealloc(PyObject *object)
{
	struct opencl_object *self = opencl_self(object);
	PyTypeObject *type = Py_TYPE(object);

	dray_executor_unref(self->head.executor);
	Py_DECREF(self->ufuncs);
	PyObject_Free(object);
	Py_DECREF(type);
}

static PyObject *opencl_device(PyObject *object, void *unused)
{
	struct dray_opencl_device device = { .size = sizeof(device) };
	int ret;

	(void)unused;
	ret = fill_device(opencl_self(object)->head.executor, &device);
	return ret ? ufunc_error(ret)
		   : record_opencl_device(type_state(object), &device);
}

/* Takes a ufunc and types; @cost: further argument, NULL: none. */
static int take_signature(PyObject *self, PyObject *args, PyObject **cost,
			  struct dray_ufunc **out, dray_dtype *dtypes)
{
	PyObject *ufunc, *types;

	if (!(cost ? PyArg_ParseTuple(args, "OOO", &ufunc, &types, cost)
		   : PyArg_ParseTuple(args, "OO", &ufunc, &types)) ||
	    executor_check_ufunc(Py_TYPE(self), ufunc))
		return -1;
	*out = ufunc_self(ufunc)->ufunc;
	return executor_take_types(
		types, ufunc_self(ufunc)->inputs + ufunc_self(ufunc)->outputs,
		dtypes);
}

static void drop_types(const dray_dtype *dtypes)
{
	int o;

	for (o = 0; o < DRAY_UFUNC_MAX_OPERANDS; o++)
		dray_dtype_unref(dtypes[o]);
}

static PyObject *opencl_get_cost(PyObject *self, PyObject *args)
{
	dray_dtype dtypes[DRAY_UFUNC_MAX_OPERANDS] = { 0 };
	PyObject *result = NULL;
	struct dray_ufunc *ufunc;

	if (!take_signature(self, args, NULL, &ufunc, dtypes))
		result = executor_cost_of(opencl_self(self)->head.executor,
					  ufunc, dtypes);
	drop_types(dtypes);
	return result;
}

static PyObject *opencl_set_cost(PyObject *self, PyObject *args)
{
	dray_dtype dtypes[DRAY_UFUNC_MAX_OPERANDS] = { 0 };
	struct dray_ufunc *ufunc;
	PyObject *cost;
	int ret;

	ret = take_signature(self, args, &cost, &ufunc, dtypes);
	if (!ret)
		ret = executor_set_cost_of(opencl_self(self)->head.executor,
					   ufunc, dtypes, cost);
	drop_types(dtypes);
	return ret ? NULL : Py_NewRef(Py_None);
}

static PyMethodDef opencl_methods[] = {
	{ "get_cost", opencl_get_cost, METH_VARARGS,
	  "get_cost($self, ufunc, types, /)\n--\n\n"
	  "The times of a loop's calls: two pairs of elements and seconds, of few and of\n"
	  "many elements; None: not measured." },
	{ "set_cost", opencl_set_cost, METH_VARARGS,
	  "set_cost($self, ufunc, types, cost, /)\n--\n\n"
	  "Sets them, as get_cost() returns them; None measures anew." },
	{ NULL, NULL, 0, NULL },
};

static PyGetSetDef opencl_attributes[] = {
	{ "device", opencl_device, NULL,
	  "The device, and the number of its calls.", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot opencl_slots[] = {
	{ Py_tp_methods, opencl_methods },
	{ Py_tp_getset, opencl_attributes },
	{ Py_tp_new, opencl_new },
	{ Py_tp_dealloc, opencl_dealloc },
	{ Py_tp_doc,
	  "OpenCLExecutor(loops, *, platform=None, device=None, options=None,\n"
	  "               copies=False)\n--\n\n"
	  "A device of OpenCL that computes loops of ufuncs, over the same memory.\n\n"
	  "loops: tuples (ufunc, types, source[, function[, by_address]]): the types of the\n"
	  "    inputs, then of the outputs; an expression of a, b, ..., the inputs, such as\n"
	  "    'a < b'; or the source of a function of an element, in OpenCL C, and its\n"
	  "    name.  by_address: it expects addresses of elements, of any types.\n"
	  "platform, device: parts of their names; None: the first.\n"
	  "options: for the compiler.\n"
	  "copies: allows a device with memory of its own, too." },
	{ 0, NULL },
};

PyType_Spec opencl_type_spec = {
	.name = "dray.OpenCLExecutor",
	.basicsize = sizeof(struct opencl_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
	.slots = opencl_slots,
};
