/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Whether the elements of views share bytes, to the byte. */
#ifndef DRAY_ARRAY_OVERLAP_H
#define DRAY_ARRAY_OVERLAP_H

#include <dray/array.h>

enum dray_overlap {
	DRAY_OVERLAP_NONE,
	DRAY_OVERLAP_SOME, /* at least one byte */
	DRAY_OVERLAP_UNKNOWN, /* not found out within the bounded work */
};

/* Both views have passed dray_view_check(). */
enum dray_overlap dray_view_overlap(const struct dray_view *a,
				    const struct dray_view *b);

/* Whether two different elements of one view share a byte. */
enum dray_overlap dray_view_self_overlap(const struct dray_view *view);

#endif /* DRAY_ARRAY_OVERLAP_H */
