// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nodes: the platform driver behind "dray,node" and the virtual nodes, their
 * character devices, and their end.  Unbinding always completes: whoever is
 * inside comes out, transfers are drained, mappings for the device are taken
 * down, and later calls on files that are still open are -ENODEV.
 */
#include <linux/capability.h>
#include <linux/device.h>
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/idr.h>
#include <linux/mod_devicetable.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/platform_device.h>
#include <linux/slab.h>

#include "buffer.h"
#include "channel.h"
#include "node.h"

static unsigned int nodes;
module_param(nodes, uint, 0444);
MODULE_PARM_DESC(nodes, "virtual nodes to make, at most 16");

static bool addresses;
module_param(addresses, bool, 0444);
MODULE_PARM_DESC(addresses, "addresses of reserved memory need no right");

static struct platform_device *dray_virtual[DRAY_MAX_NODES];
static DEFINE_IDA(dray_indices);

static void dray_node_release(struct kref *kref)
{
	struct dray_node *node = container_of(kref, struct dray_node, kref);

	dray_channels_free(node);
	put_device(node->dev);
	kfree(node);
}

void dray_node_get(struct dray_node *node)
{
	kref_get(&node->kref);
}

void dray_node_put(struct dray_node *node)
{
	kref_put(&node->kref, dray_node_release);
}

/* Before the device is touched; -ENODEV when it is gone. */
int dray_node_enter(struct dray_node *node)
{
	if (READ_ONCE(node->gone))
		return -ENODEV;
	down_read(&node->inside);
	if (!node->gone)
		return 0;
	up_read(&node->inside);
	return -ENODEV;
}

void dray_node_leave(struct dray_node *node)
{
	up_read(&node->inside);
}

/* Under the lock of misc.c, so that the node cannot be unregistered here. */
static int dray_open(struct inode *inode, struct file *file)
{
	struct dray_node *node =
		container_of(file->private_data, struct dray_node, misc);
	struct dray_opener *opener;
	int ret;

	opener = kzalloc(sizeof(*opener), GFP_KERNEL_ACCOUNT);
	if (!opener)
		return -ENOMEM;
	opener->node = node;
	opener->raw = capable(CAP_SYS_RAWIO);
	opener->address = opener->raw || addresses;
	ret = dray_queues_open(opener);
	if (ret) {
		kfree(opener);
		return ret;
	}
	dray_node_get(node);
	file->private_data = opener;
	return nonseekable_open(inode, file);
}

static int dray_close(struct inode *inode, struct file *file)
{
	struct dray_opener *opener = file->private_data;

	dray_queues_close(opener);
	dray_node_put(opener->node);
	kfree(opener);
	return 0;
}

