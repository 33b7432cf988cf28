// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The node vanishes and comes back at each point where a call is refused.
 * While somebody makes a call that is wrong again and again it is refused, or
 * the device is gone: it never succeeds, and it never says anything else.  On
 * the node that came back it is refused for the same reason.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attach.h"
#include "fence.h"
#include "fixture_bound.h"
#include "transfer_model.h"

#define SIZE (64 * 1024)
#define MILLION (1 << 20)

/* Somebody with a buffer, on a node that is there or not. */
struct caller {
	int node;
	struct dray_info info;
	struct buffer buffer;
	int reader; /* its read-only descriptor */
	struct buffer large; /* room for the runs of one transfer */
	uint32_t reason; /* of the last call */
};

static int caller_open(struct caller *caller)
{
	struct dray_export export = { .flags = DRAY_EXPORT_READ_ONLY };
	int ret = node_info(caller->node, &caller->info);

	if (!ret)
		ret = buffer_open(caller->node, DRAY_HEAP_ANY, SIZE,
				  &caller->buffer);
	if (!ret)
		ret = buffer_allocate(caller->node, DRAY_HEAP_ANY,
				      8 * MILLION / DRAY_MAX_TRANSFERS,
				      &caller->large);
	export.buffer_fd = caller->buffer.fd;
	if (!ret)
		ret = node_call(caller->node, DRAY_IOC_EXPORT, &export);
	caller->reader = export.fd;
	return ret;
}

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
	struct dray_sync sync = { .target = target,
				  .owner = DRAY_SYNC_FOR_DEVICE,
				  .direction = DRAY_TO_DEVICE,
				  .count = 1,
				  .ranges = (uintptr_t)&range };
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
	struct dray_transfer transfer = { .op = DRAY_OP_COPY,
					  .dst_fd = to,
					  .src_fd = caller->buffer.fd,
					  .dst_offset = to_offset,
					  .run = 16,
					  .axes = (uintptr_t)&axis,
					  .axes_count = 1 };
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY,
				      .transfers = (uintptr_t)&transfer,
				      .count = 1,
				      .in_fences = (uintptr_t)in_fence,
				      .in_fence_count = in_fence ? 1 : 0 };
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
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY,
				      .transfers = (uintptr_t)transfers,
				      .count = DRAY_MAX_TRANSFERS };
	int i, ret;

	for (i = 0; i < DRAY_MAX_TRANSFERS; i++)
		transfers[i] = (struct dray_transfer){
			.op = DRAY_OP_COPY,
			.dst_fd = caller->large.fd,
			.src_fd = caller->buffer.fd,
			.run = 4,
			.axes = (uintptr_t)&axis,
			.axes_count = 1,
		};
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

struct wrong {
	int (*call)(struct caller *caller);
	int error;
	uint32_t reason;
	bool submits; /* on a node that has channels */
};

FIXTURE_VARIANT(bound)
{
	struct wrong wrong;
};

#define REFUSED(name, ...)                      \
	FIXTURE_VARIANT_ADD(bound, name)        \
	{                                       \
		.wrong = { name, __VA_ARGS__ }, \
	}

REFUSED(allocate_from_no_heap, -EINVAL, DRAY_REASON_HEAP);
REFUSED(attach_ones_own, -EINVAL, DRAY_REASON_OWN);
REFUSED(attach_what_was_unmapped, -EFAULT, DRAY_REASON_PINNED);
REFUSED(ask_a_reader_for_its_address, -EACCES, DRAY_REASON_READ_ONLY);
REFUSED(sync_nothing, -EINVAL, DRAY_REASON_NONE);
REFUSED(sync_what_wraps, -EINVAL, DRAY_REASON_RANGE);
REFUSED(sync_for_no_channel, -EINVAL, DRAY_REASON_CHANNEL);
REFUSED(write_to_a_reader, -EACCES, DRAY_REASON_READ_ONLY, true);
REFUSED(overlap, -EINVAL, DRAY_REASON_OVERLAP, true);
REFUSED(submit_what_leaves_the_buffer, -EINVAL, DRAY_REASON_RANGE, true);
REFUSED(submit_a_million_runs, -EINVAL, DRAY_REASON_RUNS, true);
REFUSED(wait_for_no_fence, -EINVAL, DRAY_REASON_FOREIGN, true);
REFUSED(cancel_no_fence, -EINVAL, DRAY_REASON_FOREIGN, true);
REFUSED(export_no_buffer, -EINVAL, DRAY_REASON_FOREIGN);
REFUSED(reclaim_nothing, -ENOENT, DRAY_REASON_NONE);

struct errand {
	const struct wrong *wrong;
	struct caller *caller;
	int told; /* written to when it was refused once */
};

/* Until the device is gone: 0, or the errno that was neither. */
static int keep_calling(void *context)
{
	const struct errand *errand = context;
	struct caller *caller = errand->caller;
	bool first = true;
	int ret;

	for (;;) {
		ret = errand->wrong->call(caller);
		/* what is wrong in itself may be told of a node that is gone */
		if (ret == -ENODEV ||
		    (ret == errand->wrong->error &&
		     node_info(caller->node, &caller->info) == -ENODEV))
			return 0;
		if (ret != errand->wrong->error ||
		    caller->reason != errand->wrong->reason)
			return ret ? (-ret & 0xff) : 255;
		if (first && write(errand->told, "", 1) != 1)
			return 254;
		first = false;
	}
}

TEST_F(bound, a_refusal_stays_one_while_the_node_goes_and_comes_back)
{
	struct caller caller = { .node = self->node };
	struct errand errand = { .wrong = &variant->wrong, .caller = &caller };
	pid_t child[2];
	int told[2], round, i;
	char byte;

	if (variant->wrong.submits && !self->info.channel_count)
		SKIP(return, "this node has no DMA channel");
	ASSERT_EQ(0, caller_open(&caller));
	ASSERT_EQ(0, pipe(told));
	errand.told = told[1];
	for (round = 0; round < 2; round++) {
		EXPECT_EQ(variant->wrong.error, variant->wrong.call(&caller));
		EXPECT_EQ(variant->wrong.reason, caller.reason);
		for (i = 0; i < 2; i++) {
			child[i] = process_start(keep_calling, &errand);
			ASSERT_LT(0, child[i]);
		}
		for (i = 0; i < 2; i++)
			ASSERT_EQ(1, read(told[0], &byte, 1));
		ASSERT_EQ(0, binding_unbind(&self->binding));
		for (i = 0; i < 2; i++)
			EXPECT_EQ(0, process_wait(child[i]));
		ASSERT_EQ(0, binding_bind(&self->binding));
		close(caller.node);
		caller.node = node_open();
		ASSERT_LE(0, caller.node);
	}
	/* the buffer is the one that it was */
	EXPECT_EQ(0,
		  buffer_sync(caller.node, caller.buffer.fd,
			      DRAY_SYNC_FOR_DEVICE, DRAY_TO_DEVICE, 0, SIZE));
}

TEST_HARNESS_MAIN
