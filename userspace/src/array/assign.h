/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The CPU's half of every transfer. */
#ifndef DRAY_ARRAY_ASSIGN_H
#define DRAY_ARRAY_ASSIGN_H

#include "array/layout.h"

/*
 * What dray_view_assign() and dray_copy() ask of a pair: both views whole,
 * one shape and type, a destination that may be written and has no
 * stride of 0.  The errors are theirs.
 */
int dray_view_check_pair(const struct dray_view *dst,
			 const struct dray_view *src);

/*
 * Copies a layout that is not empty, and whose source and destination have no
 * byte in common: reads and writes exactly its bytes.
 */
void dray_layout_copy(const struct dray_layout *layout);

/* dray_view_assign() for a pair that was checked and reduced: may -ENOMEM. */
int dray_layout_assign(const struct dray_layout *layout,
		       const struct dray_view *dst,
		       const struct dray_view *src);

#endif /* DRAY_ARRAY_ASSIGN_H */
