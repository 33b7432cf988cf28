/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A fence: the point where transfers are done, and the memory to keep until
 * then.  No thread waits in the background.  The first to learn that a fence
 * signalled (by waiting, asking, or submitting the next transfer) settles it.
 */
#ifndef DRAY_TRANSFER_FENCE_H
#define DRAY_TRANSFER_FENCE_H

#include <stdatomic.h>

#include <dray/transfer.h>

#include "layout/operand.h"
#include "use/use.h"

/* A block or buffer that is kept. */
struct dray_fence_hold {
	struct dray_location location; /* held by dray_locate_hold() */
	bool allocated; /* by itself, freed when released */
	struct dray_fence_hold *next;
};

struct dray_fence {
	struct dray_use use; /* status 0: no signal is known */
	int fd; /* sync_file; -1: signalled from the start */
	struct dray_fence_hold *holds; /* with the lock of all fences */
	struct dray_fence_hold own[2]; /* the operands' holds */
	struct dray_use_part parts[2]; /* that the transfer writes and reads */
	struct dray_queue *queue; /* while it is in the queue's list */
	struct dray_fence *next; /* in its queue, which owns this field */
};

/* Lets forks acquire the lock of all fences; called before the first queue. */
void dray_fences_enlist(void);

/*
 * Returns the fence that is always signalled with success.  It is not counted.
 */
struct dray_fence *dray_fence_signalled(void);

/*
 * Makes a fence without a descriptor, with nothing held and not signalled.  The
 * caller drops it with dray_fence_unref() once it signalled.  -ENOMEM.
 */
int dray_fence_create(struct dray_fence **out);

/*
 * Notes the memory of @operand, and owns its hold until the fence signals; at most
 * two.
 */
void dray_fence_keep(struct dray_fence *fence, struct dray_operand *operand,
		     bool writes);

/* Returns the fence that is a user of memory, or NULL for another user. */
const struct dray_fence *dray_fence_of(const struct dray_use *use);

/* Ends a fence if nothing was submitted for it. */
void dray_fence_abandon(struct dray_fence *fence);

#endif /* DRAY_TRANSFER_FENCE_H */
