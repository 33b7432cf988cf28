// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings: where a device finds a buffer.  A buffer is mapped once for each
 * device, on first use, without cache maintenance, and stays so for its life
 * or the device's; maintenance is always explicit.  A device that would
 * silently copy through a bounce buffer is refused, except for tests, where
 * such copies show each maintenance that is missing.
 */
#include <linux/device.h>
#include <linux/dma-direct.h>
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/iommu.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "buffer.h"
#include "export.h"
#include "node.h"
#include "trace.h"

static bool bounce;
module_param(bounce, bool, 0444);
MODULE_PARM_DESC(bounce, "for tests: use a device even where it gets copies");

#define DRAY_MAP_ATTRS (DMA_ATTR_SKIP_CPU_SYNC | DMA_ATTR_NO_WARN)

struct dray_mapping {
	struct list_head list; /* of a buffer */
	struct dray_node *node; /* who unmaps at the latest; a reference */
	struct device *dev; /* the node's, or that of one of its engines */
	struct dray_stretch all; /* contiguous memory is one stretch */
};

static struct dray_place dray_mapping_where(const struct dray_buffer *buffer,
					    const struct dray_mapping *mapping)
{
	return (struct dray_place){
		.stretch = &mapping->all,
		.count = 1,
		.uncached = buffer->mode != DRAY_MODE_CACHED,
		.copied = bounce && dray_mapping_bounced(mapping->dev,
							 mapping->all.address,
							 buffer->extent.start),
	};
}

/* Does something stand between the device's addresses and memory? */
bool dray_device_translated(struct device *dev)
{
	struct iommu_domain *domain = iommu_get_domain_for_dev(dev);

	return domain && domain->type & __IOMMU_DOMAIN_PAGING;
}

/* The highest address that the device can put out. */
u64 dray_device_reach(struct device *dev)
{
	return min_not_zero(dma_get_mask(dev), dev->bus_dma_limit);
}

/* Is there anything that maintenance would do?  A copy must be made anew. */
bool dray_device_maintained(struct device *dev)
{
	return bounce || !dev_is_dma_coherent(dev);
}

/* All of a node's devices share one copy, as they would share the memory. */
struct device *dray_device_mapped(struct dray_node *node, struct device *engine)
{
	return bounce ? node->dev : engine;
}

bool dray_mapping_bounced(struct device *dev, dma_addr_t address,
			  phys_addr_t start)
{
	return !dray_device_translated(dev) &&
	       address != phys_to_dma(dev, start);
}

static void dray_mapping_unmap(struct dray_buffer *buffer,
			       struct dray_mapping *mapping)
{
	if (buffer->extent.page)
		dma_unmap_page_attrs(mapping->dev, mapping->all.address,
				     buffer->size, DMA_BIDIRECTIONAL,
				     DRAY_MAP_ATTRS);
	else
		dma_unmap_resource(mapping->dev, mapping->all.address,
				   buffer->size, DMA_BIDIRECTIONAL,
				   DRAY_MAP_ATTRS);
}

static int dray_mapping_map(struct dray_buffer *buffer,
			    struct dray_mapping *mapping,
			    struct dray_refusal *refusal)
{
	phys_addr_t start = buffer->extent.start;
	u64 reach = dray_device_reach(mapping->dev);
	struct device *dev = mapping->dev;

	if (!bounce && !dray_device_translated(dev) &&
	    (u64)phys_to_dma(dev, start) + buffer->size - 1 > reach)
		return dray_refuse(refusal, -ENOMEM, DRAY_REASON_BOUNCE, reach);

	if (buffer->extent.page)
		mapping->all.address =
			dma_map_page_attrs(dev, buffer->extent.page, 0,
					   buffer->size, DMA_BIDIRECTIONAL,
					   DRAY_MAP_ATTRS);
	else
		mapping->all.address =
			dma_map_resource(dev, start, buffer->size,
					 DMA_BIDIRECTIONAL, DRAY_MAP_ATTRS);
	if (dma_mapping_error(dev, mapping->all.address))
		return dray_refuse(refusal, -ENOMEM, DRAY_REASON_BOUNCE, reach);
	if (!bounce && dray_mapping_bounced(dev, mapping->all.address, start)) {
		dray_mapping_unmap(buffer, mapping);
		return dray_refuse(refusal, -ENOMEM, DRAY_REASON_BOUNCE, reach);
	}
	return 0;
}

/* Where it is for @dev; maps on first use.  The caller is inside @node. */
int dray_mapping_place(struct dray_buffer *buffer, struct dray_node *node,
		       struct device *dev, struct dray_place *place,
		       struct dray_refusal *refusal)
{
	struct dray_rows all = { .width = buffer->size, .rows = 1 };
	struct dray_mapping *mapping;
	int ret = 0;

	mutex_lock(&buffer->lock);
	list_for_each_entry(mapping, &buffer->mappings, list)
		if (mapping->node == node && mapping->dev == dev)
			goto found;

