/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A layout: the bytes of one to eight views of equal shape, its operands, reduced
 * to the fewest axes.  Operand 0 leads.  Of a copy it is the destination.
 *
 * A function of elements may read them in any order, as long as each meets its
 * partners.  So axes of a single element are dropped, and the others ordered by
 * the leader's strides.  An axis that runs backwards in the leader is reversed in
 * all operands.  Neighbours that chain in all operands are joined.  The run is
 * contiguous in all operands.
 *
 * Invariants of a reduced layout that is not empty:
 *   - the tuples of bytes, a byte of each operand, are the views' tuples, each as
 *     often;
 *   - every count is at least 2, no stride of the leader below 0, and none
 *     below the stride of the next axis inwards;
 *   - no axis chains with the next in all operands at once, nor the innermost
 *     with the run;
 *   - runs is the product of the counts, and bytes is runs * run.
 *
 * A leader is nested if no stride is below the bytes that the axes inside it
 * cover.  Slices and transposes always are.  Then no two elements share a byte.
 *
 * A seam is where a run touches the next run in all operands.  No two seams
 * follow each other, because no axis chains with the run.  Rows then differ in
 * length, so a seam cannot become an axis; an engine's descriptor crosses it.
 */
#ifndef DRAY_LAYOUT_LAYOUT_H
#define DRAY_LAYOUT_LAYOUT_H

#include <dray/block.h>
#include <dray/view.h>

#include "base/shared.h"

/* Operands of a copy. */
enum {
	DRAY_DST,
	DRAY_SRC
};

struct dray_layout_axis {
	uint64_t count;
	/* bytes, of each operand; may be 0 or, except for the leader's, negative */
	int64_t strides[DRAY_MAX_OPERANDS];
};

struct dray_layout {
	int operands;
	int axes_count;
	bool nested; /* see above */
	uint64_t run; /* bytes contiguous in all operands */
	uint64_t runs; /* 0: empty, and nothing else is set */
	uint64_t bytes; /* of each operand */
	uint32_t sizes[DRAY_MAX_OPERANDS]; /* bytes of an element */
	unsigned char *data[DRAY_MAX_OPERANDS]; /* the first run */
	struct dray_layout_axis axes[DRAY_MAX_NDIM]; /* outermost first */
};

/* Reduces views of equal shape and item size, 1 to DRAY_MAX_OPERANDS. */
DRAY_PRIVATE void dray_layout_reduce(struct dray_layout *layout,
				     const struct dray_view *const *views,
				     int operands);

/*
 * Does the same, but keeps each element a run, so that item sizes may differ:
 * run and bytes are the leader's.  The innermost axis, if any, is the count and the
 * strides of a function's inner loop.
 */
DRAY_PRIVATE void dray_layout_reduce_items(struct dray_layout *layout,
					   const struct dray_view *const *views,
					   int operands);

/* Reduces a pair that passed dray_operand_match(). */
static inline void dray_layout_pair(struct dray_layout *layout,
				    const struct dray_view *dst,
				    const struct dray_view *src)
{
	dray_layout_reduce(layout, (const struct dray_view *[]){ dst, src }, 2);
}

/* Covers a view: each byte at least once, a repeated axis once. */
void dray_layout_cover(struct dray_layout *layout,
		       const struct dray_view *view);

/*
 * Reduces a view for a stream, which moves the elements in their order: axes are
 * dropped and merged, but neither sorted nor reversed.  nested is not set, and of the
 * invariants only the counts and the chains hold.
 */
void dray_layout_sequence(struct dray_layout *layout,
			  const struct dray_view *view);

/* Counts seams, see above, in a layout that dray_layout_reduce() made. */
uint64_t dray_layout_seams(const struct dray_layout *layout);

/*
 * Copies a layout of two operands: writes exactly its bytes, and reads no others but
 * those between elements that are near each other.  It must not be empty, and its
 * source and destination must not share a byte.
 */
void dray_layout_copy(const struct dray_layout *layout);

/*
 * Copies like dray_layout_copy(), but by @loop, such as a cast's, to which @context
 * is passed; returns its first failure.  It must not read the destination.  The
 * layout is of dray_layout_reduce_items().
 * @loop: NULL: copies with dray_layout_copy()
 */
int dray_layout_apply(const struct dray_layout *layout, dray_loop *loop,
		      void *context);

#endif /* DRAY_LAYOUT_LAYOUT_H */
