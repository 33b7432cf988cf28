// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Recordings: the part of dray.Sequence that calls the library.  Values are numbers
 * here; the class in _sequence.py has objects for them.  Runs are in sequence_run.c.
 */
#include <errno.h>
#include <string.h>

#include "calls/sequence.h"
#include "frame/ufunc.h"

static PyObject *recording_new(PyTypeObject *type, PyObject *args,
			       PyObject *keywords)
{
	static char *names[] = { "chains", NULL };
	struct dray_sequence *sequence;
	struct recording_object *self;
	int ret, chains = true;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$p:Sequence", names,
					 &chains))
		return NULL;
	ret = dray_sequence_create(&sequence);
	if (ret)
		return ufunc_error(ret);
	if (!chains)
		dray_sequence_without_chains(sequence);
	self = (struct recording_object *)type->tp_alloc(type, 0);
	if (!self) {
		dray_sequence_destroy(sequence);
		return NULL;
	}
	self->state = module_state_of(type);
	self->sequence = sequence;
	self->kept = PyList_New(0);
	if (!self->state || !self->kept)
		Py_CLEAR(self);
	return (PyObject *)self;
}

/* A loop of a recorded ufunc may name the recording: the loop's owner breaks that. */
static int recording_traverse(PyObject *object, visitproc visit, void *arg)
{
	Py_VISIT(Py_TYPE(object));
	Py_VISIT(recording_self(object)->kept);
	return 0;
}

static void recording_dealloc(PyObject *object)
{
	struct recording_object *self = recording_self(object);
	PyTypeObject *type = Py_TYPE(object);
	int i;

	PyObject_GC_UnTrack(object);
	dray_sequence_destroy(self->sequence);
	for (i = 0; i < self->entries_count; i++)
		node_entry_put(self->entries[i]);
	PyMem_Free(self->entries);
	Py_XDECREF(self->kept);
	type->tp_free(object);
	Py_DECREF(type);
}

static PyObject *value_or_error(int ret, dray_value value)
{
	return ret ? ufunc_error(ret)
		   : PyLong_FromUnsignedLongLong((unsigned long long)value);
}

static PyObject *recording_input(PyObject *object, PyObject *like)
{
	struct recording_object *self = recording_self(object);
	struct ufunc_operand operand;
	dray_value value = 0;
	bool weak;
	int ret;

	operand_clear(&operand);
	if (operand_from(like, &operand, &weak)) {
		operand_drop(&operand);
		return NULL;
	}
	ret = dray_sequence_input(self->sequence, operand.view.dtype,
				  operand.view.ndim, operand.view.shape,
				  &value);
	if (!ret) {
		self->inputs++;
		if (ufunc_elements(&operand, 1) > self->elements)
			self->elements = ufunc_elements(&operand, 1);
	}
	operand_drop(&operand);
	return value_or_error(ret, value);
}

static PyObject *recording_constant(PyObject *object, PyObject *number)
{
	struct ufunc_operand operand;
	dray_value value = 0;
	bool weak;
	int ret;

	operand_clear(&operand);
	if (operand_from(number, &operand, &weak)) {
		operand_drop(&operand);
		return NULL;
	}
	if (operand.view.ndim) {
		operand_drop(&operand);
		return PyErr_Format(
			PyExc_TypeError,
			"an array is an input of a sequence, a constant is without axes");
	}
	ret = dray_sequence_constant(recording_self(object)->sequence,
				     operand.view.dtype, operand.view.data,
				     &value);
	operand_drop(&operand);
	return ret ? ufunc_error(ret)
		   : Py_BuildValue("(KO)", (unsigned long long)value,
				   weak ? Py_True : Py_False);
}

/* Takes the values of a call, of which the bits of @weak are numbers of Python. */
static int take_values(PyObject *tuple, int inputs, dray_value *values)
{
	int i;

	for (i = 0; i < inputs; i++) {
		values[i] =
			PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(tuple, i));
		if (PyErr_Occurred())
			return -1;
	}
	return 0;
}

