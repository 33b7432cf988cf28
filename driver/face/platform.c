// SPDX-License-Identifier: GPL-2.0-only
/*
 * Platform devices as nodes: those that the device tree calls "dray,node", the
 * virtual nodes, and any other if its driver_override says "dray".
 */
#include <linux/dray_node.h>
#include <linux/mod_devicetable.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/platform_device.h>
#include <linux/string.h>

#include "base/node.h"
#include "binding.h"
#include "platform.h"
#include "virtual.h"

/* The kind of a channel: copies, sends, receives, shows. */
static bool dray_platform_knows(const char *name)
{
	return str_has_prefix(name, "mem") || str_has_prefix(name, "tx") ||
	       str_has_prefix(name, "rx") || str_has_prefix(name, "display");
}

/* The engines that the device tree names for the device. */
static int dray_platform_bind(struct device *dev)
{
	struct dray_node_channel channels[DRAY_MAX_CHANNELS] = {};
	unsigned int count = 0;

	while (count < DRAY_MAX_CHANNELS &&
	       !of_property_read_string_index(dev->of_node, "dma-names", count,
					      &channels[count].name)) {
		if (!dray_platform_knows(channels[count].name)) {
			dev_err(dev,
				"dma-names: \"%s\" does not begin with mem, tx, rx or display\n",
				channels[count].name);
			return -EINVAL;
		}
		count++;
	}
	return dray_bind(dev, 0, channels, count);
}

static int dray_platform_probe(struct platform_device *device)
{
	/* Not the id: an override leaves that of an earlier match in place. */
	if (!strcmp(device->name, DRAY_VIRTUAL_NAME))
		return dray_virtual_bind(&device->dev);
	return dray_platform_bind(&device->dev);
}

#ifdef DRAY_REMOVE_INT
static int dray_platform_remove(struct platform_device *device)
{
	dray_unbind(&device->dev);
	return 0;
}
#else
static void dray_platform_remove(struct platform_device *device)
{
	dray_unbind(&device->dev);
}
#endif

static const struct of_device_id dray_of_match[] = {
	{ .compatible = "dray,node" }, {}
};
MODULE_DEVICE_TABLE(of, dray_of_match);

static const struct platform_device_id dray_ids[] = {
	{ .name = DRAY_VIRTUAL_NAME }, {}
};
MODULE_DEVICE_TABLE(platform, dray_ids);

static struct platform_driver dray_platform_driver = {
	.probe = dray_platform_probe,
	.remove = dray_platform_remove,
	.id_table = dray_ids,
	.driver = {
		.name = "dray",
		.of_match_table = dray_of_match,
		.pm = &dray_sleep,
	},
};

int dray_platform_register(void)
{
	return platform_driver_register(&dray_platform_driver);
}

void dray_platform_attach(void)
{
	WARN_ON(driver_attach(&dray_platform_driver.driver));
}

void dray_platform_unregister(void)
{
	platform_driver_unregister(&dray_platform_driver);
}
