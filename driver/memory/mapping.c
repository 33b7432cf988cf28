// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings: the place of a buffer for a device.  A buffer is mapped once for
 * each device, on first use, without cache maintenance, until the buffer is
 * freed or the device is unbound.  Maintenance is explicit, except in two cases
 * here: before a device learns the place, and before the unbinding of the last
 * device for which the buffer could be maintained.  A device that would
 * silently copy is refused.
 */
#include <linux/device.h>
#include <linux/dma-direct.h>
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "base/device.h"
#include "base/node.h"
#include "buffer.h"
#include "mapping.h"
#include "rows.h"
#include "trace.h"

static struct dray_place dray_mapping_where(const struct dray_buffer *buffer,
					    const struct dray_mapping *mapping)
{
	return (struct dray_place){
		.segment = &mapping->all,
		.count = 1,
		.uncached = buffer->mode != DRAY_MODE_CACHED,
		.copied =
			dray_copies_allowed() &&
			dray_device_bounced(mapping->dev, mapping->all.address,
					    buffer->memory.start),
	};
}

static void dray_mapping_unmap(struct dray_buffer *buffer,
			       struct dray_mapping *mapping)
{
	if (buffer->memory.page)
		dma_unmap_page_attrs(mapping->dev, mapping->all.address,
				     buffer->size, DMA_BIDIRECTIONAL,
				     DRAY_MAP_ATTRS);
	else
		dma_unmap_resource(mapping->dev, mapping->all.address,
				   buffer->size, DMA_BIDIRECTIONAL,
				   DRAY_MAP_ATTRS);
	if (READ_ONCE(buffer->entry.disclosed))
		dray_device_flush_iotlb(mapping->dev);
}

static int dray_mapping_map(struct dray_buffer *buffer,
			    struct dray_mapping *mapping,
			    struct dray_refusal *refusal)
{
	phys_addr_t start = buffer->memory.start;
	u64 reach = dray_device_reach(mapping->dev);
	struct device *dev = mapping->dev;

	if (!dray_copies_allowed() && !dray_device_translated(dev) &&
	    (u64)phys_to_dma(dev, start) + buffer->size - 1 > reach)
		return dray_refuse(refusal, -ENOMEM, DRAY_REASON_BOUNCE, reach);

	if (buffer->memory.page)
		mapping->all.address =
			dma_map_page_attrs(dev, buffer->memory.page, 0,
					   buffer->size, DMA_BIDIRECTIONAL,
					   DRAY_MAP_ATTRS);
	else
		mapping->all.address =
			dma_map_resource(dev, start, buffer->size,
					 DMA_BIDIRECTIONAL, DRAY_MAP_ATTRS);
	if (dma_mapping_error(dev, mapping->all.address))
		return dray_refuse(refusal, -ENOMEM, DRAY_REASON_BOUNCE, reach);
	if (!dray_copies_allowed() &&
	    dray_device_bounced(dev, mapping->all.address, start)) {
		dray_mapping_unmap(buffer, mapping);
		return dray_refuse(refusal, -ENOMEM, DRAY_REASON_BOUNCE, reach);
	}
	return 0;
}

/* Drops the postponed mapping: it is being made, or is no longer needed. */
static void dray_mapping_forget_postponed(struct dray_buffer *buffer)
{
	dray_node_put(buffer->postponed);
	buffer->postponed = NULL;
}

/* The mapping for @dev, made on first use.  The caller is inside @node. */
static struct dray_mapping *dray_mapping_make(struct dray_buffer *buffer,
					      struct dray_node *node,
					      struct device *dev,
					      struct dray_refusal *refusal)
{
	struct dray_mapping *mapping;
	int ret;

	lockdep_assert_held(&buffer->lock);
	list_for_each_entry(mapping, &buffer->mappings, list)
		if (mapping->node == node && mapping->dev == dev)
			return mapping;

	if (buffer->postponed == node && node->dev == dev)
		dray_mapping_forget_postponed(buffer);
	mapping = kmalloc(sizeof(*mapping), GFP_KERNEL_ACCOUNT);
	if (!mapping)
		return ERR_PTR(-ENOMEM);
	mapping->dev = dev;
	mapping->all.offset = 0;
	mapping->all.length = buffer->size;
	mapping->pending = true;
	ret = dray_mapping_map(buffer, mapping, refusal);
	if (ret) {
		kfree(mapping);
		return ERR_PTR(ret);
	}
	mapping->node = node;
	dray_node_get(node);
	atomic_inc(&node->mappings);
	list_add_tail(&mapping->list, &buffer->mappings);
	trace_dray_map(&buffer->entry, buffer->size, dev);
	return mapping;
}

