/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A layout: what a pair of views covers, reduced to the fewest axes.
 *
 * Memory to memory, the order of elements is free; only which byte goes
 * where counts.  So axes of one element are dropped, the rest is ordered by
 * the destination's strides, axes that run backwards in the destination are
 * turned round on both sides, and neighbours that chain on both sides become
 * one.  What is contiguous on both sides is the run.
 *
 * Invariants of a reduced layout that is not empty:
 *   - the pairs (dst byte, src byte) are those of the views, each as often;
 *   - every count is at least 2, every dst_stride above 0, none below the one
 *     of the next axis inwards;
 *   - no axis chains with the next, and the innermost not with the run, on
 *     both sides at once;
 *   - runs is the product of the counts, bytes is runs * run.
 * Where the destination is nested (no stride below the bytes that the axes
 * inside of it cover, as in every view that slicing and transposing make),
 * no two elements share a byte and fewer runs are only possible where the end
 * of a row touches the start of the next on both sides.
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
	uint64_t runs; /* 0: empty, and then nothing else is set */
	uint64_t bytes;
	bool nested; /* see above */
	int axes_count;
	struct dray_layout_axis axes[DRAY_MAX_NDIM]; /* outermost first */
};

/*
 * Both views have passed dray_view_check(), have the same shape and item
 * size, and @dst has no stride of 0 along more than one element.
 */
void dray_layout_reduce(struct dray_layout *layout, const struct dray_view *dst,
			const struct dray_view *src);

/* What a view covers: each byte at least once, a repeated axis once. */
void dray_layout_cover(struct dray_layout *layout,
		       const struct dray_view *view);

#endif /* DRAY_ARRAY_LAYOUT_H */
