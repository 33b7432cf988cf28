/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Queues of calls, their executors, and calls in flight, for the files that share them. */
#ifndef DRAY_PYTHON_CALLS_H
#define DRAY_PYTHON_CALLS_H

#include "base/handle.h"
#include "ufunc/ufunc_arguments.h"

extern const struct handle_kind executor_kind; /* executor.c */

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

static inline struct queue_object *queue_self(PyObject *object)
{
	return (struct queue_object *)object;
}

static inline struct call_object *call_self(PyObject *object)
{
	return (struct call_object *)object;
}

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
