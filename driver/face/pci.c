// SPDX-License-Identifier: GPL-2.0-only
/*
 * PCI devices as nodes.  There is no table of identifiers: a device comes here
 * only if its driver_override says "dray". It is switched on and may be a bus
 * master; its registers are left to user space.
 */
#include <linux/pci.h>

#include "binding.h"
#include "pci.h"

static int dray_pci_probe(struct pci_dev *device,
			  const struct pci_device_id *id)
{
	int ret;

	ret = pci_enable_device(device);
	if (ret)
		return ret;
	pci_set_master(device);
	ret = dray_bind(&device->dev, 0, NULL, 0, NULL);
	if (ret) {
		pci_clear_master(device);
		pci_disable_device(device);
	}
	return ret;
}

/* The device may not write any more when its buffers are unmapped. */
static void dray_pci_remove(struct pci_dev *device)
{
	pci_clear_master(device);
	dray_unbind(&device->dev);
	pci_disable_device(device);
}

static struct pci_driver dray_pci_driver = {
	.name = "dray",
	.probe = dray_pci_probe,
	.remove = dray_pci_remove,
	.driver.pm = &dray_sleep,
};

int dray_pci_register(void)
{
	return pci_register_driver(&dray_pci_driver);
}

void dray_pci_attach(void)
{
	WARN_ON(driver_attach(&dray_pci_driver.driver));
}

void dray_pci_unregister(void)
{
	pci_unregister_driver(&dray_pci_driver);
}
