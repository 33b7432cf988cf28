/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* One export of an array, for the files that do it. */
#ifndef DRAY_INTEROP_ARROW_GIVE_H
#define DRAY_INTEROP_ARROW_GIVE_H

#include "interop/arrow.h"

/* The memory of a branch: the children's branches and pointers to them follow. */
struct dray_arrow_held {
	struct dray_array *bits; /* one reference; NULL: no nulls */
	struct dray_array *elements; /* one reference; NULL: in children */
	const void *buffers[2];
	struct ArrowArray children[];
};

/* The array that an export takes elements from, and its flags. */
struct dray_arrow_sender {
	struct dray_array *array; /* with the memory that is not copied */
	uint32_t flags;
	bool reached; /* by the CPU; else no element is read */
};

/* Gives a branch bits of validity if @mask (NULL: none) has nulls. */
int dray_arrow_set_nulls(struct ArrowArray *out, const struct dray_view *mask);

/*
 * Fills a branch of elements without children.  If it fails, the branch's release
 * drops the references that it has taken.
 */
int dray_arrow_fill_elements(const struct dray_arrow_sender *sender,
			     const struct dray_view *view,
			     const struct dray_view *mask,
			     struct ArrowArray *out);

#endif /* DRAY_INTEROP_ARROW_GIVE_H */
