/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * SYNC of one range.
 */
#ifndef SELFTEST_SYNC_H
#define SELFTEST_SYNC_H

#include "node.h"

struct call {
	struct dray_sync sync;
	struct dray_range range;
};

/* One good range over the whole buffer; a case then spoils one field. */
static inline struct call good_call(const struct buffer *buffer)
{
	return (struct call){
		.sync = { .target = DRAY_TARGET_NODE,
			  .owner = DRAY_SYNC_FOR_DEVICE,
			  .direction = DRAY_TO_DEVICE,
			  .count = 1 },
		.range = { .fd = buffer->fd, .width = buffer->size, .rows = 1 },
	};
}

static inline int run(int node, struct call *call)
{
	call->sync.ranges = (uintptr_t)&call->range;
	return node_call(node, DRAY_IOC_SYNC, &call->sync);
}

#endif
