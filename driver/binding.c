// SPDX-License-Identifier: GPL-2.0-only
/*
 * Binding: what the drivers for platform and PCI devices do alike.  The node is
 * the device's driver data: it is made when the device is bound, goes when the
 * device is unbound, before the driver core takes down its DMA set-up, and
 * sleeps when the system does.
 */
#include <linux/device.h>
#include <linux/dma-mapping.h>
#include <linux/dray_node.h>
#include <linux/err.h>

#include "binding.h"
#include "node.h"

/* As far as the device's bus goes: a driver of its own would know better. */
static int dray_bind_mask(struct device *dev)
{
	int ret;

	ret = dma_set_mask_and_coherent(dev, DMA_BIT_MASK(64));
	if (ret)
		ret = dma_set_mask_and_coherent(dev, DMA_BIT_MASK(32));
	if (!ret)
		dma_set_max_seg_size(dev, UINT_MAX);
	return ret;
}

int dray_bind(struct device *dev, u32 flags,
	      const struct dray_node_channel *channels, unsigned int count)
{
	struct dray_node *node;
	int ret;

	ret = dray_bind_mask(dev);
	if (ret)
		return dev_err_probe(dev, ret, "no DMA\n");
	node = dray_node_create(dev, flags, channels, count);
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

int dray_bindings_register(void)
{
	int ret;

	ret = dray_platform_register();
	if (ret)
		return ret;
	ret = dray_pci_register();
	if (ret)
		goto unregister_platform;
	ret = dray_virtual_register();
	if (ret)
		goto unregister_pci;
	return 0;

unregister_pci:
	dray_pci_unregister();
unregister_platform:
	dray_platform_unregister();
	return ret;
}

void dray_bindings_unregister(void)
{
	dray_virtual_unregister();
	dray_pci_unregister();
	dray_platform_unregister();
}
