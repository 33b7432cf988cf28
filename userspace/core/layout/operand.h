/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * An operand: a view on its way through a call.  The entry of the call
 * measures the view; the first step that needs its memory looks the block up.
 * Later steps read both from here.
 */
#ifndef DRAY_LAYOUT_OPERAND_H
#define DRAY_LAYOUT_OPERAND_H

#include <dray/pool.h>

#include "view/view.h"
#include "base/shared.h"

/* Addresses that a view covers: [low, high). */
struct dray_addresses {
	uintptr_t low;
	uintptr_t high;
};

struct dray_operand {
	const struct dray_view *view; /* borrowed from the caller */
	const char *name; /* begins each sentence about it */
	struct dray_extent extent;
	struct dray_addresses span;
	bool located; /* location was looked up */
	bool held; /* until dray_operand_drop() */
	struct dray_location location; /* buffer NULL: foreign memory */
};

/* Checks and measures a view; errors are as of dray_view_check(). */
DRAY_PRIVATE int dray_operand_init(struct dray_operand *operand,
				   const struct dray_view *view,
				   const char *name);

/*
 * Looks up the memory, in the first call; false outside of dray's memory.
 * @hold: also keeps the block, or the buffer, from being used again
 */
DRAY_PRIVATE bool dray_operand_locate(struct dray_operand *operand, bool hold);

/*
 * Checks that elements may be written, each at an address of its own as far as
 * its strides show.  -EPERM, -EINVAL.
 */
DRAY_PRIVATE int
dray_operand_check_writable(const struct dray_operand *operand);

/* Checks where a located view lies: in a single block of dray's memory.  -EINVAL. */
int dray_operand_check_block(const struct dray_operand *operand);

/* Releases memory that is held. */
void dray_operand_drop(struct dray_operand *operand);

/*
 * Checks a pair for a copy: equal shape and type, and a destination that may be
 * written and is without a stride of 0.  Errors are as of dray_view_assign().
 */
int dray_operand_match(const struct dray_operand *dst,
		       const struct dray_operand *src);
/* Checks all that dray_operand_match() does, except for the types. */
DRAY_PRIVATE int dray_operand_match_shapes(const struct dray_operand *dst,
					   const struct dray_operand *src);

struct dray_layout;
/*
 * Assigns as dray_view_assign() does, a pair that matches and was reduced, by up to
 * @threads.  -ENOMEM.
 */
DRAY_PRIVATE int dray_view_assign_reduced(const struct dray_layout *layout,
					  const struct dray_operand *dst,
					  const struct dray_operand *src,
					  unsigned int threads);

/* Whether two spans that are not empty share a byte. */
static inline bool dray_addresses_meet(struct dray_addresses a,
				       struct dray_addresses b)
{
	return a.low < b.high && b.low < a.high;
}

#endif /* DRAY_LAYOUT_OPERAND_H */
