/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One side of a transfer: the bytes of its runs, sorted, by which overlap is
 * told and caches are synced.
 */
#ifndef DRAY_SIDE_H
#define DRAY_SIDE_H

#include <linux/dma-direction.h>
#include <linux/dray.h>
#include <linux/types.h>

#include "memory/area.h"

struct device;
struct dray_refusal;

/* An axis of one side. */
struct dray_dim {
	u64 count; /* > 1 */
	u64 index;
	u64 stride; /* bytes, > 0 */
};

/* The bytes of one side: runs from @first on, dimensions by rising stride. */
struct dray_side {
	struct dray_area area;
	struct dray_place place; /* of the area, for the engine */
	u64 run; /* bytes */
	u64 first; /* bytes, of the element [0, 0, ...] */
	u64 low; /* bytes, the lowest */
	u64 high; /* bytes, one beyond the highest */
	u32 dims;
	struct dray_dim *dim;
};

/* Fills in low, high and dims; -EINVAL if a run leaves the area. */
int dray_side_check(struct dray_side *side, const struct dray_axis *axes,
		    u32 count, bool dst, struct dray_refusal *refusal);
bool dray_side_is_apart(const struct dray_side *side,
			const struct dray_axis *axes, u32 count);
void dray_side_join(struct dray_side *side);
u64 dray_side_bits(const struct dray_side *side);
dma_addr_t dray_side_find(const struct dray_side *side, u64 offset,
			  size_t *length);
int dray_side_sync(struct dray_side *side, struct device *dev, bool for_cpu,
		   enum dma_data_direction direction);

/* Do two sides of the same handle overlap, from lowest to highest byte? */
bool dray_sides_meet(const struct dray_side *a, const struct dray_side *b);
/*
 * Might two sides overlap by any handles?  Any other handle may be the same
 * memory.
 */
bool dray_sides_may_meet(const struct dray_side *a, const struct dray_side *b);

#endif /* DRAY_SIDE_H */
