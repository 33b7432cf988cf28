// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registering and unregistering nodes, with the character device in front.
 * Unregistering always completes: calls inside return, transfers are drained,
 * and mappings for the device are removed.  Later calls on open files return
 * -ENODEV.
 */
#include <linux/device.h>
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/dray_node.h>
#include <linux/err.h>
#include <linux/idr.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/slab.h>

#include "base/device.h"
#include "base/node.h"
#include "heap/heaps.h"
#include "memory/attachment.h"
#include "memory/hold.h"
#include "memory/mapping.h"
#include "engine/channel.h"
#include "engine/sleep.h"
#include "io/io.h"
#include "attributes.h"
#include "debug.h"
#include "file.h"
#include "register.h"

static DEFINE_IDA(dray_indices);

static void dray_node_add_heap(struct dray_node *node, struct dray_heap *heap)
{
	if (node->heap_count < DRAY_MAX_HEAPS)
		node->heaps[node->heap_count++] = heap;
}

/* Returns the name of entry @index of the node's memory-region, or NULL. */
static const char *dray_region_name(struct device_node *np, int index)
{
	const char *name = NULL;

	of_property_read_string_index(np, "memory-region-names", index, &name);
	return name;
}

/* The regions that the device tree names, in its order. */
static int dray_node_add_regions(struct dray_node *node)
{
	struct device *dev = node->dev;
	struct dray_heap *heap;
	const char *name;
	int index, ret;

	for (index = 0; index < DRAY_MAX_HEAPS - 1; index++) {
		name = dray_region_name(dev->of_node, index);
		ret = dray_heaps_region(dev, index, name, &heap);
		if (ret == -ENOENT)
			return 0;
		if (ret == -ENOMEM)
			return ret;
		if (ret)
			dev_warn(dev, "region %d is of no use: %d\n", index,
				 ret);
		else
			dray_node_add_heap(node, heap);
	}
	return 0;
}

static void dray_node_describe(struct dray_node *node)
{
	if (dev_is_dma_coherent(node->dev))
		node->flags |= DRAY_NODE_COHERENT;
	if (dray_device_translated(node->dev))
		node->flags |= DRAY_NODE_IOMMU;
}

/* The system's heaps; heaps that this system lacks are skipped. */
static int dray_node_add_system(struct dray_node *node)
{
	struct dray_heap *heap;
	unsigned int index;
	int ret;

	for (index = 0;; index++) {
		ret = dray_heaps_system(node->dev, index, &heap);
		if (ret == -ENOENT)
			return 0;
		if (ret == -ENOMEM)
			return ret;
		if (!ret)
			dray_node_add_heap(node, heap);
	}
}

/*
 * Puts the system's heaps behind the device's own.  If one is missing for want
 * of memory, the node fails: it would allocate other memory instead.
 */
static int dray_node_add_heaps(struct dray_node *node)
{
	int ret = dray_node_add_regions(node);

	if (!ret)
		ret = dray_node_add_system(node);
	return ret || node->heap_count ? ret : -ENODEV;
}

static int dray_node_publish(struct dray_node *node)
{
	int ret;

	ret = ida_alloc(&dray_indices, GFP_KERNEL);
	if (ret < 0)
		return ret;
	node->index = ret;
	snprintf(node->name, sizeof(node->name), "dray%d", node->index);
	node->misc.minor = MISC_DYNAMIC_MINOR;
	node->misc.name = node->name;
	node->misc.fops = &dray_fops;
	node->misc.parent = node->dev;
	node->misc.groups = dray_node_groups;
	ret = misc_register(&node->misc);
	if (ret)
		ida_free(&dray_indices, node->index);
	else
		dray_debug_add(node);
	return ret;
}

/*
 * Makes a node for @dev; @flags are DRAY_NODE_VIRTUAL or none.  @io becomes the
 * node's, also on failure; NULL: no registers or interrupts.
 */
