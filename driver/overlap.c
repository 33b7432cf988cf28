// SPDX-License-Identifier: GPL-2.0-only
/*
 * Do two sides of a transfer share bytes?  In one area their offsets tell.
 * Memory that was pinned twice, or a buffer that was pinned where it is mapped,
 * lies at other offsets, and behind an IOMMU at other addresses: there the
 * pages tell.  What other drivers export is for overlap_dmabuf.c.
 */
#include <linux/err.h>
#include <linux/hash.h>
#include <linux/io.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "attach.h"
#include "buffer.h"
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

/*
 * Page -> where an attachment has it: a table of chains, by hash of the page's
 * frame, then for each page the next one of its chain.  Indices count from 1.
 */
static int dray_chains_build(struct dray_attachment *attachment)
{
	u32 bits = max_t(u32, 1, order_base_2(attachment->page_count));
	u32 index, *chains, *head;
	int ret = 0;

	chains = kvcalloc((1UL << bits) + attachment->page_count,
			  sizeof(*chains), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!chains)
		return -ENOMEM;
	for (index = 0; index < attachment->page_count && !ret; index++) {
		head = &chains[hash_long(page_to_pfn(attachment->pages[index]),
					 bits)];
		chains[(1UL << bits) + index] = *head;
		*head = index + 1;
		ret = dray_page_breathe(index);
	}
	if (ret) {
		kvfree(chains);
		return ret;
	}
	attachment->chains = chains;
	attachment->chain_bits = bits;
	return 0;
}

/* Pinned pages are the same for the attachment's life, and so is this. */
static int dray_chains_get(struct dray_attachment *attachment)
{
	int ret = 0;

	mutex_lock(&attachment->lock);
	if (!attachment->chains)
		ret = dray_chains_build(attachment);
	mutex_unlock(&attachment->lock);
	return ret;
}

/* Has @side these bytes, which lie in @page? */
static bool dray_page_is_shared(const struct dray_layout *side,
				const struct page *page,
				const struct dray_bytes *bytes)
{
	const struct dray_attachment *attachment = side->area.attachment;
	const u32 *chains = attachment->chains;
	u32 bits = attachment->chain_bits, next;
	u32 first = dray_page_first(side), last = dray_page_last(side);
	struct dray_bytes own;

	for (next = chains[hash_long(page_to_pfn(page), bits)]; next;
	     next = chains[(1UL << bits) + next - 1]) {
		if (attachment->pages[next - 1] != page || next - 1 < first ||
		    next - 1 > last)
			continue;
		own = dray_page_bytes(side, next - 1);
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

	ret = dray_chains_get(many->area.attachment);
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
