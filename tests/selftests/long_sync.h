/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A child in a SYNC call that takes long: thousands of ranges, each of a whole
 * buffer.
 */
#ifndef SELFTEST_LONG_SYNC_H
#define SELFTEST_LONG_SYNC_H

#include <stdlib.h>

#include "sync.h"

struct long_sync {
	int node;
	struct buffer *buffer;
};

/* The bytes that have been maintained of a buffer. */
static inline uint64_t synced(int node, const struct buffer *buffer)
{
	struct dray_buffer_info info;

	if (node_buffer_info(node, buffer->id, &info))
		return UINT64_MAX;
	return info.sync_bytes;
}

/* For process_start(): makes such calls for ever. */
static inline int sync_for_ever(void *context)
{
	struct long_sync *work = context;
	struct call call = good_call(work->buffer);
	struct dray_range *ranges = calloc(DRAY_MAX_RANGES, sizeof(*ranges));
	uint32_t i;
	int ret;

	for (i = 0; ranges && i < DRAY_MAX_RANGES; i++)
		ranges[i] = call.range;
	call.sync.ranges = (uintptr_t)ranges;
	call.sync.count = DRAY_MAX_RANGES;
	do {
		ret = node_call(work->node, DRAY_IOC_SYNC, &call.sync);
	} while (!ret);
	return 1;
}

/* For wait_for(): is the child in such a call? */
static inline bool has_synced(void *context)
{
	struct long_sync *work = context;

	return synced(work->node, work->buffer) >= 2 * work->buffer->size;
}

#endif
