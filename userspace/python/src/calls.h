/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Queues of calls, their executors, and calls in flight, for the files that share them. */
#ifndef DRAY_PYTHON_CALLS_H
#define DRAY_PYTHON_CALLS_H

#include "ufunc_arguments.h"

/* The start of each type of executor. */
struct executor_head {
	PyObject_HEAD struct dray_executor *executor; /* one reference */
};

struct executor_object {
	struct executor_head head;
	PyObject *ufunc;
	dray_dtype dtypes[DRAY_UFUNC_MAX_OPERANDS];
	PyObject *streams; /* a list; each is entered */
	PyObject *ring; /* the arrays of its rings, or NULL */
};

struct queue_object {
	PyObject_HEAD struct dray_call_queue *queue; /* NULL: closed */
	PyObject *executors; /* a tuple */
	struct queue_object *next; /* of the module's */
};

struct call_object {
	PyObject_HEAD struct dray_event *event;
	PyObject *queue;
	PyObject *ufunc; /* or a recording */
	PyObject *arguments; /* the memory of operands is theirs */
	PyObject *results; /* a tuple, or one array */
	struct ufunc_frame frame; /* has the errors of numbers */
	PyObject *wanted; /* the state for these, of the submission, or NULL */
	struct ufunc_arguments taken; /* self NULL: none */
};

static inline struct executor_object *executor_self(PyObject *object)
{
	return (struct executor_object *)object;
}

static inline struct queue_object *queue_self(PyObject *object)
{
	return (struct queue_object *)object;
}

static inline struct call_object *call_self(PyObject *object)
{
	return (struct call_object *)object;
}

/* executor.c: -1 with TypeError unless @object is a dray.ufunc. */
int executor_check_ufunc(PyTypeObject *type, PyObject *object);
/* Takes @count types, each with one reference, also after an error. */
int executor_take_types(PyObject *types, int count, dray_dtype *dtypes);

/* The times of a loop, as two pairs of elements and seconds, or None. */
PyObject *executor_cost_of(struct dray_executor *executor,
			   struct dray_ufunc *ufunc, const dray_dtype *dtypes);
/* @value: such a pair; None or NULL: the loop is measured anew */
int executor_set_cost_of(struct dray_executor *executor,
			 struct dray_ufunc *ufunc, const dray_dtype *dtypes,
			 PyObject *value);

/* call_object.c: drops calls that ended after their last reference. */
void drop_ended_calls(struct module_state *state);
/* Makes a Call without arguments of a ufunc, or of a recording: @ufunc is NULL. */
struct call_object *make_call(struct module_state *state, PyObject *queue,
			      PyObject *source, struct ufunc_object *ufunc);
/* Makes a Call that is not submitted, with its operands. */
struct call_object *take_call(PyObject *queue, PyObject *const *args,
			      Py_ssize_t count, PyObject *names);
/* Makes the result of arrays that were made, taken over, and of given ones. */
int take_results(struct call_object *call, struct dray_array **made,
		 PyObject *capsule);

#endif /* DRAY_PYTHON_CALLS_H */
