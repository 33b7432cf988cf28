/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Devices and memory: for nodes, for their engines and for other drivers.
 */
#ifndef DRAY_DEVICE_H
#define DRAY_DEVICE_H

#include <linux/dma-mapping.h>
#include <linux/types.h>

struct device;
struct dray_node;

/* Mappings for nodes: maintenance is explicit, and callers report a refusal. */
#define DRAY_MAP_ATTRS (DMA_ATTR_SKIP_CPU_SYNC | DMA_ATTR_NO_WARN)

/* For tests: may devices use bounce buffers? */
bool dray_copies_allowed(void);

bool dray_device_translated(struct device *dev);
void dray_device_flush_iotlb(struct device *dev);
u64 dray_device_reach(struct device *dev);
size_t dray_device_longest(struct device *dev);
bool dray_device_maintained(struct device *dev);
bool dray_device_can_wait(struct device *dev);
/* Is this range no memory, so that it may be registers? */
bool dray_device_is_register(u64 address, u64 size);
struct device *dray_device_mapped(struct dray_node *node,
				  struct device *engine);
/* Is @address, which @dev was given for @start, that of a copy? */
bool dray_device_bounced(struct device *dev, dma_addr_t address,
			 phys_addr_t start);

#endif /* DRAY_DEVICE_H */
