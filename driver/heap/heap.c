// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of heaps: finds the heap of a memory region or makes it, and does
 * the work that all kinds of heap share: counting bytes and charging users.
 */
#include <linux/bits.h>
#include <linux/dma-map-ops.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/of.h>
#include <linux/of_reserved_mem.h>
#include <linux/platform_device.h>
#include <linux/string.h>

#include "account.h"
#include "heap.h"

static LIST_HEAD(heaps);
static DEFINE_MUTEX(heaps_lock); /* the list; a heap is never removed */

static struct dray_heap *dray_heap_find(u32 type, phys_addr_t base)
{
	struct dray_heap *heap;

	list_for_each_entry(heap, &heaps, list)
		if (heap->type == type && heap->base == base)
			return heap;
	return NULL;
}

static bool dray_heap_is_named(const char *name)
{
	struct dray_heap *heap;

	list_for_each_entry(heap, &heaps, list)
		if (!strcmp(heap->name, name))
			return true;
	return false;
}

/* @name, with a number where another heap has it already. */
static void dray_heap_choose_name(char *unique, const char *name)
{
	unsigned int count = 0;

	strscpy(unique, name, DRAY_NAME_LEN);
	while (dray_heap_is_named(unique))
		snprintf(unique, DRAY_NAME_LEN, "%.*s-%u",
			 (int)(DRAY_NAME_LEN - sizeof("-4294967295")), name,
			 ++count);
}

/* Publishes a new heap; an ERR_PTR is returned as it is. */
static struct dray_heap *dray_heap_publish(struct dray_heap *heap)
{
	int ret;

	if (IS_ERR(heap))
		return heap;
	dray_account_init(heap);
	ret = dray_heap_device_add(heap);
	if (ret) {
		put_device(&heap->device);
		return ERR_PTR(ret);
	}
	list_add_tail(&heap->list, &heaps);
	return heap;
}

static u32 dray_heap_type_of(struct device_node *region)
{
	if (of_property_read_bool(region, "no-map"))
		return DRAY_HEAP_CARVEOUT;
	if (of_device_is_compatible(region, "shared-dma-pool") &&
	    of_property_read_bool(region, "reusable"))
		return DRAY_HEAP_CMA;
	return DRAY_HEAP_RESERVED;
}

/* The kernel gives such a region to a device's DMA calls: two owners. */
static struct dray_heap *dray_heap_pooled(struct device *dev,
					  struct device_node *region)
{
	dev_warn(dev, "%pOFn is the pool of another device\n", region);
	return ERR_PTR(-EBUSY);
}

/* The heap of memory-region entry @index of @dev; -ENOENT past the last. */
int dray_heap_of_region(struct device *dev, int index, const char *name,
			struct dray_heap **result)
{
	struct device_node *region;
	struct reserved_mem *memory;
	char unique[DRAY_NAME_LEN];
	struct dray_heap *heap;
	u32 type;

	region = of_parse_phandle(dev->of_node, "memory-region", index);
	if (!region)
		return -ENOENT;
	memory = of_reserved_mem_lookup(region);
	if (!memory || !memory->size) {
		heap = ERR_PTR(-ENODEV);
		goto out;
	}
	type = dray_heap_type_of(region);

	mutex_lock(&heaps_lock);
	heap = dray_heap_find(type, memory->base);
	if (!heap) {
		dray_heap_choose_name(unique,
				      name && *name ? name : region->name);
		if (type == DRAY_HEAP_CMA)
			heap = dray_heap_cma(unique, dev, region, index);
		else if (memory->priv)
			heap = dray_heap_pooled(dev, region);
		else if (type == DRAY_HEAP_CARVEOUT)
			heap = dray_heap_carveout(unique, dev, region);
		else
			heap = dray_heap_reserved(unique, dev, region);
		heap = dray_heap_publish(heap);
	}
	mutex_unlock(&heaps_lock);
out:
	of_node_put(region);
	*result = heap;
	return PTR_ERR_OR_ZERO(heap);
}

/* The page allocator or the default CMA area; ERR_PTR where there is none. */
struct dray_heap *dray_heap_of_type(u32 type)
{
	bool shared = type == DRAY_HEAP_CMA;
	char unique[DRAY_NAME_LEN];
	struct dray_heap *heap;

	mutex_lock(&heaps_lock);
	heap = dray_heap_find(type, 0);
	if (!heap) {
		dray_heap_choose_name(unique, shared ? "cma" : "pages");
		heap = shared ? dray_heap_cma(unique, NULL, NULL, 0)
			      : dray_heap_pages(unique);
		heap = dray_heap_publish(heap);
	}
	mutex_unlock(&heaps_lock);
	return heap;
}

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

int dray_heap_alloc(struct dray_heap *heap, const struct dray_request *request,
		    struct dray_extent *extent, struct dray_refusal *refusal)
{
	size_t size = request->size;
	int ret;

	/* A request that cannot be met is never charged, even for a moment. */
	ret = heap->ops->check(heap, request, refusal);
	if (ret)
		return ret;
	if (heap->ops->takes)
		size = heap->ops->takes(heap, request);
	ret = dray_charge_take(extent->charge, heap, size, refusal);
	if (ret)
		return ret;
	ret = heap->ops->alloc(heap, request, extent, refusal);
	if (ret) {
		dray_charge_end(extent->charge);
		return ret;
	}
	extent->mode = request->mode;
	atomic_inc(&heap->buffers);
	atomic64_add(extent->size, &heap->used);
	return 0;
}

bool dray_heap_free(struct dray_heap *heap, const struct dray_extent *extent,
		    bool condemned)
{
	size_t size = extent->size;
	bool last;

	if (condemned) {
		pr_warn("dray: %zu bytes of %s stay out of use: a device may write them\n",
			size, heap->name);
		if (heap->ops->condemn)
			heap->ops->condemn(heap, extent);
		else
			atomic64_add(size, &heap->condemned);
	} else {
		heap->ops->free(heap, extent);
	}
	/* From here on @extent may be gone: others may let go at any time. */
	last = dray_charge_end(extent->charge);
	atomic64_sub(size, &heap->used);
	atomic_dec(&heap->buffers);
	return last;
}

void dray_heap_counts(struct dray_heap *heap, struct dray_heap_info *info)
{
	info->type = heap->type;
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

int dray_heaps_init(void)
{
	return dray_heap_class_init();
}

/* When the module goes: no buffer is left, since each holds the module. */
void dray_heaps_exit(void)
{
	struct dray_heap *heap, *next;

	list_for_each_entry_safe(heap, next, &heaps, list) {
		list_del(&heap->list);
		device_unregister(&heap->device);
	}
	dray_heap_class_exit();
	dray_account_exit();
}
