// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Recordings: the part of dray.Sequence that calls the library.  Values are numbers
 * here; the class in _sequence.py has objects for them.
 */
#include <errno.h>
#include <string.h>

#include "sequence.h"
#include "ufunc.h"

/* Operands of a run that need no memory of the heap. */
#define FEW 8

struct recording_object {
	PyObject_HEAD struct module_state *state;
	struct dray_sequence *sequence;
	PyObject *kept; /* a list: ufuncs */
	struct node_entry **entries; /* of nodes with transfers */
	int entries_count;
	int inputs;
	int outputs;
	int64_t elements; /* of its largest value, about */
};

static struct recording_object *self_of(PyObject *object)
{
	return (struct recording_object *)object;
}

static PyObject *recording_new(PyTypeObject *type, PyObject *args,
			       PyObject *keywords)
{
	struct dray_sequence *sequence;
	struct recording_object *self;
	int ret;

	if ((args && PyTuple_GET_SIZE(args)) ||
	    (keywords && PyDict_GET_SIZE(keywords)))
		return PyErr_Format(PyExc_TypeError,
				    "a sequence takes no arguments");
	ret = dray_sequence_create(&sequence);
	if (ret)
		return ufunc_error(ret);
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

static void recording_dealloc(PyObject *object)
{
	struct recording_object *self = self_of(object);
	PyTypeObject *type = Py_TYPE(object);
	int i;

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
	struct recording_object *self = self_of(object);
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
			"an array is an input of a sequence, a constant has no axes");
	}
	ret = dray_sequence_constant(self_of(object)->sequence,
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
	struct module_state *state = self_of(object)->state;
	struct recording_object *self = self_of(object);
	struct dray_sequence_options options = { 0 };
	dray_value values[DRAY_UFUNC_MAX_OPERANDS];
	dray_value results[DRAY_UFUNC_MAX_OPERANDS];
	unsigned long long where, otherwise;
	PyObject *callable, *inputs, *type, *list, *one;
	struct ufunc_object *ufunc;
	PyArray_Descr *descr = NULL;
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
	if (type != Py_None) {
		if (!PyArray_DescrConverter(type, &descr))
			return NULL;
		ret = dtype_take(descr, &options.dtype);
		Py_DECREF(descr);
		if (ret)
			return NULL;
	}
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
	static const char *const rules[] = { "no", "equiv", "safe", "same_kind",
					     "unsafe" };
	unsigned long long value;
	PyArray_Descr *descr;
	const char *casting;
	dray_value out = 0;
	dray_dtype dtype;
	int ret, rule;

	if (!PyArg_ParseTuple(args, "KO&s", &value, PyArray_DescrConverter,
			      &descr, &casting))
		return NULL;
	ret = dtype_take(descr, &dtype);
	Py_DECREF(descr);
	if (ret)
		return NULL;
	for (rule = 0; rule < 5 && strcmp(rules[rule], casting); rule++)
		;
	if (rule == 5) {
		dray_dtype_unref(dtype);
		return PyErr_Format(
			PyExc_ValueError,
			"casting is 'no', 'equiv', 'safe', 'same_kind' or 'unsafe', not '%s'",
			casting);
	}
	ret = dray_sequence_convert(self_of(object)->sequence, value, dtype,
				    (enum dray_casting)rule, &out);
	dray_dtype_unref(dtype);
	if (ret == -EINVAL && !strncmp(dray_last_error(), "Cannot cast", 11))
		return PyErr_Format(PyExc_TypeError, "%s", dray_last_error());
	return value_or_error(ret, out);
}

/* Keeps the queue of a node for as long as the recording. */
static int keep_entry(struct recording_object *self, struct node_entry *entry)
{
	const size_t count = (size_t)self->entries_count;
	struct node_entry **entries =
		PyMem_Realloc(self->entries, (count + 1) * sizeof(*entries));

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
	struct recording_object *self = self_of(object);
	unsigned long long value;
	struct node_entry *entry;
	struct dray_queue *queue;
	struct dray_node *node;
	PyObject *of, *engine;
	dray_value out = 0;
	int ret;

	if (!PyArg_ParseTuple(args, "KOO", &value, &of, &engine))
		return NULL;
	node = node_of(self_of(object)->state, of);
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
	return value_or_error(ret, out);
}

