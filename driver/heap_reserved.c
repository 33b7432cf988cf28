// SPDX-License-Identifier: GPL-2.0-only
/*
 * The `reserved` heap: a dedicated region with struct pages, cut up by a
 * bitmap of pages under a mutex.
 *
 * A free page has a reference count of zero, so that nobody can take hold of
 * it.  When a buffer is freed, pages that others still hold (a pipe, an
 * asynchronous close in io_uring) cannot be brought to zero: they are held
 * back, looked at again from time to time and before a request fails, and
 * given out only when the last foreign reference is gone.  A page is
 * `taken` while a buffer has it or it is held back.
 */
#include <linux/bitmap.h>
#include <linux/err.h>
#include <linux/log2.h>
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

#include "heap.h"

#define DRAY_SWEEP_DELAY msecs_to_jiffies(1000)

struct dray_reserved {
	struct dray_heap heap;
	struct mutex lock; /* everything below */
	unsigned long first; /* page frame number */
	unsigned long pages;
	unsigned long free; /* pages that are not taken */
	unsigned long held; /* pages that others still hold */
	unsigned long *taken_map;
	unsigned long *held_map;
	struct delayed_work sweep;
};

static struct dray_reserved *to_reserved(struct dray_heap *heap)
{
	return container_of(heap, struct dray_reserved, heap);
}

static struct page *dray_reserved_page(struct dray_reserved *reserved,
				       unsigned long index)
{
	return pfn_to_page(reserved->first + index);
}

/* Frees what others let go of; true when something came back. */
static bool dray_reserved_sweep(struct dray_reserved *reserved)
{
	unsigned long index, before = reserved->held;

	lockdep_assert_held(&reserved->lock);
	for_each_set_bit(index, reserved->held_map, reserved->pages) {
		if (!reserved->held)
			break;
		cond_resched();
		if (!page_ref_freeze(dray_reserved_page(reserved, index), 1))
			continue;
		clear_bit(index, reserved->held_map);
		clear_bit(index, reserved->taken_map);
		reserved->held--;
		reserved->free++;
	}
	return reserved->held != before;
}

static void dray_reserved_sweep_later(struct work_struct *work)
{
	struct dray_reserved *reserved =
		container_of(work, struct dray_reserved, sweep.work);

	mutex_lock(&reserved->lock);
	dray_reserved_sweep(reserved);
	if (reserved->held)
		schedule_delayed_work(&reserved->sweep, DRAY_SWEEP_DELAY);
	mutex_unlock(&reserved->lock);
}

static void dray_reserved_give(struct dray_reserved *reserved,
			       unsigned long index)
{
	if (page_ref_freeze(dray_reserved_page(reserved, index), 1)) {
		clear_bit(index, reserved->taken_map);
		reserved->free++;
	} else {
		set_bit(index, reserved->held_map);
		reserved->held++;
	}
}

static unsigned long dray_reserved_longest(struct dray_reserved *reserved)
{
	unsigned long start, end = 0, longest = 0;

	while (end < reserved->pages) {
		start = find_next_zero_bit(reserved->taken_map, reserved->pages,
					   end);
		end = find_next_bit(reserved->taken_map, reserved->pages,
				    start);
		longest = max(longest, end - start);
		cond_resched();
	}
	return longest;
}

/* The lowest run of @count pages below page @end, else @pages. */
static unsigned long dray_reserved_from_bottom(struct dray_reserved *reserved,
					       unsigned long count,
					       unsigned long align,
					       unsigned long end)
{
	unsigned long index;

	index = bitmap_find_next_zero_area_off(reserved->taken_map, end, 0,
					       count, align - 1,
					       reserved->first & (align - 1));
	return index + count <= end ? index : reserved->pages;
}

static unsigned long dray_reserved_from_top(struct dray_reserved *reserved,
					    unsigned long count,
					    unsigned long align,
					    unsigned long end)
{
	unsigned long index, last;

	while (end >= count) {
		index = round_down(reserved->first + end - count, align);
		if (index < reserved->first)
			break;
		index -= reserved->first;
		last = find_last_bit(reserved->taken_map, index + count);
		if (last >= index + count || last < index)
			return index;
		end = last;
		cond_resched();
	}
	return reserved->pages;
}

