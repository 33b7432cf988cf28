/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Conversions of elements, with reactions to errors of numbers. */
#ifndef DRAY_PYTHON_ARRAY_CONVERT_H
#define DRAY_PYTHON_ARRAY_CONVERT_H

#include "frame/ufunc.h"

struct array_conversion {
	struct ufunc_frame frame;
	bool entered; /* types differ */
};

/* Warns of imaginary parts that a conversion loses.  Returns 0 or -1. */
int array_warn_of_parts(dray_dtype from, dray_dtype to);
/* Begins a conversion between types.  Returns 0, or -1 with an exception. */
int array_convert_enter(struct array_conversion *conversion, PyObject *array,
			dray_dtype from, dray_dtype to);
/*
 * Ends it, and warns of errors of numbers, or raises.  Returns 0, or -1 with that
 * exception or with the one that is raised already.
 */
int array_convert_leave(struct array_conversion *conversion);

#endif /* DRAY_PYTHON_ARRAY_CONVERT_H */
