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

/* Takes arrays, those of out=, and threads; drop_run() follows. */
static int take_run(struct sequence_run *run, PyObject *object,
		    PyObject *arrays, PyObject *out, unsigned int threads)
{
	const Py_ssize_t count = PyTuple_GET_SIZE(arrays);
	struct ufunc_operand *operand;
	bool weak;
	int i;

	run->self = recording_self(object);
	run->inputs = run->self->inputs;
	run->outputs = run->self->outputs;
	run->options = (struct dray_sequence_run_options){ .threads = threads };
	run->count = 0;
	run->makes = false;
	run->operands = run->few;
	if (PyTuple_Check(out) && PyTuple_GET_SIZE(out) != run->outputs) {
		PyErr_Format(PyExc_ValueError, "out has %zd arrays, not %d",
			     PyTuple_GET_SIZE(out), run->outputs);
		return -1;
	}
	if (!PyTuple_Check(out) && out != Py_None && run->outputs != 1) {
		PyErr_Format(PyExc_TypeError, "out is a tuple of %d arrays",
			     run->outputs);
		return -1;
	}
	if (run_make_room(run))
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
		if (operand_from(PyTuple_GET_ITEM(arrays, i), operand, &weak))
			return -1;
		run->views[i] = &operand->view;
	}
	for (i = 0; i < run->outputs; i++) {
		run->made[i] = NULL;
		run->given[i] =
			PyTuple_Check(out) ? PyTuple_GET_ITEM(out, i) : out;
		if (run->given[i] == Py_None)
			run->given[i] = NULL;
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
static PyObject *run_results(struct sequence_run *run,
			     struct module_state *state, PyObject *capsule)
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
			Py_ssize_t count)
{
	struct module_state *state = recording_self(object)->state;
	struct ufunc_frame frame;
	PyObject *result = NULL;
	struct sequence_run run;
	int threads, ret;

	if (count != 3 || !PyTuple_Check(args[0]) ||
	    !int_take(args[2], &threads))
		return PyErr_Occurred()
			       ? NULL
			       : PyErr_Format(
					 PyExc_TypeError,
					 "_run() takes a tuple, out and threads");
	if (take_run(&run, object, args[0], args[1], (unsigned int)threads) ||
	    ufunc_enter(&frame, state, run.makes, run.self->elements)) {
		drop_run(&run);
		return NULL;
	}
	ret = dray_sequence_run(run.self->sequence, run.views,
				run.views + run.inputs, &run.options, run.made);
	if (!ufunc_leave(&frame, ret)) {
		result = run_results(&run, state, frame.capsule);
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
static PyObject *run_owners(const struct sequence_run *run, PyObject *arrays)
{
	PyObject *list = PySequence_List(arrays);
	int failed = !list, i;

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

static PyObject *run_submit_call(PyObject *object, PyObject *queue,
				 PyObject *arrays, struct sequence_run *run)
{
	struct module_state *state = recording_self(object)->state;
	struct call_object *call = make_call(state, queue, object, NULL);
	int ret;

	if (!call)
		return NULL;
	call->arguments = run_owners(run, arrays);
	do {
		if (!call->arguments || queue_await_room(state, queue) ||
		    ufunc_enter(&call->frame, state, true, 0)) {
			Py_DECREF(call);
			return NULL;
		}
		ret = dray_sequence_submit(run->self->sequence,
					   queue_self(queue)->queue, run->views,
					   run->views + run->inputs,
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
		call->results = run_results(run, state, call->frame.capsule);
	ufunc_end(&call->frame);
	if (!call->results)
		Py_CLEAR(call);
	return (PyObject *)call;
}

PyObject *recording_submit(PyObject *object, PyObject *args)
{
	struct module_state *state = recording_self(object)->state;
	PyObject *queue, *arrays, *out, *result = NULL;
	struct sequence_run run;
	unsigned int threads;
	int i;

	if (!PyArg_ParseTuple(args, "OO!OI", &queue, &PyTuple_Type, &arrays,
			      &out, &threads) ||
	    !call_queue_of(state, queue))
		return NULL;
	if (!take_run(&run, object, arrays, out, threads)) {
		/* A number would lie in memory that goes. */
		for (i = 0; i < run.inputs; i++)
			if (run.operands[i].view.data ==
			    &run.operands[i].number)
				break;
		/* Code of Python may have closed it meanwhile. */
		if (call_queue_of(state, queue) && i < run.inputs)
			PyErr_Format(
				PyExc_TypeError,
				"input %d of a run on a queue is a number, an array is needed",
				i);
		else if (!PyErr_Occurred())
			result = run_submit_call(object, queue, arrays, &run);
	}
	drop_run(&run);
	return result;
}
