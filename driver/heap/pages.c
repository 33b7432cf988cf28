// SPDX-License-Identifier: GPL-2.0-only
/*
 * The `pages` heap: the page allocator.  A request of a power of two pages gets
 * a compound page, which is allocated and freed in a single step.  Other sizes
 * get a larger block that is split at once, and the surplus is freed.
 *
 * Pages that other holders keep when the buffer is freed stay with them.  But a
 * single page keeps its whole compound page, so the buffer's owner is charged
 * until the last holder drops it.
 */
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmstat.h>
#include <linux/workqueue.h>

#include "awaited.h"
#include "heap.h"
#include "heap_device.h"
#include "heaps.h"

struct dray_pages_heap {
	struct dray_heap heap;
	struct mutex lock; /* everything below */
	struct list_head quarantine; /* pages that others hold, by lru */
	u64 quarantined;
	struct dray_awaited awaited;
	struct delayed_work sweep;
};

#define DRAY_PAGES_LARGEST ((size_t)MAX_ORDER_NR_PAGES << PAGE_SHIFT)

/* Wider zones first: memory below a limit may well lie in a wide zone. */
static const gfp_t dray_pages_zones[] = {
	0,
	IS_ENABLED(CONFIG_ZONE_DMA32) ? GFP_DMA32 : 0,
	IS_ENABLED(CONFIG_ZONE_DMA) ? GFP_DMA : 0,
};

/* Returns the largest order with a free block in @zone, or -1. */
static int dray_pages_largest_order(struct zone *zone)
{
	int order;

	if (!zone_managed_pages(zone))
		return -1;
	for (order = ARRAY_SIZE(zone->free_area) - 1; order >= 0; order--)
		/* A snapshot: without the lock it is outdated at once. */
		if (data_race(zone->free_area[order].nr_free))
			break;
	return order;
}

/* Bytes of the longest free run. */
static u64 dray_pages_largest_free(void)
{
	struct zone *zones;
	int largest = -1;
	int nid, i;

	for_each_online_node(nid) {
		zones = NODE_DATA(nid)->node_zones;
		for (i = 0; i < MAX_NR_ZONES; i++)
			largest = max(largest,
				      dray_pages_largest_order(&zones[i]));
	}
	return largest < 0 ? 0 : (u64)PAGE_SIZE << largest;
}

static bool dray_pages_below(struct page *page, size_t size, u64 limit)
{
	return page_to_phys(page) + size - 1 <= limit;
}

static int dray_heap_pages_check(struct dray_heap *heap,
				 const struct dray_heap_request *request,
				 struct dray_refusal *refusal)
{
	if (request->alignment > DRAY_PAGES_LARGEST)
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_ALIGNMENT,
				   DRAY_PAGES_LARGEST);
	if (request->size > DRAY_PAGES_LARGEST)
		return dray_refuse(refusal, -ENOMEM, DRAY_REASON_ORDER,
				   DRAY_PAGES_LARGEST);
	return 0;
}

/*
 * Allocates a block of @order below the limit, from the widest zone that can.
 * NULL: no zone can; @above says whether a block lay above the limit.
 */
static struct page *dray_pages_take(const struct dray_heap_request *request,
				    gfp_t gfp, int order, bool *above)
{
	struct page *page;
	size_t i;

	*above = false;
	for (i = 0; i < ARRAY_SIZE(dray_pages_zones); i++) {
		if (i && (!*above || !dray_pages_zones[i]))
			continue;
		page = alloc_pages(gfp | dray_pages_zones[i], order);
		if (!page)
			continue;
		if (dray_pages_below(page, request->size, request->limit))
			return page;
		__free_pages(page, order);
		*above = true;
	}
	return NULL;
}

static int dray_pages_alloc(struct dray_heap *heap,
			    const struct dray_heap_request *request,
			    struct dray_heap_memory *memory,
			    struct dray_refusal *refusal)
{
	gfp_t gfp = GFP_USER | __GFP_ZERO | __GFP_ACCOUNT | __GFP_NOWARN |
		    __GFP_RETRY_MAYFAIL;
	size_t count = request->size >> PAGE_SHIFT;
	struct page *page;
	bool above;
	size_t i;
	int order;

	order = get_order(max_t(u64, request->size, request->alignment));
	if (request->size == PAGE_SIZE << order)
		gfp |= __GFP_COMP;
	page = dray_pages_take(request, gfp, order, &above);
	if (!page && above)
		return dray_refuse(refusal, -ENOMEM, DRAY_REASON_MASK,
				   request->limit);
	if (!page)
		return dray_refuse(refusal, -ENOMEM, DRAY_REASON_FRAGMENTED,
				   dray_pages_largest_free());

	if (!(gfp & __GFP_COMP)) {
		split_page(page, order);
		for (i = count; i < (size_t)1 << order; i++)
			__free_page(page + i);
	}
	memory->page = page;
	memory->start = page_to_phys(page);
	memory->size = request->size;
	return 0;
}

/*
 * The kernel keeps a poisoned page when it is freed by itself, but not as a
 * part of a compound page.  That cannot be split here, so all of it is lost.
 */
static void dray_pages_put(struct page *page)
{
	unsigned int order = compound_order(page);
	unsigned long i;

	for (i = 0; order && i < 1ul << order; i++)
		if (PageHWPoison(page + i))
			return;
	__free_pages(page, order);
}

