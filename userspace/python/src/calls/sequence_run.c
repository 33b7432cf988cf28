// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Runs of a sequence, here and on a queue of calls: arrays of any kind become views,
 * and outputs objects.
 */
#include <errno.h>

#include "calls/calls.h"
#include "calls/sequence.h"

/* Operands of a run that need no memory of the heap. */
#define FEW 8

/* The arrays of a run. */
struct sequence_run {
	struct recording_object *self;
	int inputs; /* of the sequence, when the run began */
	int outputs;
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
static int find_out(const struct sequence_run *run, int o, PyObject **one)
{
	const int outputs = run->outputs;

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

static int run_take_options(struct sequence_run *run, PyObject *const *args,
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

static int run_make_room(struct sequence_run *run)
{
	const size_t count = (size_t)run->inputs + (size_t)run->outputs;

	run->operands = run->few;
	run->views = run->few_views;
	run->given = run->few_given;
	run->made = run->few_made;
	if (count <= FEW)
		return 0;
	run->operands = PyMem_Calloc(count, sizeof(*run->operands));
	run->views = PyMem_Calloc(count, sizeof(const struct dray_view *));
	run->given = PyMem_Calloc(count, sizeof(PyObject *));
	run->made = PyMem_Calloc(count, sizeof(struct dray_array *));
	if (run->operands && run->views && run->given && run->made)
		return 0;
	PyErr_NoMemory();
	return -1;
}

static void drop_run(struct sequence_run *run)
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
static int take_run(struct sequence_run *run, PyObject *object,
		    PyObject *const *args, Py_ssize_t count, PyObject *names)
{
	struct ufunc_operand *operand;
	bool weak;
	int i;

	run->self = recording_self(object);
	run->inputs = run->self->inputs;
	run->outputs = run->self->outputs;
	run->options = (struct dray_sequence_run_options){ .threads = 1 };
	run->out = NULL;
	run->count = 0;
	run->makes = false;
	run->operands = run->few;
	if (run_take_options(run, args, count, names) || run_make_room(run))
		return -1;
	if (count != run->inputs) {
		PyErr_Format(PyExc_TypeError,
			     "the sequence takes %d inputs, not %zd",
			     run->inputs, count);
		return -1;
	}
	for (i = 0; i < run->inputs; i++) {
		operand = &run->operands[run->count++];
		operand_clear(operand);
		if (operand_from(args[i], operand, &weak))
			return -1;
		run->views[i] = &operand->view;
	}
	for (i = 0; i < run->outputs; i++) {
		run->made[i] = NULL;
		if (find_out(run, i, &run->given[i]))
			return -1;
		run->views[run->inputs + i] = NULL;
		if (!run->given[i]) {
			run->makes = true;
			continue;
		}
		operand = &run->operands[run->count++];
		operand_clear(operand);
		if (operand_output(run->given[i], operand))
			return -1;
		run->views[run->inputs + i] = &operand->view;
	}
	if (run->inputs != run->self->inputs ||
	    run->outputs != run->self->outputs) {
		PyErr_SetString(
			PyExc_ValueError,
			"the sequence was changed while its arguments were taken");
		return -1;
	}
	return operands_check(run->operands, run->count);
}

/* Makes the result of arrays that were made, taken over, and those given. */
static PyObject *results(struct sequence_run *run, struct module_state *state,
			 PyObject *capsule)
{
	const int outputs = run->outputs;
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

PyObject *recording_run(PyObject *object, PyObject *const *args,
			Py_ssize_t count, PyObject *names)
{
	struct module_state *state = recording_self(object)->state;
	struct ufunc_frame frame;
	PyObject *result = NULL;
	struct sequence_run run;
	int ret;

	if (take_run(&run, object, args, count, names) ||
	    ufunc_enter(&frame, state, run.makes, run.self->elements)) {
		drop_run(&run);
		return NULL;
	}
	ret = dray_sequence_run(run.self->sequence, run.views,
				run.views + run.inputs, &run.options, run.made);
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
static PyObject *owners(const struct sequence_run *run, PyObject *const *args,
			Py_ssize_t count)
{
	PyObject *list = PyList_New(0);
	Py_ssize_t i;
	int failed = !list;

	for (i = 0; i < count && !failed; i++)
		failed = PyList_Append(list, args[i]);
	for (i = 0; i < run->outputs && !failed; i++)
		if (run->given[i])
			failed = PyList_Append(list, run->given[i]);
	for (i = 0; i < run->count && !failed; i++)
		if (run->operands[i].owner)
			failed = PyList_Append(list, run->operands[i].owner);
	if (failed)
		Py_CLEAR(list);
	return list;
}

static PyObject *submit(PyObject *object, PyObject *const *args,
			Py_ssize_t count, struct sequence_run *run)
{
	struct module_state *state = recording_self(object)->state;
	struct call_object *call = make_call(state, args[0], object, NULL);
	int ret;

	if (!call)
		return NULL;
	call->arguments = owners(run, args + 1, count - 1);
	do {
		if (!call->arguments || queue_await_room(state, args[0]) ||
		    ufunc_enter(&call->frame, state, true, 0)) {
			Py_DECREF(call);
			return NULL;
		}
		ret = dray_sequence_submit(run->self->sequence,
					   queue_self(args[0])->queue,
					   run->views, run->views + run->inputs,
					   &run->options, run->made,
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
		call->results = results(run, state, call->frame.capsule);
	ufunc_end(&call->frame);
	if (!call->results)
		Py_CLEAR(call);
	return (PyObject *)call;
}

PyObject *recording_submit(PyObject *object, PyObject *const *args,
			   Py_ssize_t count, PyObject *names)
{
	struct dray_call_queue *queue;
	PyObject *result = NULL;
	struct sequence_run run;
	int i;

	if (!count)
		return PyErr_Format(PyExc_TypeError,
				    "a dray.CallQueue is missing");
	if (!call_queue_of(recording_self(object)->state, args[0]))
		return NULL;
	if (!take_run(&run, object, args + 1, count - 1, names)) {
		/* A number would lie in memory that goes. */
		for (i = 0; i < run.inputs; i++)
			if (run.operands[i].view.data ==
			    &run.operands[i].number)
				break;
		/* Code of Python may have closed it meanwhile. */
		queue = call_queue_of(recording_self(object)->state, args[0]);
		if (queue && i < run.inputs)
			PyErr_Format(
				PyExc_TypeError,
				"input %d of a run on a queue is a number, an array is needed",
				i);
		else if (queue)
			result = submit(object, args, count, &run);
	}
	drop_run(&run);
	return result;
}
