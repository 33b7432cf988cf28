// SPDX-License-Identifier: GPL-2.0-only
/*
 * The `reserved` heap: a dedicated region with struct pages.
 *
 * The reference count of a free page is zero, so that nobody can get hold of it.
 * When a buffer is freed, pages that others still hold (a pipe, an asynchronous
 * close in io_uring) cannot be brought to zero.  They are quarantined, looked at
 * from time to time and before a request fails, and free again after the last
 * foreign reference.  A page is `taken` while a buffer owns it or it is
 * quarantined.  The module stays until the last is back: without it no sweep
 * would look at them, and their mark would keep them for good.
 *
 * A poisoned page is quarantined too, uncharged, for as long as the kernel marks
 * it: the mark holds no reference, and only this heap looks at dedicated memory.
 *
 * Only pages without an owner are marked as reserved.  To VFIO and KVM such a
 * mark means a page without references, and they would never drop theirs.
 */
#include <linux/bitmap.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/of.h>
#include <linux/of_reserved_mem.h>
#include <linux/page_ref.h>
#include <linux/pfn.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "awaited.h"
#include "heap.h"
#include "heap_device.h"
#include "heaps.h"
#include "pagemap.h"

struct dray_reserved {
	struct dray_heap heap;
	struct mutex lock; /* everything below */
	struct dray_pagemap map;
	unsigned long quarantined; /* pages: others hold them, or poisoned */
	struct dray_awaited awaited; /* expected back some day */
	unsigned long *quarantine;
	struct delayed_work sweep;
};

static struct dray_reserved *to_reserved(struct dray_heap *heap)
{
	return container_of(heap, struct dray_reserved, heap);
}

static struct page *dray_reserved_page(struct dray_reserved *reserved,
				       unsigned long index)
{
	return pfn_to_page(reserved->map.first + index);
}

/*
 * Freezes the reference count at 0 if dray's is the only reference and the page
 * is not poisoned.
 */
static bool dray_reserved_freeze(struct page *page)
{
	if (PageHWPoison(page) || !page_ref_freeze(page, 1))
		return false;
	SetPageReserved(page);
	return true;
}

static void dray_reserved_thaw(struct page *page)
{
	ClearPageReserved(page);
	page_ref_unfreeze(page, 1);
}

static void dray_reserved_quarantine(struct dray_reserved *reserved,
				     unsigned long index)
{
	set_bit(index, reserved->quarantine);
	reserved->quarantined++;
}

/*
 * Frees pages that others dropped; true if any returned.  Charged pages are
 * looked at every second.  Uncharged pages (poisoned, condemned, left by an
 * earlier module) may never return, and wait for a request.
 */
static bool dray_reserved_sweep(struct dray_reserved *reserved)
{
	unsigned long index, before = reserved->quarantined;
	struct page *page;
	bool back;

	lockdep_assert_held(&reserved->lock);
	for_each_set_bit(index, reserved->quarantine, reserved->map.pages) {
		if (!reserved->quarantined)
			break;
		cond_resched();
		page = dray_reserved_page(reserved, index);
		back = dray_reserved_freeze(page);
		/*
		 * A poisoned page never returns, and its user must not pay for
		 * ever.
		 */
		if (back || PageHWPoison(page))
			dray_awaited_drop(&reserved->awaited, page, PAGE_SIZE);
		if (!back)
			continue;
		clear_bit(index, reserved->quarantine);
		dray_pagemap_give(&reserved->map, index, 1);
		reserved->quarantined--;
	}
	return reserved->quarantined != before;
}

static void dray_reserved_sweep_later(struct work_struct *work)
{
	struct dray_reserved *reserved =
		container_of(work, struct dray_reserved, sweep.work);

	mutex_lock(&reserved->lock);
	dray_reserved_sweep(reserved);
	if (reserved->awaited.count)
		schedule_delayed_work(&reserved->sweep, DRAY_SWEEP_DELAY);
	mutex_unlock(&reserved->lock);
}

/* Frees pages up to @end, in the longest runs; others' pages stay. */
static void dray_reserved_give(struct dray_reserved *reserved,
			       unsigned long index, unsigned long end,
			       struct dray_charge *charge)
{
	struct page *first = dray_reserved_page(reserved, 0), *page;
	unsigned long start = index;