static const struct file_operations dray_fops = {
	.owner = THIS_MODULE,
	.open = dray_open,
	.release = dray_close,
	.unlocked_ioctl = dray_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static void dray_node_add_heap(struct dray_node *node, struct dray_heap *heap)
{
	if (!IS_ERR(heap) && node->heap_count < DRAY_MAX_HEAPS)
		node->heaps[node->heap_count++] = heap;
}

/* The name that the node gives to entry @index of memory-region, or NULL. */
static const char *dray_region_name(struct device_node *np, int index)
{
	const char *name = NULL;

	of_property_read_string_index(np, "memory-region-names", index, &name);
	return name;
}

/* The regions that the device tree names, in its order. */
static void dray_node_add_regions(struct dray_node *node)
{
	struct device *dev = node->dev;
	struct dray_heap *heap;
	const char *name;
	int index, ret;

	for (index = 0; index < DRAY_MAX_HEAPS - 1; index++) {
		name = dray_region_name(dev->of_node, index);
		ret = dray_heap_of_region(dev, index, name, &heap);
		if (ret == -ENOENT)
			return;
		if (ret == -EOPNOTSUPP)
			dev_info(dev, "region %d has no-map: not used\n",
				 index);
		else if (ret)
			dev_warn(dev, "region %d is of no use: %d\n", index,
				 ret);
		else
			dray_node_add_heap(node, heap);
	}
}

/* Runs when the device is unbound, before its DMA set-up goes. */
static void dray_node_unbind(void *data)
{
	struct dray_node *node = data;

	misc_deregister(&node->misc);
	WRITE_ONCE(node->gone, true);
	/* Whoever is inside comes out, and nobody comes in any more. */
	down_write(&node->inside);
	up_write(&node->inside);
	dray_channels_remove(node);
	dray_mappings_drop_node(node);
	ida_free(&dray_indices, node->index);
	dray_node_put(node);
}

static int dray_node_probe(struct platform_device *device)
{
	struct device *dev = &device->dev;
	struct dray_node *node;
	int ret;

	ret = dma_set_mask_and_coherent(dev, DMA_BIT_MASK(64));
	if (ret)
		return dev_err_probe(dev, ret, "no DMA\n");
	dma_set_max_seg_size(dev, UINT_MAX);

	node = kzalloc(sizeof(*node), GFP_KERNEL);
	if (!node)
		return -ENOMEM;
	kref_init(&node->kref);
	init_rwsem(&node->inside);
	init_waitqueue_head(&node->unmapped);
	node->dev = get_device(dev);
	if (dev_is_dma_coherent(dev))
		node->flags |= DRAY_NODE_COHERENT;
	if (dray_device_translated(dev))
		node->flags |= DRAY_NODE_IOMMU;
	if (!dev->of_node)
		node->flags |= DRAY_NODE_VIRTUAL;

	dray_node_add_regions(node);
	dray_node_add_heap(node, dray_heap_of_type(DRAY_HEAP_PAGES));
	if (!dev->of_node)
		dray_node_add_heap(node, dray_heap_of_type(DRAY_HEAP_CMA));
	if (!node->heap_count) {
		ret = -ENOMEM;
		goto put_node;
	}
	ret = dray_channels_probe(node);
	if (ret)
		goto put_node;

	ret = ida_alloc(&dray_indices, GFP_KERNEL);
	if (ret < 0)
		goto remove_channels;
	node->index = ret;
	snprintf(node->name, sizeof(node->name), "dray%d", node->index);
	node->misc.minor = MISC_DYNAMIC_MINOR;
	node->misc.name = node->name;
	node->misc.fops = &dray_fops;
	node->misc.parent = dev;
	ret = misc_register(&node->misc);
	if (ret)
		goto free_index;
	return devm_add_action_or_reset(dev, dray_node_unbind, node);

free_index:
	ida_free(&dray_indices, node->index);
remove_channels:
	dray_channels_remove(node);
put_node:
	dray_node_put(node);
	return ret;
}

static const struct of_device_id dray_of_match[] = {
	{ .compatible = "dray,node" }, {}
};
MODULE_DEVICE_TABLE(of, dray_of_match);

static const struct platform_device_id dray_ids[] = {
	{ .name = "dray-virtual" }, {}
};
MODULE_DEVICE_TABLE(platform, dray_ids);

static struct platform_driver dray_driver = {
	.probe = dray_node_probe,
	.id_table = dray_ids,
	.driver = {
		.name = "dray",
		.of_match_table = dray_of_match,
	},
};

static void dray_virtual_remove(void)
{
	unsigned int i;

	for (i = 0; i < nodes; i++)
		platform_device_unregister(dray_virtual[i]);
}

static int dray_virtual_add(void)
{
	struct platform_device_info info = {
		.name = "dray-virtual",
		.dma_mask = DMA_BIT_MASK(64),
	};
	unsigned int i;
	int ret;

	for (i = 0; i < nodes; i++) {
		info.id = i;
		dray_virtual[i] = platform_device_register_full(&info);
		if (IS_ERR(dray_virtual[i])) {
			ret = PTR_ERR(dray_virtual[i]);
			nodes = i;
			dray_virtual_remove();
			return ret;
		}
	}
	return 0;
}

int dray_nodes_register(void)
{
	int ret;

	if (nodes > DRAY_MAX_NODES) {
		pr_err("dray: nodes=%u is above %d\n", nodes, DRAY_MAX_NODES);
		return -EINVAL;
	}
	ret = platform_driver_register(&dray_driver);
	if (ret)
		return ret;
	ret = dray_virtual_add();
	if (ret)
		platform_driver_unregister(&dray_driver);
	return ret;
}

void dray_nodes_unregister(void)
{
	dray_virtual_remove();
	platform_driver_unregister(&dray_driver);
	ida_destroy(&dray_indices);
}
