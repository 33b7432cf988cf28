/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of a heap's range: see parts.c.
 */
#ifndef DRAY_PARTS_H
#define DRAY_PARTS_H

#include <linux/types.h>

#include "heap/heap.h"

struct dray_part;

/* A run of pages in one state. */
struct dray_page_run {
	unsigned long first;
	unsigned long end;
	u64 id; /* of a buffer */
	u32 state; /* enum dray_part_state */
	bool visible; /* the caller may know the buffer */
};

struct dray_parts {
	struct dray_heap *heap;
	struct dray_heap_use use;
	struct dray_page_run *buffers; /* sorted, without an overlap */
	size_t count;
	size_t room;

	/* of the walk */
	unsigned long at; /* page */
	size_t next; /* buffer */
};

/*
 * Looks at @heap, which has a range; for dray_parts_free() also on failure:
 * -ENOMEM, or -EINTR when the task is being killed.
 */
int dray_parts_look(struct dray_parts *parts, struct dray_heap *heap);
/* Fills the next part, from the first on; false after the last. */
bool dray_parts_next(struct dray_parts *parts, struct dray_part *part);
void dray_parts_free(struct dray_parts *parts);

#endif /* DRAY_PARTS_H */