/*
 * Writes back all earlier writes of the CPU, above all the zeros: before a
 * device learns the place of the buffer, and before any line of it is dropped.
 * -EINTR when the task is being killed.
 */
static int dray_mapping_write_back(struct dray_buffer *buffer,
				   struct dray_mapping *mapping)
{
	struct dray_area_rows all = { .width = buffer->size, .rows = 1 };
	struct dray_place place;
	ktime_t start;
	int ret;

	if (!mapping->pending)
		return 0;
	start = ktime_get();
	place = dray_mapping_where(buffer, mapping);
	place.uncached = !dray_heap_memory_is_cached(&buffer->memory);
	ret = dray_rows_sync(mapping->dev, &place, &all, false, DMA_TO_DEVICE);
	if (ret)
		return ret;
	mapping->pending = false;
	if (dray_device_maintained(mapping->dev) && !place.uncached)
		trace_dray_sync(&buffer->entry, mapping->dev, false,
				DMA_TO_DEVICE, buffer->size,
				ktime_to_ns(ktime_sub(ktime_get(), start)));
	return 0;
}

/* Finds the place for @dev, which may use it now. */
int dray_mapping_place(struct dray_buffer *buffer, struct dray_node *node,
		       struct device *dev, struct dray_place *place,
		       struct dray_refusal *refusal)
{
	struct dray_mapping *mapping;
	int ret;

	mutex_lock(&buffer->lock);
	mapping = dray_mapping_make(buffer, node, dev, refusal);
	ret = IS_ERR(mapping) ? PTR_ERR(mapping)
			      : dray_mapping_write_back(buffer, mapping);
	if (!ret)
		*place = dray_mapping_where(buffer, mapping);
	mutex_unlock(&buffer->lock);
	return ret;
}

/* Postpones the mapping of a new buffer that only the caller sees. */
void dray_mapping_postpone(struct dray_buffer *buffer, struct dray_node *node)
{
	dray_node_get(node);
	buffer->postponed = node;
}

/* The CPU's access maintains for the node's device, in use or not. */
static int dray_mapping_make_postponed(struct dray_buffer *buffer)
{
	struct dray_node *node = buffer->postponed;
	struct dray_refusal refusal = {};
	struct dray_mapping *mapping;

	lockdep_assert_held(&buffer->lock);
	if (!node || !dray_node_try_enter(node))
		return 0;
	mapping = dray_mapping_make(buffer, node, node->dev, &refusal);
	dray_node_leave(node);
	return PTR_ERR_OR_ZERO(mapping);
}

/*
 * Maps a new buffer that cannot wait, and returns its address for the node's
 * device, which does not know it yet.  On arm64 caches are written back when
 * the device learns it.  A copy is updated now, so that tests see later
 * changes.
 */
int dray_mapping_prepare(struct dray_buffer *buffer, struct dray_node *node,
			 dma_addr_t *address, struct dray_refusal *refusal)
{
	struct dray_mapping *mapping;
	int ret;

	mutex_lock(&buffer->lock);
	mapping = dray_mapping_make(buffer, node, node->dev, refusal);
	ret = PTR_ERR_OR_ZERO(mapping);
	if (!ret && (dray_copies_allowed() || !IS_ENABLED(CONFIG_ARM64)))
		ret = dray_mapping_write_back(buffer, mapping);
	if (!ret)
		*address = mapping->all.address;
	mutex_unlock(&buffer->lock);
	return ret;
}

/* Is this the only mapping that a CPU access maintains? */
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
 * Flushes before a mapping is removed while others use the buffer.  Without a
 * device the buffer cannot be maintained any more, and stale lines would hide
 * the device's writes.  Each line is written back and dropped, as any cache may
 * do at any time, so that no CPU write is lost.  If only channels wrote,
 * nothing is left to do.  A copy is fetched for the last time.
 */
static void dray_mapping_flush(struct dray_buffer *buffer,
			       struct dray_mapping *mapping)
{
	struct dray_area_rows all = {
		.width = buffer->size,
		.rows = 1,
		.unkillable = true,
	};
	struct dray_place place = dray_mapping_where(buffer, mapping);

