// SPDX-License-Identifier: GPL-2.0-only
/*
 * The work that all kinds of heap share: counting bytes and charging users.
 */
#include <linux/bits.h>
#include <linux/dma-map-ops.h>
#include <linux/string.h>

#include "account.h"
#include "heap.h"

/* The modes that can be in effect for @dev. */
u32 dray_heap_modes(const struct dray_heap *heap, struct device *dev)
{
	if (dev_is_dma_coherent(dev) && heap->modes & BIT(DRAY_MODE_CACHED))
		return heap->modes &
		       (BIT(DRAY_MODE_CACHED) | BIT(DRAY_MODE_DEVICE));
	return heap->modes;
}

/*
 * Makes of the mode that is asked for the one in effect.  A device that snoops
 * sees cached memory as it is, so the other modes have no use for it.
 */
bool dray_heap_offers(const struct dray_heap *heap, struct device *dev,
		      u32 *mode)
{
	u32 modes = dray_heap_modes(heap, dev);

	if (dev_is_dma_coherent(dev) && modes & BIT(DRAY_MODE_CACHED) &&
	    *mode != DRAY_MODE_DEVICE)
		*mode = DRAY_MODE_CACHED;
	return modes & BIT(*mode);
}

int dray_heap_alloc(struct dray_heap *heap,
		    const struct dray_heap_request *request,
		    struct dray_heap_memory *memory,
		    struct dray_refusal *refusal)
{
	size_t size = request->size;
	int ret;

	/* A request that cannot be met is never charged, even for a moment. */
	ret = heap->ops->check(heap, request, refusal);
	if (ret)
		return ret;
	if (heap->ops->takes)
		size = heap->ops->takes(heap, request);
	ret = dray_charge_take(memory->charge, heap, size, refusal);
	if (ret)
		return ret;
	ret = heap->ops->alloc(heap, request, memory, refusal);
	if (ret) {
		dray_charge_end(memory->charge);
		return ret;
	}
	memory->mode = request->mode;
	atomic_inc(&heap->buffers);
	atomic64_add(memory->size, &heap->used);
	return 0;
}

bool dray_heap_free(struct dray_heap *heap,
		    const struct dray_heap_memory *memory, bool condemned)
{
	size_t size = memory->size;
	bool last;

	if (condemned) {
		pr_warn("dray: %zu bytes of %s stay out of use: a device may write them\n",
			size, heap->name);
		if (heap->ops->condemn)
			heap->ops->condemn(heap, memory);
		else
			atomic64_add(size, &heap->condemned);
	} else {
		heap->ops->free(heap, memory);
	}
	/*
	 * From here on @memory may be gone: others may drop pages at any time.
	 */
	last = dray_charge_end(memory->charge);
	atomic64_sub(size, &heap->used);
	atomic_dec(&heap->buffers);
	return last;
}

void dray_heap_counts(struct dray_heap *heap, struct dray_heap_info *info)
{
	info->type = heap->kind->type;
	info->flags = heap->flags;
	info->buffers = atomic_read(&heap->buffers);
	info->used = atomic64_read(&heap->used);
	info->held = atomic64_read(&heap->held);
	info->quarantined = atomic64_read(&heap->condemned);
	dray_account_state(heap, info);
	memcpy(info->name, heap->name, sizeof(info->name));
}

void dray_heap_state(struct dray_heap *heap, struct dray_heap_info *info)
{
	dray_heap_counts(heap, info);
	heap->ops->state(heap, info);
}
