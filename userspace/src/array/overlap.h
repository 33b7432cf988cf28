/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Whether the elements of views share bytes, to the byte. */
#ifndef DRAY_ARRAY_OVERLAP_H
#define DRAY_ARRAY_OVERLAP_H

#include "array/operand.h"

enum dray_overlap {
	DRAY_OVERLAP_NONE,
	DRAY_OVERLAP_SOME, /* at least one byte */
	DRAY_OVERLAP_UNKNOWN, /* the bounded work did not tell */
};

/* Compares two views that are not empty. */
enum dray_overlap dray_overlap_find(const struct dray_operand *a,
				    const struct dray_operand *b);

/* Compares the elements of one view with each other. */
enum dray_overlap dray_overlap_self(const struct dray_operand *operand);

#endif /* DRAY_ARRAY_OVERLAP_H */
