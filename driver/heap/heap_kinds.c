// SPDX-License-Identifier: GPL-2.0-only
/*
 * The heaps of the module, and the kinds that there are.  A new kind is a file
 * of its own and a line in the table here.
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/of.h>
#include <linux/of_reserved_mem.h>
#include <linux/string.h>

#include "account.h"
#include "heap.h"
#include "heap_device.h"
#include "heaps.h"

/*
 * The first that serves a region has it.  The system's heaps of a node are in
 * this order.
 */
static const struct dray_heap_kind *const dray_heap_kinds[] = {
	&dray_carveout_kind,
	&dray_pages_kind,
	&dray_cma_kind,
	&dray_reserved_kind,
};

static LIST_HEAD(dray_heaps);
static DEFINE_MUTEX(dray_heaps_lock); /* the list; a heap is never removed */

static struct dray_heap *dray_heap_find(const struct dray_heap_kind *kind,
					phys_addr_t base)
{
	struct dray_heap *heap;

	list_for_each_entry(heap, &dray_heaps, list)
		if (heap->kind == kind && heap->base == base)
			return heap;
	return NULL;
}

static bool dray_heap_is_named(const char *name)
{
	struct dray_heap *heap;

	list_for_each_entry(heap, &dray_heaps, list)
		if (!strcmp(heap->name, name))
			return true;
	return false;
}

/* Takes @name, with a number if another heap has it. */
static void dray_heap_choose_name(char *unique, const char *name)
{
	unsigned int count = 0;

	strscpy(unique, name, DRAY_NAME_LEN);
	while (dray_heap_is_named(unique))
		snprintf(unique, DRAY_NAME_LEN, "%.*s-%u",
			 (int)(DRAY_NAME_LEN - sizeof("-4294967295")), name,
			 ++count);
}

/* Publishes a new heap of @kind; an ERR_PTR is returned as it is. */
static struct dray_heap *dray_heap_publish(const struct dray_heap_kind *kind,
					   struct dray_heap *heap)
{
	int ret;

	if (IS_ERR(heap))
		return heap;
	heap->kind = kind;
	dray_account_init(heap);
	ret = dray_heap_device_add(heap);
	if (ret) {
		put_device(&heap->device);
		return ERR_PTR(ret);
	}
	list_add_tail(&heap->list, &dray_heaps);
	return heap;
}

/* The kernel gives such a region to a device's DMA calls: two owners. */
static struct dray_heap *dray_heap_pooled(struct device *dev,
					  struct device_node *region)
{
	dev_warn(dev, "%pOFn is the pool of another device\n", region);
	return ERR_PTR(-EBUSY);
}

static const struct dray_heap_kind *
dray_heap_kind_of(struct device_node *region)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(dray_heap_kinds); i++)
		if (dray_heap_kinds[i]->serves &&
		    dray_heap_kinds[i]->serves(region))
			return dray_heap_kinds[i];
	return NULL;
}

/* Makes the heap that no node had before; the caller holds the lock. */
static struct dray_heap *dray_heap_make(const struct dray_heap_kind *kind,
					const char *name, struct device *dev,
					struct device_node *region, int index)
{
	char unique[DRAY_NAME_LEN];

	dray_heap_choose_name(unique, name);
	return dray_heap_publish(kind,
				 kind->create(unique, dev, region, index));
}

int dray_heaps_region(struct device *dev, int index, const char *name,
		      struct dray_heap **result)
{
	const struct dray_heap_kind *kind;
	struct device_node *region;
	struct reserved_mem *memory;
	struct dray_heap *heap;

	region = of_parse_phandle(dev->of_node, "memory-region", index);
	if (!region)
		return -ENOENT;
	memory = of_reserved_mem_lookup(region);
	kind = dray_heap_kind_of(region);
	if (!memory || !memory->size || !kind) {
		heap = ERR_PTR(-ENODEV);
		goto out;
	}
	if (!name || !*name)
		name = region->name;

	mutex_lock(&dray_heaps_lock);
	heap = dray_heap_find(kind, memory->base);
	if (!heap && memory->priv && !kind->pooled)
		heap = dray_heap_pooled(dev, region);
	else if (!heap)
		heap = dray_heap_make(kind, name, dev, region, index);
	mutex_unlock(&dray_heaps_lock);
out:
	of_node_put(region);
	*result = heap;
	return PTR_ERR_OR_ZERO(heap);
}

int dray_heaps_system(struct device *dev, unsigned int index,
		      struct dray_heap **result)
{
	const struct dray_heap_kind *kind;
	struct dray_heap *heap;

	if (index >= ARRAY_SIZE(dray_heap_kinds))
		return -ENOENT;
	kind = dray_heap_kinds[index];
	if (!kind->is_systems || !kind->is_systems(dev))
		return -ENODEV;
	mutex_lock(&dray_heaps_lock);
	heap = dray_heap_find(kind, 0);
	if (!heap)
		heap = dray_heap_make(kind, kind->name, NULL, NULL, 0);
	mutex_unlock(&dray_heaps_lock);
	*result = heap;
	return PTR_ERR_OR_ZERO(heap);
}

int dray_heaps_init(void)
{
	return dray_heap_class_init();
}

/* When the module goes: no buffer is left, since each holds the module. */
void dray_heaps_exit(void)
{
	struct dray_heap *heap, *next;

	list_for_each_entry_safe(heap, next, &dray_heaps, list) {
		list_del(&heap->list);
		device_unregister(&heap->device);
	}
	dray_heap_class_exit();
	dray_account_exit();
}
