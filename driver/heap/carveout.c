// SPDX-License-Identifier: GPL-2.0-only
/*
 * The `carveout` heap: a dedicated region that the kernel does not map
 * (`no-map`).  Nothing here relies on struct pages, and no cached mapping is
 * ever made: only programs could make it, and it could not be maintained.  The
 * kernel itself looks through short-lived write-combined windows.
 */
#include <linux/bitmap.h>
#include <linux/err.h>
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/of.h>
#include <linux/of_reserved_mem.h>
#include <linux/pfn.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "heap.h"
#include "heap_device.h"
#include "heaps.h"
#include "pagemap.h"

#define DRAY_CARVEOUT_WINDOW SZ_1M

struct dray_carveout {
	struct dray_heap heap;
	struct resource *claim; /* keeps out other drivers that ask */
	struct mutex lock; /* everything below */
	struct dray_pagemap map;
	unsigned long *condemned; /* pages that are never freed */
};

static struct dray_carveout *to_carveout(struct dray_heap *heap)
{
	return container_of(heap, struct dray_carveout, heap);
}

static int dray_carveout_check(struct dray_heap *heap,
			       const struct dray_heap_request *request,
			       struct dray_refusal *refusal)
{
	return dray_pagemap_check(&to_carveout(heap)->map, request, refusal);
}

static int dray_carveout_alloc(struct dray_heap *heap,
			       const struct dray_heap_request *request,
			       struct dray_heap_memory *memory,
			       struct dray_refusal *refusal)
{
	struct dray_carveout *carveout = to_carveout(heap);
	unsigned long index;
	int ret = 0;

	mutex_lock(&carveout->lock);
	if (!dray_pagemap_find(&carveout->map, request, &index))
		ret = dray_pagemap_refuse(&carveout->map, request, refusal);
	mutex_unlock(&carveout->lock);
	if (ret)
		return ret;
	memory->page = NULL;
	memory->start = PFN_PHYS(carveout->map.first + index);
	memory->size = request->size;
	return 0;
}

/* All mappings are by frame number: no page of a freed range can be held. */
static void dray_carveout_free(struct dray_heap *heap,
			       const struct dray_heap_memory *memory)
{
	struct dray_carveout *carveout = to_carveout(heap);

	mutex_lock(&carveout->lock);
	dray_pagemap_give(&carveout->map,
			  PHYS_PFN(memory->start) - carveout->map.first,
			  memory->size >> PAGE_SHIFT);
	mutex_unlock(&carveout->lock);
}

/* Memory without pages lacks a count that could warn the next module: stay. */
static void dray_carveout_condemn(struct dray_heap *heap,
				  const struct dray_heap_memory *memory)
{
	struct dray_carveout *carveout = to_carveout(heap);

	pr_warn("dray: so the module stays\n");
	__module_get(THIS_MODULE);
	atomic64_add(memory->size, &heap->condemned);
	mutex_lock(&carveout->lock);
	bitmap_set(carveout->condemned,
		   PHYS_PFN(memory->start) - carveout->map.first,
		   memory->size >> PAGE_SHIFT);
	mutex_unlock(&carveout->lock);
}

static void dray_carveout_state(struct dray_heap *heap,
				struct dray_heap_info *info)
{
	struct dray_carveout *carveout = to_carveout(heap);

	mutex_lock(&carveout->lock);
	dray_pagemap_state(&carveout->map, info);
	mutex_unlock(&carveout->lock);
}

static void dray_carveout_use(struct dray_heap *heap, struct dray_heap_use *use)
{
	struct dray_carveout *carveout = to_carveout(heap);

	mutex_lock(&carveout->lock);
	bitmap_copy(use->taken, carveout->map.taken, use->pages);
	bitmap_copy(use->condemned, carveout->condemned, use->pages);
	mutex_unlock(&carveout->lock);
}

static void dray_carveout_destroy(struct dray_heap *heap)
{
	struct dray_carveout *carveout = to_carveout(heap);

	release_mem_region(carveout->claim->start,
			   resource_size(carveout->claim));
	bitmap_free(carveout->condemned);
	dray_pagemap_exit(&carveout->map);
	kfree(carveout);
}

/* Zeros, in memory when this returns; -EINTR when the task is being killed. */
static int dray_carveout_clear(struct dray_heap *heap,
			       const struct dray_heap_memory *memory)
{
	size_t done, step;
	void *window;

	for (done = 0; done < memory->size; done += step) {
		step = min_t(size_t, memory->size - done, DRAY_CARVEOUT_WINDOW);
		window = memremap(memory->start + done, step, MEMREMAP_WC);
		if (!window)
			return -ENOMEM;
		memset(window, 0, step);
		memunmap(window);
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	/* Before a device can learn its address. */
	wmb();
	return 0;
}

static const struct dray_heap_ops dray_carveout_ops = {
	.takes = dray_pagemap_takes,
	.check = dray_carveout_check,
	.alloc = dray_carveout_alloc,
	.clear = dray_carveout_clear,
	.free = dray_carveout_free,
	.condemn = dray_carveout_condemn,
	.state = dray_carveout_state,
	.use = dray_carveout_use,
	.destroy = dray_carveout_destroy,
};

static struct dray_heap *dray_carveout_create(const char *name,
					      struct device *dev,
					      struct device_node *region,
					      int index)
{
	struct reserved_mem *memory = of_reserved_mem_lookup(region);
	struct dray_carveout *carveout;
	int ret;

	if (region_intersects(memory->base, memory->size, IORESOURCE_SYSTEM_RAM,
			      IORES_DESC_NONE) != REGION_DISJOINT) {
		dev_warn(dev, "%pOFn is memory that the kernel maps\n", region);
		return ERR_PTR(-EINVAL);
	}
	carveout = kzalloc(sizeof(*carveout), GFP_KERNEL);
	if (!carveout)
		return ERR_PTR(-ENOMEM);
	mutex_init(&carveout->lock);
	ret = dray_pagemap_init(&carveout->map, memory->base, memory->size);
	if (ret)
		goto exit_map;
	dray_pagemap_range(&carveout->map, &carveout->heap);
	carveout->condemned = bitmap_zalloc(carveout->map.pages, GFP_KERNEL);
	if (!carveout->condemned) {
		ret = -ENOMEM;
		goto exit_map;
	}
	carveout->claim =
		request_mem_region(memory->base, memory->size, "dray");
	if (!carveout->claim) {
		dev_warn(dev, "%pOFn is in use already: see /proc/iomem\n",
			 region);
		ret = -EBUSY;
		goto exit_map;
	}
	carveout->heap.ops = &dray_carveout_ops;
	carveout->heap.base = memory->base;
	carveout->heap.modes = BIT(DRAY_MODE_WRITE_COMBINED) |
			       BIT(DRAY_MODE_COHERENT) | BIT(DRAY_MODE_DEVICE);
	ret = dray_heap_device_init(&carveout->heap, name);
	if (ret) {
		put_device(&carveout->heap.device);
		return ERR_PTR(ret);
	}
	return &carveout->heap;

exit_map:
	bitmap_free(carveout->condemned);
	dray_pagemap_exit(&carveout->map);
	kfree(carveout);
	return ERR_PTR(ret);
}

static bool dray_carveout_serves(struct device_node *region)
{
	return of_property_read_bool(region, "no-map");
}

const struct dray_heap_kind dray_carveout_kind = {
	.name = "carveout",
	.type = DRAY_HEAP_CARVEOUT,
	.unmapped = true,
	.serves = dray_carveout_serves,
	.create = dray_carveout_create,
};
