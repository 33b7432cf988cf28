// SPDX-License-Identifier: GPL-2.0-only
/*
 * Binding: the common part of the drivers for platform and PCI devices.  The
 * node is the device's driver data.  It is made when the device is bound, and
 * sleeps when the system does.  It is removed when the device is unbound, before
 * the driver core undoes its DMA set-up.
 *
 * No device is bound before all drivers are registered.  If the insertion fails
 * after a program opened a node, the kernel frees the module all the same.
 */
#include <linux/device.h>
#include <linux/dma-mapping.h>
#include <linux/dray_node.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "base/node.h"
#include "binding.h"
#include "register.h"

static unsigned int dma_bits;
module_param(dma_bits, uint, 0644);
MODULE_PARM_DESC(dma_bits,
		 "address bits of devices bound from now on; 0: their bus's");

static bool dray_bindings_are_open;

/* The device's earlier settings, for its next driver. */
struct dray_bind_before {
	struct device *dev;
	u64 mask;
	u64 coherent_mask;
	unsigned int max_segment; /* 0: not set */
};

/* When the binding fails, or behind the node's end. */
static void dray_bind_restore(void *data)
{
	struct dray_bind_before *before = data;
	struct device *dev = before->dev;

	*dev->dma_mask = before->mask;
	dev->coherent_dma_mask = before->coherent_mask;
	if (dev->dma_parms)
		dma_set_max_seg_size(dev, before->max_segment);
}

static int dray_bind_remember(struct device *dev)
{
	struct dray_bind_before *before;

	if (!dev->dma_mask)
		return dev_err_probe(dev, -EINVAL, "no DMA mask\n");
	before = devm_kzalloc(dev, sizeof(*before), GFP_KERNEL);
	if (!before)
		return -ENOMEM;
	before->dev = dev;
	before->mask = *dev->dma_mask;
	before->coherent_mask = dev->coherent_dma_mask;
	if (dev->dma_parms)
		before->max_segment = dev->dma_parms->max_segment_size;
	return devm_add_action(dev, dray_bind_restore, before);
}

/*
 * Sets the mask to the width of the device's bus, unless it was narrowed
 * before.  A mask starts with 32 bits: a narrower mask is the firmware's, or was
 * left by a driver that knows the device.
 */
static int dray_bind_mask_default(struct device *dev)
{
	u64 mask = dma_get_mask(dev);
	int ret;

	if (mask < DMA_BIT_MASK(32))
		return dma_set_mask_and_coherent(dev, mask);
	ret = dma_set_mask_and_coherent(dev, DMA_BIT_MASK(64));
	if (ret)
		ret = dma_set_mask_and_coherent(dev, DMA_BIT_MASK(32));
	return ret;
}

static int dray_bind_mask(struct device *dev)
{
	unsigned int bits = READ_ONCE(dma_bits);
	int ret;

	if (bits > 64)
		return dev_err_probe(dev, -EINVAL, "dma_bits=%u is above 64\n",
				     bits);
	if (bits)
		ret = dma_set_mask_and_coherent(dev, DMA_BIT_MASK(bits));
	else
		ret = dray_bind_mask_default(dev);
	if (ret)
		return dev_err_probe(dev, ret, "no DMA with dma_bits=%u\n",
				     bits);
	dma_set_max_seg_size(dev, UINT_MAX);
	return 0;
}

int dray_bind(struct device *dev, u32 flags,
	      const struct dray_node_channel *channels, unsigned int count,
	      struct dray_io *io)
{
	struct dray_node *node;
	int ret = -ENODEV;

	if (READ_ONCE(dray_bindings_are_open))
		ret = dray_bind_remember(dev);
	if (!ret)
		ret = dray_bind_mask(dev);
	if (ret) {
		kfree(io);
		return ret;
	}
	node = dray_node_create(dev, flags, channels, count, io);
	if (IS_ERR(node))
		return PTR_ERR(node);
	dev_set_drvdata(dev, node);
	return 0;
}

void dray_unbind(struct device *dev)
{
	dray_node_unregister(dev_get_drvdata(dev));
}

static int __maybe_unused dray_sleep_suspend(struct device *dev)
{
	return dray_node_suspend(dev_get_drvdata(dev));
}

static int __maybe_unused dray_sleep_resume(struct device *dev)
{
	return dray_node_resume(dev_get_drvdata(dev));
}

SIMPLE_DEV_PM_OPS(dray_sleep, dray_sleep_suspend, dray_sleep_resume);

void dray_bindings_open(void)
{
	WRITE_ONCE(dray_bindings_are_open, true);
}
