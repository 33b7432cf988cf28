// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cache maintenance of exactly the bytes that are asked for, row by row, in
 * steps that leave room for others.
 */
#include <linux/dma-mapping.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>

#include "base/device.h"
#include "base/usage.h"
#include "buffer.h"
#include "rows.h"
#include "trace.h"

/*
 * Rows closer than this leave no whole cache line between them, on any machine:
 * the lines of a gap are the rows' lines too, and a pass over all is cheaper.
 * For the CPU the pass drops the CPU's writes to a gap; row by row, the ends of
 * rows would be written back.  Neither can be relied on: the CPU must not write to
 * lines that it shares with a transfer.
 */
#define DRAY_SMALLEST_LINE 32

/* Joins rows that are so close. */
static struct dray_area_rows dray_rows_joined(const struct dray_area_rows *rows)
{
	struct dray_area_rows joined = *rows;

	if (rows->rows > 1 && rows->pitch < rows->width + DRAY_SMALLEST_LINE) {
		joined.width += (rows->rows - 1) * rows->pitch;
		joined.rows = 1;
	}
	return joined;
}

/* Returns an errno if the rest of the rows may be left out. */
static int dray_rows_stop(const struct dray_area_rows *rows)
{
	if (!rows->unkillable && fatal_signal_pending(current))
		return -EINTR;
	return rows->gone && READ_ONCE(*rows->gone) ? -ENODEV : 0;
}

/* The segment of the byte at @offset, which lies in the area. */
const struct dray_place_segment *dray_place_find(const struct dray_place *place,
						 u64 offset)
{
	u32 low = 0, high = place->count, middle;

	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (place->segment[middle].offset <= offset)
			low = middle;
		else
			high = middle;
	}
	return &place->segment[low];
}

/*
 * How much of @most bytes from @offset on is contiguous for the CPU.  Maintenance
 * by an address of the device finds the memory of the first byte, and continues
 * from there.
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
			 const struct dray_area_rows *rows, u64 row,
			 bool for_cpu, enum dma_data_direction direction)
{
	u64 offset = rows->offset + row * rows->pitch, length = rows->width;
	const struct dray_place_segment *segment =
		dray_place_find(place, offset);
	dma_addr_t address;
	size_t step;
	int ret;

	for (; length; length -= step, offset += step) {
		ret = dray_rows_stop(rows);
		if (ret)
			return ret;
		if (offset - segment->offset == segment->length)
			segment++;
		address = segment->address + (offset - segment->offset);
		step = min3(length, (u64)DRAY_SYNC_STEP,
			    segment->offset + segment->length - offset);
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

/* -EINTR when the task is being killed, -ENODEV if @rows->gone became true. */
int dray_rows_sync(struct device *dev, const struct dray_place *place,
		   const struct dray_area_rows *rows, bool for_cpu,
		   enum dma_data_direction direction)
{
	struct dray_area_rows joined = dray_rows_joined(rows);
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
 * With a copy for the device that is not possible: written back, it would lose
 * the device's writes, for which the caller asks.
 */
int dray_rows_sync_kept(struct device *dev, const struct dray_place *place,
			const struct dray_area_rows *rows, bool for_cpu)
{
	struct dray_area_rows joined = dray_rows_joined(rows), piece = joined;
	u64 row, done;
	int ret = 0;

	if (!dray_device_maintained(dev) || place->uncached)
		return 0;
	if (!for_cpu)
		return dray_rows_sync(dev, place, rows, false, DMA_TO_DEVICE);
	if (place->copied)
		return dray_rows_sync(dev, place, rows, true, DMA_FROM_DEVICE);
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

void dray_rows_count(struct dray_entry *entry, struct device *dev, u64 bytes,
		     bool for_cpu, enum dma_data_direction direction,
		     ktime_t start)
{
	u64 ns = ktime_to_ns(ktime_sub(ktime_get(), start));
	struct dray_buffer *buffer = dray_entry_buffer(entry);

	if (buffer) {
		atomic64_add(bytes, &buffer->sync_bytes);
		atomic64_add(ns, &buffer->sync_ns);
	}
	if (entry->usage)
		atomic64_add(bytes, &entry->usage->sync_bytes);
	trace_dray_sync(entry, dev, for_cpu, direction, bytes, ns);
}
