// SPDX-License-Identifier: GPL-2.0-only
/*
 * Do two sides of a transfer share bytes?  In one area their offsets tell.
 * Memory that was pinned twice, or a buffer that was pinned where it is mapped,
 * lies at other offsets, and behind an IOMMU at other addresses: there the
 * pages tell.  What other drivers export is for overlap_dmabuf.c.
 */
#include <linux/err.h>
#include <linux/io.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "memory/attachment.h"
#include "memory/buffer.h"
#include "overlap.h"

u32 dray_page_first(const struct dray_layout *side)
{
	return (side->low + side->area.attachment->skip) >> PAGE_SHIFT;
}

u32 dray_page_last(const struct dray_layout *side)
{
	return (side->high - 1 + side->area.attachment->skip) >> PAGE_SHIFT;
}

struct dray_bytes dray_page_bytes(const struct dray_layout *side, u32 index)
{
	const struct dray_attachment *attachment = side->area.attachment;
	u64 start = page_to_phys(attachment->pages[index]);
	u64 page = (u64)index << PAGE_SHIFT;
	u64 low = side->low + attachment->skip;
	u64 high = side->high + attachment->skip;

	return (struct dray_bytes){
		.low = start + max(low, page) - page,
		.high = start + min(high, page + PAGE_SIZE) - page,
	};
}

int dray_page_breathe(u32 index)
{
	if (index % SZ_1K)
		return 0;
	cond_resched();
	return fatal_signal_pending(current) ? -EINTR : 0;
}

/* By frame, and what has the same one by where the attachment has it. */
static int dray_order_compare(const void *left, const void *right,
			      const void *pages)
{
	struct page *const *page = pages;
	u32 a = *(const u32 *)left, b = *(const u32 *)right;
	unsigned long frame_a = page_to_pfn(page[a]);
	unsigned long frame_b = page_to_pfn(page[b]);

	/* There may be a million of them, and the sorting itself never rests. */
	cond_resched();
	if (frame_a != frame_b)
		return frame_a < frame_b ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int dray_order_build(struct dray_attachment *attachment)
{
	u32 index, *order;

	order = kvmalloc_array(attachment->page_count, sizeof(*order),
			       GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!order)
		return -ENOMEM;
	for (index = 0; index < attachment->page_count; index++)
		order[index] = index;
	sort_r(order, attachment->page_count, sizeof(*order),
	       dray_order_compare, NULL, attachment->pages);
	attachment->order = order;
	return 0;
}

/* Pinned pages are the same for the attachment's life, and so is this. */
static int dray_order_get(struct dray_attachment *attachment)
{
	int ret = 0;

	mutex_lock(&attachment->lock);
	if (!attachment->order)
		ret = dray_order_build(attachment);
	mutex_unlock(&attachment->lock);
	return ret;
}

/* The first place in the order that is not before @frame at @index. */
static u32 dray_order_find(const struct dray_attachment *attachment,
			   unsigned long frame, u32 index)
{
	u32 low = 0, high = attachment->page_count, middle, at;
	unsigned long there;

	while (low < high) {
		middle = low + (high - low) / 2;
		at = attachment->order[middle];
		there = page_to_pfn(attachment->pages[at]);
		if (there < frame || (there == frame && at < index))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Has @side these bytes, which lie in @page?  It may have a page any number of
 * times, but of those in its span only the first and the last are in part.
 */
static bool dray_page_is_shared(const struct dray_layout *side,
				const struct page *page,
				const struct dray_bytes *bytes)
{
	const struct dray_attachment *attachment = side->area.attachment;
	u32 at = dray_order_find(attachment, page_to_pfn(page),
				 dray_page_first(side));
	u32 index, last = dray_page_last(side);
	struct dray_bytes own;

	for (; at < attachment->page_count; at++) {
		index = attachment->order[at];
		if (attachment->pages[index] != page || index > last)
			break;
		own = dray_page_bytes(side, index);
		if (dray_bytes_meet(&own, bytes))
			return true;
	}
	return false;
}

static int dray_pinned_meet(const struct dray_layout *few,
			    const struct dray_layout *many)
{
	u32 index, last = dray_page_last(few);
	struct dray_bytes bytes;
	struct page *page;
	int ret;

	ret = dray_order_get(many->area.attachment);
	for (index = dray_page_first(few); index <= last && !ret; index++) {
		bytes = dray_page_bytes(few, index);
		page = few->area.attachment->pages[index];
		if (dray_page_is_shared(many, page, &bytes))
			return 1;
		ret = dray_page_breathe(index);
	}
	return ret;
}

struct dray_bytes dray_buffer_bytes(const struct dray_layout *side)
{
	u64 start = side->area.buffer->extent.start;

	return (struct dray_bytes){
		.low = start + side->low,
		.high = start + side->high,
	};
}

static int dray_buffer_meets(const struct dray_layout *side,
			     const struct dray_layout *pinned)
{
	struct dray_bytes bytes, whole = dray_buffer_bytes(side);
	u32 index, last = dray_page_last(pinned);
	int ret = 0;

	for (index = dray_page_first(pinned); index <= last && !ret; index++) {
		bytes = dray_page_bytes(pinned, index);
		if (dray_bytes_meet(&whole, &bytes))
			return 1;
		ret = dray_page_breathe(index);
	}
	return ret;
}

bool dray_layout_is_pinned(const struct dray_layout *side)
{
	return side->area.attachment && !side->area.attachment->dmabuf;
}

static u32 dray_page_count(const struct dray_layout *side)
{
	return dray_page_last(side) - dray_page_first(side);
}

/* 1 where the spans have bytes in common, 0 where not, or an errno. */
int dray_layouts_meet(const struct dray_layout *a, const struct dray_layout *b)
{
	if (dray_area_is_same(&a->area, &b->area))
		return a->low < b->high && b->low < a->high;
	if (dray_layout_is_pinned(a) && dray_layout_is_pinned(b))
		return dray_page_count(a) < dray_page_count(b)
			       ? dray_pinned_meet(a, b)
			       : dray_pinned_meet(b, a);
	if (dray_layout_is_pinned(a) && b->area.buffer)
		return dray_buffer_meets(b, a);
	if (dray_layout_is_pinned(b) && a->area.buffer)
		return dray_buffer_meets(a, b);
	return 0;
}

/* Quickly: memory that another may know by another name counts as the same. */
static bool dray_layouts_may_meet(const struct dray_layout *a,
				  const struct dray_layout *b)
{
	if (!dray_area_entry(&a->area) || !dray_area_entry(&b->area))
		return false;
	if (a->area.buffer && b->area.buffer &&
	    a->area.buffer != b->area.buffer)
		return false;
	return !dray_area_is_same(&a->area, &b->area) ||
	       (a->low < b->high && b->low < a->high);
}

/* Does either write what the other one reads or writes, perhaps? */
bool dray_plan_needs(const struct dray_plan *later,
		     const struct dray_plan *earlier)
{
	return dray_layouts_may_meet(&later->src, &earlier->dst) ||
	       dray_layouts_may_meet(&later->dst, &earlier->dst) ||
	       dray_layouts_may_meet(&later->dst, &earlier->src);
}
