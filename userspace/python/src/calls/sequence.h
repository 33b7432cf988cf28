/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* dray.Sequence, and the queues and calls that its runs on queues need. */
#ifndef DRAY_PYTHON_SEQUENCE_H
#define DRAY_PYTHON_SEQUENCE_H

#include "base/module.h"

#include <dray/array/sequence.h>

struct recording_object {
	PyObject_HEAD struct module_state *state;
	struct dray_sequence *sequence;
	PyObject *kept; /* a list: ufuncs */
	struct node_entry **entries; /* of nodes with transfers */
	int entries_count;
	int inputs;
	int outputs;
	int64_t elements; /* of its largest value, about; the most if a copy may wait */
};

static inline struct recording_object *recording_self(PyObject *object)
{
	return (struct recording_object *)object;
}

/* sequence_run.c: methods. */
PyObject *recording_run(PyObject *object, PyObject *const *args,
			Py_ssize_t count);
PyObject *recording_submit(PyObject *object, PyObject *args);

/* calls_queue.c: waits while a queue is full; -1 with an exception. */
int queue_await_room(struct module_state *state, PyObject *object);
/* The queue of a dray.CallQueue; NULL with an exception. */
struct dray_call_queue *call_queue_of(struct module_state *state,
				      PyObject *object);

#endif /* DRAY_PYTHON_SEQUENCE_H */
