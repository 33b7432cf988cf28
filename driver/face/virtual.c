// SPDX-License-Identifier: GPL-2.0-only
/*
 * Virtual nodes: platform devices without hardware, for machines that have
 * nothing to bind.  Each takes any copy channels that the system has.
 */
#include <linux/dma-mapping.h>
#include <linux/dray_node.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/platform_device.h>

#include "base/node.h"
#include "binding.h"
#include "virtual.h"

#define DRAY_MAX_NODES 16

static unsigned int nodes;
module_param(nodes, uint, 0444);
MODULE_PARM_DESC(nodes, "virtual nodes to make, at most 16");

static unsigned int virtual_channels;
module_param_named(channels, virtual_channels, uint, 0444);
MODULE_PARM_DESC(channels, "copy channels that a virtual node asks for");

static struct platform_device *dray_virtual[DRAY_MAX_NODES];

int dray_virtual_bind(struct device *dev)
{
	struct dray_node_channel channels[DRAY_MAX_CHANNELS] = {};
	unsigned int count =
		min_t(unsigned int, virtual_channels, DRAY_MAX_CHANNELS);
	unsigned int i;
	char names[DRAY_MAX_CHANNELS][8];

	for (i = 0; i < count; i++) {
		snprintf(names[i], sizeof(names[i]), "copy%u", i);
		channels[i].name = names[i];
	}
	return dray_bind(dev, DRAY_NODE_VIRTUAL, channels, count, NULL);
}

void dray_virtual_unregister(void)
{
	unsigned int i;

	for (i = 0; i < nodes; i++)
		platform_device_unregister(dray_virtual[i]);
}

int dray_virtual_register(void)
{
	struct platform_device_info info = {
		.name = DRAY_VIRTUAL_NAME,
		.dma_mask = DMA_BIT_MASK(64),
	};
	unsigned int i;
	int ret;

	if (nodes > DRAY_MAX_NODES) {
		pr_err("dray: nodes=%u is above %d\n", nodes, DRAY_MAX_NODES);
		return -EINVAL;
	}
	for (i = 0; i < nodes; i++) {
		info.id = i;
		dray_virtual[i] = platform_device_register_full(&info);
		if (IS_ERR(dray_virtual[i])) {
			ret = PTR_ERR(dray_virtual[i]);
			nodes = i;
			dray_virtual_unregister();
			return ret;
		}
	}
	return 0;
}
