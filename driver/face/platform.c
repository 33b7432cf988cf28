// SPDX-License-Identifier: GPL-2.0-only
/*
 * Platform devices as nodes: those that the device tree calls "dray,node", the
 * virtual nodes, and any other if its driver_override says "dray".
 */
#include <linux/err.h>
#include <linux/mod_devicetable.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "base/node.h"
#include "io/io.h"
#include "binding.h"
#include "platform.h"
#include "tree.h"
#include "virtual.h"

static int dray_platform_bind_tree(struct platform_device *device,
				   const struct dray_tree *tree)
{
	struct dray_io *io = dray_io_read(device);

	if (IS_ERR(io))
		return PTR_ERR(io);
	return dray_bind(&device->dev, 0, tree->channels, tree->count, io);
}

/* Binds it with the engines and registers that the device tree names for it. */
static int dray_platform_bind(struct platform_device *device)
{
	struct dray_tree *tree = kzalloc(sizeof(*tree), GFP_KERNEL);
	int ret;

	if (!tree)
		return -ENOMEM;
	ret = dray_tree_read(&device->dev, tree);
	if (!ret)
		ret = dray_platform_bind_tree(device, tree);
	kfree(tree);
	return ret;
}

static int dray_platform_probe(struct platform_device *device)
{
	/* Not the id: an override leaves that of an earlier match in place. */
	if (!strcmp(device->name, DRAY_VIRTUAL_NAME))
		return dray_virtual_bind(&device->dev);
	return dray_platform_bind(device);
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
