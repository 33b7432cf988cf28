/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Executors of any kind, for calls.c and the files of their types. */
#ifndef DRAY_PYTHON_CALLS_H
#define DRAY_PYTHON_CALLS_H

#include "ufunc.h"

/* The start of each type of executor. */
struct executor_head {
	PyObject_HEAD struct dray_executor *executor; /* one reference */
};

/* The type of an executor is told by its module. */
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

#endif /* DRAY_PYTHON_CALLS_H */
