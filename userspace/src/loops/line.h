/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Short cuts of builtin loops for the methods of ufuncs: a line of elements
 * reduced to one, running results, and results put in place by index.  Each
 * makes of builtin types what the loop of the ufunc would make.
 */
#ifndef DRAY_LOOPS_LINE_H
#define DRAY_LOOPS_LINE_H

#include <dray/dtype.h>

/*
 * Reduces @count elements, 1 or more: result = (result op x[0]) op x[1] ...
 * @stride: bytes
 */
typedef void dray_line_loop(void *result, const char *data, int64_t stride,
			    int64_t count);

/*
 * Writes @count running results behind the one at @to: to[1] = to[0] op x[0], ...
 * They may be the elements of x themselves.
 */
typedef void dray_line_running(char *to, int64_t to_stride, const char *data,
			       int64_t stride, int64_t count);

/*
 * Computes target[i] = target[i] op value for @count numbers of elements.
 * @strides: bytes, of the target and the values
 */
typedef void dray_line_placing(char *target, int64_t stride,
			       const int64_t *indices, int64_t count,
			       const char *values, int64_t values_stride);

struct dray_line {
	const char *name; /* of the ufunc */
	dray_dtype dtype; /* of the loop */
	dray_dtype from; /* of the elements */
	dray_line_loop *loop;
	dray_line_running *running; /* or NULL */
	dray_line_placing *placing; /* or NULL */
	/* Whether a result of the byte @settled stays, whatever comes. */
	bool settles;
	char settled;
};

/* Finds the short cut of a loop for elements of a type; NULL: none. */
const struct dray_line *dray_line_find(const char *name, dray_dtype dtype,
				       dray_dtype from);

#endif /* DRAY_LOOPS_LINE_H */