	if (buffer->mapped_devices >= DRAY_MAX_MAPPINGS) {
		ret = -ENOSPC;
		goto out;
	}
	mapping = kzalloc(sizeof(*mapping), GFP_KERNEL_ACCOUNT);
	if (!mapping) {
		ret = -ENOMEM;
		goto out;
	}
	mapping->node = node;
	mapping->dev = dev;
	mapping->all.length = buffer->size;
	ret = dray_mapping_map(buffer, mapping, refusal);
	if (ret)
		goto free_mapping;
	/*
	 * What the CPU wrote so far, the zeros above all, is not only cached.
	 * No mapping without it: nobody would clean those lines later.
	 */
	*place = dray_mapping_where(buffer, mapping);
	place->uncached = !dray_extent_is_cached(&buffer->extent);
	ret = dray_sync_rows(dev, place, &all, false, DMA_TO_DEVICE);
	if (ret)
		goto unmap;
	dray_node_get(node);
	atomic_inc(&node->mappings);
	list_add_tail(&mapping->list, &buffer->mappings);
	buffer->mapped_devices++;
	trace_dray_map(buffer, dev);
found:
	*place = dray_mapping_where(buffer, mapping);
	goto out;

unmap:
	dray_mapping_unmap(buffer, mapping);
free_mapping:
	kfree(mapping);
out:
	mutex_unlock(&buffer->lock);
	return ret;
}

/* The same, for who wants the address only. */
int dray_mapping_get(struct dray_buffer *buffer, struct dray_node *node,
		     struct device *dev, dma_addr_t *address,
		     struct dray_refusal *refusal)
{
	struct dray_place place;
	int ret = dray_mapping_place(buffer, node, dev, &place, refusal);

	if (!ret)
		*address = place.stretch->address;
	return ret;
}

static void dray_mapping_drop(struct dray_buffer *buffer,
			      struct dray_mapping *mapping)
{
	list_del(&mapping->list);
	buffer->mapped_devices--;
	dray_mapping_unmap(buffer, mapping);
	if (atomic_dec_and_test(&mapping->node->mappings))
		wake_up_all(&mapping->node->unmapped);
	dray_node_put(mapping->node);
	kfree(mapping);
}

/* Unmaps for the devices of @node, or for all. */
void dray_mappings_drop(struct dray_buffer *buffer, struct dray_node *node)
{
	struct dray_mapping *mapping, *next;

	mutex_lock(&buffer->lock);
	list_for_each_entry_safe(mapping, next, &buffer->mappings, list)
		if (!node || mapping->node == node)
			dray_mapping_drop(buffer, mapping);
	mutex_unlock(&buffer->lock);
}

/* Unmaps for the devices of nodes that are being unbound. */
void dray_mappings_drop_gone(struct dray_buffer *buffer)
{
	struct dray_mapping *mapping, *next;

	mutex_lock(&buffer->lock);
	list_for_each_entry_safe(mapping, next, &buffer->mappings, list)
		if (READ_ONCE(mapping->node->gone))
			dray_mapping_drop(buffer, mapping);
	mutex_unlock(&buffer->lock);
}

/* For debugfs: the devices that a buffer is mapped for. */
void dray_mapping_print(struct dray_buffer *buffer, struct seq_file *file)
{
	struct dray_mapping *mapping;

	mutex_lock(&buffer->lock);
	list_for_each_entry(mapping, &buffer->mappings, list)
		seq_printf(file, " %s", dev_name(mapping->dev));
	mutex_unlock(&buffer->lock);
}

/*
 * When @node is unbound and nobody is inside any more.  A buffer that is
 * being freed or held at the same time unmaps itself, and is waited for.
 */
void dray_mappings_drop_node(struct dray_node *node)
{
	struct dray_buffer *buffer;
	u64 id = 0;

	while ((buffer = dray_buffer_next(&id))) {
		dray_mappings_drop(buffer, node);
		dray_buffer_put(buffer);
		cond_resched();
	}
	wait_event(node->unmapped, !atomic_read(&node->mappings));
}

/*
 * Maintenance of the whole buffer: for the node whether anybody is attached
 * or not, and for the importers.  Caches belong to the CPU, so one of the
 * node's devices stands for all of them.  Nothing is lost by the access of
 * somebody who may not write.
 */
void dray_mapping_sync_buffer(struct dray_buffer *buffer, bool writable,
			      bool for_cpu, enum dma_data_direction direction)
{
	struct dray_rows all = { .width = buffer->size, .rows = 1 };
	struct dray_mapping *mapping;
	ktime_t start = ktime_get();
	struct dray_place place;

	if (buffer->mode != DRAY_MODE_CACHED)
		return;
	mutex_lock(&buffer->lock);
	list_for_each_entry(mapping, &buffer->mappings, list) {
		if (!dray_device_maintained(mapping->dev))
			continue;
		place = dray_mapping_where(buffer, mapping);
		if (writable)
			dray_sync_rows(mapping->dev, &place, &all, for_cpu,
				       direction);
		else
			dray_sync_rows_kept(mapping->dev, &place, &all,
					    for_cpu);
		dray_sync_count(buffer, mapping->dev, buffer->size, for_cpu,
				direction, start);
		break;
	}
	dray_importers_sync(buffer, writable, for_cpu);
	mutex_unlock(&buffer->lock);
}
