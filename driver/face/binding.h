/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Binding: the drivers that make a node of a device which is given to dray.
 * A device that has a driver is not borrowed: only a driver's probe claims the
 * device's addresses behind an IOMMU, so that no other driver can take them.
 */
#ifndef DRAY_BINDING_H
#define DRAY_BINDING_H

#include <linux/errno.h>
#include <linux/kconfig.h>
#include <linux/pm.h>
#include <linux/types.h>

struct device;
struct dray_node_channel;

/* All of the drivers below; the nodes that exist go with them. */
int dray_bindings_register(void);
void dray_bindings_unregister(void);

/*
 * For probe() and remove() of these drivers: the device's DMA mask, and its
 * node, @flags of which are DRAY_NODE_VIRTUAL or none.  An errno on failure.
 */
int dray_bind(struct device *dev, u32 flags,
	      const struct dray_node_channel *channels, unsigned int count);
void dray_unbind(struct device *dev);
extern const struct dev_pm_ops dray_sleep;

/*
 * platform.c and pci.c; a driver that is attached binds the devices that it was
 * shown too early.
 */
int dray_platform_register(void);
void dray_platform_attach(void);
void dray_platform_unregister(void);

#ifdef CONFIG_PCI
int dray_pci_register(void);
void dray_pci_attach(void);
void dray_pci_unregister(void);
#else
static inline int dray_pci_register(void)
{
	return 0;
}

static inline void dray_pci_attach(void)
{
}

static inline void dray_pci_unregister(void)
{
}
#endif

/* virtual.c */
#define DRAY_VIRTUAL_NAME "dray-virtual"

int dray_virtual_register(void);
void dray_virtual_unregister(void);
/* dray_bind() with as many channels as the module's parameter says. */
int dray_virtual_bind(struct device *dev);

#endif /* DRAY_BINDING_H */
