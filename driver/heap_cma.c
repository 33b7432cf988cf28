// SPDX-License-Identifier: GPL-2.0-only
/*
 * The `cma` heap: a `reusable` region, or the default CMA area.  cma_alloc()
 * is not for modules, so the heap is a device of its own that the region is
 * assigned to, and dma_alloc_pages() for that device takes from the region.
 * Where CMA cannot serve, that call falls back to the page allocator; such
 * memory is told by its place or by its tail pages, and given back.
 */
#include <linux/device.h>
#include <linux/dma-mapping.h>
#include <linux/err.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/of_reserved_mem.h>
#include <linux/slab.h>

#include "heap.h"

struct dray_cma {
	struct dray_heap heap;
	struct device *device; /* what the region is assigned to */
	size_t size; /* of the region; 0: the default area */
	atomic64_t condemned; /* bytes */
};

/* CMA aligns to a piece's own order, up to this. */
#ifdef CONFIG_CMA_ALIGNMENT
#define DRAY_CMA_ALIGNMENT (PAGE_SIZE << CONFIG_CMA_ALIGNMENT)
#else
#define DRAY_CMA_ALIGNMENT PAGE_SIZE
#endif

static struct dray_cma *to_cma(struct dray_heap *heap)
{
	return container_of(heap, struct dray_cma, heap);
}

/* Direction: the device never looks, and DMA-API debug only tracks writers. */
static void dray_cma_give_back(struct dray_cma *cma, struct page *page,
			       size_t size)
{
	dma_free_pages(cma->device, size, page, (dma_addr_t)page_to_phys(page),
		       DMA_TO_DEVICE);
}

/* Is it CMA memory?  Tail pages of the page allocator have no reference. */
static bool dray_cma_owns(struct dray_cma *cma, struct page *page, size_t size)
{
	phys_addr_t start = page_to_phys(page);

	if (!cma->size)
		return page_count(page + 1) == 1;
	return start >= cma->heap.base &&
	       start + size <= cma->heap.base + cma->size;
}

static struct page *dray_cma_take(struct dray_cma *cma, size_t size)
{
	struct page *page;
	dma_addr_t address;

	page = dma_alloc_pages(cma->device, size, &address, DMA_TO_DEVICE,
			       GFP_KERNEL | __GFP_NOWARN | __GFP_NORETRY);
	if (page && !dray_cma_owns(cma, page, size)) {
		dray_cma_give_back(cma, page, size);
		page = NULL;
	}
	return page;
}

#ifdef CONFIG_CMA
static u64 dray_cma_of_node(int nid)
{
	u64 pages = 0;
	int i;

	for (i = 0; i < MAX_NR_ZONES; i++)
		pages += NODE_DATA(nid)->node_zones[i].cma_pages;
	return pages;
}
#else
static u64 dray_cma_of_node(int nid)
{
	return 0;
}
#endif

/*
 * Of a region its size.  How large the default area is cannot be asked from a
 * module: all areas of the system together are a bound.
 */
static u64 dray_cma_total(struct dray_cma *cma)
{
	u64 pages = 0;
	int nid;

	if (cma->size)
		return cma->size;
	for_each_online_node(nid)
		pages += dray_cma_of_node(nid);
	return pages << PAGE_SHIFT;
}

/*
 * What drivers other than dray took cannot be asked either, and what programs
 * use makes room when CMA wants it: this is a bound too.
 */
static u64 dray_cma_free_bytes(struct dray_cma *cma)
{
	u64 total = dray_cma_total(cma);
	u64 taken =
		atomic64_read(&cma->heap.used) + atomic64_read(&cma->condemned);

	return total > taken ? total - taken : 0;
}

static int dray_cma_alloc(struct dray_heap *heap,
			  const struct dray_request *request,
			  struct dray_extent *extent,
			  struct dray_refusal *refusal)
{
	struct dray_cma *cma = to_cma(heap);
	u64 total = dray_cma_total(cma);
	size_t size = max(request->size, request->alignment);
	struct page *page;
	u64 available;

