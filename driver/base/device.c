// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a device makes of memory: how far it reaches, what stands between its
 * addresses and memory, and whether caches are its business.  A device that
 * would silently copy through a bounce buffer is refused, except for tests,
 * where such copies show each maintenance that is missing.
 */
#include <linux/device.h>
#include <linux/dma-direct.h>
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/iommu.h>
#include <linux/module.h>
#include <linux/swiotlb.h>

#include "device.h"
#include "node.h"

static bool bounce;
module_param(bounce, bool, 0444);
MODULE_PARM_DESC(bounce, "for tests: use a device even where it gets copies");

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
 * Of an address that a device was told and that is unmapped now.  Where the
 * kernel flushes the IOMMU's cache lazily the device could use it for some
 * milliseconds more; from here on it cannot.
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

/* Is there anything that maintenance would do?  A copy must be made anew. */
bool dray_device_maintained(struct device *dev)
{
	return bounce || !dev_is_dma_coherent(dev);
}

/* All of a node's devices share one copy, as they would share the memory. */
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
 * Can a new buffer be mapped for @dev when that is first told of it?  Many a
 * buffer no device ever uses.  Where the place of memory is its address, as it
 * is without an IOMMU, bounce buffers, an offset, and operations of the
 * machine's own, it is known before whether the device reaches it, and nothing
 * else can come of mapping it.
 *
 * Not every architecture can wait: on arm, another driver that maps pages of
 * ours to be written (direct I/O) drops their lines first, zeros and all.  On
 * arm64 it writes them back, from Linux 5.15.50 on: the oldest that is meant.
 */
bool dray_device_can_wait(struct device *dev)
{
	return IS_ENABLED(CONFIG_ARM64) && !bounce &&
	       !dray_device_translated(dev) && !get_dma_ops(dev) &&
	       !dev->dma_range_map && !is_swiotlb_force_bounce(dev);
}
