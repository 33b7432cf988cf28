/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The walk of a reduction. */
#ifndef DRAY_UFUNC_REDUCE_H
#define DRAY_UFUNC_REDUCE_H

#include "loops/line.h"
#include "ufunc/method.h"

struct dray_reduction {
	const struct dray_method *method;
	const struct dray_line *line; /* the loop's short cut, or NULL */
	bool converts; /* elements are converted for the line */
	const struct dray_view *mask; /* of the input's shape, or NULL */
	uint64_t reduced; /* axes, a set */
	bool starts; /* with the first elements, and not with the result's */
	char *picked; /* room for elements at which the mask is true, or NULL */
	bool reorders; /* the order of elements does not count */
};

struct dray_reduce_axis {
	int64_t count;
	int64_t in, result, mask; /* strides in bytes */
	bool reduced;
	int64_t at;
};

/* Addresses of an element. */
struct dray_reduce_place {
	char *result;
	const char *in;
	const char *mask; /* or NULL */
};

static inline struct dray_reduce_place
dray_place_move(struct dray_reduce_place place,
		const struct dray_reduce_axis *axis, int64_t steps)
{
	place.result += axis->result * steps;
	place.in += axis->in * steps;
	if (place.mask)
		place.mask += axis->mask * steps;
	return place;
}

/* Bytes of an element that lines process. */
static inline int64_t dray_reduce_item(const struct dray_reduction *reduction)
{
	const struct dray_method *method = reduction->method;

	return reduction->converts
		       ? method->item
		       : (int64_t)dray_dtype_itemsize(method->in->dtype);
}

/*
 * Copies the elements that a mask is true for side by side, and returns their
 * number.
 * @to: room for @count elements
 */
int64_t dray_reduce_pick(char *to, const char *from, int64_t stride,
			 int64_t item, const char *mask, int64_t mask_stride,
			 int64_t count);

/*
 * Puts such elements back.
 * @from: room for @count elements, the picked elements first
 */
void dray_reduce_put(char *to, int64_t stride, const char *from, int64_t item,
		     const char *mask, int64_t mask_stride, int64_t count);

/*
 * Reduces a line to a single element.
 * @first: sets the result to the first element of the line
 */
int dray_reduce_line(const struct dray_reduction *reduction,
		     struct dray_reduce_place at,
		     const struct dray_reduce_axis *line,
		     bool first);

/*
 * Reduces an input that is not empty.
 * @result: of the input's shape, with a stride of 0 along axes that are reduced
 */
int dray_reduce_walk(struct dray_reduction *reduction,
		     const struct dray_view *result);

#endif /* DRAY_UFUNC_REDUCE_H */
