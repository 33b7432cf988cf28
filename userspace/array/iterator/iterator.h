/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shapes of iterators in sentences, and the arithmetic that they share. */
#ifndef DRAY_ITERATOR_ITERATOR_H
#define DRAY_ITERATOR_ITERATOR_H

#include <dray/array/iterator.h>

/* A shape as text; one that does not fit ends in dots. */
struct dray_shape_text {
	char text[144];
};

/*
 * Returns @out's text, "(2,3)" or "(4,)".  Negative extents stand for new axes:
 * those in front are left out.
 */
const char *dray_shape_say(struct dray_shape_text *out, int ndim,
			      const int64_t *shape);

/* "operand 0", "operand 1", ...: they begin sentences. */
extern const char *const dray_operand_names[DRAY_MAX_OPERANDS];

/* -EINVAL for a number of operands that is not 1 to DRAY_MAX_OPERANDS. */
int dray_operands_check_count(int count);

/* -ERANGE, for a coordinate outside @extent elements. */
int dray_iterator_fail_coordinate(int64_t coordinate, int axis, int64_t extent);

/* -ERANGE, for a number of an element outside @size. */
int dray_iterator_fail_index(int64_t index, int64_t size);

/*
 * Broadcasts extents of one more operand into those of @shape, of @ndim axes.
 * Returns the axis of @shape that does not fit, or -1.
 */
int dray_broadcast_into(int ndim, int64_t *shape, int operand_ndim,
			const int64_t *operand_shape);

#endif /* DRAY_ITERATOR_ITERATOR_H */
