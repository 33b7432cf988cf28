/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Whether the elements of views share bytes, to the byte. */
#ifndef DRAY_LAYOUT_OVERLAP_H
#define DRAY_LAYOUT_OVERLAP_H

#include <string.h>

#include "layout/operand.h"
#include "base/shared.h"

enum dray_overlap {
	DRAY_OVERLAP_NONE,
	DRAY_OVERLAP_SOME, /* at least one byte */
	DRAY_OVERLAP_UNKNOWN, /* the bounded work did not tell */
};

/*
 * Compares two views that are not empty.
 * @max_work: steps until the answer is "unknown"; below 0: any number
 */
DRAY_PRIVATE enum dray_overlap
dray_overlap_find_within(const struct dray_operand *a,
			 const struct dray_operand *b, int64_t max_work);

/* Compares the elements of one view with each other. */
DRAY_PRIVATE enum dray_overlap
dray_overlap_self_within(const struct dray_operand *operand, int64_t max_work);

/* Steps before a copy aside is cheaper than to know. */
#define DRAY_OVERLAP_WORK 20000

static inline enum dray_overlap dray_overlap_find(const struct dray_operand *a,
						  const struct dray_operand *b)
{
	return dray_overlap_find_within(a, b, DRAY_OVERLAP_WORK);
}

static inline enum dray_overlap
dray_overlap_self(const struct dray_operand *operand)
{
	return dray_overlap_self_within(operand, DRAY_OVERLAP_WORK);
}

/* Whether two views have the very same elements at each index. */
static inline bool dray_views_are_alike(const struct dray_view *a,
					const struct dray_view *b)
{
	const size_t bytes = (size_t)a->ndim * sizeof(a->shape[0]);

	return a->data == b->data && a->ndim == b->ndim &&
	       dray_dtype_itemsize(a->dtype) == dray_dtype_itemsize(b->dtype) &&
	       !memcmp(a->shape, b->shape, bytes) &&
	       !memcmp(a->strides, b->strides, bytes);
}

#endif /* DRAY_LAYOUT_OVERLAP_H */
