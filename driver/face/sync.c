// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cache maintenance of exactly the bytes that were asked for, row by row, in
 * steps that leave room for others.
 */
#include <linux/cache.h>
#include <linux/dma-mapping.h>
#include <linux/err.h>
#include <linux/freezer.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "base/device.h"
#include "base/node.h"
#include "memory/buffer.h"
#include "memory/trace.h"
#include "engine/engine.h"

/*
 * Rows closer than this leave no whole cache line between them, on any machine:
 * the lines of a gap are the rows' lines too, and one pass over all is cheaper.
 * For the CPU the pass drops the CPU's writes to a gap; row by row, the ends of
 * rows would have been written back.  Neither can be relied on: the CPU
 * must not write to lines that it shares with a transfer.
 */
#define DRAY_SMALLEST_LINE 32

/* Where rows are so close, one over all of them. */
static struct dray_rows dray_rows_joined(const struct dray_rows *rows)
{
	struct dray_rows joined = *rows;

	if (rows->rows > 1 && rows->pitch < rows->width + DRAY_SMALLEST_LINE) {
		joined.width += (rows->rows - 1) * rows->pitch;
		joined.rows = 1;
	}
	return joined;
}

/* An errno where the rest of the rows may be left out. */
static int dray_rows_stop(const struct dray_rows *rows)
{
	if (!rows->whatever && fatal_signal_pending(current))
		return -EINTR;
	return rows->gone && READ_ONCE(*rows->gone) ? -ENODEV : 0;
}

/*
 * How much of @most bytes from @offset on is in one piece for the CPU.
 * Maintenance by an address of the device finds the memory of the first byte,
 * and goes on from there.
 */
static size_t dray_place_piece(const struct dray_place *place, u64 offset,
			       u64 most)
{
	u64 from = place->skip + offset, index = from >> PAGE_SHIFT, length;

	if (!place->pages)
		return most;
	length = PAGE_SIZE - offset_in_page(from);
	while (length < most && page_to_pfn(place->pages[index + 1]) ==
					page_to_pfn(place->pages[index]) + 1) {
		index++;
		length += PAGE_SIZE;
	}
	return min(length, most);
}

static int dray_sync_row(struct device *dev, const struct dray_place *place,
			 const struct dray_rows *rows, u64 row, bool for_cpu,
			 enum dma_data_direction direction)
{
	u64 offset = rows->offset + row * rows->pitch, length = rows->width;
	const struct dray_stretch *stretch = dray_place_find(place, offset);
	dma_addr_t address;
	size_t step;
	int ret;

	for (; length; length -= step, offset += step) {
		ret = dray_rows_stop(rows);
		if (ret)
			return ret;
		if (offset - stretch->offset == stretch->length)
			stretch++;
		address = stretch->address + (offset - stretch->offset);
		step = min3(length, (u64)DRAY_SYNC_STEP,
			    stretch->offset + stretch->length - offset);
		step = dray_place_piece(place, offset, step);
		if (for_cpu)
			dma_sync_single_for_cpu(dev, address, step, direction);
		else
			dma_sync_single_for_device(dev, address, step,
						   direction);
		cond_resched();
	}
	return 0;
}

/* -EINTR when the task is being killed, -ENODEV where @rows says so. */
int dray_sync_rows(struct device *dev, const struct dray_place *place,
		   const struct dray_rows *rows, bool for_cpu,
		   enum dma_data_direction direction)
{
	struct dray_rows joined = dray_rows_joined(rows);
	u64 row;
	int ret = 0;

	if (!dray_device_maintained(dev) || place->uncached)
		return 0;
	for (row = 0; row < joined.rows && !ret; row++)
		ret = dray_sync_row(dev, place, &joined, row, for_cpu,
				    direction);
	return ret;
}

/*
 * Another program may be writing with the CPU, and an invalidation alone would
 * drop its writes: a page at a time is written back first, in each direction.
 * If the device has a copy, that is not possible: written back, it would lose
 * the device's writes, which the caller asks for.
 */
int dray_sync_rows_kept(struct device *dev, const struct dray_place *place,
			const struct dray_rows *rows, bool for_cpu)
{
	struct dray_rows joined = dray_rows_joined(rows), piece = joined;
	u64 row, done;
	int ret = 0;

	if (!dray_device_maintained(dev) || place->uncached)
		return 0;
	if (!for_cpu)
		return dray_sync_rows(dev, place, rows, false, DMA_TO_DEVICE);
	if (place->copied)
		return dray_sync_rows(dev, place, rows, true, DMA_FROM_DEVICE);
	for (row = 0; row < joined.rows && !ret; row++) {
		for (done = 0; done < joined.width && !ret;
		     done += piece.width) {
			piece.offset = joined.offset + done;
			piece.width =
				min_t(u64, joined.width - done, PAGE_SIZE);
			ret = dray_sync_row(dev, place, &piece, row, false,
					    DMA_TO_DEVICE);
			if (!ret)
				ret = dray_sync_row(dev, place, &piece, row,
						    true, DMA_FROM_DEVICE);
		}
	}
	return ret;
}

void dray_sync_count(struct dray_entry *entry, struct device *dev, u64 bytes,
		     bool for_cpu, enum dma_data_direction direction,
		     ktime_t start)
{
	u64 ns = ktime_to_ns(ktime_sub(ktime_get(), start));
	struct dray_buffer *buffer = dray_entry_buffer(entry);

	if (buffer) {
		atomic64_add(bytes, &buffer->sync_bytes);
		atomic64_add(ns, &buffer->sync_ns);
	}
	trace_dray_sync(entry, dev, for_cpu, direction, bytes, ns);
}

