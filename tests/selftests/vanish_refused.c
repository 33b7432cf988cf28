// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The node vanishes and comes back at each point where a call is refused.
 * While somebody makes a call that is wrong again and again it is refused, or
 * the device is gone: it never succeeds, and it never says anything else.  On
 * the node that came back it is refused for the same reason.  So it is with a
 * few that are right, of memory and channels that go meanwhile.
 */
#include "attach.h"
#include "fence.h"
#include "fixture_refused.h"
#include "setting.h"
#include "transfer_model.h"

static int allocate_from_no_heap(struct caller *caller)
{
	struct dray_alloc alloc = { .size = 1, .heap = DRAY_MAX_TRANSFERS };
	int ret = node_call(caller->node, DRAY_IOC_ALLOC, &alloc);

	caller->reason = alloc.reason;
	return ret;
}

static int attach_ones_own(struct caller *caller)
{
	struct dray_attach attach;
	int ret = attach_dma_buf(caller->node, caller->buffer.fd, 0, &attach);

	caller->reason = attach.reason;
	return ret;
}

static int attach_what_was_unmapped(struct caller *caller)
{
	uint8_t *bytes = fresh_memory(SIZE);
	struct dray_attach attach;
	int ret;

	munmap(bytes, SIZE);
	ret = attach_memory(caller->node, bytes, SIZE, 0, &attach);
	caller->reason = attach.reason;
	return ret;
}

static int ask_a_reader_for_its_address(struct caller *caller)
{
	struct dray_address address = { .fd = caller->reader };
	int ret = node_call(caller->node, DRAY_IOC_ADDRESS, &address);

	caller->reason = address.reason;
	return ret;
}

static int sync_range(struct caller *caller, uint32_t target, uint64_t offset,
		      uint64_t width)
{
	struct dray_range range = { .fd = caller->buffer.fd,
				    .offset = offset,
				    .width = width,
				    .rows = 1 };
	struct dray_sync sync = SYNC_OF(target, DRAY_SYNC_FOR_DEVICE,
					DRAY_TO_DEVICE, &range, 1);
	int ret = node_call(caller->node, DRAY_IOC_SYNC, &sync);

	caller->reason = sync.reason;
	return ret;
}

static int sync_nothing(struct caller *caller)
{
	return sync_range(caller, DRAY_TARGET_NODE, 0, 0);
}

static int sync_what_wraps(struct caller *caller)
{
	return sync_range(caller, DRAY_TARGET_NODE, UINT64_MAX - 63, 128);
}

static int sync_for_no_channel(struct caller *caller)
{
	return sync_range(caller, caller->info.channel_count, 0, 64);
}

static int submit_copy(struct caller *caller, int to, uint64_t to_offset,
		       uint64_t runs, const int *in_fence)
{
	struct dray_axis axis = { .count = runs,
				  .dst_stride = 32,
				  .src_stride = 0 };
	struct dray_transfer transfer =
		COPY_OF(to, caller->buffer.fd, 16, .dst_offset = to_offset,
			.axes = (uintptr_t)&axis, .axes_count = 1);
	struct dray_submit submit =
		SUBMIT_OF(DRAY_CHANNEL_ANY, &transfer, 1,
			  .in_fences = (uintptr_t)in_fence,
			  .in_fence_count = in_fence ? 1 : 0);
	int ret = node_call(caller->node, DRAY_IOC_SUBMIT, &submit);

	caller->reason = submit.reason;
	return ret;
}

static int write_to_a_reader(struct caller *caller)
{
	return submit_copy(caller, caller->reader, SIZE / 2, 1, NULL);
}

static int overlap(struct caller *caller)
{
	return submit_copy(caller, caller->buffer.fd, 8, 1, NULL);
}

static int submit_what_leaves_the_buffer(struct caller *caller)
{
	return submit_copy(caller, caller->buffer.fd, SIZE / 2, 1 << 20, NULL);
}

/*
 * A million runs, of the smallest unit of every engine, each transfer to the same
 * bytes again; -ERANGE where the limit that was met is not told.
 */
static int submit_a_million_runs(struct caller *caller)
{
	struct dray_axis axis = { .count = MILLION / DRAY_MAX_TRANSFERS,
				  .dst_stride = 8 };
	struct dray_transfer transfers[DRAY_MAX_TRANSFERS];
	struct dray_submit submit =
		SUBMIT_OF(DRAY_CHANNEL_ANY, transfers, DRAY_MAX_TRANSFERS);
	int i, ret;

	for (i = 0; i < DRAY_MAX_TRANSFERS; i++)
		transfers[i] = (struct dray_transfer)COPY_OF(
			caller->large.fd, caller->buffer.fd, 4,
			.axes = (uintptr_t)&axis, .axes_count = 1);
	ret = node_call(caller->node, DRAY_IOC_SUBMIT, &submit);
	caller->reason = submit.reason;
	if (ret == -EINVAL && submit.limit != caller->info.max_runs)
		return -ERANGE;
	return ret;
}

static int wait_for_no_fence(struct caller *caller)
{
	return submit_copy(caller, caller->buffer.fd, SIZE / 2, 1,
			   &caller->node);
}

static int cancel_no_fence(struct caller *caller)
{
	struct dray_cancel cancel = { .fence_fd = caller->buffer.fd,
				      .channel = DRAY_CHANNEL_ANY };
	int ret = node_call(caller->node, DRAY_IOC_CANCEL, &cancel);

	caller->reason = cancel.reason;
	return ret;
}

