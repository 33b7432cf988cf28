// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Copies and fills: one SUBMIT call with one strided transfer on the engine,
 * or a loop on the CPU.
 *
 * What a copy means for caches is the same both ways.  Without
 * DRAY_COPY_NO_SYNC it moves what the CPU sees to where the CPU sees it; the
 * kernel syncs around the engine, and the CPU needs nothing.  With it, memory
 * is moved as a device does it, and a copy by the CPU is synced to look so.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "array/assign.h"
#include "array/view.h"
#include "base/error.h"
#include "base/reply.h"
#include "memory/node.h"
#include "transfer/plan.h"

/* Where a run starts in the buffer that was located around the span. */
static uint64_t offset_in(const struct dray_location *location,
			  const unsigned char *address)
{
	return (uint64_t)(address - (const unsigned char *)dray_buffer_data(
					    location->buffer));
}

static void describe_axes(const struct dray_layout *layout,
			  struct dray_axis *axes)
{
	for (int i = 0; i < layout->axes_count; i++)
		axes[i] = (struct dray_axis){
			.count = layout->axes[i].count,
			.dst_stride = layout->axes[i].dst_stride,
			.src_stride = layout->axes[i].src_stride,
		};
}

static struct dray_transfer describe(const struct dray_plan *plan,
				     const struct dray_axis *axes,
				     const struct dray_view *element)
{
	const struct dray_layout *layout = &plan->layout;
	struct dray_transfer transfer = {
		.op = element ? DRAY_OP_FILL : DRAY_OP_COPY,
		.dst_fd = dray_buffer_descriptor(plan->dst.buffer),
		.src_fd = -1,
		.dst_offset = offset_in(&plan->dst, layout->dst),
		.run = layout->run,
		.axes_count = (uint32_t)layout->axes_count,
		.axes = (uintptr_t)axes,
	};

	if (element) {
		transfer.pattern_size = element->dtype.itemsize;
		memcpy(transfer.pattern, element->data,
		       element->dtype.itemsize);
	} else {
		transfer.src_fd = dray_buffer_descriptor(plan->src.buffer);
		transfer.src_offset = offset_in(&plan->src, layout->src);
	}
	return transfer;
}

/* Whether the engine can never do this transfer, whatever its state. */
static bool is_beyond_engine(uint32_t reason)
{
	switch (reason) {
	case DRAY_REASON_ALIGNMENT:
	case DRAY_REASON_MASK:
	case DRAY_REASON_FOREIGN:
	case DRAY_REASON_RUNS:
	case DRAY_REASON_BYTES:
	case DRAY_REASON_AXES:
	case DRAY_REASON_BOUNCE:
		return true;
	default:
		return false;
	}
}

/* Whether the CPU may step in: nothing was done, and waiting is no use. */
static bool is_for_cpu(uint32_t reason)
{
	return reason == DRAY_REASON_CHANNEL || reason == DRAY_REASON_DEAD ||
	       is_beyond_engine(reason);
}

/* Fills the out fields of @args; @args->channel only where it was taken. */
static int submit_once(struct dray_queue *queue, struct dray_submit *args)
{
	struct dray_submit reply = *args;
	int error;

	reply.reason = DRAY_REASON_NONE;
	error = dray_node_submit(queue->node, &reply);
	if (!error)
		args->channel = reply.channel;
	args->fence_fd = reply.fence_fd;
	args->reason = reply.reason;
	if (error == -EINTR)
		return dray_fail(
			-EINTR,
			"a signal came before the queue had room, nothing was submitted");
	return error;
}

/* With the queue's lock held. */
static int submit_locked(struct dray_queue *queue,
			 const struct dray_transfer *transfer,
			 unsigned int flags, struct dray_fence *fence,
			 uint32_t *reason)
{
	struct dray_submit args = {
		.channel = queue->channel,
		.transfers = (uintptr_t)transfer,
		.count = 1,
		.fence_fd = -1,
	};
	int error;

	if (flags & DRAY_COPY_NONBLOCK)
		args.flags |= DRAY_SUBMIT_NONBLOCK;
	if (flags & DRAY_COPY_NO_SYNC)
		args.flags |= DRAY_SUBMIT_NO_SYNC;
	dray_queue_reap(queue);
	error = submit_once(queue, &args);
	if (error && args.reason == DRAY_REASON_DEAD && !queue->bound &&
	    args.channel != DRAY_CHANNEL_ANY) {
		/* what was in flight there has failed: no order to keep */
		args.channel = DRAY_CHANNEL_ANY;
		error = submit_once(queue, &args);
	}
	*reason = args.reason;
	if (!error) {
		fence->fd = args.fence_fd;
		dray_queue_append(queue, fence, args.channel);
	} else if (args.reason == DRAY_REASON_DEAD) {
		dray_queue_lose_engine(queue, dray_last_error());
	}
	return error;
}