static PyObject *recording_output(PyObject *object, PyObject *number)
{
	struct recording_object *self = self_of(object);
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
	ret = dray_sequence_describe(self_of(object)->sequence, value, &dtype,
				     &ndim, shape);
	if (ret)
		return ufunc_error(ret);
	return Py_BuildValue("(NN)", dtype_descr(dtype),
			     size_tuple(shape, ndim));
}

static PyObject *recording_end(PyObject *object, PyObject *unused)
{
	int ret = dray_sequence_end(self_of(object)->sequence);

	(void)unused;
	if (ret)
		return ufunc_error(ret);
	Py_RETURN_NONE;
}

static PyObject *recording_plan(PyObject *object, PyObject *unused)
{
	struct dray_sequence_plan plan;
	int ret = dray_sequence_get_plan(self_of(object)->sequence, &plan);

	(void)unused;
	if (ret)
		return ufunc_error(ret);
	return Py_BuildValue("(IIIIIII)", plan.chains, plan.chained,
			     plan.single, plan.transfers, plan.left_out,
			     plan.arrays, plan.block);
}

/* The arrays of a run. */
struct run {
	struct recording_object *self;
	struct dray_sequence_run_options options;
	PyObject *out; /* borrowed; NULL: all are made */
	PyObject **given; /* of each output, borrowed, or NULL */
	struct dray_array **made;
	const struct dray_view **views; /* inputs, then outputs */
	struct ufunc_operand *operands;
	int count; /* operands taken */
	bool makes;
	/* Memory for FEW operands. */
	struct ufunc_operand few[FEW];
	const struct dray_view *few_views[FEW];
	PyObject *few_given[FEW];
	struct dray_array *few_made[FEW];
};

/* The array of out= for output @o; borrowed, NULL: none. */
static int find_out(const struct run *run, int o, PyObject **one)
{
	const int outputs = run->self->outputs;

	*one = run->out;
	if (run->out && PyTuple_Check(run->out)) {
		if (PyTuple_GET_SIZE(run->out) != outputs) {
			PyErr_Format(PyExc_ValueError,
				     "out has %zd arrays, not %d",
				     PyTuple_GET_SIZE(run->out), outputs);
			return -1;
		}
		*one = PyTuple_GET_ITEM(run->out, o);
	} else if (run->out && run->out != Py_None && outputs != 1) {
		PyErr_Format(PyExc_TypeError, "out is a tuple of %d arrays",
			     outputs);
		return -1;
	}
	if (*one == Py_None)
		*one = NULL;
	return 0;
}

static int take_options(struct run *run, PyObject *const *args,
			Py_ssize_t count, PyObject *names)
{
	Py_ssize_t i;

	for (i = 0; names && i < PyTuple_GET_SIZE(names); i++) {
		PyObject *name = PyTuple_GET_ITEM(names, i);
		uint64_t threads;

		if (!PyUnicode_CompareWithASCIIString(name, "out")) {
			run->out = args[count + i];
		} else if (!PyUnicode_CompareWithASCIIString(name, "threads")) {
			if (whole_take(args[count + i], "threads", 1024,
				       &threads))
				return -1;
			run->options.threads = (unsigned int)threads;
		} else {
			PyErr_Format(
				PyExc_TypeError,
				"there is no argument %R, only out and threads",
				name);
			return -1;
		}
	}
	return 0;
}

static int make_room(struct run *run)
{
	const size_t count =
		(size_t)run->self->inputs + (size_t)run->self->outputs;

	run->operands = run->few;
	run->views = run->few_views;
	run->given = run->few_given;
	run->made = run->few_made;
	if (count <= FEW)
		return 0;
	run->operands = PyMem_Calloc(count, sizeof(*run->operands));
	run->views = PyMem_Calloc(count, sizeof(*run->views));
	run->given = PyMem_Calloc(count, sizeof(*run->given));
	run->made = PyMem_Calloc(count, sizeof(*run->made));
	if (run->operands && run->views && run->given && run->made)
		return 0;
	PyErr_NoMemory();
	return -1;
}

static void drop_run(struct run *run)
{
	int i;

	for (i = 0; i < run->count; i++)
		operand_drop(&run->operands[i]);
	if (run->operands == run->few)
		return;
	PyMem_Free(run->operands);
	PyMem_Free((void *)run->views);
	PyMem_Free(run->given);
	PyMem_Free(run->made);
}

