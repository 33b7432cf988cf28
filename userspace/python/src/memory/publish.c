// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tells snapshots of pools (<dray/publish.h>) the shapes of NumPy's arrays.
 *
 * NumPy keeps no list of its arrays, and the collector does not track them.  So
 * all tracked objects are asked for their references, and each thread's frames
 * for their variables.  That takes the GIL about as long as a collection does.
 * Arrays in the middle of an expression, or held by C code alone, are not found.
 */
#include "base/module.h"

#define CHUNK 256 /* objects that are asked in one call */
#define OPTIMIZED 1 /* CO_OPTIMIZED, a function's code */

struct publish_walk {
	dray_publish_see *see;
	void *context;
};

/* A text for a type, as "<f4" or "[('a', '<i4')]"; a new reference or NULL. */
static PyObject *type_of(PyArrayObject *array)
{
	PyObject *descr = (PyObject *)PyArray_DESCR(array);
	PyObject *type = PyObject_GetAttrString(descr, "str");
	const char *text;

	text = type && PyUnicode_Check(type) ? PyUnicode_AsUTF8(type) : NULL;
	/* "|V12" says nothing about its fields. */
	if (text && !strncmp(text, "|V", 2)) {
		Py_DECREF(type);
		type = PyObject_Str(descr);
	}
	return type;
}

/* Tells the array that owns the memory of @object. */
static void publish_look_at(const struct publish_walk *walk, PyObject *object)
{
	int64_t shape[NPY_MAXDIMS];
	PyArrayObject *array;
	PyObject *type;
	const char *text;
	int i;

	while (object && PyArray_Check(object) &&
	       !PyArray_CHKFLAGS((PyArrayObject *)object, NPY_ARRAY_OWNDATA))
		object = PyArray_BASE((PyArrayObject *)object);
	if (!object || !PyArray_Check(object))
		return;
	array = (PyArrayObject *)object;
	type = type_of(array);
	text = type && PyUnicode_Check(type) ? PyUnicode_AsUTF8(type) : NULL;
	for (i = 0; i < PyArray_NDIM(array); i++)
		shape[i] = PyArray_DIM(array, i);
	if (text)
		walk->see(walk->context, PyArray_DATA(array),
			  (uint64_t)PyArray_NBYTES(array), text,
			  PyArray_NDIM(array), shape);
	Py_XDECREF(type);
	PyErr_Clear();
}

static void look_at_all(const struct publish_walk *walk, PyObject *list)
{
	Py_ssize_t i;

	for (i = 0; list && i < PyList_GET_SIZE(list); i++)
		publish_look_at(walk, PyList_GET_ITEM(list, i));
}

/* Asks the collector for all objects, and each object for its references. */
static void walk_objects(const struct publish_walk *walk)
{
	PyObject *collector = PyImport_ImportModule("gc");
	PyObject *ask = NULL, *all = NULL;
	Py_ssize_t at;

	if (collector) {
		ask = PyObject_GetAttrString(collector, "get_referents");
		all = PyObject_CallMethod(collector, "get_objects", NULL);
	}
	look_at_all(walk, all);
	for (at = 0; ask && all && at < PyList_GET_SIZE(all); at += CHUNK) {
		PyObject *part = PyList_GetSlice(all, at, at + CHUNK);
		PyObject *chunk = part ? PyList_AsTuple(part) : NULL;
		PyObject *found =
			chunk ? PyObject_CallObject(ask, chunk) : NULL;

		look_at_all(walk, found);
		Py_XDECREF(found);
		Py_XDECREF(chunk);
		Py_XDECREF(part);
	}
	Py_XDECREF(all);
	Py_XDECREF(ask);
	Py_XDECREF(collector);
	PyErr_Clear();
}

/*
 * Before 3.13, reading the variables of a running function makes the frame keep
 * a copy of them, which would keep them alive.  The copy is emptied, unless
 * somebody else has it.  Frames that a debugger traces are left alone: it writes
 * the copy back.
 */
static void look_at_variables(const struct publish_walk *walk, PyObject *frame)
{
	PyObject *trace = PyObject_GetAttrString(frame, "f_trace");
	PyObject *variables = NULL, *values = NULL;
	PyCodeObject *code;
	bool optimized;

	if (trace == Py_None)
		variables = PyObject_GetAttrString(frame, "f_locals");
	if (variables)
		values = PyMapping_Values(variables);
	look_at_all(walk, values);
	Py_XDECREF(values);
	code = PyFrame_GetCode((PyFrameObject *)frame);
	optimized = code->co_flags & OPTIMIZED;
	Py_DECREF(code);
	if (variables && optimized && PyDict_CheckExact(variables) &&
	    Py_REFCNT(variables) == 2)
		PyDict_Clear(variables);
	Py_XDECREF(variables);
	Py_XDECREF(trace);
	PyErr_Clear();
}

static void walk_frames(const struct publish_walk *walk)
{
	PyObject *system = PyImport_ImportModule("sys");
	PyObject *frames = NULL, *key, *frame, *next;
	Py_ssize_t at = 0;

	if (system)
		frames = PyObject_CallMethod(system, "_current_frames", NULL);
	while (frames && PyDict_Next(frames, &at, &key, &frame)) {
		for (Py_INCREF(frame); PyFrame_Check(frame); frame = next) {
			look_at_variables(walk, frame);
			next = (PyObject *)PyFrame_GetBack(
				(PyFrameObject *)frame);
			Py_DECREF(frame);
			if (!next)
				break;
		}
	}
	Py_XDECREF(frames);
	Py_XDECREF(system);
	PyErr_Clear();
}

/* On the publisher's thread, which Python does not know. */
static void each_array(dray_publish_see *see, void *context)
{
	const struct publish_walk walk = { .see = see, .context = context };
	PyGILState_STATE state;

	if (!Py_IsInitialized())
		return;
	state = PyGILState_Ensure();
	walk_objects(&walk);
#ifndef Py_GIL_DISABLED /* else functions run while their frames are read */
	walk_frames(&walk);
#endif
	PyGILState_Release(state);
}

/* Before Python ends: its objects are not looked at any more. */
static PyObject *publish_finish(PyObject *self, PyObject *unused)
{
	(void)self;
	(void)unused;
	dray_publish_set_arrays(NULL);
	Py_RETURN_NONE;
}

static PyMethodDef end_method = { "publish_end", publish_finish, METH_NOARGS,
				  NULL };

int publish_init(void)
{
	PyObject *exits = PyImport_ImportModule("atexit");
	PyObject *function = PyCFunction_New(&end_method, NULL);
	PyObject *done = NULL;

	if (exits && function)
		done = PyObject_CallMethod(exits, "register", "O", function);
	Py_XDECREF(function);
	Py_XDECREF(exits);
	if (!done)
		return -1;
	Py_DECREF(done);
	dray_publish_set_arrays(each_array);
	return 0;
}
