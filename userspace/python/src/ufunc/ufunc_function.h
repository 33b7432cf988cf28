/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Loops that call a function of Python for each element. */
#ifndef DRAY_PYTHON_UFUNC_FUNCTION_H
#define DRAY_PYTHON_UFUNC_FUNCTION_H

#include "frame/ufunc.h"

/*
 * Makes a loop, in a capsule, of types of inputs and then of outputs.  The caller keeps
 * @function and the types as long.
 */
PyObject *function_loop_new(const dray_dtype *dtypes, int inputs, int outputs,
			    PyObject *function);
/* Returns the context for function_loop_run(). */
void *function_loop_context(PyObject *capsule);
dray_loop function_loop_run;

#endif /* DRAY_PYTHON_UFUNC_FUNCTION_H */
