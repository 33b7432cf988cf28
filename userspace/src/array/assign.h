/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Copies by the CPU: its half of every transfer. */
#ifndef DRAY_ARRAY_ASSIGN_H
#define DRAY_ARRAY_ASSIGN_H

#include "array/layout.h"
#include "array/operand.h"

/*
 * Copies a layout that is not empty, and whose source and destination have no
 * byte in common: reads and writes exactly its bytes.
 */
void dray_layout_copy(const struct dray_layout *layout);

/* dray_view_assign() for a pair that matches and was reduced.  -ENOMEM. */
int dray_view_assign_reduced(const struct dray_layout *layout,
			     const struct dray_operand *dst,
			     const struct dray_operand *src);

#endif /* DRAY_ARRAY_ASSIGN_H */
