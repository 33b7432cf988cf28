/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* NumPy's reactions to errors of numbers. */
#ifndef DRAY_PYTHON_NUMPY_ERRORS_H
#define DRAY_PYTHON_NUMPY_ERRORS_H

#include "base/module.h"

/*
 * Sets @out to NumPy's reactions as a value of state->fp_state, a new reference, or to NULL
 * if they are the usual.  Returns 0 or -1.
 */
int numpy_reactions(struct module_state *state, PyObject **out);
/*
 * Begins a call with NumPy's reactions to errors of numbers; numpy_errors_leave(), which
 * keeps an exception, ends it.  NULL with an exception.
 */
PyObject *numpy_errors_enter(struct module_state *state);
void numpy_errors_leave(struct module_state *state, PyObject *before);

#endif /* DRAY_PYTHON_NUMPY_ERRORS_H */
