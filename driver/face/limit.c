// SPDX-License-Identifier: GPL-2.0-only
/*
 * The place that a request asks for: alignment and highest address.
 */
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/device.h>
#include <linux/minmax.h>

#include "base/device.h"
#include "base/refusal.h"
#include "address.h"
#include "limit.h"

int dray_alignment_check(u64 alignment, struct dray_refusal *refusal)
{
	/* Not is_power_of_2(): it takes half of the number on 32 bits. */
	if (alignment & (alignment - 1))
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_ALIGNMENT,
				   1ULL << 63);
	return 0;
}

/*
 * Trying one limit after another would tell where memory lies.  Callers that
 * may not know that get only limits that hardware has: a number of address
 * bits.
 */
int dray_limit_check(const struct dray_opener *opener,
		     const struct dray_heap *heap, u64 limit,
		     struct dray_refusal *refusal)
{
	if (!(limit & (limit + 1)) || dray_address_allowed(opener, heap))
		return 0;
	return dray_refuse(refusal, -EPERM, DRAY_REASON_PERMISSION,
			   GENMASK_ULL(fls64(limit) - 2, 0));
}

u64 dray_limit_reach(struct device *dev, u64 limit)
{
	u64 reach = dray_device_reach(dev);

	return limit ? min(reach, limit) : reach;
}

u64 dray_limit_physical(struct device *dev, u64 limit)
{
	/* If addresses are translated, memory may lie anywhere. */
	if (dray_device_translated(dev) || dev->dma_range_map)
		return U64_MAX;
	return dray_limit_reach(dev, limit);
}
