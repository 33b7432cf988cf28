/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A layout: the bytes of a pair of views, reduced to the fewest axes.
 *
 * A copy from memory to memory may take elements in any order, as long as each
 * byte reaches its place.  So axes of one element are dropped, and the others
 * ordered by the destination's strides.  An axis that runs backwards in the
 * destination is reversed on both sides.  Neighbours that chain on both sides
 * become one axis.  The run is contiguous on both sides.
 *
 * Invariants of a reduced layout that is not empty:
 *   - the pairs (dst byte, src byte) are those of the views, each as often;
 *   - every count is at least 2, every dst_stride above 0, and none below that
 *     of the next axis inwards;
 *   - no axis chains with the next on both sides at once, nor the innermost
 *     with the run;
 *   - runs is the product of the counts, and bytes is runs * run.
 *
 * A destination is nested if no stride is below the bytes that the axes inside
 * it cover.  Slices and transposes always are.  Then no two elements share a
 * byte.
 *
 * A seam is where a run touches the next one on both sides.  No two seams follow
 * each other, because no axis chains with the run.  Rows then differ in length,
 * so a seam cannot become an axis; an engine's descriptor crosses it.
 */
#ifndef DRAY_ARRAY_LAYOUT_H
#define DRAY_ARRAY_LAYOUT_H

#include <dray/array.h>

struct dray_layout_axis {
	uint64_t count;
	int64_t dst_stride; /* bytes */
	int64_t src_stride; /* bytes, may be 0 or negative */
};

struct dray_layout {
	unsigned char *dst; /* the first run */
	const unsigned char *src;
	uint64_t run; /* bytes contiguous on both sides */
	uint64_t runs; /* 0: empty, and nothing else is set */
	uint64_t seams; /* runs that touch the next one on both sides */
	uint64_t bytes;
	bool nested; /* see above */
	int axes_count;
	struct dray_layout_axis axes[DRAY_MAX_NDIM]; /* outermost first */
};

/* Reduces a pair that passed dray_operand_match(). */
void dray_layout_reduce(struct dray_layout *layout, const struct dray_view *dst,
			const struct dray_view *src);

/* Covers one view: each byte at least once, a repeated axis once. */
void dray_layout_cover(struct dray_layout *layout,
		       const struct dray_view *view);

/*
 * Reduces one view for a stream, which takes the elements in their order: axes
 * are dropped and merged, but neither sorted nor reversed.  Both sides are the
 * view's, nested is not set, and of the invariants only the counts and the
 * chains hold.
 */
void dray_layout_sequence(struct dray_layout *layout,
			  const struct dray_view *view);

/*
 * Copies a layout: reads and writes exactly its bytes.  It must not be empty,
 * and its source and destination must not share a byte.
 */
void dray_layout_copy(const struct dray_layout *layout);

#endif /* DRAY_ARRAY_LAYOUT_H */
