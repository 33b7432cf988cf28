/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Extents and axes as arguments of methods of dray.Array. */
#ifndef DRAY_PYTHON_ARRAY_NUMBERS_H
#define DRAY_PYTHON_ARRAY_NUMBERS_H

#include "object/array_object.h"

/* Numbers of axes, or extents. */
struct numbers {
	int count;
	bool all; /* none were named */
	int64_t list[DRAY_MAX_NDIM];
	int axes[DRAY_MAX_NDIM]; /* the same; INT_MAX: too large for an axis */
};

/* Converts an integer, several, or None, which means all; for a parameter. */
int numbers_take(PyObject *object, void *out);
/* Takes numbers that stand by themselves, f(1, 2), or as one: f((1, 2)). */
int numbers_of(PyObject *const *args, Py_ssize_t count, struct numbers *out);

#endif /* DRAY_PYTHON_ARRAY_NUMBERS_H */