static PyObject *recording_call(PyObject *object, PyObject *args)
{
	struct module_state *state = recording_self(object)->state;
	struct recording_object *self = recording_self(object);
	struct dray_sequence_options options = { 0 };
	dray_value values[DRAY_UFUNC_MAX_OPERANDS];
	dray_value results[DRAY_UFUNC_MAX_OPERANDS];
	unsigned long long where, otherwise;
	PyObject *callable, *inputs, *type, *list, *one;
	struct ufunc_object *ufunc;
	unsigned int weak;
	int o, ret;

	if (!PyArg_ParseTuple(args, "OO!IKKO", &callable, &PyTuple_Type,
			      &inputs, &weak, &where, &otherwise, &type))
		return NULL;
	if (!Py_IS_TYPE(callable, state->ufunc_type))
		return PyErr_Format(PyExc_TypeError,
				    "a dray.ufunc is needed, not %R", callable);
	ufunc = ufunc_self(callable);
	if (PyTuple_GET_SIZE(inputs) != ufunc->inputs)
		return PyErr_Format(PyExc_TypeError,
				    "%s takes %d inputs, not %zd",
				    dray_ufunc_name(ufunc->ufunc),
				    ufunc->inputs, PyTuple_GET_SIZE(inputs));
	if (take_values(inputs, ufunc->inputs, values))
		return NULL;
	if (type != Py_None && dtype_take_object(type, &options.dtype))
		return NULL;
	options.weak = (uint16_t)weak;
	options.where = where;
	options.otherwise = otherwise;
	ret = dray_sequence_call(self->sequence, ufunc->ufunc, values, &options,
				 results);
	dray_dtype_unref(options.dtype);
	if (ret)
		return ufunc_error(ret);
	/* It has the user's loops. */
	if (PyList_Append(self->kept, callable))
		return NULL;
	list = PyTuple_New(ufunc->outputs);
	for (o = 0; list && o < ufunc->outputs; o++) {
		one = PyLong_FromUnsignedLongLong(results[o]);
		if (one)
			PyTuple_SET_ITEM(list, o, one);
		else
			Py_CLEAR(list);
	}
	return list;
}

static PyObject *recording_convert(PyObject *object, PyObject *args)
{
	unsigned long long value;
	dray_value out = 0;
	dray_dtype dtype;
	PyObject *type;
	int ret, rule;

	if (!PyArg_ParseTuple(args, "KOi", &value, &type, &rule) ||
	    dtype_take_object(type, &dtype))
		return NULL;
	ret = dray_sequence_convert(recording_self(object)->sequence, value,
				    dtype, (enum dray_casting)rule, &out);
	dray_dtype_unref(dtype);
	return value_or_error(ret, out);
}

/* Keeps the queue of a node for as long as the recording. */
static int keep_entry(struct recording_object *self, struct node_entry *entry)
{
	const size_t count = (size_t)self->entries_count;
	struct node_entry **entries = PyMem_Realloc(
		self->entries, (count + 1) * sizeof(struct node_entry *));

	if (!entries) {
		PyErr_NoMemory();
		return -1;
	}
	self->entries = entries;
	entries[self->entries_count++] = entry;
	return 0;
}

static PyObject *recording_copy(PyObject *object, PyObject *args)
{
	struct recording_object *self = recording_self(object);
	unsigned long long value;
	struct node_entry *entry;
	struct dray_queue *queue;
	struct dray_node *node;
	PyObject *of, *engine;
	dray_value out = 0;
	int ret;

	if (!PyArg_ParseTuple(args, "KOO", &value, &of, &engine))
		return NULL;
	node = node_of(recording_self(object)->state, of);
	if (!node)
		return NULL;
	entry = node_entry_get(node);
	if (!entry)
		return PyErr_NoMemory();
	Py_BEGIN_ALLOW_THREADS
	ret = node_entry_queue(entry, &queue);
	Py_END_ALLOW_THREADS
	if (ret) {
		node_entry_put(entry);
		return raise_error(ret);
	}
	if (keep_entry(self, entry)) {
		node_entry_put(entry);
		return NULL;
	}
	ret = dray_sequence_copy(self->sequence, value, queue,
				 engine == Py_True    ? DRAY_COPY_ENGINE
				 : engine == Py_False ? DRAY_COPY_CPU
						      : 0,
				 &out);
	/* It may wait: a run releases the GIL. */
	self->elements = INT64_MAX;
	return value_or_error(ret, out);
}

