/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A plan: how to do a copy or a fill, and why.  dray_copy() carries it out,
 * dray_explain() shows it.
 *
 * A threshold in descriptors sends fine-grained copies to the CPU: an element
 * costs 50 to 70 us on the emulated engine, and the CPU copies a whole plane of
 * a picture in less.
 */
#ifndef DRAY_TRANSFER_PLAN_H
#define DRAY_TRANSFER_PLAN_H

#include "layout/layout.h"
#include "layout/operand.h"
#include "transfer/queue.h"

struct dray_plan {
	/* set by the caller */
	struct dray_queue *queue;
	struct dray_operand dst;
	struct dray_operand src; /* of a fill: the element, repeated */
	bool fill;
	unsigned int flags; /* DRAY_COPY_* */
	/* set by dray_plan_make() */
	struct dray_layout layout;
	uint64_t descriptors; /* for the engine */
	bool engine; /* copies; its operands are held then */
	char reason[DRAY_REASON_LEN];
};

/* Decides.  Errors are those of dray_copy() that need no engine. */
int dray_plan_make(struct dray_plan *plan);

/* Drops the operands; needed after a failure too. */
void dray_plan_drop(struct dray_plan *plan);

#endif /* DRAY_TRANSFER_PLAN_H */
