// SPDX-License-Identifier: GPL-2.0-only
/*
 * Maintenance of whole buffers: before a device is first told of one, when the
 * CPU's accesses begin and end, and before the last device that it could be
 * maintained for goes away.
 */
#include <linux/device.h>
#include <linux/dma-map-ops.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/mutex.h>

#include "base/device.h"
#include "buffer.h"
#include "export.h"
#include "trace.h"

/*
 * Before a device is told where the buffer is, and before any line of it is
 * dropped, what the CPU wrote so far is written back: the zeros above all.
 * -EINTR when the task is being killed.
 */
int dray_mapping_write_back(struct dray_buffer *buffer,
			    struct dray_mapping *mapping)
{
	struct dray_rows all = { .width = buffer->size, .rows = 1 };
	struct dray_place place;
	ktime_t start;
	int ret;

	if (!mapping->pending)
		return 0;
	start = ktime_get();
	place = dray_mapping_where(buffer, mapping);
	place.uncached = !dray_extent_is_cached(&buffer->extent);
	ret = dray_sync_rows(mapping->dev, &place, &all, false, DMA_TO_DEVICE);
	if (ret)
		return ret;
	mapping->pending = false;
	if (dray_device_maintained(mapping->dev) && !place.uncached)
		trace_dray_sync(&buffer->entry, mapping->dev, false,
				DMA_TO_DEVICE, buffer->size,
				ktime_to_ns(ktime_sub(ktime_get(), start)));
	return 0;
}

/* Did that happen, for a device that does not snoop? */
bool dray_mappings_written_back(struct dray_buffer *buffer)
{
	struct dray_mapping *mapping;

	lockdep_assert_held(&buffer->lock);
	list_for_each_entry(mapping, &buffer->mappings, list)
		if (!mapping->pending && !dev_is_dma_coherent(mapping->dev))
			return true;
	return false;
}

/* Is there another mapping that a CPU access would maintain? */
static bool dray_mapping_is_last(const struct dray_buffer *buffer,
				 const struct dray_mapping *mapping)
{
	const struct dray_mapping *other;

	list_for_each_entry(other, &buffer->mappings, list)
		if (other != mapping && dray_device_maintained(other->dev))
			return false;
	return true;
}

/*
 * Before a mapping goes while others have the buffer: without a device nobody
 * can maintain it any more, and what that wrote would not be seen where lines of
 * it are in a cache.  Each is written back and dropped, as any cache may do at
 * any time, so that nothing is lost that the CPU wrote.  Nothing is owed where
 * only channels wrote.  A copy is carried for the last time.
 */
void dray_mapping_settle(struct dray_buffer *buffer,
			 struct dray_mapping *mapping)
{
	struct dray_rows all = {
		.width = buffer->size,
		.rows = 1,
		.whatever = true,
	};
	struct dray_place place = dray_mapping_where(buffer, mapping);

	lockdep_assert_held(&buffer->lock);
	if (dray_buffer_written_outside(buffer) &&
	    (place.copied || dray_mapping_is_last(buffer, mapping)))
		dray_sync_rows_kept(mapping->dev, &place, &all, true);
}

/* Does a CPU access maintain it for one of dray's own devices? */
bool dray_mappings_maintained(struct dray_buffer *buffer)
{
	struct dray_mapping *mapping;

	lockdep_assert_held(&buffer->lock);
	dray_mapping_make_postponed(buffer);
	list_for_each_entry(mapping, &buffer->mappings, list)
		if (dray_device_maintained(mapping->dev))
			return true;
	return false;
}

/*
 * Maintenance of the whole buffer: for the node whether anybody is attached
 * or not, and for the importers.  Caches belong to the CPU, so one of the
 * node's devices stands for all of them.  Nothing is lost by the access of
 * somebody who may not write.  -EINTR when the task is being killed.
 */
int dray_mapping_sync_buffer(struct dray_buffer *buffer, bool writable,
			     bool for_cpu, enum dma_data_direction direction)
{
	struct dray_rows all = { .width = buffer->size, .rows = 1 };
	struct dray_mapping *mapping;
	ktime_t start = ktime_get();
	struct dray_place place;
	int ret = 0;

	if (buffer->mode != DRAY_MODE_CACHED)
		return 0;
	if (for_cpu && !writable && !dray_buffer_written_outside(buffer))
		return 0;
	mutex_lock(&buffer->lock);
	ret = dray_mapping_make_postponed(buffer);
	if (ret)
		goto out;
	list_for_each_entry(mapping, &buffer->mappings, list) {
		if (!dray_device_maintained(mapping->dev))
			continue;
		ret = dray_mapping_write_back(buffer, mapping);
		if (ret)
			goto out;
		place = dray_mapping_where(buffer, mapping);
		if (writable)
			ret = dray_sync_rows(mapping->dev, &place, &all,
					     for_cpu, direction);
		else
			ret = dray_sync_rows_kept(mapping->dev, &place, &all,
						  for_cpu);
		dray_sync_count(&buffer->entry, mapping->dev, buffer->size,
				for_cpu, direction, start);
		break;
	}
	if (!ret)
		ret = dray_importers_sync(buffer, writable, for_cpu);
out:
	mutex_unlock(&buffer->lock);
	return ret;
}
