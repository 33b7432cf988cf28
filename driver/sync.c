// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cache maintenance: exactly what was asked for, row by row, in steps that
 * leave room for others.
 */
#include <linux/cache.h>
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "buffer.h"
#include "channel.h"
#include "node.h"

/*
 * Rows closer than this leave no whole cache line between them, on any machine:
 * the lines of a gap are the rows' lines too, and one pass over all is cheaper.
 * For the CPU the pass drops what the CPU wrote in a gap, where row by row the
 * ends of rows would have been written back.  Neither can be relied on: the CPU
 * must not write to lines that it shares with a transfer.
 */
#define DRAY_SMALLEST_LINE 32

#define DRAY_SYNC_STEP SZ_1M

static int dray_sync_span(struct device *dev, dma_addr_t address, u64 length,
			  bool for_cpu, enum dma_data_direction direction)
{
	size_t step;

	for (; length; length -= step, address += step) {
		if (fatal_signal_pending(current))
			return -EINTR;
		step = min_t(u64, length, DRAY_SYNC_STEP);
		if (for_cpu)
			dma_sync_single_for_cpu(dev, address, step, direction);
		else
			dma_sync_single_for_device(dev, address, step,
						   direction);
		cond_resched();
	}
	return 0;
}

/*
 * Maintains rows of the mapping at @address; they lie within it, and may
 * overlap.  -EINTR when the task is being killed.
 */
int dray_sync_rows(struct device *dev, dma_addr_t address,
		   const struct dray_rows *rows, bool for_cpu,
		   enum dma_data_direction direction)
{
	u64 row;
	int ret = 0;

	if (dev_is_dma_coherent(dev))
		return 0;
	address += rows->offset;
	if (rows->rows == 1 || rows->pitch < rows->width + DRAY_SMALLEST_LINE)
		return dray_sync_span(dev, address,
				      (rows->rows - 1) * rows->pitch +
					      rows->width,
				      for_cpu, direction);
	for (row = 0; row < rows->rows && !ret; row++)
		ret = dray_sync_span(dev, address + row * rows->pitch,
				     rows->width, for_cpu, direction);
	return ret;
}

/* For whoever asks where the time went. */
void dray_sync_count(struct dray_buffer *buffer, u64 bytes, ktime_t start)
{
	atomic64_add(bytes, &buffer->sync_bytes);
	atomic64_add(ktime_to_ns(ktime_sub(ktime_get(), start)),
		     &buffer->sync_ns);
}

static bool dray_range_valid(struct dray_buffer *buffer,
			     const struct dray_range *range)
{
	u64 span;

	if (range->rows > 1 &&
	    (range->pitch < range->width ||
	     check_mul_overflow(range->rows - 1, range->pitch, &span)))
		return false;
	if (range->rows == 1)
		span = 0;
	return !check_add_overflow(span, range->width, &span) &&
	       dray_range_fits(buffer, range->offset, span);
}

static int dray_sync_range(struct dray_node *node, struct device *dev,
			   const struct dray_sync *args,
			   const struct dray_range *range,
			   struct dray_refusal *refusal)
{
	enum dma_data_direction direction =
		args->direction == DRAY_TO_DEVICE     ? DMA_TO_DEVICE
		: args->direction == DRAY_FROM_DEVICE ? DMA_FROM_DEVICE
						      : DMA_BIDIRECTIONAL;
	struct dray_rows rows = {
		.offset = range->offset,
		.width = range->width,
		.pitch = range->pitch,
		.rows = range->rows,
	};
	struct dray_buffer *buffer;
	dma_addr_t address;
	ktime_t start;
	int ret;

	if (range->flags || !range->width || !range->rows)
		return -EINVAL;
	buffer = dray_buffer_of_fd(range->fd, refusal);
	if (IS_ERR(buffer))
		return PTR_ERR(buffer);
	if (!dray_range_valid(buffer, range)) {
		ret = dray_refuse(refusal, -EINVAL, DRAY_REASON_RANGE,
				  buffer->size);
		goto put_buffer;
	}
	ret = dray_mapping_get(buffer, node, dev, &address, refusal);
	if (ret)
		goto put_buffer;

	start = ktime_get();
	ret = dray_sync_rows(dev, address, &rows,
			     args->owner == DRAY_SYNC_FOR_CPU, direction);
	if (!ret && !dev_is_dma_coherent(dev))
		dray_sync_count(buffer, range->rows * range->width, start);
put_buffer:
	dray_buffer_put(buffer);
	return ret;
}

int dray_sync_call(struct dray_opener *opener, void *data,
		   struct dray_reply *reply)
{
	struct dray_node *node = opener->node;
	struct dray_refusal refusal = {};
	struct dray_range *ranges = NULL;
	struct dray_sync *args = data;
	struct device *dev = node->dev;
	int ret;
	u32 i;

	if (args->reserved || args->owner < DRAY_SYNC_FOR_DEVICE ||
	    args->owner > DRAY_SYNC_FOR_CPU ||
	    args->direction < DRAY_TO_DEVICE ||
	    args->direction > DRAY_BIDIRECTIONAL)
		return -EINVAL;
	if (args->count > DRAY_MAX_RANGES)
		return -EINVAL;
	if (args->count) {
		ranges = vmemdup_user(u64_to_user_ptr(args->ranges),
				      args->count * sizeof(*ranges));
		if (IS_ERR(ranges))
			return PTR_ERR(ranges);
	}

	ret = dray_node_enter(node);
	if (ret)
		goto free_ranges;
	if (args->target != DRAY_TARGET_NODE)
		ret = dray_channel_device(node, args->target, &dev, &refusal);
	if (ret)
		goto leave;
	args->flags = dev_is_dma_coherent(dev) ? DRAY_SYNC_NOT_NEEDED : 0;
	for (i = 0; i < args->count && !ret; i++) {
		ret = dray_sync_range(node, dev, args, &ranges[i], &refusal);
		/* Unbinding waits for who is inside: many ranges may last. */
		if (!ret && READ_ONCE(node->gone))
			ret = -ENODEV;
		if (ret)
			args->failed = i;
		cond_resched();
	}
leave:
	dray_node_leave(node);
free_ranges:
	kvfree(ranges);
	args->reason = refusal.reason;
	args->limit = refusal.limit;
	return ret;
}
