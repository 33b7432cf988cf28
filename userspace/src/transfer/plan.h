/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A plan: how a copy or a fill will be done, and why.  dray_copy() carries it
 * out, dray_explain() shows it.
 */
#ifndef DRAY_TRANSFER_PLAN_H
#define DRAY_TRANSFER_PLAN_H

#include "array/layout.h"
#include "transfer/queue.h"

struct dray_plan {
	struct dray_layout layout;
	uint64_t descriptors; /* that the engine would take */
	bool engine;
	char reason[DRAY_REASON_LEN];
	/* with engine, where the spans lie; src is that of a copy */
	struct dray_location dst;
	struct dray_location src;
};

/*
 * Plans a copy of @src to @dst, or, with @fill, a fill of @dst: then @src is
 * the element, repeated over the shape.  Errors are those of dray_copy() that
 * need no engine to be found.
 */
int dray_plan_make(struct dray_queue *queue, const struct dray_view *dst,
		   const struct dray_view *src, bool fill, unsigned int flags,
		   struct dray_plan *plan);

#endif /* DRAY_TRANSFER_PLAN_H */
