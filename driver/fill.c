// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fills: their patterns, and memory full of one for an engine that only
 * copies.
 */
#include <linux/dma-mapping.h>
#include <linux/errno.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "account.h"
#include "transfer.h"

bool dray_pattern_valid(const struct dray_transfer *transfer)
{
	u32 size = transfer->pattern_size;

	if (transfer->op == DRAY_OP_COPY && size)
		return false;
	if (transfer->op == DRAY_OP_FILL &&
	    (!is_power_of_2(size) || size > DRAY_MAX_PATTERN ||
	     transfer->run & (size - 1)))
		return false;
	return !memchr_inv(transfer->pattern + size, 0,
			   DRAY_MAX_PATTERN - size);
}

bool dray_pattern_is_byte(const struct dray_plan *plan)
{
	return !memchr_inv(plan->pattern, plan->pattern[0], plan->pattern_size);
}

/* Kernel memory that the caller makes us keep until the job's end: locked. */
static int dray_plan_alloc_pattern(struct dray_plan *plan, struct device *dev,
				   size_t size, struct dray_refusal *refusal)
{
	int ret;

	ret = dray_charge_user(size, &plan->fill_user, refusal);
	if (ret)
		return ret;
	plan->fill = dma_alloc_coherent(dev, size, &plan->fill_address,
					GFP_KERNEL | __GFP_NOWARN);
	if (!plan->fill) {
		dray_uncharge_user(plan->fill_user, size);
		return -ENOMEM;
	}
	plan->fill_size = size;
	return 0;
}

/* A piece of memory full of the pattern, for an engine that only copies. */
int dray_plan_map_pattern(struct dray_plan *plan, struct device *dev,
			  struct dray_refusal *refusal)
{
	size_t size = PAGE_ALIGN(min(plan->run, plan->fill_most));
	size_t done;
	int ret;

	ret = dray_plan_alloc_pattern(plan, dev, size, refusal);
	if (ret && size > PAGE_SIZE) {
		*refusal = (struct dray_refusal){};
		ret = dray_plan_alloc_pattern(plan, dev, PAGE_SIZE, refusal);
	}
	if (ret)
		return ret;
	for (done = 0; done < plan->fill_size; done += plan->pattern_size)
		memcpy(plan->fill + done, plan->pattern, plan->pattern_size);
	plan->piece = min_t(u64, plan->piece, plan->fill_size);
	return 0;
}

void dray_plan_unfit(struct dray_plan *plan, struct device *dev)
{
	if (!plan->fill)
		return;
	dma_free_coherent(dev, plan->fill_size, plan->fill, plan->fill_address);
	dray_plan_abandon(plan);
}

/* The pattern stays where it is, and nobody pays for it any more. */
void dray_plan_abandon(struct dray_plan *plan)
{
	if (!plan->fill)
		return;
	dray_uncharge_user(plan->fill_user, plan->fill_size);
	plan->fill = NULL;
}
