// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings: where a device finds a buffer.  A buffer is mapped once for each
 * device, on first use, without cache maintenance, and stays so for its life
 * or the device's; maintenance is always explicit, and mapping_sync.c's.  A
 * device that would silently copy is refused.
 */
#include <linux/cred.h>
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
#include "export.h"
#include "trace.h"

struct dray_place dray_mapping_where(const struct dray_buffer *buffer,
				     const struct dray_mapping *mapping)
{
	return (struct dray_place){
		.stretch = &mapping->all,
		.count = 1,
		.uncached = buffer->mode != DRAY_MODE_CACHED,
		.copied =
			dray_copies_allowed() &&
			dray_device_bounced(mapping->dev, mapping->all.address,
					    buffer->extent.start),
	};
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
	if (READ_ONCE(buffer->entry.disclosed))
		dray_device_flush(mapping->dev);
}

static int dray_mapping_map(struct dray_buffer *buffer,
			    struct dray_mapping *mapping,
			    struct dray_refusal *refusal)
{
	phys_addr_t start = buffer->extent.start;
	u64 reach = dray_device_reach(mapping->dev);
	struct device *dev = mapping->dev;

	if (!dray_copies_allowed() && !dray_device_translated(dev) &&
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
	if (!dray_copies_allowed() &&
	    dray_device_bounced(dev, mapping->all.address, start)) {
		dray_mapping_unmap(buffer, mapping);
		return dray_refuse(refusal, -ENOMEM, DRAY_REASON_BOUNCE, reach);
	}
	return 0;
}

/* Most buffers have one mapping, which needs no memory of its own. */
static struct dray_mapping *dray_mapping_new(struct dray_buffer *buffer)
{
	if (!buffer->first.node)
		return &buffer->first;
	return kmalloc(sizeof(struct dray_mapping), GFP_KERNEL_ACCOUNT);
}

static void dray_mapping_free(struct dray_buffer *buffer,
			      struct dray_mapping *mapping)
{
	mapping->node = NULL;
	if (mapping != &buffer->first)
		kfree(mapping);
}

/* The postponed mapping is being made, or nobody will ask for it. */
static void dray_mapping_unpostpone(struct dray_buffer *buffer)
{
	dray_node_put(buffer->postponed);
	buffer->postponed = NULL;
}

/* Is there room for one more device of another node? */
static int dray_mapping_room(const struct dray_buffer *buffer, bool guest,
			     struct dray_refusal *refusal)
{
	if (guest && buffer->guest_devices >= DRAY_MAX_GUESTS)
		return dray_refuse(refusal, -ENOSPC, DRAY_REASON_DEVICES,
				   DRAY_MAX_GUESTS);
	if (buffer->away_devices >= DRAY_MAX_AWAY)
		return dray_refuse(refusal, -ENOSPC, DRAY_REASON_DEVICES,
				   DRAY_MAX_AWAY);
	return 0;
}

/* The mapping for @dev, made on first use.  The caller is inside @node. */
static struct dray_mapping *dray_mapping_make(struct dray_buffer *buffer,
					      struct dray_node *node,
					      struct device *dev,
					      struct dray_refusal *refusal)
{
	bool away = node->index != buffer->home;
	bool guest = away && !uid_eq(buffer->entry.uid, current_euid());
	struct dray_mapping *mapping;
	int ret = 0;

	lockdep_assert_held(&buffer->lock);
	list_for_each_entry(mapping, &buffer->mappings, list)
		if (mapping->node == node && mapping->dev == dev)
			return mapping;

	if (buffer->postponed == node && node->dev == dev)
		dray_mapping_unpostpone(buffer);
	if (away)
		ret = dray_mapping_room(buffer, guest, refusal);
	if (ret)
		return ERR_PTR(ret);
	mapping = dray_mapping_new(buffer);
	if (!mapping)
		return ERR_PTR(-ENOMEM);
	mapping->dev = dev;
	mapping->all.offset = 0;
	mapping->all.length = buffer->size;
	mapping->pending = true;
	mapping->away = away;
	mapping->guest = guest;
	ret = dray_mapping_map(buffer, mapping, refusal);
	if (ret) {
		dray_mapping_free(buffer, mapping);
		return ERR_PTR(ret);
	}
	mapping->node = node;
	dray_node_get(node);
	atomic_inc(&node->mappings);
	list_add_tail(&mapping->list, &buffer->mappings);
	buffer->away_devices += away;
	buffer->guest_devices += guest;
	trace_dray_map(&buffer->entry, buffer->size, dev);
	return mapping;
}

/* Where it is for @dev, which may use it now. */
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

/* For a new buffer that can wait, which nobody else sees. */
void dray_mapping_postpone(struct dray_buffer *buffer, struct dray_node *node)
{
	dray_node_get(node);
	buffer->postponed = node;
}

/* The CPU's access maintains for the node's device, told or not. */
int dray_mapping_make_postponed(struct dray_buffer *buffer)
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
 * For a new buffer that cannot wait: where it will be for the node's device,
 * which is not told yet.  On arm64 to write back waits until it is.  A copy is
 * up to date from the start, so that tests see what comes later.
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

static void dray_mapping_drop(struct dray_buffer *buffer,
			      struct dray_mapping *mapping)
{
	list_del(&mapping->list);
	buffer->away_devices -= mapping->away;
	buffer->guest_devices -= mapping->guest;
	dray_mapping_unmap(buffer, mapping);
	if (atomic_dec_and_test(&mapping->node->mappings) &&
	    wq_has_sleeper(&mapping->node->unmapped))
		wake_up_all(&mapping->node->unmapped);
	dray_node_put(mapping->node);
	dray_mapping_free(buffer, mapping);
}

/*
 * Unmaps for the devices of @node, which go away under those who have the
 * buffer; or for all, when it is freed.
 */
void dray_mappings_drop(struct dray_buffer *buffer, struct dray_node *node)
{
	struct dray_mapping *mapping, *next;

	if (!node && buffer->postponed)
		dray_mapping_unpostpone(buffer);
	if (!node && list_empty(&buffer->mappings))
		return;
	mutex_lock(&buffer->lock);
	if (node && buffer->postponed == node)
		dray_mapping_unpostpone(buffer);
	list_for_each_entry_safe(mapping, next, &buffer->mappings, list)
		if (!node || mapping->node == node) {
			if (node)
				dray_mapping_settle(buffer, mapping);
			dray_mapping_drop(buffer, mapping);
		}
	mutex_unlock(&buffer->lock);
}

/* The same of nodes that are being unbound, where nobody has the buffer. */
void dray_mappings_drop_gone(struct dray_buffer *buffer)
{
	struct dray_mapping *mapping, *next;

	mutex_lock(&buffer->lock);
	if (buffer->postponed && READ_ONCE(buffer->postponed->gone))
		dray_mapping_unpostpone(buffer);
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