/* 0 with a fence; 1 where the CPU has to copy after all; or an error. */
static int copy_with_engine(struct dray_queue *queue, struct dray_plan *plan,
			    const struct dray_view *dst,
			    const struct dray_view *src, bool fill,
			    unsigned int flags, struct dray_fence **out)
{
	struct dray_axis axes[DRAY_MAX_NDIM];
	struct dray_transfer transfer;
	struct dray_fence *fence;
	uint32_t reason = DRAY_REASON_NONE;
	int error;

	error = dray_fence_create(&fence);
	if (error)
		return error;
	fence->dst = dray_view_addresses(dst);
	if (!fill)
		fence->src = dray_view_addresses(src);
	error = dray_fence_keep(fence, plan->layout.dst);
	if (!error && !fill)
		error = dray_fence_keep(fence, plan->layout.src);
	if (!error) {
		describe_axes(&plan->layout, axes);
		transfer = describe(plan, axes, fill ? src : NULL);
		pthread_mutex_lock(&queue->lock);
		error = submit_locked(queue, &transfer, flags, fence, &reason);
		pthread_mutex_unlock(&queue->lock);
	}
	if (!error) {
		*out = fence;
		return 0;
	}
	dray_fence_abandon(fence);
	if (!is_for_cpu(reason))
		return error;
	if (!(flags & DRAY_COPY_ENGINE))
		return 1;
	/* with the kernel's sentence */
	return is_beyond_engine(reason) ? -EOPNOTSUPP : error;
}

/* Nothing for views outside of dray's memory: no device is there. */
static int sync_where_located(const struct dray_view *view,
			      enum dray_sync_owner owner,
			      enum dray_direction direction)
{
	struct dray_location location;

	if (dray_locate(dray_view_lowest(view), &location))
		return 0;
	return dray_view_sync(view, owner, direction);
}

static int copy_with_cpu(struct dray_queue *queue, const struct dray_view *dst,
			 const struct dray_view *src, unsigned int flags)
{
	bool as_device = flags & DRAY_COPY_NO_SYNC;
	struct dray_layout layout;
	int error;

	error = dray_queue_wait_for_views(queue, dst, src,
					  flags & DRAY_COPY_NONBLOCK);
	/*
	 * What the caches know may be older than what devices wrote, around
	 * the destination too: its first and last lines are shared.
	 */
	if (!error && as_device)
		error = sync_where_located(src, DRAY_SYNC_FOR_CPU,
					   DRAY_FROM_DEVICE);
	if (!error && as_device)
		error = sync_where_located(dst, DRAY_SYNC_FOR_CPU,
					   DRAY_FROM_DEVICE);
	if (error)
		return error;
	dray_layout_reduce(&layout, dst, src);
	error = dray_layout_assign(&layout, dst, src);
	if (!error && as_device)
		error = sync_where_located(dst, DRAY_SYNC_FOR_DEVICE,
					   DRAY_TO_DEVICE);
	return error;
}

/*
 * A fence for the caller, or the end of the transfer for one without: it can
 * not be taken back, so that a signal does not end this wait.
 */
static int hand_over(struct dray_fence *done, struct dray_fence **fence)
{
	int error;

	if (fence) {
		*fence = done;
		return 0;
	}
	do {
		error = dray_fence_wait(done, -1);
	} while (error == -EINTR);
	dray_fence_unref(done);
	return error;
}

static int carry_out(struct dray_queue *queue, const struct dray_view *dst,
		     const struct dray_view *src, bool fill, unsigned int flags,
		     struct dray_fence **fence)
{
	struct dray_fence *done = dray_fence_signalled();
	struct dray_plan plan;
	int error;

	error = dray_plan_make(queue, dst, src, fill, flags, &plan);
	if (error)
		return error;
	if (!plan.layout.runs)
		return hand_over(done, fence);
	error = 1;
	if (plan.engine)
		error = copy_with_engine(queue, &plan, dst, src, fill, flags,
					 &done);
	if (error > 0)
		error = copy_with_cpu(queue, dst, src, flags);
	return error ? error : hand_over(done, fence);
}

int dray_copy(struct dray_queue *queue, const struct dray_view *dst,
	      const struct dray_view *src, unsigned int flags,
	      struct dray_fence **fence)
{
	if (!dray_given(queue, __func__))
		return -EINVAL;
	return carry_out(queue, dst, src, false, flags, fence);
}

int dray_fill(struct dray_queue *queue, const struct dray_view *dst,
	      const void *element, unsigned int flags,
	      struct dray_fence **fence)
{
	unsigned char copy[DRAY_MAX_PATTERN];
	struct dray_view src;
	int error;

	if (!dray_given(queue, __func__))
		return -EINVAL;
	if (!element)
		return dray_fail(-EINVAL, "no element to fill with");
	error = dray_view_check(dst, "the destination", NULL);
	if (error)
		return error;
	dray_view_copy(&src, dst);
	memset(src.strides, 0, (size_t)src.ndim * sizeof(src.strides[0]));
	src.data = (void *)element;
	src.flags = 0;
	/* small elements are taken first: @dst may cover where they lie */
	if (src.dtype.itemsize <= sizeof(copy)) {
		memcpy(copy, element, src.dtype.itemsize);
		src.data = copy;
	}
	return carry_out(queue, dst, &src, true, flags, fence);
}

int dray_explain(struct dray_queue *queue, const struct dray_view *dst,
		 const struct dray_view *src, unsigned int flags,
		 struct dray_explanation *out, size_t size)
{
	struct dray_explanation whole = { 0 };
	struct dray_plan plan;
	int error;

	if (!dray_given(queue, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	error = dray_plan_make(queue, dst, src, false, flags, &plan);
	if (error)
		return error;
	whole.elements = (uint64_t)dray_view_size(dst);
	whole.threshold = queue->threshold;
	if (plan.layout.runs) {
		whole.bytes = plan.layout.bytes;
		whole.run = plan.layout.run;
		whole.descriptors = plan.descriptors;
		whole.axes = plan.layout.axes_count;
	}
	whole.engine = plan.engine;
	memcpy(whole.reason, plan.reason, sizeof(whole.reason));
	dray_reply(out, size, &whole, sizeof(whole));
	return 0;
}