static int export_no_buffer(struct caller *caller)
{
	struct dray_export export = { .buffer_fd = caller->node,
				      .flags = DRAY_EXPORT_READ_ONLY };
	int ret = node_call(caller->node, DRAY_IOC_EXPORT, &export);

	caller->reason = export.reason;
	return ret;
}

static int reclaim_nothing(struct caller *caller)
{
	struct dray_reclaim reclaim = { .id = caller->buffer.id };
	int ret = node_call(caller->node, DRAY_IOC_RECLAIM, &reclaim);

	caller->reason = reclaim.reason;
	return ret;
}

static int map_no_alignment(struct caller *caller)
{
	struct dray_heap_map map = { .alignment = 1ull << 62 };
	int ret = node_call(caller->node, DRAY_IOC_HEAP_MAP, &map);

	caller->reason = map.reason;
	return ret;
}

/* Pinned memory is there whatever becomes of its mapping. */
static int sync_what_was_unmapped_while_pinned(struct caller *caller)
{
	uint8_t *bytes = fresh_memory(SIZE);
	struct dray_attach attach;
	int ret = attach_memory(caller->node, bytes, SIZE, 0, &attach);

	munmap(bytes, SIZE);
	caller->reason = attach.reason;
	if (ret < 0)
		return ret;
	ret = buffer_sync(caller->node, attach.fd, DRAY_SYNC_FOR_CPU,
			  DRAY_BIDIRECTIONAL, 0, SIZE);
	close(attach.fd);
	return ret;
}

/* The same of the bytes in the middle twice, and of all of them at last. */
static int sync_ranges_that_overlap(struct caller *caller)
{
	struct dray_range ranges[] = {
		{ .fd = caller->buffer.fd, .width = 4096, .rows = 1 },
		{ .fd = caller->buffer.fd,
		  .offset = 64,
		  .width = 128,
		  .pitch = 256,
		  .rows = 16 },
		{ .fd = caller->buffer.fd, .width = SIZE, .rows = 1 },
	};
	struct dray_sync sync = SYNC_OF(DRAY_TARGET_NODE, DRAY_SYNC_FOR_DEVICE,
					DRAY_BIDIRECTIONAL, ranges, 3);
	int ret = node_call(caller->node, DRAY_IOC_SYNC, &sync);

	caller->reason = sync.reason;
	return ret;
}

/* There is one until the node goes; what was a channel of it is none then. */
static int sync_for_a_channel_that_goes(struct caller *caller)
{
	return sync_range(caller, 0, 0, 64);
}

/* A limit is its heap's, which outlives the node. */
static int allocate_above_a_limit(struct caller *caller)
{
	struct dray_alloc alloc = { .size = 1, .heap = 0 };
	int ret = node_call(caller->node, DRAY_IOC_ALLOC, &alloc);

	caller->reason = alloc.reason;
	return ret;
}

static int set_limit(uint64_t bytes)
{
	struct dray_heap_info heap;
	char path[PATH_MAX];
	int node = node_open(), ret;

	if (node < 0)
		return node;
	ret = node_heap(node, 0, &heap);
	close(node);
	if (ret)
		return ret;
	setting_of_heap(path, heap.name, "limit");
	return setting_write(path, bytes);
}

static int prepare_limit(struct caller *caller)
{
	return set_limit(1);
}

static int lift_limit(void)
{
	return set_limit(0);
}

REFUSED(allocate_from_no_heap, -EINVAL, DRAY_REASON_HEAP);
REFUSED(attach_ones_own, -EINVAL, DRAY_REASON_OWN);
REFUSED(attach_what_was_unmapped, -EFAULT, DRAY_REASON_PINNED);
REFUSED(ask_a_reader_for_its_address, -EACCES, DRAY_REASON_READ_ONLY);
REFUSED(sync_nothing, -EINVAL, DRAY_REASON_NONE);
REFUSED(sync_what_wraps, -EINVAL, DRAY_REASON_RANGE);
REFUSED(sync_for_no_channel, -EINVAL, DRAY_REASON_CHANNEL);
REFUSED(write_to_a_reader, -EACCES, DRAY_REASON_READ_ONLY, CHANNELS);
REFUSED(overlap, -EINVAL, DRAY_REASON_OVERLAP, CHANNELS);
REFUSED(submit_what_leaves_the_buffer, -EINVAL, DRAY_REASON_RANGE, CHANNELS);
REFUSED(submit_a_million_runs, -EINVAL, DRAY_REASON_RUNS, CHANNELS);
REFUSED(wait_for_no_fence, -EINVAL, DRAY_REASON_FOREIGN, CHANNELS);
REFUSED(cancel_no_fence, -EINVAL, DRAY_REASON_FOREIGN, CHANNELS);
REFUSED(export_no_buffer, -EINVAL, DRAY_REASON_FOREIGN);
REFUSED(reclaim_nothing, -ENOENT, DRAY_REASON_NONE);
REFUSED(map_no_alignment, -EINVAL, DRAY_REASON_ALIGNMENT);
REFUSED(allocate_above_a_limit, -EDQUOT, DRAY_REASON_QUOTA, 0, prepare_limit,
	lift_limit);
REFUSED(sync_what_was_unmapped_while_pinned, 0, DRAY_REASON_NONE, ATTACHES);
REFUSED(sync_ranges_that_overlap, 0, DRAY_REASON_NONE);
REFUSED(sync_for_a_channel_that_goes, 0, DRAY_REASON_NONE, CHANNELS);
