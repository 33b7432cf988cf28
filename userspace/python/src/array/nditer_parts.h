/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The part of dray.nditer in C, for the files that implement it. */
#ifndef DRAY_PYTHON_NDITER_PARTS_H
#define DRAY_PYTHON_NDITER_PARTS_H

#include <dray/array/nditer.h>

#include "frame/ufunc.h"

struct nditer_object {
	PyObject_HEAD struct dray_nditer *iter;
	PyObject *kept; /* a tuple: the operands, and the iterator it copies */
	unsigned int writes; /* bit o: operand o may be written */
	bool started; /* __next__() was called */
	bool ended;
	bool closed;
	bool delayed; /* until a reset makes buffers */
};

static inline struct nditer_object *py_nditer_self(PyObject *object)
{
	return (struct nditer_object *)object;
}

/* array_nditer_make.c: around a call of the library, by the thread's errors of numbers. */
int py_nditer_enter(PyObject *self, struct ufunc_frame *frame, bool makes);
int py_nditer_leave(struct ufunc_frame *frame, int ret);
/* Returns the iterator of an object that is open; NULL with ValueError. */
struct dray_nditer *py_nditer_open(PyObject *object);
/* The same at an element. */
struct dray_nditer *py_nditer_at(PyObject *object);
/* Starts over. */
void py_nditer_begin(struct nditer_object *self);
/* Makes the iterator of an object. */
PyObject *py_nditer_make(PyObject *object, PyObject *args);

/* array_nditer_facts.c: properties, questions and jumps. */
extern PyGetSetDef nditer_properties[];
PyObject *py_nditer_is_first_visit(PyObject *object, PyObject *number);
PyObject *py_nditer_axis_strides(PyObject *object, PyObject *number);
PyObject *py_nditer_jump(PyObject *object, PyObject *args);

#endif /* DRAY_PYTHON_NDITER_PARTS_H */