	for (; index < end; index++) {
		page = dray_page_at(first, index);
		if (likely(dray_reserved_freeze(page)))
			continue;
		dray_awaited_add(&reserved->awaited, page,
				 PageHWPoison(page) ? NULL : charge, PAGE_SIZE);
		dray_reserved_quarantine(reserved, index);
		dray_pagemap_give(&reserved->map, start, index - start);
		start = index + 1;
	}
	dray_pagemap_give(&reserved->map, start, end - start);
}

static int dray_reserved_check(struct dray_heap *heap,
			       const struct dray_heap_request *request,
			       struct dray_refusal *refusal)
{
	return dray_pagemap_check(&to_reserved(heap)->map, request, refusal);
}

/*
 * Quarantines pages that were poisoned while free, and frees the rest of their
 * run; false if the run is without such a page.
 */
static bool dray_reserved_quarantine_poison(struct dray_reserved *reserved,
					    unsigned long index,
					    unsigned long count)
{
	struct page *first = dray_reserved_page(reserved, 0), *page;
	unsigned long start = index, end = index + count;

	lockdep_assert_held(&reserved->lock);
	for (; index < end; index++) {
		page = dray_page_at(first, index);
		if (likely(!PageHWPoison(page)))
			continue;
		/* The reference count of a page in quarantine is 1. */
		page_ref_unfreeze(page, 1);
		dray_reserved_quarantine(reserved, index);
		dray_pagemap_give(&reserved->map, start, index - start);
		start = index + 1;
	}
	if (end - start == count)
		return false;
	dray_pagemap_give(&reserved->map, start, end - start);
	return true;
}

static int dray_reserved_alloc(struct dray_heap *heap,
			       const struct dray_heap_request *request,
			       struct dray_heap_memory *memory,
			       struct dray_refusal *refusal)
{
	struct dray_reserved *reserved = to_reserved(heap);
	unsigned long count = request->size >> PAGE_SHIFT;
	unsigned long index, i;
	struct page *page;
	bool found;
	int ret = 0;

	mutex_lock(&reserved->lock);
	do {
		found = dray_pagemap_find(&reserved->map, request, &index);
	} while (found ? dray_reserved_quarantine_poison(reserved, index, count)
		       : dray_reserved_sweep(reserved));
	if (!found)
		ret = dray_pagemap_refuse(&reserved->map, request, refusal);
	mutex_unlock(&reserved->lock);
	if (ret)
		return ret;

	page = dray_reserved_page(reserved, index);
	for (i = 0; i < count; i++)
		dray_reserved_thaw(dray_page_at(page, i));
	memory->page = page;
	memory->start = PFN_PHYS(reserved->map.first + index);
	memory->size = request->size;
	return 0;
}

static void dray_reserved_free(struct dray_heap *heap,
			       const struct dray_heap_memory *memory)
{
	struct dray_reserved *reserved = to_reserved(heap);
	unsigned long index = PHYS_PFN(memory->start) - reserved->map.first;
	unsigned long end = index + (memory->size >> PAGE_SHIFT);

	mutex_lock(&reserved->lock);
	dray_reserved_give(reserved, index, end, memory->charge);
	if (reserved->awaited.count)
		schedule_delayed_work(&reserved->sweep, DRAY_SWEEP_DELAY);
	mutex_unlock(&reserved->lock);
}

/*
 * Another reference keeps the pages in quarantine, beyond the life of this module
 * too: the next module finds them so in the region.
 */
static void dray_reserved_condemn(struct dray_heap *heap,
				  const struct dray_heap_memory *memory)
{
	struct dray_heap_memory lost = { .start = memory->start,
					 .page = memory->page,
					 .size = memory->size };
	unsigned long i;

	for (i = 0; i < memory->size >> PAGE_SHIFT; i++)
		get_page(dray_page_at(memory->page, i));
	/* Without a charge: no user pays for ever. */
	dray_reserved_free(heap, &lost);
}

static void dray_reserved_state(struct dray_heap *heap,
				struct dray_heap_info *info)
{
	struct dray_reserved *reserved = to_reserved(heap);

	mutex_lock(&reserved->lock);
	dray_reserved_sweep(reserved);
	dray_pagemap_state(&reserved->map, info);
	info->quarantined = (u64)reserved->quarantined << PAGE_SHIFT;
	mutex_unlock(&reserved->lock);
}

