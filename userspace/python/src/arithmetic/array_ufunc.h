/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Arithmetic of dray.Array, by dray's ufuncs or by NumPy's. */
#ifndef DRAY_PYTHON_ARRAY_UFUNC_H
#define DRAY_PYTHON_ARRAY_UFUNC_H

#include "frame/ufunc.h"

/* Whether an operand has no rules of its own, as a subclass may have. */
bool array_is_plain(PyObject *object);
/* Returns an array of NumPy for a dray.Array, of other objects the object. */
PyObject *array_numpy_of(PyObject *object);
/* Makes a dray.Array of an array of NumPy, taken over, if it has the type. */
PyObject *array_of_result(struct module_state *state, PyObject *result);
/*
 * Clears an exception that says that dray has no loop; false for another one, such
 * as that of a function of Python, which has a traceback here.
 */
bool array_ask_numpy(void);

PyObject *array_array_ufunc(PyObject *self, PyObject *const *args,
			    Py_ssize_t count, PyObject *names);

/* array_arithmetic.c: methods. */
PyObject *array_clip(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *array_round(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *array_conj(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *array_dot(PyObject *self, PyObject *args, PyObject *keywords);

/* Slots of the type. */
#define ARRAY_OPERATORS 31
extern const PyType_Slot array_operators[ARRAY_OPERATORS];

#endif /* DRAY_PYTHON_ARRAY_UFUNC_H */
