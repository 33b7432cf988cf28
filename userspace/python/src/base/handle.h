/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * An object of the library behind an object of Python.  Classes in Python are made of
 * _dray.Handle and pass themselves to functions of _dray.  These refer to the library's
 * object for the time of a call, so that another thread may drop it meanwhile.
 */
#ifndef DRAY_PYTHON_HANDLE_H
#define DRAY_PYTHON_HANDLE_H

#include "base/module.h"

/* A kind of objects that the library counts. */
struct handle_kind {
	const char *name; /* "a dray.X", in the sentence of an error */
	void *(*ref)(void *object);
	void (*unref)(void *object); /* called without the GIL */
};

/*
 * Makes an object of @type, a class made of Handle, of the result of a call: raises
 * @error, a negative errno, if it is not 0.  @object is taken over, on failure too.
 * @kept, which may be NULL, lives as long.
 */
PyObject *handle_new(PyObject *type, const struct handle_kind *kind, int error,
		     void *object, PyObject *kept);
/*
 * Does the same if the library's object refers to @kept, a list, as well: the collector counts
 * both references, and so ends functions that refer to the object.
 */
PyObject *handle_new_sharing(PyObject *type, const struct handle_kind *kind,
			     int error, void *object, PyObject *kept);
/* Refers to the object; NULL with TypeError, with ValueError if it was dropped. */
void *handle_ref(PyObject *self, const struct handle_kind *kind);
/* Returns the @kept of a handle that handle_ref() accepted, borrowed. */
PyObject *handle_kept(PyObject *self);
/* Drops a reference without the GIL; NULL is ignored. */
void handle_put(const struct handle_kind *kind, void *object);

#endif /* DRAY_PYTHON_HANDLE_H */
