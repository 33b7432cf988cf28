// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A platform driver called "dray", without a device: the kernel takes no second
 * one of that name, so that inserting dray.ko fails there.
 */
#include <linux/module.h>
#include <linux/platform_device.h>

static int namesake_probe(struct platform_device *device)
{
	return -ENODEV;
}

static struct platform_driver namesake_driver = {
	.probe = namesake_probe,
	.driver.name = "dray",
};

module_platform_driver(namesake_driver);

MODULE_DESCRIPTION("A platform driver with dray's name, for tests");
MODULE_LICENSE("Dual MIT/GPL");