	lockdep_assert_held(&buffer->lock);
	if (dray_buffer_written_outside(buffer) &&
	    (place.copied || dray_mapping_is_last(buffer, mapping)))
		dray_rows_sync_kept(mapping->dev, &place, &all, true);
}

static void dray_mapping_drop(struct dray_buffer *buffer,
			      struct dray_mapping *mapping)
{
	list_del(&mapping->list);
	dray_mapping_unmap(buffer, mapping);
	if (atomic_dec_and_test(&mapping->node->mappings) &&
	    wq_has_sleeper(&mapping->node->unmapped))
		wake_up_all(&mapping->node->unmapped);
	dray_node_put(mapping->node);
	kfree(mapping);
}

/*
 * Unmaps for the devices of @node, which is unbound while others use the
 * buffer; with NULL for all devices, when the buffer is freed.
 */
void dray_mappings_drop(struct dray_buffer *buffer, struct dray_node *node)
{
	struct dray_mapping *mapping, *next;

	if (!node && buffer->postponed)
		dray_mapping_forget_postponed(buffer);
	if (!node && list_empty(&buffer->mappings))
		return;
	mutex_lock(&buffer->lock);
	if (node && buffer->postponed == node)
		dray_mapping_forget_postponed(buffer);
	list_for_each_entry_safe(mapping, next, &buffer->mappings, list)
		if (!node || mapping->node == node) {
			if (node)
				dray_mapping_flush(buffer, mapping);
			dray_mapping_drop(buffer, mapping);
		}
	mutex_unlock(&buffer->lock);
}

/* Unmaps for nodes that are being unbound, if the buffer has no users. */
void dray_mappings_drop_gone(struct dray_buffer *buffer)
{
	struct dray_mapping *mapping, *next;

	mutex_lock(&buffer->lock);
	if (buffer->postponed && READ_ONCE(buffer->postponed->gone))
		dray_mapping_forget_postponed(buffer);
	list_for_each_entry_safe(mapping, next, &buffer->mappings, list)
		if (READ_ONCE(mapping->node->gone))
			dray_mapping_drop(buffer, mapping);
	mutex_unlock(&buffer->lock);
}

/* For debugfs: prints the devices with a mapping. */
void dray_mapping_print(struct dray_buffer *buffer, struct seq_file *file)
{
	struct dray_mapping *mapping;

	mutex_lock(&buffer->lock);
	list_for_each_entry(mapping, &buffer->mappings, list)
		seq_printf(file, " %s", dev_name(mapping->dev));
	mutex_unlock(&buffer->lock);
}

/*
 * Unmaps when @node is unbound and no call is inside any more.  A buffer that
 * is being freed or held at the same time unmaps itself, and is waited for.
 */
void dray_mappings_drop_node(struct dray_node *node)
{
	struct dray_buffer *buffer;
	struct dray_entry *entry;
	u64 id = 0;

	while ((entry = dray_entry_next(&id))) {
		buffer = dray_entry_buffer(entry);
		if (buffer)
			dray_mappings_drop(buffer, node);
		dray_entry_put(entry);
		cond_resched();
	}
	wait_event(node->unmapped, !atomic_read(&node->mappings));
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

/* Does a CPU access maintain the buffer for a device of dray? */
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
 * Caches belong to the CPU, so that any device of dray stands for all.
 */
int dray_mappings_sync(struct dray_buffer *buffer, bool writable, bool for_cpu,
		       enum dma_data_direction direction)
{
	struct dray_area_rows all = { .width = buffer->size, .rows = 1 };
	struct dray_mapping *mapping;
	ktime_t start = ktime_get();
	struct dray_place place;
	int ret;

	lockdep_assert_held(&buffer->lock);
	ret = dray_mapping_make_postponed(buffer);
	if (ret)
		return ret;
	list_for_each_entry(mapping, &buffer->mappings, list) {
		if (!dray_device_maintained(mapping->dev))
			continue;
		ret = dray_mapping_write_back(buffer, mapping);
		if (ret)
			return ret;
		place = dray_mapping_where(buffer, mapping);
		if (writable)
			ret = dray_rows_sync(mapping->dev, &place, &all,
					     for_cpu, direction);
		else
			ret = dray_rows_sync_kept(mapping->dev, &place, &all,
						  for_cpu);
		dray_rows_count(&buffer->entry, mapping->dev, buffer->size,
				for_cpu, direction, start);
		break;
	}
	return ret;
}