static struct dray_pages_heap *to_pages(struct dray_heap *heap)
{
	return container_of(heap, struct dray_pages_heap, heap);
}

/* Drops only dray's reference. */
static void dray_pages_release(struct dray_pages_heap *pages, struct page *page)
{
	lockdep_assert_held(&pages->lock);
	list_del(&page->lru);
	pages->quarantined -= page_size(page);
	dray_awaited_drop(&pages->awaited, page, page_size(page));
	dray_pages_put(page);
}

static void dray_pages_sweep(struct dray_pages_heap *pages)
{
	struct page *page, *next;

	lockdep_assert_held(&pages->lock);
	list_for_each_entry_safe(page, next, &pages->quarantine, lru) {
		if (page_count(page) == 1)
			dray_pages_release(pages, page);
		cond_resched();
	}
}

static void dray_pages_sweep_later(struct work_struct *work)
{
	struct dray_pages_heap *pages =
		container_of(work, struct dray_pages_heap, sweep.work);

	mutex_lock(&pages->lock);
	dray_pages_sweep(pages);
	if (!list_empty(&pages->quarantine))
		schedule_delayed_work(&pages->sweep, DRAY_SWEEP_DELAY);
	mutex_unlock(&pages->lock);
}

static void dray_pages_quarantine(struct dray_pages_heap *pages,
				  struct page *page, struct dray_charge *charge)
{
	mutex_lock(&pages->lock);
	dray_awaited_add(&pages->awaited, page, charge, page_size(page));
	list_add_tail(&page->lru, &pages->quarantine);
	pages->quarantined += page_size(page);
	schedule_delayed_work(&pages->sweep, DRAY_SWEEP_DELAY);
	mutex_unlock(&pages->lock);
}

/* A page by itself or a compound page. */
static void dray_pages_drop(struct dray_pages_heap *pages, struct page *page,
			    struct dray_charge *charge)
{
	if (page_count(page) == 1)
		dray_pages_put(page);
	else
		dray_pages_quarantine(pages, page, charge);
}

static void dray_pages_free(struct dray_heap *heap,
			    const struct dray_heap_memory *memory)
{
	struct dray_pages_heap *pages = to_pages(heap);
	struct dray_charge *charge = memory->charge;
	size_t count = memory->size >> PAGE_SHIFT, i;
	struct page *page = memory->page;

	if (PageCompound(page))
		count = 1;
	for (i = 0; i < count; i++)
		dray_pages_drop(pages, page + i, charge);
}

static void dray_pages_state(struct dray_heap *heap,
			     struct dray_heap_info *info)
{
	struct dray_pages_heap *pages = to_pages(heap);

	mutex_lock(&pages->lock);
	dray_pages_sweep(pages);
	info->quarantined += pages->quarantined;
	mutex_unlock(&pages->lock);
	info->total = (u64)totalram_pages() << PAGE_SHIFT;
	info->free = (u64)global_zone_page_state(NR_FREE_PAGES) << PAGE_SHIFT;
	info->largest_free = dray_pages_largest_free();
	info->largest_request = DRAY_PAGES_LARGEST;
}

static void dray_pages_destroy(struct dray_heap *heap)
{
	struct dray_pages_heap *pages = to_pages(heap);
	struct page *page, *next;

	cancel_delayed_work_sync(&pages->sweep);
	/* The module could not stay, so some pages may be left. */
	mutex_lock(&pages->lock);
	list_for_each_entry_safe(page, next, &pages->quarantine, lru)
		dray_pages_release(pages, page);
	mutex_unlock(&pages->lock);
	kfree(pages);
}

static const struct dray_heap_ops dray_pages_ops = {
	.check = dray_heap_pages_check,
	.alloc = dray_pages_alloc,
	.free = dray_pages_free,
	.state = dray_pages_state,
	.destroy = dray_pages_destroy,
};

static struct dray_heap *dray_pages_create(const char *name, struct device *dev,
					   struct device_node *region,
					   int index)
{
	struct dray_pages_heap *pages;
	int ret;

	pages = kzalloc(sizeof(*pages), GFP_KERNEL);
	if (!pages)
		return ERR_PTR(-ENOMEM);
	mutex_init(&pages->lock);
	INIT_LIST_HEAD(&pages->quarantine);
	INIT_DELAYED_WORK(&pages->sweep, dray_pages_sweep_later);
	pages->heap.ops = &dray_pages_ops;
	pages->heap.flags = DRAY_HEAP_SHARED | DRAY_HEAP_PINNABLE;
	/*
	 * If the kernel clears all pages that it allocates, dray does not
	 * clear them again.
	 */
	pages->heap.zeroed = true;
	pages->heap.modes = BIT(DRAY_MODE_CACHED) | BIT(DRAY_MODE_DEVICE);
	ret = dray_heap_device_init(&pages->heap, name);
	if (ret) {
		put_device(&pages->heap.device);
		return ERR_PTR(ret);
	}
	return &pages->heap;
}

static bool dray_pages_is_systems(struct device *dev)
{
	return true;
}

const struct dray_heap_kind dray_pages_kind = {
	.name = "pages",
	.type = DRAY_HEAP_PAGES,
	.is_systems = dray_pages_is_systems,
	.create = dray_pages_create,
};
