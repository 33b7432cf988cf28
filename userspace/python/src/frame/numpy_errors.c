// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * NumPy's reactions to errors of numbers: for its ufuncs that dray computes, and for all
 * calls while dray.errstate() and its kin set none.  Python reads them (_ufunc.py), which
 * lasts longer than a small call: so the usual reactions, a new thread's, are
 * recognized without it.
 */
#include "frame/numpy_errors.h"

/* The usual reactions as NumPy 1 numbers them, and its key of a thread's dictionary. */
#define USUAL_BUFFER 8192
#define USUAL_ACTIONS 521
#define REACTIONS_KEY "UFUNC_PYVALS"

/*
 * Returns NumPy 2's context variable of reactions, or NumPy 1's key; borrowed.  NULL with
 * an exception.
 */
static PyObject *reactions_find(struct module_state *state)
{
	PyObject *module, *found = NULL;

	if (state->reactions)
		return state->reactions;
	module = PyImport_ImportModule("numpy._core.umath");
	if (module)
		found = PyObject_GetAttrString(module, "_extobj_contextvar");
	Py_XDECREF(module);
	if (!found) {
		PyErr_Clear();
		found = PyUnicode_InternFromString(REACTIONS_KEY);
	}
	/* Another thread may be faster. */
	if (state->reactions)
		Py_XDECREF(found);
	else
		state->reactions = found;
	return state->reactions;
}

/* Whether a thread's list of NumPy 1 has the usual reactions; NULL: it has none. */
static bool list_is_usual(PyObject *list)
{
	if (!list)
		return true;
	return PyList_CheckExact(list) && PyList_GET_SIZE(list) == 3 &&
	       PyLong_AsLong(PyList_GET_ITEM(list, 0)) == USUAL_BUFFER &&
	       PyLong_AsLong(PyList_GET_ITEM(list, 1)) == USUAL_ACTIONS &&
	       PyList_GET_ITEM(list, 2) == Py_None;
}

/*
 * Whether NumPy's reactions are the usual: 1, 0, or -1 with an exception.  @seen: NumPy
 * 2's, a new reference, if their value is not known; else NULL.
 */
static int reactions_are_usual(struct module_state *state, PyObject **seen)
{
	PyObject *source = reactions_find(state), *value = NULL, *dictionary;
	int usual;

	*seen = NULL;
	if (!source)
		return -1;
	if (!PyContextVar_CheckExact(source)) {
		dictionary = PyThreadState_GetDict();
		if (dictionary)
			value = PyDict_GetItemWithError(dictionary, source);
		if (!value && PyErr_Occurred())
			return -1;
		usual = list_is_usual(value);
		return PyErr_Occurred() ? -1 : usual;
	}
	if (PyContextVar_Get(source, NULL, &value))
		return -1;
	usual = value && value == state->usual_reactions;
	if (usual)
		Py_DECREF(value);
	else
		*seen = value;
	return usual;
}

int numpy_reactions(struct module_state *state, PyObject **out)
{
	PyObject *errors, *seen;
	int usual = reactions_are_usual(state, &seen);

	*out = NULL;
	if (usual)
		return usual < 0 ? -1 : 0;
	errors = PyImport_ImportModule("dray._ufunc");
	*out = errors ? PyObject_CallMethod(errors, "numpy_state", NULL) : NULL;
	Py_XDECREF(errors);
	if (*out == Py_None) {
		if (seen)
			Py_XSETREF(state->usual_reactions, Py_NewRef(seen));
		Py_CLEAR(*out);
	}
	Py_XDECREF(seen);
	return PyErr_Occurred() ? -1 : 0;
}

PyObject *numpy_errors_enter(struct module_state *state)
{
	PyObject *errors, *before, *own;

	if (PyContextVar_Get(state->fp_state, NULL, &own))
		return NULL;
	Py_XDECREF(own);
	/* The frame of the call asks NumPy then. */
	if (!own || own == Py_None)
		return Py_NewRef(Py_None);
	errors = PyImport_ImportModule("dray._ufunc");
	before = errors ? PyObject_CallMethod(errors, "as_numpy", NULL) : NULL;
	Py_XDECREF(errors);
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
