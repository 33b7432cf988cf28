/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Arithmetic of dray.Array, by dray's ufuncs or by NumPy's. */
#ifndef DRAY_PYTHON_ARRAY_UFUNC_H
#define DRAY_PYTHON_ARRAY_UFUNC_H

#include "frame/ufunc.h"

/* Whether an operand is without rules of its own, unlike a subclass. */
bool array_is_plain(PyObject *object);
/*
 * Whether a type's rules differ from NumPy's array's in a protocol: "__array_ufunc__",
 * "__array_function__".  Returns 1, 0, or -1 with an exception.
 */
int array_type_has_rules(PyObject *type, const char *protocol);
/* Returns an array of NumPy for a dray.Array, of other objects the object. */
PyObject *array_numpy_of(PyObject *object);
/* Makes a dray.Array of an array of NumPy, taken over, if the type allows it. */
PyObject *array_of_result(struct module_state *state, PyObject *result);
/*
 * Clears an exception of a missing loop; false for any other, as from a function of
 * Python, with a traceback.
 */
bool array_ask_numpy(void);

/* array_temporary.c */
/*
 * Returns an operand of an operator to receive the result, borrowed: a large array
 * without other users, of the result's type, shape and memory.  NULL: none.
 * @divides: integers become floats
 */
PyObject *array_temporary(PyObject *a, PyObject *b, bool divides);

PyObject *array_array_ufunc(PyObject *self, PyObject *const *args,
			    Py_ssize_t count, PyObject *names);

/* array_function.c: functions of NumPy that are not ufuncs. */
/* Calls NumPy's function of a name with @self and other arguments. */
PyObject *array_by_numpy(PyObject *self, const char *name,
			 PyObject *const *args, Py_ssize_t count,
			 PyObject *names);

/* array_arithmetic.c: methods. */
PyObject *array_clip(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *array_round(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *array_conj(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *array_dot(PyObject *self, PyObject *args, PyObject *keywords);

/* Slots of the type. */
#define ARRAY_OPERATORS 31
extern const PyType_Slot array_operators[ARRAY_OPERATORS];

#endif /* DRAY_PYTHON_ARRAY_UFUNC_H */