/* Takes the arrays of a vectorcall; drop_run() follows. */
static int take_run(struct run *run, PyObject *object, PyObject *const *args,
		    Py_ssize_t count, PyObject *names)
{
	struct ufunc_operand *operand;
	bool weak;
	int i;

	run->self = self_of(object);
	run->options = (struct dray_sequence_run_options){ .threads = 1 };
	run->out = NULL;
	run->count = 0;
	run->makes = false;
	run->operands = run->few;
	if (take_options(run, args, count, names) || make_room(run))
		return -1;
	if (count != run->self->inputs) {
		PyErr_Format(PyExc_TypeError,
			     "the sequence takes %d inputs, not %zd",
			     run->self->inputs, count);
		return -1;
	}
	for (i = 0; i < run->self->inputs; i++) {
		operand = &run->operands[run->count++];
		operand_clear(operand);
		if (operand_from(args[i], operand, &weak))
			return -1;
		run->views[i] = &operand->view;
	}
	for (i = 0; i < run->self->outputs; i++) {
		run->made[i] = NULL;
		if (find_out(run, i, &run->given[i]))
			return -1;
		run->views[run->self->inputs + i] = NULL;
		if (!run->given[i]) {
			run->makes = true;
			continue;
		}
		operand = &run->operands[run->count++];
		operand_clear(operand);
		if (operand_output(run->given[i], operand))
			return -1;
		run->views[run->self->inputs + i] = &operand->view;
	}
	return 0;
}

/* Makes the result of arrays that were made, taken over, and those given. */
static PyObject *results(struct run *run, struct module_state *state,
			 PyObject *capsule)
{
	const int outputs = run->self->outputs;
	PyObject *tuple = outputs == 1 ? NULL : PyTuple_New(outputs);
	PyObject *one = NULL;
	bool failed = outputs != 1 && !tuple;
	int o;

	for (o = 0; o < outputs; o++) {
		one = run->made[o] ? array_wrap(state->array_type, run->made[o],
						NULL, capsule, NULL)
				   : Py_NewRef(run->given[o]);
		failed |= !one;
		if (tuple && one)
			PyTuple_SET_ITEM(tuple, o, one);
		else if (outputs != 1)
			Py_XDECREF(one);
	}
	if (outputs == 1)
		return one;
	if (failed)
		Py_CLEAR(tuple);
	return tuple;
}

static PyObject *recording_run(PyObject *object, PyObject *const *args,
			       Py_ssize_t count, PyObject *names)
{
	struct module_state *state = self_of(object)->state;
	struct ufunc_frame frame;
	PyObject *result = NULL;
	struct run run;
	int ret;

	if (take_run(&run, object, args, count, names) ||
	    ufunc_enter(&frame, state, run.makes, run.self->elements)) {
		drop_run(&run);
		return NULL;
	}
	ret = dray_sequence_run(run.self->sequence, run.views,
				run.views + run.self->inputs, &run.options,
				run.made);
	if (!ufunc_leave(&frame, ret)) {
		result = results(&run, state, frame.capsule);
	} else if (ret == -EOPNOTSUPP) {
		/* An engine, as in dray.copy(): calls have their loops. */
		PyErr_Clear();
		raise_error(ret);
	}
	ufunc_end(&frame);
	drop_run(&run);
	return result;
}

/* Owners of all memory of a run: the arguments, and arrays made of them. */
static PyObject *owners(const struct run *run, PyObject *const *args,
			Py_ssize_t count)
{
	PyObject *list = PyList_New(0);
	Py_ssize_t i;
	int failed = !list;

	for (i = 0; i < count && !failed; i++)
		failed = PyList_Append(list, args[i]);
	for (i = 0; i < run->self->outputs && !failed; i++)
		if (run->given[i])
			failed = PyList_Append(list, run->given[i]);
	for (i = 0; i < run->count && !failed; i++)
		if (run->operands[i].owner)
			failed = PyList_Append(list, run->operands[i].owner);
	if (failed)
		Py_CLEAR(list);
	return list;
}

static PyObject *submit(PyObject *object, struct dray_call_queue *queue,
			PyObject *const *args, Py_ssize_t count,
			struct run *run)
{
	static const struct dray_fp_state quiet = { .buffer_size = 8192 };
	struct module_state *state = self_of(object)->state;
	PyObject *kept = owners(run, args + 1, count - 1);
	PyObject *capsule = kept ? PyDataMem_GetHandler() : NULL;
	const struct dray_handler *before;
	struct dray_event *event = NULL;
	struct dray_fp_state errors;
	PyObject *result = NULL;
	int ret;