	if (request->alignment > DRAY_CMA_ALIGNMENT)
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_ALIGNMENT,
				   DRAY_CMA_ALIGNMENT);
	if (size > total)
		return dray_refuse(refusal, -ENOMEM, DRAY_REASON_SIZE, total);
	/* One page never comes from the default area. */
	if (!cma->size)
		size = max_t(size_t, size, 2 * PAGE_SIZE);

	page = dray_cma_take(cma, size);
	if (!page) {
		available = dray_cma_free_bytes(cma);
		return dray_refuse(refusal, -ENOMEM,
				   available < size ? DRAY_REASON_FULL
						    : DRAY_REASON_FRAGMENTED,
				   available);
	}
	if (page_to_phys(page) + request->size - 1 > request->limit) {
		dray_cma_give_back(cma, page, size);
		return dray_refuse(refusal, -ENOMEM, DRAY_REASON_MASK,
				   request->limit);
	}
	extent->page = page;
	extent->size = size;
	return 0;
}

static void dray_cma_free(struct dray_heap *heap,
			  const struct dray_extent *extent)
{
	dray_cma_give_back(to_cma(heap), extent->page, extent->size);
}

/* Never given back; CMA itself knows the pages as taken. */
static void dray_cma_condemn(struct dray_heap *heap,
			     const struct dray_extent *extent)
{
	atomic64_add(extent->size, &to_cma(heap)->condemned);
	pr_warn("dray: %zu bytes of %s stay out of use: a device may write them\n",
		extent->size, heap->name);
}

static void dray_cma_state(struct dray_heap *heap, struct dray_heap_info *info)
{
	struct dray_cma *cma = to_cma(heap);

	info->total = dray_cma_total(cma);
	info->free = dray_cma_free_bytes(cma);
	info->quarantined = atomic64_read(&cma->condemned);
	info->largest_free = info->free;
	info->largest_request = info->total;
}

static void dray_cma_destroy(struct dray_heap *heap)
{
	struct dray_cma *cma = to_cma(heap);

	if (cma->size)
		of_reserved_mem_device_release(cma->device);
	root_device_unregister(cma->device);
	kfree(cma);
}

static const struct dray_heap_ops dray_cma_ops = {
	.alloc = dray_cma_alloc,
	.free = dray_cma_free,
	.condemn = dray_cma_condemn,
	.state = dray_cma_state,
	.destroy = dray_cma_destroy,
};

/* Assigns the region; -EINVAL where the kernel made no CMA area of it. */
static int dray_cma_assign(struct dray_cma *cma, struct device *dev,
			   struct device_node *region, int index)
{
	struct reserved_mem *memory = of_reserved_mem_lookup(region);
	int ret;

	ret = of_reserved_mem_device_init_by_idx(cma->device, dev->of_node,
						 index);
	if (ret) {
		dev_warn(dev, "%pOFn is no CMA area; one is in units of %lu\n",
			 region, PAGE_SIZE * pageblock_nr_pages);
		return ret;
	}
	cma->heap.base = memory->base;
	cma->size = memory->size;
	return 0;
}

/* Is there a default area?  Only an allocation tells. */
static int dray_cma_try(struct dray_cma *cma)
{
	struct page *page = dray_cma_take(cma, 2 * PAGE_SIZE);

	if (!page)
		return -ENODEV;
	dray_cma_give_back(cma, page, 2 * PAGE_SIZE);
	return 0;
}

/* The heap over entry @index of the memory-region of @dev; NULL: default. */
struct dray_heap *dray_heap_cma(struct device *dev, struct device_node *region,
				int index)
{
	struct dray_cma *cma;
	char name[32];
	int ret;

	if (!IS_ENABLED(CONFIG_DMA_CMA))
		return ERR_PTR(-ENODEV);
	cma = kzalloc(sizeof(*cma), GFP_KERNEL);
	if (!cma)
		return ERR_PTR(-ENOMEM);
	cma->heap.ops = &dray_cma_ops;
	cma->heap.type = DRAY_HEAP_CMA;
	cma->heap.flags = DRAY_HEAP_SHARED;
	cma->heap.zeroed = true;

	if (region)
		snprintf(name, sizeof(name), "dray-%pOFn", region);
	else
		strscpy(name, "dray-cma", sizeof(name));
	cma->device = root_device_register(name);
	if (IS_ERR(cma->device)) {
		ret = PTR_ERR(cma->device);
		goto free_cma;
	}
	ret = dma_coerce_mask_and_coherent(cma->device, DMA_BIT_MASK(64));
	if (ret)
		goto unregister;
	ret = region ? dray_cma_assign(cma, dev, region, index)
		     : dray_cma_try(cma);
	if (ret)
		goto unregister;
	return &cma->heap;

unregister:
	root_device_unregister(cma->device);
free_cma:
	kfree(cma);
	return ERR_PTR(ret);
}
