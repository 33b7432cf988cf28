/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The walk of a reduction. */
#ifndef DRAY_UFUNC_REDUCE_H
#define DRAY_UFUNC_REDUCE_H

#include "loops/line.h"
#include "ufunc/method.h"

struct dray_reduction {
	const struct dray_method *method;
	const struct dray_line *line; /* the loop's short cut, or NULL */
	bool converts; /* the line takes no elements as they are */
	const struct dray_view *mask; /* of the input's shape, or NULL */
	uint64_t reduced; /* axes, a set */
	bool starts; /* with the first elements, and not with the result's */
	bool reorders; /* the order of elements does not count */
};

/*
 * Reduces an input that has elements.
 * @result: of the input's shape, with a stride of 0 along axes that are reduced
 */
int dray_reduce_walk(const struct dray_reduction *reduction,
		     const struct dray_view *result);

#endif /* DRAY_UFUNC_REDUCE_H */
