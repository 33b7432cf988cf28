// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * NumPy's reactions to errors of numbers, for its ufuncs that dray computes.  Python
 * copies them (_ufunc.py), which lasts longer than a small call: so the usual
 * reactions, a new thread's, are recognized without it.
 */
#include "arithmetic/numpy_errors.h"

/* The usual reactions as NumPy 1 numbers them. */
#define USUAL_BUFFER 8192
#define USUAL_ACTIONS 521

/*
 * Returns NumPy 2's context variable of reactions, NumPy 1's function that returns them,
 * or None; borrowed.  NULL with an exception.
 */
static PyObject *reactions_find(struct module_state *state)
{
	static const char *const places[][2] = {
		{ "numpy._core.umath", "_extobj_contextvar" },
		{ "numpy.core.umath", "geterrobj" },
	};
	PyObject *module, *found = NULL;
	size_t i;

	for (i = 0; i < 2 && !state->reactions && !found; i++) {
		module = PyImport_ImportModule(places[i][0]);
		found = module ? PyObject_GetAttrString(module, places[i][1])
			       : NULL;
		Py_XDECREF(module);
		PyErr_Clear();
	}
	/* Another thread may be faster. */
	if (state->reactions)
		Py_XDECREF(found);
	else
		state->reactions = found ? found : Py_NewRef(Py_None);
	return state->reactions;
}

/* Whether a list of NumPy 1 has the usual reactions. */
static bool list_is_usual(PyObject *list)
{
	return list && PyList_CheckExact(list) && PyList_GET_SIZE(list) == 3 &&
	       PyLong_AsLong(PyList_GET_ITEM(list, 0)) == USUAL_BUFFER &&
	       PyLong_AsLong(PyList_GET_ITEM(list, 1)) == USUAL_ACTIONS &&
	       PyList_GET_ITEM(list, 2) == Py_None;
}

/*
 * Whether dray's reactions and NumPy's are the usual.  @seen: NumPy 2's, a new
 * reference, if their value is not known; else NULL.
 */
static bool reactions_are_usual(struct module_state *state, PyObject **seen)
{
	PyObject *source = reactions_find(state), *own = NULL, *value = NULL;
	bool usual;

	*seen = NULL;
	if (PyContextVar_Get(state->fp_state, NULL, &own) || own) {
		PyErr_Clear();
		Py_XDECREF(own);
		return false;
	}
	if (PyContextVar_CheckExact(source)) {
		if (PyContextVar_Get(source, NULL, &value))
			PyErr_Clear();
		usual = value && value == state->usual_reactions;
		if (!usual) {
			*seen = value;
			return false;
		}
	} else {
		value = source == Py_None ? NULL : PyObject_CallNoArgs(source);
		usual = list_is_usual(value);
		PyErr_Clear();
	}
	Py_XDECREF(value);
	return usual;
}

PyObject *numpy_errors_enter(struct module_state *state)
{
	PyObject *seen, *errors, *before;

	if (reactions_are_usual(state, &seen))
		return Py_NewRef(Py_None);
	errors = PyImport_ImportModule("dray._ufunc");
	before = errors ? PyObject_CallMethod(errors, "as_numpy", NULL) : NULL;
	Py_XDECREF(errors);
	if (before == Py_None && seen)
		Py_XSETREF(state->usual_reactions, Py_NewRef(seen));
	Py_XDECREF(seen);
	return before;
}

void numpy_errors_leave(struct module_state *state, PyObject *before)
{
	PyObject *type, *value, *traceback;

	if (before && before != Py_None) {
		PyErr_Fetch(&type, &value, &traceback);
		if (PyContextVar_Reset(state->fp_state, before))
			PyErr_Clear();
		PyErr_Restore(type, value, traceback);
	}
	Py_XDECREF(before);
}
