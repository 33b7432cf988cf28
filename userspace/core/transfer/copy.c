// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Copies and fills: a SUBMIT call with a single strided transfer on the engine, or
 * a loop on the CPU.
 *
 * A copy treats caches the same both ways.  Without DRAY_COPY_NO_SYNC it moves
 * data as the CPU sees it: the kernel syncs around the engine, and the CPU
 * needs no sync.  With DRAY_COPY_NO_SYNC it moves data as a device sees it, so
 * a copy by the CPU is synced before and after.
 */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/options.h"
#include "memory/node.h"
#include "transfer/plan.h"
#include "transfer/view_sync.h"

/* Returns the offset of a run in the operand's buffer. */
static uint64_t offset_in(const struct dray_location *location,
			  const unsigned char *address)
{
	return (uint64_t)(address - (const unsigned char *)dray_buffer_data(
					    location->buffer));
}

static void describe_axes(const struct dray_layout *layout,
			  struct dray_axis *axes)
{
	bool fill = layout->operands == 1;
	int i;

	for (i = 0; i < layout->axes_count; i++)
		axes[i] = (struct dray_axis){
			.count = layout->axes[i].count,
			.dst_stride = layout->axes[i].strides[DRAY_DST],
			.src_stride =
				fill ? 0 : layout->axes[i].strides[DRAY_SRC],
		};
}

static struct dray_transfer copy_describe(const struct dray_plan *plan,
					  const struct dray_axis *axes)
{
	const struct dray_layout *layout = &plan->layout;
	const struct dray_location *dst = &plan->dst.location;
	const struct dray_location *src = &plan->src.location;
	const struct dray_view *element = plan->src.view;
	struct dray_transfer transfer = {
		.op = plan->fill ? DRAY_OP_FILL : DRAY_OP_COPY,
		.dst_fd = dray_buffer_descriptor(dst->buffer),
		.src_fd = -1,
		.dst_offset = offset_in(dst, layout->data[DRAY_DST]),
		.run = layout->run,
		.axes_count = (uint32_t)layout->axes_count,
		.axes = (uintptr_t)axes,
	};

	if (plan->fill) {
		transfer.pattern_size = dray_dtype_itemsize(element->dtype);
		memcpy(transfer.pattern, element->data, transfer.pattern_size);
	} else {
		transfer.src_fd = dray_buffer_descriptor(src->buffer);
		transfer.src_offset = offset_in(src, layout->data[DRAY_SRC]);
	}
	return transfer;
}

/* True if the engine can never do this transfer, in any state. */
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

/* True if the CPU may copy: nothing was done, and a wait would not help. */
static bool is_for_cpu(uint32_t reason)
{
	return reason == DRAY_REASON_CHANNEL || reason == DRAY_REASON_DEAD ||
	       is_beyond_engine(reason);
}

/* Submits.  Returns 0 with a fence, 1 if the CPU must copy, or an error. */
static int copy_with_engine(struct dray_plan *plan, struct dray_fence **out)
{
	struct dray_axis axes[DRAY_MAX_NDIM];
	uint32_t reason = DRAY_REASON_NONE;
	struct dray_transfer transfer;
	struct dray_fence *fence;
	int ret;

	ret = dray_fence_create(&fence);
	if (ret)
		return ret;
	describe_axes(&plan->layout, axes);
	transfer = copy_describe(plan, axes);
	dray_fence_keep(fence, &plan->dst, true);
	if (!plan->fill)
		dray_fence_keep(fence, &plan->src, false);
	ret = dray_queue_submit(plan->queue, &transfer, plan->flags, fence,
				&reason);
	if (!ret) {
		*out = fence;
		return 0;
	}
	dray_fence_abandon(fence);
	if (!is_for_cpu(reason))
		return ret;
	if (!(plan->flags & DRAY_COPY_ENGINE))
		return 1;
	/* Keeps the kernel's sentence. */
	return is_beyond_engine(reason) ? -EOPNOTSUPP : ret;
}

/* Syncs a view in dray's memory; no device sees any other memory. */
static int sync_where_located(struct dray_operand *operand,
			      enum dray_sync_owner owner,
			      enum dray_direction direction)
{
	return dray_operand_locate(operand, false)
		       ? dray_view_sync_operand(operand, owner, direction)
		       : 0;
}

/* Refuses memory without a mapping, which the CPU cannot access. */
static int check_mapped(struct dray_operand *operand)
{
	if (!dray_operand_locate(operand, false) ||
	    dray_buffer_mapped(operand->location.buffer))
		return 0;
	return dray_fail(
		-EOPNOTSUPP,
		"%s has no mapping for the CPU, and the engine does not copy it",
		operand->name);
}