static int dray_reserved_refuse(struct dray_reserved *reserved,
				unsigned long count, unsigned long end,
				const struct dray_request *request,
				struct dray_refusal *refusal)
{
	unsigned long longest;

	if (reserved->free < count)
		return dray_refuse(refusal, -ENOMEM, DRAY_REASON_FULL,
				   (u64)reserved->free << PAGE_SHIFT);
	longest = dray_reserved_longest(reserved);
	if (longest >= count && end < reserved->pages)
		return dray_refuse(refusal, -ENOMEM, DRAY_REASON_MASK,
				   request->limit);
	return dray_refuse(refusal, -ENOMEM, DRAY_REASON_FRAGMENTED,
			   (u64)longest << PAGE_SHIFT);
}

static int dray_reserved_alloc(struct dray_heap *heap,
			       const struct dray_request *request,
			       struct dray_extent *extent,
			       struct dray_refusal *refusal)
{
	struct dray_reserved *reserved = to_reserved(heap);
	unsigned long count = request->size >> PAGE_SHIFT;
	unsigned long align = request->alignment >> PAGE_SHIFT;
	unsigned long end = reserved->pages;
	unsigned long index, i;
	u64 total = (u64)reserved->pages << PAGE_SHIFT;
	u64 largest_alignment = (u64)rounddown_pow_of_two(reserved->pages)
				<< PAGE_SHIFT;
	int ret = 0;

	if (request->alignment > largest_alignment)
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_ALIGNMENT,
				   largest_alignment);
	if (request->size > total)
		return dray_refuse(refusal, -ENOMEM, DRAY_REASON_SIZE, total);
	if (request->limit < heap->base)
		end = 0;
	else if (request->limit - heap->base < total - 1)
		end = (request->limit - heap->base + 1) >> PAGE_SHIFT;

	mutex_lock(&reserved->lock);
	do {
		if (end < count)
			index = reserved->pages;
		else if (request->top)
			index = dray_reserved_from_top(reserved, count, align,
						       end);
		else
			index = dray_reserved_from_bottom(reserved, count,
							  align, end);
	} while (index == reserved->pages && dray_reserved_sweep(reserved));

	if (index == reserved->pages) {
		ret = dray_reserved_refuse(reserved, count, end, request,
					   refusal);
		goto out;
	}
	bitmap_set(reserved->taken_map, index, count);
	reserved->free -= count;
	extent->page = dray_reserved_page(reserved, index);
	extent->size = request->size;
out:
	mutex_unlock(&reserved->lock);
	if (!ret)
		for (i = 0; i < count; i++)
			page_ref_unfreeze(extent->page + i, 1);
	return ret;
}

static void dray_reserved_free(struct dray_heap *heap,
			       const struct dray_extent *extent)
{
	struct dray_reserved *reserved = to_reserved(heap);
	unsigned long index = page_to_pfn(extent->page) - reserved->first;
	unsigned long end = index + (extent->size >> PAGE_SHIFT);

	mutex_lock(&reserved->lock);
	for (; index < end; index++)
		dray_reserved_give(reserved, index);
	if (reserved->held)
		schedule_delayed_work(&reserved->sweep, DRAY_SWEEP_DELAY);
	mutex_unlock(&reserved->lock);
}

/*
 * One more reference keeps the pages held back, beyond the life of this
 * module too: the next one finds them held when it takes over the region.
 */
static void dray_reserved_condemn(struct dray_heap *heap,
				  const struct dray_extent *extent)
{
	unsigned long i;

	pr_warn("dray: %zu bytes of %s stay out of use: a device may write them\n",
		extent->size, heap->name);
	for (i = 0; i < extent->size >> PAGE_SHIFT; i++)
		get_page(extent->page + i);
	dray_reserved_free(heap, extent);
}

