// SPDX-License-Identifier: GPL-2.0-only
/*
 * Devices and memory: how far a device reaches, whether addresses are
 * translated, and whether caches need maintenance.  A device that would
 * silently copy through a bounce buffer is refused.  Tests allow it, since such
 * copies show missing maintenance.
 */
#include <linux/device.h>
#include <linux/dma-direct.h>
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/iommu.h>
#include <linux/ioport.h>
#include <linux/module.h>
#include <linux/swiotlb.h>

#include "device.h"
#include "node.h"

static bool bounce;
module_param(bounce, bool, 0444);
MODULE_PARM_DESC(bounce,
		 "for tests: use a device even if the kernel copies for it");

bool dray_copies_allowed(void)
{
	return bounce;
}

/* Does something stand between the device's addresses and memory? */
bool dray_device_translated(struct device *dev)
{
	struct iommu_domain *domain = iommu_get_domain_for_dev(dev);

	return domain && domain->type & __IOMMU_DOMAIN_PAGING;
}

/*
 * Call this after unmapping an address that the device was told.  If the kernel
 * flushes the IOMMU's cache lazily, the device could use the address for some
 * milliseconds more.
 */
void dray_device_flush_iotlb(struct device *dev)
{
	struct iommu_domain *domain = iommu_get_domain_for_dev(dev);

	if (domain && domain->type == IOMMU_DOMAIN_DMA_FQ)
		iommu_flush_iotlb_all(domain);
}

/* The highest address that the device can put out. */
u64 dray_device_reach(struct device *dev)
{
	return min_not_zero(dma_get_mask(dev), dev->bus_dma_limit);
}

/* Bytes, whole pages, of the longest entry of a table for the device. */
size_t dray_device_longest(struct device *dev)
{
	return max_t(size_t, dma_get_max_seg_size(dev) & PAGE_MASK, PAGE_SIZE);
}

/* Does maintenance do anything for @dev? A copy must be made anew. */
bool dray_device_maintained(struct device *dev)
{
	return bounce || !dev_is_dma_coherent(dev);
}

bool dray_device_is_register(u64 address, u64 size)
{
	return address == (phys_addr_t)address && size == (size_t)size &&
	       region_intersects(address, size, IORESOURCE_SYSTEM_RAM,
				 IORES_DESC_NONE) == REGION_DISJOINT;
}

/* All devices of a node share a copy, as they would share the memory. */
struct device *dray_device_mapped(struct dray_node *node, struct device *engine)
{
	return bounce ? node->dev : engine;
}

bool dray_device_bounced(struct device *dev, dma_addr_t address,
			 phys_addr_t start)
{
	return !dray_device_translated(dev) &&
	       address != phys_to_dma(dev, start);
}

/*
 * Can a new buffer stay unmapped until @dev first needs it?  No device ever
 * uses many a buffer.  Without an IOMMU, bounce buffers, an offset or special
 * operations, the place of memory is its address, so mapping cannot fail later.
 *
 * Not every architecture can wait: on arm, direct I/O into dray's pages drops
 * their lines first, zeros included.  On arm64 it writes them back from Linux
 * 5.15.50 on, the oldest kernel supported.
 */
bool dray_device_can_wait(struct device *dev)
{
	return IS_ENABLED(CONFIG_ARM64) && !bounce &&
	       !dray_device_translated(dev) && !get_dma_ops(dev) &&
	       !dev->dma_range_map && !is_swiotlb_force_bounce(dev);
}