static int copy_with_cpu(struct dray_plan *plan)
{
	bool as_device = plan->flags & DRAY_COPY_NO_SYNC;
	int ret;

	ret = check_mapped(&plan->dst);
	if (!ret && !plan->fill)
		ret = check_mapped(&plan->src);
	if (ret)
		return ret;
	ret = dray_queue_wait_for(plan->queue, plan->dst.span, plan->src.span,
				  plan->flags & DRAY_COPY_NONBLOCK);
	/*
	 * Caches may be older than a device's writes.  That includes the
	 * first and last lines of the destination, which others share.
	 */
	if (!ret && as_device)
		ret = sync_where_located(&plan->src, DRAY_SYNC_FOR_CPU,
					 DRAY_FROM_DEVICE);
	if (!ret && as_device)
		ret = sync_where_located(&plan->dst, DRAY_SYNC_FOR_CPU,
					 DRAY_FROM_DEVICE);
	if (ret)
		return ret;
	if (plan->fill)
		dray_layout_pair(&plan->layout, plan->dst.view, plan->src.view);
	ret = dray_view_assign_reduced(&plan->layout, &plan->dst, &plan->src,
				       1);
	if (!ret && as_device)
		ret = sync_where_located(&plan->dst, DRAY_SYNC_FOR_DEVICE,
					 DRAY_TO_DEVICE);
	return ret;
}

/*
 * Returns a fence to the caller, or waits if it wants none.  The transfer
 * cannot be undone, so a signal does not end this wait.
 */
static int copy_hand_over(struct dray_fence *done, struct dray_fence **fence)
{
	int ret;

	if (fence) {
		*fence = done;
		return 0;
	}
	do {
		ret = dray_fence_wait(done, -1);
	} while (ret == -EINTR);
	dray_fence_unref(done);
	return ret;
}

static int copy_carry_out(struct dray_plan *plan, struct dray_fence **fence)
{
	struct dray_fence *done = dray_fence_signalled();
	int ret;

	ret = dray_plan_make(plan);
	if (!ret && plan->layout.runs) {
		ret = plan->engine ? copy_with_engine(plan, &done) : 1;
		if (ret > 0)
			ret = copy_with_cpu(plan);
	}
	dray_plan_drop(plan);
	return ret ? ret : copy_hand_over(done, fence);
}

/* Fills the part of a plan that the caller sets. */
static int copy_take_pair(struct dray_plan *plan, struct dray_queue *queue,
			  const struct dray_view *dst,
			  const struct dray_view *src, unsigned int flags)
{
	int ret;

	plan->queue = queue;
	plan->fill = false;
	plan->flags = flags;
	ret = dray_operand_init(&plan->dst, dst, "the destination");
	if (!ret)
		ret = dray_operand_init(&plan->src, src, "the source");
	return ret;
}

int dray_copy(struct dray_queue *queue, const struct dray_view *dst,
	      const struct dray_view *src, unsigned int flags,
	      struct dray_fence **fence)
{
	struct dray_plan plan;
	int ret;

	if (!dray_given(queue, __func__))
		return -EINVAL;
	ret = copy_take_pair(&plan, queue, dst, src, flags);
	return ret ? ret : copy_carry_out(&plan, fence);
}

int dray_fill(struct dray_queue *queue, const struct dray_view *dst,
	      const void *element, unsigned int flags,
	      struct dray_fence **fence)
{
	unsigned char copy[DRAY_MAX_PATTERN];
	struct dray_plan plan;
	struct dray_view src;
	int ret;

	if (!dray_given(queue, __func__))
		return -EINVAL;
	if (!element)
		return dray_fail(-EINVAL, "no element to fill with");
	plan.queue = queue;
	plan.fill = true;
	plan.flags = flags;
	ret = dray_operand_init(&plan.dst, dst, "the destination");
	if (ret)
		return ret;
	dray_view_copy(&src, dst);
	memset(src.strides, 0, (size_t)src.ndim * sizeof(src.strides[0]));
	src.data = (void *)element;
	src.flags = DRAY_READ;
	/* Read small elements first, because @dst may cover them. */
	if (dray_dtype_itemsize(src.dtype) <= sizeof(copy)) {
		memcpy(copy, element, dray_dtype_itemsize(src.dtype));
		src.data = copy;
	}
	ret = dray_operand_init(&plan.src, &src, "the source");
	return ret ? ret : copy_carry_out(&plan, fence);
}

int dray_explain(struct dray_queue *queue, const struct dray_view *dst,
		 const struct dray_view *src, unsigned int flags,
		 struct dray_explanation *out)
{
	struct dray_explanation whole = { 0 };
	struct dray_plan plan;
	int ret;

	if (!dray_given(queue, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = copy_take_pair(&plan, queue, dst, src, flags);
	if (ret)
		return ret;
	ret = dray_plan_make(&plan);
	dray_plan_drop(&plan);
	if (ret)
		return ret;
	whole.elements = (uint64_t)plan.dst.extent.elements;
	whole.threshold = queue->threshold;
	if (plan.layout.runs) {
		whole.bytes = plan.layout.bytes;
		whole.run = plan.layout.run;
		whole.descriptors = plan.descriptors;
		whole.axes = plan.layout.axes_count;
	}
	whole.engine = plan.engine;
	memcpy(whole.reason, plan.reason, sizeof(whole.reason));
	return DRAY_WRITE_RESULT(out, &whole, DRAY_EXPLANATION_SIZE_FIRST);
}