static void dray_reserved_state(struct dray_heap *heap,
				struct dray_heap_info *info)
{
	struct dray_reserved *reserved = to_reserved(heap);

	mutex_lock(&reserved->lock);
	dray_reserved_sweep(reserved);
	info->total = (u64)reserved->pages << PAGE_SHIFT;
	info->free = (u64)reserved->free << PAGE_SHIFT;
	info->quarantined = (u64)reserved->held << PAGE_SHIFT;
	info->largest_free = (u64)dray_reserved_longest(reserved) << PAGE_SHIFT;
	info->largest_request = info->total;
	mutex_unlock(&reserved->lock);
}

/* Back to one reference a page, as the kernel's memory map had it. */
static void dray_reserved_destroy(struct dray_heap *heap)
{
	struct dray_reserved *reserved = to_reserved(heap);
	unsigned long index;

	cancel_delayed_work_sync(&reserved->sweep);
	for (index = 0; index < reserved->pages; index++)
		if (!test_bit(index, reserved->taken_map))
			page_ref_unfreeze(dray_reserved_page(reserved, index),
					  1);
	bitmap_free(reserved->held_map);
	bitmap_free(reserved->taken_map);
	kfree(reserved);
}

static const struct dray_heap_ops dray_reserved_ops = {
	.alloc = dray_reserved_alloc,
	.free = dray_reserved_free,
	.condemn = dray_reserved_condemn,
	.state = dray_reserved_state,
	.destroy = dray_reserved_destroy,
};

/* Only pages that the kernel set aside may be taken over. */
static bool dray_reserved_usable(struct dray_reserved *reserved)
{
	unsigned long index;

	for (index = 0; index < reserved->pages; index++) {
		if (!pfn_valid(reserved->first + index) ||
		    !PageReserved(dray_reserved_page(reserved, index)) ||
		    page_count(dray_reserved_page(reserved, index)) < 1)
			return false;
		cond_resched();
	}
	return true;
}

struct dray_heap *dray_heap_reserved(struct device *dev,
				     struct device_node *region)
{
	struct reserved_mem *memory = of_reserved_mem_lookup(region);
	struct dray_reserved *reserved;
	unsigned long index;
	int ret = -ENOMEM;

	reserved = kzalloc(sizeof(*reserved), GFP_KERNEL);
	if (!reserved)
		return ERR_PTR(-ENOMEM);
	mutex_init(&reserved->lock);
	INIT_DELAYED_WORK(&reserved->sweep, dray_reserved_sweep_later);
	reserved->first = PFN_UP(memory->base);
	reserved->pages =
		PFN_DOWN(memory->base + memory->size) - reserved->first;
	reserved->heap.ops = &dray_reserved_ops;
	reserved->heap.base = memory->base;
	reserved->heap.type = DRAY_HEAP_RESERVED;
	reserved->heap.flags = DRAY_HEAP_PINNABLE;

	if (!reserved->pages || !dray_reserved_usable(reserved)) {
		dev_warn(dev, "%pOFn has no reserved pages of its own\n",
			 region);
		ret = -EINVAL;
		goto free_reserved;
	}
	reserved->taken_map = bitmap_zalloc(reserved->pages, GFP_KERNEL);
	reserved->held_map = bitmap_zalloc(reserved->pages, GFP_KERNEL);
	if (!reserved->taken_map || !reserved->held_map)
		goto free_maps;

	mutex_lock(&reserved->lock);
	bitmap_fill(reserved->taken_map, reserved->pages);
	for (index = 0; index < reserved->pages; index++)
		dray_reserved_give(reserved, index);
	if (reserved->held)
		schedule_delayed_work(&reserved->sweep, DRAY_SWEEP_DELAY);
	mutex_unlock(&reserved->lock);
	return &reserved->heap;

free_maps:
	bitmap_free(reserved->held_map);
	bitmap_free(reserved->taken_map);
free_reserved:
	kfree(reserved);
	return ERR_PTR(ret);
}
