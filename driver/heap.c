// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of heaps: finds the heap of a memory region or makes it, and does
 * for every kind of heap what they have in common (the count of what is used).
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/of.h>
#include <linux/of_reserved_mem.h>
#include <linux/platform_device.h>
#include <linux/string.h>

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

static void dray_heap_publish(struct dray_heap *heap, const char *name)
{
	strscpy(heap->name, name, sizeof(heap->name));
	list_add_tail(&heap->list, &heaps);
}

/*
 * The heap of memory-region entry @index of @dev.  -EOPNOTSUPP for a region
 * that is out of the kernel's map.
 */
int dray_heap_of_region(struct device *dev, int index, const char *name,
			struct dray_heap **result)
{
	struct device_node *region;
	struct reserved_mem *memory;
	struct dray_heap *heap;
	bool shared;
	u32 type;

	region = of_parse_phandle(dev->of_node, "memory-region", index);
	if (!region)
		return -ENOENT;
	memory = of_reserved_mem_lookup(region);
	if (!memory || !memory->size) {
		heap = ERR_PTR(-ENODEV);
		goto out;
	}
	if (of_property_read_bool(region, "no-map")) {
		heap = ERR_PTR(-EOPNOTSUPP);
		goto out;
	}
	shared = of_device_is_compatible(region, "shared-dma-pool") &&
		 of_property_read_bool(region, "reusable");
	type = shared ? DRAY_HEAP_CMA : DRAY_HEAP_RESERVED;

	mutex_lock(&heaps_lock);
	heap = dray_heap_find(type, memory->base);
	if (!heap) {
		heap = shared ? dray_heap_cma(dev, region, index)
			      : dray_heap_reserved(dev, region);
		if (!IS_ERR(heap))
			dray_heap_publish(heap, name ? name : region->name);
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
	struct dray_heap *heap;

	mutex_lock(&heaps_lock);
	heap = dray_heap_find(type, 0);
	if (!heap) {
		heap = shared ? dray_heap_cma(NULL, NULL, 0)
			      : dray_heap_pages();
		if (!IS_ERR(heap))
			dray_heap_publish(heap, shared ? "cma" : "pages");
	}
	mutex_unlock(&heaps_lock);
	return heap;
}

int dray_heap_alloc(struct dray_heap *heap, const struct dray_request *request,
		    struct dray_extent *extent, struct dray_refusal *refusal)
{
	int ret;

	ret = heap->ops->alloc(heap, request, extent, refusal);
	if (ret)
		return ret;
	atomic_inc(&heap->buffers);
	atomic64_add(extent->size, &heap->used);
	return 0;
}

void dray_heap_free(struct dray_heap *heap, const struct dray_extent *extent,
		    bool condemned)
{
	if (condemned)
		heap->ops->condemn(heap, extent);
	else
		heap->ops->free(heap, extent);
	atomic64_sub(extent->size, &heap->used);
	atomic_dec(&heap->buffers);
}

void dray_heap_state(struct dray_heap *heap, struct dray_heap_info *info)
{
	info->type = heap->type;
	info->flags = heap->flags;
	info->buffers = atomic_read(&heap->buffers);
	info->used = atomic64_read(&heap->used);
	memcpy(info->name, heap->name, sizeof(info->name));
	heap->ops->state(heap, info);
}

/* When the module goes: no buffer is left, since each holds the module. */
void dray_heaps_destroy(void)
{
	struct dray_heap *heap, *next;

	list_for_each_entry_safe(heap, next, &heaps, list) {
		list_del(&heap->list);
		heap->ops->destroy(heap);
	}
}
