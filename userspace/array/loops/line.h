/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Short cuts of builtin loops for the methods of ufuncs: a line of elements
 * reduced to a result, running results, and results put in place by index.  The
 * results are the loop's, but for the order in which floating-point numbers are
 * added.
 */
#ifndef DRAY_LOOPS_LINE_H
#define DRAY_LOOPS_LINE_H

#include <stddef.h>

#include <dray/dtype.h>

/*
 * Reduces @count elements, 1 or more: result = (result op x[0]) op x[1] ...
 * @stride: bytes
 */
typedef void dray_line_loop(void *result, const char *data, int64_t stride,
			    int64_t count);

/*
 * Writes @count running results behind the first, at @to: to[1] = to[0] op x[0], ...
 * They may overwrite the elements themselves.
 */
typedef void dray_line_running(char *to, int64_t to_stride, const char *data,
			       int64_t stride, int64_t count);

/*
 * Computes target[i] = target[i] op value for @count indices of elements.
 * @stride, @values_stride: bytes
 */
typedef void dray_line_placing(char *target, int64_t stride,
			       const int64_t *indices, int64_t count,
			       const char *values, int64_t values_stride);

#define DRAY_LINE_ROWS 4

/*
 * Adds DRAY_LINE_ROWS rows of @count elements side by side, in their order, to a
 * row of results: result[i] = result[i] op a[i] op b[i] ...
 * @stride: bytes from a row to the next
 */
typedef void dray_line_rows(void *result, const char *rows, int64_t stride,
			    int64_t count);

struct dray_line {
	const char *name; /* of the ufunc */
	dray_dtype dtype; /* of the loop */
	dray_dtype from; /* of the elements that are reduced */
	dray_line_loop *loop;
	dray_line_running *running; /* or NULL */
	dray_line_placing *placing; /* or NULL */
	dray_line_rows *rows; /* or NULL; of elements of the loop's type */
	/* Whether a result of the byte @settled stays to the end. */
	bool settles;
	char settled;
};

struct dray_line_list {
	const struct dray_line *lines;
	size_t count;
};

/*
 * Finds the short cut of a loop for elements of a type, in the machine's byte
 * order and aligned; NULL: none.
 */
const struct dray_line *dray_line_find(const char *name, dray_dtype dtype,
				       dray_dtype from);

#endif /* DRAY_LOOPS_LINE_H */
