/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A child in a SYNC call that takes long: thousands of ranges, each of a whole
 * buffer.
 */
#ifndef SELFTEST_LONG_SYNC_H
#define SELFTEST_LONG_SYNC_H

#include "process.h"
#include "sync.h"

struct long_sync {
	int node;
	struct buffer buffer;
	uint64_t before;	/* bytes that had been maintained */
	pid_t child;
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
	struct call call = good_call(&work->buffer);
	struct dray_range *ranges = calloc(DRAY_MAX_RANGES, sizeof(*ranges));
	int ret;

	for (uint32_t i = 0; ranges && i < DRAY_MAX_RANGES; i++)
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

	return synced(work->node, &work->buffer) >= 2 * work->buffer.size;
}

/* Has a child make such calls on @size new bytes; 0 when it is in one. */
static inline int long_sync_start(struct long_sync *work, int node, size_t size)
{
	int ret = buffer_open(node, DRAY_HEAP_ANY, size, &work->buffer);

	if (ret)
		return ret;
	work->node = node;
	work->before = synced(node, &work->buffer);
	work->child = process_start(sync_for_ever, work);
	if (work->child < 0)
		return work->child;
	return wait_for(has_synced, work) ? 0 : -ETIMEDOUT;
}

/* Kills the child, which leaves the bytes maintained since the start. */
static inline int long_sync_end(struct long_sync *work, uint64_t *bytes)
{
	int ret = kill(work->child, SIGKILL);

	if (!ret)
		ret = process_wait(work->child);
	*bytes = synced(work->node, &work->buffer) - work->before;
	return ret;
}

#endif
