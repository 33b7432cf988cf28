/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* User types, for the files that meet their elements. */
#ifndef DRAY_PYTHON_USER_TYPE_H
#define DRAY_PYTHON_USER_TYPE_H

#include "base/module.h"

/* Whether @object is a dray.UserType that the collector did not end. */
bool user_type_is(PyObject *object);
/* Returns the dray.UserType of a type of the library, borrowed; NULL: it is another. */
PyObject *user_type_of(dray_dtype dtype);
/* Sets @out to the type in the metadata of NumPy's object, counted; 1: it did, 0: none. */
int user_type_take(PyArray_Descr *descr, dray_dtype *out);
/* Returns NumPy's object, a new reference. */
PyArray_Descr *user_type_descr(PyObject *type);
/* Makes a value of an element. */
PyObject *user_type_value(PyObject *type, const void *element);
/* Makes an element of a value. */
int user_type_store(PyObject *type, void *element, PyObject *value);
/* Calls a method of the type of a user's type with @object. */
PyObject *user_type_call(dray_dtype dtype, const char *method,
			 PyObject *object);
/*
 * Adds a conversion of @level, enum dray_casting.  @owners, which stay with @type, own the
 * loop, the context, and the other type.
 */
int user_type_add_cast(PyObject *type, dray_dtype from, dray_dtype to,
		       dray_loop *loop, void *context, int level,
		       PyObject *owners);
#endif /* DRAY_PYTHON_USER_TYPE_H */
