/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Overlap by physical addresses: what overlap.c and overlap_dmabuf.c share.
 */
#ifndef DRAY_OVERLAP_H
#define DRAY_OVERLAP_H

#include "move.h"

/* Physical addresses: the first, and one beyond the last. */
struct dray_bytes {
	u64 low;
	u64 high;
};

static inline bool dray_bytes_meet(const struct dray_bytes *a,
				   const struct dray_bytes *b)
{
	return a->low < b->high && b->low < a->high;
}

/* Is it memory of a process? */
bool dray_layout_is_pinned(const struct dray_layout *side);

/* Then these are its pages. */
u32 dray_page_first(const struct dray_layout *side);
u32 dray_page_last(const struct dray_layout *side);

/* What @side has of page @index of its attachment, one of its span. */
struct dray_bytes dray_page_bytes(const struct dray_layout *side, u32 index);

/* What @side has of its buffer. */
struct dray_bytes dray_buffer_bytes(const struct dray_layout *side);

/* A step in a walk over many pages; -EINTR when the task is being killed. */
int dray_page_breathe(u32 index);

#endif /* DRAY_OVERLAP_H */