/* As ALLOC finds them: pages that are back are free. */
static void dray_reserved_use(struct dray_heap *heap, struct dray_heap_use *use)
{
	struct dray_reserved *reserved = to_reserved(heap);
	unsigned long index;

	mutex_lock(&reserved->lock);
	dray_reserved_sweep(reserved);
	bitmap_copy(use->taken, reserved->map.taken, use->pages);
	for_each_set_bit(index, reserved->quarantine, use->pages) {
		/* Its charge: somebody pays until it is back. */
		if (page_private(dray_reserved_page(reserved, index)))
			__set_bit(index, use->quarantined);
		else
			__set_bit(index, use->condemned);
		cond_resched();
	}
	mutex_unlock(&reserved->lock);
}

/* Back to a single reference a page, as in the kernel's memory map. */
static void dray_reserved_destroy(struct dray_heap *heap)
{
	struct dray_reserved *reserved = to_reserved(heap);
	unsigned long index;

	cancel_delayed_work_sync(&reserved->sweep);
	for_each_set_bit(index, reserved->quarantine, reserved->map.pages) {
		/* The next module looks for this mark. */
		SetPageReserved(dray_reserved_page(reserved, index));
		dray_awaited_drop(&reserved->awaited,
				  dray_reserved_page(reserved, index),
				  PAGE_SIZE);
	}
	for_each_clear_bit(index, reserved->map.taken, reserved->map.pages)
		page_ref_unfreeze(dray_reserved_page(reserved, index), 1);
	bitmap_free(reserved->quarantine);
	dray_pagemap_exit(&reserved->map);
	kfree(reserved);
}

static const struct dray_heap_ops dray_reserved_ops = {
	.takes = dray_pagemap_takes,
	.check = dray_reserved_check,
	.alloc = dray_reserved_alloc,
	.free = dray_reserved_free,
	.condemn = dray_reserved_condemn,
	.state = dray_reserved_state,
	.use = dray_reserved_use,
	.destroy = dray_reserved_destroy,
};

/* Only pages that the kernel set aside may be used. */
static bool dray_reserved_usable(struct dray_reserved *reserved)
{
	unsigned long index;

	for (index = 0; index < reserved->map.pages; index++) {
		if (!pfn_valid(reserved->map.first + index) ||
		    !PageReserved(dray_reserved_page(reserved, index)) ||
		    page_count(dray_reserved_page(reserved, index)) < 1)
			return false;
		cond_resched();
	}
	return true;
}

static struct dray_heap *dray_reserved_create(const char *name,
					      struct device *dev,
					      struct device_node *region,
					      int index)
{
	struct reserved_mem *memory = of_reserved_mem_lookup(region);
	struct dray_reserved *reserved;
	int ret;

	reserved = kzalloc(sizeof(*reserved), GFP_KERNEL);
	if (!reserved)
		return ERR_PTR(-ENOMEM);
	mutex_init(&reserved->lock);
	INIT_DELAYED_WORK(&reserved->sweep, dray_reserved_sweep_later);
	reserved->heap.ops = &dray_reserved_ops;
	reserved->heap.base = memory->base;
	reserved->heap.flags = DRAY_HEAP_PINNABLE;
	reserved->heap.modes = BIT(DRAY_MODE_CACHED) | BIT(DRAY_MODE_DEVICE);

	ret = dray_pagemap_init(&reserved->map, memory->base, memory->size);
	if (ret)
		goto free_map;
	dray_pagemap_range(&reserved->map, &reserved->heap);
	if (!dray_reserved_usable(reserved)) {
		dev_warn(dev, "%pOFn has no reserved pages of its own\n",
			 region);
		ret = -EINVAL;
		goto free_map;
	}
	reserved->quarantine = bitmap_zalloc(reserved->map.pages, GFP_KERNEL);
	if (!reserved->quarantine) {
		ret = -ENOMEM;
		goto free_map;
	}

	mutex_lock(&reserved->lock);
	dray_pagemap_take(&reserved->map, 0, reserved->map.pages);
	dray_reserved_give(reserved, 0, reserved->map.pages, NULL);
	mutex_unlock(&reserved->lock);
	ret = dray_heap_device_init(&reserved->heap, name);
	if (ret) {
		put_device(&reserved->heap.device);
		return ERR_PTR(ret);
	}
	return &reserved->heap;

free_map:
	dray_pagemap_exit(&reserved->map);
	kfree(reserved);
	return ERR_PTR(ret);
}

/* Serves every region that earlier kinds leave over. */
static bool dray_reserved_serves(struct device_node *region)
{
	return true;
}

const struct dray_heap_kind dray_reserved_kind = {
	.name = "reserved",
	.type = DRAY_HEAP_RESERVED,
	.serves = dray_reserved_serves,
	.create = dray_reserved_create,
};