static PyObject *recording_output(PyObject *object, PyObject *number)
{
	struct recording_object *self = recording_self(object);
	dray_value value = PyLong_AsUnsignedLongLong(number);
	int ret;

	if (PyErr_Occurred())
		return NULL;
	ret = dray_sequence_output(self->sequence, value);
	if (ret)
		return ufunc_error(ret);
	self->outputs++;
	Py_RETURN_NONE;
}

static PyObject *recording_describe(PyObject *object, PyObject *number)
{
	dray_value value = PyLong_AsUnsignedLongLong(number);
	int64_t shape[DRAY_MAX_NDIM];
	dray_dtype dtype;
	int ret, ndim;

	if (PyErr_Occurred())
		return NULL;
	ret = dray_sequence_describe(recording_self(object)->sequence, value,
				     &dtype, &ndim, shape);
	if (ret)
		return ufunc_error(ret);
	return Py_BuildValue("(NN)", dtype_descr(dtype),
			     size_tuple(shape, ndim));
}

static PyObject *recording_end(PyObject *object, PyObject *unused)
{
	int ret = dray_sequence_end(recording_self(object)->sequence);

	(void)unused;
	if (ret)
		return ufunc_error(ret);
	Py_RETURN_NONE;
}

static PyObject *recording_plan(PyObject *object, PyObject *unused)
{
	struct dray_sequence_plan plan = { .size = sizeof(plan) };
	int ret =
		dray_sequence_get_plan(recording_self(object)->sequence, &plan);

	(void)unused;
	if (ret)
		return ufunc_error(ret);
	return Py_BuildValue("(IIIIIII)", plan.chains, plan.chained,
			     plan.single, plan.transfers, plan.left_out,
			     plan.arrays, plan.block);
}

static PyMethodDef recording_methods[] = {
	{ "_input", recording_input, METH_O,
	  SIGNATURE("_input($self, like, /)") },
	{ "_constant", recording_constant, METH_O,
	  SIGNATURE("_constant($self, number, /)") },
	{ "_call", recording_call, METH_VARARGS,
	  SIGNATURE(
		  "_call($self, ufunc, inputs, weak, where, otherwise, dtype, /)") },
	{ "_convert", recording_convert, METH_VARARGS,
	  SIGNATURE("_convert($self, value, dtype, casting, /)") },
	{ "_copy", recording_copy, METH_VARARGS,
	  SIGNATURE("_copy($self, value, node, engine, /)") },
	{ "_output", recording_output, METH_O,
	  SIGNATURE("_output($self, value, /)") },
	{ "_describe", recording_describe, METH_O,
	  SIGNATURE("_describe($self, value, /)") },
	{ "_plan", recording_plan, METH_NOARGS, SIGNATURE("_plan($self, /)") },
	{ "_end", recording_end, METH_NOARGS, SIGNATURE("_end($self, /)") },
	{ "_run", WITH_KEYWORDS(recording_run), METH_FASTCALL,
	  SIGNATURE("_run($self, inputs, out, threads, /)") },
	{ "_submit", recording_submit, METH_VARARGS,
	  SIGNATURE("_submit($self, queue, inputs, out, threads, /)") },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot recording_slots[] = {
	{ Py_tp_new, recording_new },
	{ Py_tp_traverse, recording_traverse },
	{ Py_tp_dealloc, recording_dealloc },
	{ Py_tp_methods, recording_methods },
	{ Py_tp_doc,
	  "Recording(*, chains=True)\n--\n\nThe part of dray.Sequence in C." },
	{ 0, NULL },
};

PyType_Spec recording_type_spec = {
	.name = "dray._dray.Recording",
	.basicsize = sizeof(struct recording_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
		 Py_TPFLAGS_IMMUTABLETYPE,
	.slots = recording_slots,
};