struct dray_node *dray_node_create(struct device *dev, u32 flags,
				   const struct dray_node_channel *channels,
				   unsigned int count, struct dray_io *io)
{
	struct dray_node *node;
	int ret;

	node = NULL;
	ret = -EINVAL;
	if (dev->dma_mask && *dev->dma_mask) {
		node = kzalloc(sizeof(*node), GFP_KERNEL);
		ret = -ENOMEM;
	}
	if (!node) {
		kfree(io);
		return ERR_PTR(ret);
	}
	kref_init(&node->kref);
	init_rwsem(&node->inside);
	init_waitqueue_head(&node->unmapped);
	node->dev = get_device(dev);
	node->flags = flags;
	node->io = io;
	node->hold = dray_hold_default();
	dray_node_describe(node);
	ret = dray_node_add_heaps(node);
	if (ret)
		goto put_node;
	if (DRAY_ENGINES)
		ret = dray_channels_probe(node, channels, count);
	if (ret)
		goto put_node;
	ret = dray_node_publish(node);
	if (ret)
		goto put_node;
	return node;

put_node:
	dray_node_put(node);
	return ERR_PTR(ret);
}

/**
 * dray_node_register - make a node for a device
 * @dev: the device that does DMA, with its DMA mask set.  The caller is its
 *	driver, and calls this while it is bound or being bound.
 * @channels: engines of the node; copied, names and configurations included
 * @count: how many of them, at most 16
 *
 * The node gets the heaps of the device's memory-region, then the heaps of the
 * system; the device's DMA mask, coherence and IOMMU domain; and @channels.
 * If another device provides a channel, a device link orders their ends: the
 * caller's remove() is called before the provider is unbound.  A provider that is
 * the caller's device or its child cannot be linked; then the caller ensures the
 * order.
 *
 * Programs may use the node before this returns.
 *
 * Context: may sleep.
 * Return: the node, for dray_node_unregister() before the device's driver is
 * gone; or an ERR_PTR: -EINVAL if @dev has no DMA mask, a channel is without a
 * name or its kind forbids its configuration, or there are too many; -ENOMEM;
 * -EPROBE_DEFER if the provider of a channel is being unbound; -EBUSY if no minor
 * number is left.
 */
struct dray_node *dray_node_register(struct device *dev,
				     const struct dray_node_channel *channels,
				     unsigned int count)
{
	return dray_node_create(dev, 0, channels, count, NULL);
}
EXPORT_SYMBOL_GPL(dray_node_register);

/**
 * dray_node_unregister - remove a node
 * @node: the result of dray_node_register()
 *
 * Waits for calls inside and for descriptors that the engines hold (at most the
 * module's watchdog_ms and a quarter more), and unmaps all buffers for the
 * device.  Afterwards dray touches neither the device nor its channels.  Buffers
 * that programs hold stay valid; calls on the node's open files are -ENODEV.
 * Call it from remove(), before the device is stopped and before channels are
 * released.
 *
 * Context: may sleep.
 */
void dray_node_unregister(struct dray_node *node)
{
	misc_deregister(&node->misc);
	dray_debug_remove(node);
	WRITE_ONCE(node->gone, true);
	/* Waits for calls inside; no further call enters. */
	down_write(&node->inside);
	up_write(&node->inside);
	dray_io_end(node);
	if (DRAY_ENGINES)
		dray_channels_remove(node);
	dray_attachments_drop_node(node);
	dray_mappings_drop_node(node);
	ida_free(&dray_indices, node->index);
	dray_node_put(node);
}
EXPORT_SYMBOL_GPL(dray_node_unregister);

/**
 * dray_node_suspend - start no more work of the engines
 * @node: the result of dray_node_register()
 *
 * Waits for all jobs that can run, at most twice the module's watchdog_ms and a
 * quarter.  A job that waits for a fence of another driver or node stays in its
 * queue.  From here on SUBMIT waits for dray_node_resume(), or returns -EAGAIN
 * if the caller does not want to wait.  Buffers, mappings and attachments stay,
 * and no fence ends with an error because of it.
 * Call it from the device's suspend(), before the device is stopped; not for
 * runtime power management, since engines get work meanwhile.
 *
 * Context: may sleep.
 * Return: 0, so that it can be the last line of suspend().
 */
int dray_node_suspend(struct dray_node *node)
{
	if (DRAY_ENGINES)
		dray_channels_suspend(node);
	return 0;
}
EXPORT_SYMBOL_GPL(dray_node_suspend);

/**
 * dray_node_resume - feed the engines again
 * @node: the result of dray_node_register()
 *
 * Call it from the device's resume(), when the device works again.
 *
 * Return: 0, so that it can be the last line of resume().
 */
int dray_node_resume(struct dray_node *node)
{
	if (DRAY_ENGINES)
		dray_channels_resume(node);
	return 0;
}
EXPORT_SYMBOL_GPL(dray_node_resume);
