// SPDX-License-Identifier: GPL-2.0-only
/*
 * The `cma` heap: a `reusable` region, or the default CMA area.  cma_alloc() is
 * not for modules, so the region is assigned to the heap's own device.
 * dma_alloc_pages() for that device allocates from the region, and so does the
 * coherent allocator for uncached memory.
 *
 * If CMA cannot serve, these calls fall back to the page allocator.  The heap
 * recognises such memory by its place or by its tail pages, and returns it.
 */
#include <linux/device.h>
#include <linux/dma-direct.h>
#include <linux/dma-map-ops.h>
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
#include "heap_device.h"
#include "heaps.h"

struct dray_cma {
	struct dray_heap heap; /* without a range: the default area */
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
	dma_free_pages(&cma->heap.device, size, page,
		       (dma_addr_t)page_to_phys(page), DMA_TO_DEVICE);
}

/* Whether it is CMA memory: tail pages of the page allocator lack a reference. */
static bool dray_cma_owns(struct dray_cma *cma, struct page *page, size_t size)
{
	phys_addr_t start = page_to_phys(page);

	if (!cma->heap.size)
		return page_count(page + 1) == 1;
	return start >= cma->heap.base &&
	       start + size <= cma->heap.base + cma->heap.size;
}

static struct page *dray_cma_take(struct dray_cma *cma, size_t size)
{
	struct page *page;
	dma_addr_t address;

	page = dma_alloc_pages(&cma->heap.device, size, &address, DMA_TO_DEVICE,
			       GFP_KERNEL | __GFP_NOWARN | __GFP_NORETRY);
	if (page && !dray_cma_owns(cma, page, size)) {
		dray_cma_give_back(cma, page, size);
		page = NULL;
	}
	return page;
}

static bool dray_cma_is_uncached(u32 mode)
{
	return mode == DRAY_MODE_WRITE_COMBINED || mode == DRAY_MODE_COHERENT;
}

static unsigned long dray_cma_attrs(u32 mode)
{
	return DMA_ATTR_NO_WARN |
	       (mode == DRAY_MODE_WRITE_COMBINED ? DMA_ATTR_WRITE_COMBINE : 0);
}

static void dray_cma_give_back_uncached(struct dray_cma *cma, phys_addr_t start,
					size_t size, void *vaddr, u32 mode)
{
	struct device *dev = &cma->heap.device;

	dma_free_attrs(dev, size, vaddr, phys_to_dma(dev, start),
		       dray_cma_attrs(mode));
}

/*
 * Allocates from the coherent allocator.  It leaves no line of the kernel's own
 * cached mapping to be written back, and maps the memory as its users will.
 */
static struct page *dray_cma_take_uncached(struct dray_cma *cma, size_t size,
					   u32 mode, void **vaddr)
{
	struct device *dev = &cma->heap.device;
	phys_addr_t start;
	dma_addr_t address;
	struct page *page;

	*vaddr =
		dma_alloc_attrs(dev, size, &address, GFP_KERNEL | __GFP_NORETRY,
				dray_cma_attrs(mode));
	if (!*vaddr)
		return NULL;
	start = dma_to_phys(dev, address);
	page = pfn_to_page(PHYS_PFN(start));
	if (dray_cma_owns(cma, page, size))
		return page;
	dray_cma_give_back_uncached(cma, start, size, *vaddr, mode);
	return NULL;
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
 * Returns a region's size.  A module cannot ask how large the default area is:
 * all areas of the system together are a bound.
 */
static u64 dray_cma_total(struct dray_cma *cma)
{
	u64 pages = 0;
	int nid;

	if (cma->heap.size)
		return cma->heap.size;
	for_each_online_node(nid)
		pages += dray_cma_of_node(nid);
	return pages << PAGE_SHIFT;
}

/*
 * A bound too: a module cannot ask how much other drivers took, and programs'
 * pages make room when CMA wants it.
 */
static u64 dray_cma_free_bytes(struct dray_cma *cma)
{
	u64 total = dray_cma_total(cma);
	u64 taken = atomic64_read(&cma->heap.used) +
		    atomic64_read(&cma->heap.condemned);

	return total > taken ? total - taken : 0;
}

/* CMA aligns to the size; a single page is never of the default area. */
static size_t dray_cma_takes(struct dray_heap *heap,
			     const struct dray_heap_request *request)
{
	size_t size = max_t(u64, request->size, request->alignment);

	return heap->size ? size : max_t(size_t, size, 2 * PAGE_SIZE);
}

static void dray_cma_free(struct dray_heap *heap,
			  const struct dray_heap_memory *memory)
{
	struct dray_cma *cma = to_cma(heap);

	if (memory->vaddr)
		dray_cma_give_back_uncached(cma, memory->start, memory->size,
					    memory->vaddr, memory->mode);
	else
		dray_cma_give_back(cma, memory->page, memory->size);
}

static int dray_cma_check(struct dray_heap *heap,
			  const struct dray_heap_request *request,
			  struct dray_refusal *refusal)
{
	u64 total = dray_cma_total(to_cma(heap));

	if (request->alignment > DRAY_CMA_ALIGNMENT)
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_ALIGNMENT,
				   DRAY_CMA_ALIGNMENT);
	if (dray_cma_takes(heap, request) > total)
		return dray_refuse(refusal, -ENOMEM, DRAY_REASON_SIZE, total);
	return 0;
}