	if (!capsule) {
		Py_XDECREF(kept);
		return NULL;
	}
	/* No program waits for a warning when the run has its turn. */
	dray_get_fp_state(&errors);
	dray_set_fp_state(&quiet);
	before = array_use_handler(capsule);
	ret = dray_sequence_submit(run->self->sequence, queue, run->views,
				   run->views + run->self->inputs,
				   &run->options, run->made, &event);
	dray_set_handler(before);
	dray_set_fp_state(&errors);
	if (ret)
		ufunc_error(ret);
	else
		result = call_of_event(state, event, args[0], object, kept,
				       results(run, state, capsule));
	Py_DECREF(capsule);
	Py_DECREF(kept);
	return result;
}

static PyObject *recording_submit(PyObject *object, PyObject *const *args,
				  Py_ssize_t count, PyObject *names)
{
	struct dray_call_queue *queue;
	PyObject *result = NULL;
	struct run run;
	int i;

	if (!count)
		return PyErr_Format(PyExc_TypeError,
				    "a dray.CallQueue is missing");
	queue = call_queue_of(self_of(object)->state, args[0]);
	if (!queue)
		return NULL;
	if (!take_run(&run, object, args + 1, count - 1, names)) {
		/* A number would lie in memory that goes. */
		for (i = 0; i < run.self->inputs; i++)
			if (run.operands[i].view.data ==
			    &run.operands[i].number)
				break;
		if (i < run.self->inputs)
			PyErr_Format(
				PyExc_TypeError,
				"input %d of a run on a queue is a number, an array is needed",
				i);
		else
			result = submit(object, queue, args, count, &run);
	}
	drop_run(&run);
	return result;
}

static PyMethodDef recording_methods[] = {
	{ "_input", recording_input, METH_O,
	  "_input($self, like, /)\n--\n\nRecords an input; its number." },
	{ "_constant", recording_constant, METH_O,
	  "_constant($self, number, /)\n--\n\nRecords a constant; its number, and whether it is a number of Python." },
	{ "_call", recording_call, METH_VARARGS,
	  "_call($self, ufunc, inputs, weak, where, otherwise, dtype, /)\n--\n\nRecords a call; the numbers of its results." },
	{ "_convert", recording_convert, METH_VARARGS,
	  "_convert($self, value, dtype, casting, /)\n--\n\nRecords a conversion; its number." },
	{ "_copy", recording_copy, METH_VARARGS,
	  "_copy($self, value, node, engine, /)\n--\n\nRecords a copy; its number." },
	{ "_output", recording_output, METH_O,
	  "_output($self, value, /)\n--\n\nRecords an output." },
	{ "_describe", recording_describe, METH_O,
	  "_describe($self, value, /)\n--\n\nThe type and shape of a value." },
	{ "_plan", recording_plan, METH_NOARGS,
	  "_plan($self, /)\n--\n\nThe plan, as SequencePlan has it." },
	{ "end", recording_end, METH_NOARGS,
	  "end($self, /)\n--\n\nEnds the recording, as leaving `with` does." },
	{ "run", WITH_KEYWORDS(recording_run), METH_FASTCALL | METH_KEYWORDS,
	  "run($self, /, *inputs, out=None, threads=1)\n--\n\n"
	  "Runs the sequence with arrays of the types and shapes that were recorded.\n\n"
	  "Returns one array for each output, made or of `out`; a tuple of several.\n"
	  "threads: that compute at once." },
	{ "submit", WITH_KEYWORDS(recording_submit),
	  METH_FASTCALL | METH_KEYWORDS,
	  "submit($self, queue, /, *inputs, out=None, threads=1)\n--\n\n"
	  "Runs the sequence on a CallQueue, and returns a Call at once.\n\n"
	  "The arrays must not change until it has ended; outputs are read then.  Errors\n"
	  "of numbers, such as a division by 0, are ignored." },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot recording_slots[] = {
	{ Py_tp_new, recording_new },
	{ Py_tp_dealloc, recording_dealloc },
	{ Py_tp_methods, recording_methods },
	{ Py_tp_doc, "Recording()\n--\n\nThe part of dray.Sequence in C." },
	{ 0, NULL },
};

PyType_Spec recording_type_spec = {
	.name = "dray._dray.Recording",
	.basicsize = sizeof(struct recording_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE |
		 Py_TPFLAGS_IMMUTABLETYPE,
	.slots = recording_slots,
};