static bool dray_range_valid(const struct dray_area *area,
			     const struct dray_range *range)
{
	u64 span = 0;

	if (range->rows > 1 &&
	    (range->pitch < range->width ||
	     check_mul_overflow(range->rows - 1, range->pitch, &span)))
		return false;
	return !check_add_overflow(span, range->width, &span) &&
	       dray_area_fits(area, range->offset, span);
}

/* The caller is inside the node. */
static int dray_sync_place(struct dray_node *node, struct device *dev,
			   const struct dray_area *area,
			   const struct dray_range *range, bool for_cpu,
			   enum dma_data_direction direction,
			   struct dray_refusal *refusal)
{
	struct dray_rows rows = {
		.offset = range->offset,
		.width = range->width,
		.pitch = range->pitch,
		.rows = range->rows,
		.gone = &node->gone,
	};
	struct dray_place place;
	ktime_t start;
	int ret;

	ret = dray_area_place(area, node, dev, &place, refusal);
	if (ret || dray_area_is_whole(area))
		return ret;
	start = ktime_get();
	ret = dray_area_sync(area, dev, &place, &rows, for_cpu, direction);
	if (!ret && dray_area_is_maintained(area, dev, for_cpu))
		dray_sync_count(dray_area_entry(area), dev,
				range->rows * range->width, for_cpu, direction,
				start);
	return ret;
}

/*
 * Has the exporter maintain a dma-buf for all devices that have it.  This is
 * outside of the node: the exporter waits for fences without a limit, and
 * unbinding does not wait.
 */
static int dray_sync_whole(const struct dray_area *area, struct dray_node *node,
			   bool for_cpu, enum dma_data_direction direction)
{
	ktime_t start = ktime_get();
	int ret = dray_area_sync_whole(area, for_cpu, direction);

	if (!ret)
		dray_sync_count(dray_area_entry(area), node->dev, area->size,
				for_cpu, direction, start);
	return ret;
}

/* *@needed becomes true where the range is of a buffer that needs syncs. */
static int dray_sync_range(struct dray_node *node, struct device *dev,
			   const struct dray_sync *args,
			   const struct dray_range *range, bool *needed,
			   struct dray_refusal *refusal)
{
	enum dma_data_direction direction =
		args->direction == DRAY_TO_DEVICE     ? DMA_TO_DEVICE
		: args->direction == DRAY_FROM_DEVICE ? DMA_FROM_DEVICE
						      : DMA_BIDIRECTIONAL;
	bool for_cpu = args->owner == DRAY_SYNC_FOR_CPU;
	bool asks = args->flags & DRAY_SYNC_ASK;
	struct dray_area area;
	int ret;

	if (range->flags || !range->width || !range->rows)
		return -EINVAL;
	ret = dray_area_of_fd(range->fd, node, &area, refusal);
	if (ret)
		return ret;
	if (!dray_range_valid(&area, range) ||
	    (dray_area_is_whole(&area) &&
	     (range->width != area.size || range->rows != 1))) {
		ret = dray_refuse(refusal, -EINVAL, DRAY_REASON_RANGE,
				  area.size);
		goto put_area;
	}
	ret = dray_node_enter(node);
	if (ret)
		goto put_area;
	if (dray_area_needs_sync(&area, dev))
		*needed = true;
	if (!asks)
		ret = dray_sync_place(node, dev, &area, range, for_cpu,
				      direction, refusal);
	dray_node_leave(node);
	if (!ret && !asks && dray_area_is_whole(&area))
		ret = dray_sync_whole(&area, node, for_cpu, direction);
put_area:
	dray_area_put(&area);
	return ret;
}

/* Finds the device that is meant; it is there when the node is entered again. */
static int dray_sync_target(struct dray_node *node,
			    const struct dray_sync *args, struct device **dev,
			    bool *needed, struct dray_refusal *refusal)
{
	int ret = dray_node_enter(node);

	if (ret)
		return ret;
	*dev = node->dev;
	if (args->target != DRAY_TARGET_NODE)
		ret = dray_channel_device(node, args->target, dev, refusal);
	*needed = !ret && !args->count && dray_device_maintained(*dev);
	dray_node_leave(node);
	return ret;
}

int dray_sync_call(struct dray_opener *opener, void *data,
		   struct dray_reply *reply)
{
	struct dray_node *node = opener->node;
	struct dray_range *ranges = NULL;
	struct dray_sync *args = data;
	struct device *dev;
	bool needed;
	int ret;
	u32 i;

	args->failed = 0;
	/* The flag of an earlier reply may still be set. */
	if (args->flags & ~(DRAY_SYNC_ASK | DRAY_SYNC_NOT_NEEDED))
		return -EINVAL;
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

	ret = dray_sync_target(node, args, &dev, &needed, &reply->refusal);
	if (ret)
		goto free_ranges;
	for (i = 0; i < args->count && !ret; i++) {
		ret = dray_sync_range(node, dev, args, &ranges[i], &needed,
				      &reply->refusal);
		/* It may have gone while an exporter waited for its fences. */
		if (!ret && READ_ONCE(node->gone))
			ret = -ENODEV;
		if (ret)
			args->failed = i;
		cond_resched();
		/*
		 * If this task runs for 20 s more, the system does not fall
		 * asleep.  If every signal ended the call, a program with a
		 * timer would never finish it.
		 */
		try_to_freeze();
	}
	args->flags = ret || needed ? 0 : DRAY_SYNC_NOT_NEEDED;
free_ranges:
	kvfree(ranges);
	return ret;
}