static int dray_cma_alloc(struct dray_heap *heap,
			  const struct dray_heap_request *request,
			  struct dray_heap_memory *memory,
			  struct dray_refusal *refusal)
{
	struct dray_cma *cma = to_cma(heap);
	size_t size = dray_cma_takes(heap, request);
	void *vaddr = NULL;
	struct page *page;
	u64 available;

	page = dray_cma_is_uncached(request->mode)
		       ? dray_cma_take_uncached(cma, size, request->mode,
						&vaddr)
		       : dray_cma_take(cma, size);
	if (!page) {
		available = dray_cma_free_bytes(cma);
		if (available < size)
			return dray_refuse(refusal, -ENOMEM, DRAY_REASON_FULL,
					   available);
		/* No run is so long, or CMA would find it. */
		return dray_refuse(refusal, -ENOMEM, DRAY_REASON_FRAGMENTED,
				   size - PAGE_SIZE);
	}
	memory->page = page;
	memory->start = page_to_phys(page);
	memory->vaddr = vaddr;
	memory->size = size;
	memory->mode = request->mode;
	if (memory->start + request->size - 1 > request->limit) {
		dray_cma_free(heap, memory);
		return dray_refuse(refusal, -ENOMEM, DRAY_REASON_MASK,
				   request->limit);
	}
	return 0;
}

static void dray_cma_state(struct dray_heap *heap, struct dray_heap_info *info)
{
	struct dray_cma *cma = to_cma(heap);

	info->total = dray_cma_total(cma);
	info->free = dray_cma_free_bytes(cma);
	info->largest_free = info->free;
	info->largest_request = info->total;
}

static void dray_cma_destroy(struct dray_heap *heap)
{
	struct dray_cma *cma = to_cma(heap);

	if (cma->heap.size)
		of_reserved_mem_device_release(&heap->device);
	kfree(cma);
}

static const struct dray_heap_ops dray_cma_ops = {
	.takes = dray_cma_takes,
	.check = dray_cma_check,
	.alloc = dray_cma_alloc,
	.free = dray_cma_free,
	.state = dray_cma_state,
	.destroy = dray_cma_destroy,
};

/* Assigns the region; -EINVAL if the kernel made no CMA area of it. */
static int dray_cma_assign(struct dray_cma *cma, struct device *dev,
			   struct device_node *region, int index)
{
	struct reserved_mem *memory = of_reserved_mem_lookup(region);
	int ret;

	ret = of_reserved_mem_device_init_by_idx(&cma->heap.device,
						 dev->of_node, index);
	if (ret) {
		dev_warn(dev,
			 "%pOFn is not a CMA area; the unit of one is %lu\n",
			 region, PAGE_SIZE * pageblock_nr_pages);
		return ret;
	}
	cma->heap.base = memory->base;
	cma->heap.start = memory->base;
	cma->heap.size = memory->size;
	return 0;
}

/* Whether there is a default area.  Only an allocation can find out. */
static int dray_cma_try(struct dray_cma *cma)
{
	struct page *page = dray_cma_take(cma, 2 * PAGE_SIZE);

	if (!page)
		return -ENODEV;
	dray_cma_give_back(cma, page, 2 * PAGE_SIZE);
	return 0;
}

static struct dray_heap *dray_cma_create(const char *name, struct device *dev,
					 struct device_node *region, int index)
{
	struct dray_cma *cma;
	int ret;

	if (!IS_ENABLED(CONFIG_DMA_CMA))
		return ERR_PTR(-ENODEV);
	cma = kzalloc(sizeof(*cma), GFP_KERNEL);
	if (!cma)
		return ERR_PTR(-ENOMEM);
	cma->heap.ops = &dray_cma_ops;
	cma->heap.flags = DRAY_HEAP_SHARED;
	cma->heap.zeroed = true;

	ret = dray_heap_device_init(&cma->heap, name);
	/* Without a way to map it anew, memory is cached. */
	cma->heap.modes = BIT(DRAY_MODE_CACHED) | BIT(DRAY_MODE_DEVICE);
	if (!dev_is_dma_coherent(&cma->heap.device))
		cma->heap.modes |=
			BIT(DRAY_MODE_WRITE_COMBINED) | BIT(DRAY_MODE_COHERENT);
	if (!ret)
		ret = region ? dray_cma_assign(cma, dev, region, index)
			     : dray_cma_try(cma);
	if (ret) {
		put_device(&cma->heap.device);
		return ERR_PTR(ret);
	}
	return &cma->heap;
}

static bool dray_cma_serves(struct device_node *region)
{
	return of_device_is_compatible(region, "shared-dma-pool") &&
	       of_property_read_bool(region, "reusable");
}

/* The device tree of a device says which memory it gets. */
static bool dray_cma_is_systems(struct device *dev)
{
	return !dev->of_node;
}

const struct dray_heap_kind dray_cma_kind = {
	.name = "cma",
	.type = DRAY_HEAP_CMA,
	.pooled = true,
	.serves = dray_cma_serves,
	.is_systems = dray_cma_is_systems,
	.create = dray_cma_create,
};
