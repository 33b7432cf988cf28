/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Binding: the drivers that make a node of a device which is given to dray.
 * A device that has a driver is not borrowed: only a driver's probe claims the
 * device's addresses behind an IOMMU, so that no other driver can take them.
 */
#ifndef DRAY_BINDING_H
#define DRAY_BINDING_H

#include <linux/pm.h>
#include <linux/types.h>

struct device;
struct dray_io;
struct dray_node_channel;

/* Devices are bound from here on: all drivers are registered. */
void dray_bindings_open(void);

/*
 * For probe() and remove() of these drivers.  Sets the device's DMA mask and
 * makes its node; @flags are DRAY_NODE_VIRTUAL or none.  @io is NULL or becomes the
 * node's, also on failure.  Returns an errno on failure.
 */
int dray_bind(struct device *dev, u32 flags,
	      const struct dray_node_channel *channels, unsigned int count,
	      struct dray_io *io);
void dray_unbind(struct device *dev);
extern const struct dev_pm_ops dray_sleep;

#endif /* DRAY_BINDING_H */
