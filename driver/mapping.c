// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings: where a device finds a buffer.  A buffer is mapped once for each
 * device, on first use, without cache maintenance, and stays so for its life
 * or the device's; maintenance is always explicit.  A device that would
 * silently copy through a bounce buffer is refused.
 */
#include <linux/device.h>
#include <linux/dma-direct.h>
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/iommu.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "buffer.h"
#include "export.h"
#include "node.h"

#define DRAY_MAP_ATTRS (DMA_ATTR_SKIP_CPU_SYNC | DMA_ATTR_NO_WARN)

struct dray_mapping {
	struct list_head list; /* of a buffer */
	struct dray_node *node; /* who unmaps at the latest; a reference */
	struct device *dev; /* the node's, or that of one of its engines */
	dma_addr_t address;
};

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

bool dray_mapping_bounced(struct device *dev, dma_addr_t address,
			  phys_addr_t start)
{
	return !dray_device_translated(dev) &&
	       address != phys_to_dma(dev, start);
}

static int dray_mapping_map(struct dray_buffer *buffer,
			    struct dray_mapping *mapping,
			    struct dray_refusal *refusal)
{
	phys_addr_t start = page_to_phys(buffer->extent.page);
	u64 reach = dray_device_reach(mapping->dev);
	struct device *dev = mapping->dev;

	if (!dray_device_translated(dev) &&
	    (u64)phys_to_dma(dev, start) + buffer->size - 1 > reach)
		return dray_refuse(refusal, -ENOMEM, DRAY_REASON_BOUNCE, reach);

	mapping->address =
		dma_map_page_attrs(dev, buffer->extent.page, 0, buffer->size,
				   DMA_BIDIRECTIONAL, DRAY_MAP_ATTRS);
	if (dma_mapping_error(dev, mapping->address))
		return dray_refuse(refusal, -ENOMEM, DRAY_REASON_BOUNCE, reach);
	if (dray_mapping_bounced(dev, mapping->address, start)) {
		dma_unmap_page_attrs(dev, mapping->address, buffer->size,
				     DMA_BIDIRECTIONAL, DRAY_MAP_ATTRS);
		return dray_refuse(refusal, -ENOMEM, DRAY_REASON_BOUNCE, reach);
	}
	return 0;
}

/* The address for @dev; maps on first use.  The caller is inside @node. */
int dray_mapping_get(struct dray_buffer *buffer, struct dray_node *node,
		     struct device *dev, dma_addr_t *address,
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
	ret = dray_mapping_map(buffer, mapping, refusal);
	if (ret)
		goto free_mapping;
	/*
	 * What the CPU wrote so far, the zeros above all, is not only cached.
	 * No mapping without it: nobody would clean those lines later.
	 */
	ret = dray_sync_rows(dev, mapping->address, &all, false, DMA_TO_DEVICE);
	if (ret)
		goto unmap;
	dray_node_get(node);
	atomic_inc(&node->mappings);
	list_add_tail(&mapping->list, &buffer->mappings);
	buffer->mapped_devices++;
found:
	*address = mapping->address;
	goto out;

unmap:
	dma_unmap_page_attrs(dev, mapping->address, buffer->size,
			     DMA_BIDIRECTIONAL, DRAY_MAP_ATTRS);
free_mapping:
	kfree(mapping);
out:
	mutex_unlock(&buffer->lock);
	return ret;
}

/* Unmaps for the devices of @node, or for all. */
void dray_mappings_drop(struct dray_buffer *buffer, struct dray_node *node)
{
	struct dray_mapping *mapping, *next;

	mutex_lock(&buffer->lock);
	list_for_each_entry_safe(mapping, next, &buffer->mappings, list) {
		if (node && mapping->node != node)
			continue;
		list_del(&mapping->list);
		buffer->mapped_devices--;
		dma_unmap_page_attrs(mapping->dev, mapping->address,
				     buffer->size, DMA_BIDIRECTIONAL,
				     DRAY_MAP_ATTRS);
		if (atomic_dec_and_test(&mapping->node->mappings))
			wake_up_all(&mapping->node->unmapped);
		dray_node_put(mapping->node);
		kfree(mapping);
	}
	mutex_unlock(&buffer->lock);
}

/*
 * When @node is unbound and nobody is inside any more.  A buffer that is
 * being freed at the same time unmaps itself, and is waited for.
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
 * node's devices stands for all of them.
 */
void dray_mapping_sync_buffer(struct dray_buffer *buffer, bool for_cpu,
			      enum dma_data_direction direction)
{
	struct dray_rows all = { .width = buffer->size, .rows = 1 };
	struct dray_mapping *mapping;
	ktime_t start = ktime_get();

	mutex_lock(&buffer->lock);
	list_for_each_entry(mapping, &buffer->mappings, list) {
		if (dev_is_dma_coherent(mapping->dev))
			continue;
		dray_sync_rows(mapping->dev, mapping->address, &all, for_cpu,
			       direction);
		dray_sync_count(buffer, buffer->size, start);
		break;
	}
	dray_attachments_sync(buffer, for_cpu, direction);
	mutex_unlock(&buffer->lock);
}

int dray_address_call(struct dray_opener *opener, void *data,
		      struct dray_reply *reply)
{
	struct dray_node *node = opener->node;
	struct dray_refusal refusal = {};
	struct dray_address *args = data;
	struct dray_buffer *buffer;
	struct dray_segment segment;
	u64 length = args->length;
	dma_addr_t address;
	int ret;

	if (args->flags || args->reserved)
		return -EINVAL;
	buffer = dray_buffer_of_fd(args->fd, &refusal);
	if (IS_ERR(buffer)) {
		ret = PTR_ERR(buffer);
		goto out;
	}
	ret = dray_node_enter(node);
	if (ret)
		goto put_buffer;

	/* Without an IOMMU an address of shared memory is the key to all. */
	if (!opener->address ||
	    (!opener->raw && buffer->heap->type != DRAY_HEAP_RESERVED &&
	     !dray_device_translated(node->dev))) {
		ret = dray_refuse(&refusal, -EPERM, DRAY_REASON_PERMISSION, 0);
		goto leave;
	}
	if (!length && args->offset < buffer->size)
		length = buffer->size - args->offset;
	if (!length || !dray_range_fits(buffer, args->offset, length)) {
		ret = dray_refuse(&refusal, -EINVAL, DRAY_REASON_RANGE,
				  buffer->size);
		goto leave;
	}
	ret = dray_mapping_get(buffer, node, node->dev, &address, &refusal);
leave:
	dray_node_leave(node);
	if (ret)
		goto put_buffer;

	/* One mapping of contiguous memory is one segment. */
	args->count = 1;
	segment.address = address + args->offset;
	segment.length = length;
	if (args->room && copy_to_user(u64_to_user_ptr(args->segments),
				       &segment, sizeof(segment)))
		ret = -EFAULT;
put_buffer:
	dray_buffer_put(buffer);
out:
	args->reason = refusal.reason;
	args->limit = refusal.limit;
	return ret;
}
