// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dma-bufs of other drivers may lie on the pages of something else: a udmabuf
 * on memory that its maker has pinned here too, or two of them on one file.
 * Only their exporter knows the pages, but where the engine finds them is known
 * to everybody once they are mapped, and an IOMMU tells what is behind that.
 * So this comes after mapping, in physical addresses.
 */
#include <linux/dma-direct.h>
#include <linux/err.h>
#include <linux/iommu.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "base/device.h"
#include "base/node.h"
#include "memory/attachment.h"
#include "memory/buffer.h"
#include "overlap.h"

/* Bytes of a dma-buf that lie in one piece; an attachment has them sorted. */
struct dray_foreign_run {
	struct dray_bytes bytes;
	u64 offset; /* of the first, in the dma-buf */
	u64 top; /* the highest end of this one and those before it */
};

/* A place, and how a physical address is made of one of its own. */
struct dray_view {
	const struct dray_place *place;
	struct device *dev;
	struct iommu_domain *domain; /* NULL: addresses are not translated */
};

static struct dray_view dray_view_of(const struct dray_layout *side,
				     struct device *dev)
{
	return (struct dray_view){
		.place = &side->place,
		.dev = dev,
		.domain = dray_device_translated(dev)
				  ? iommu_get_domain_for_dev(dev)
				  : NULL,
	};
}

/*
 * Bytes from @offset on that surely lie in one piece, and none from @end on.
 * No IOMMU has smaller pages than 4 KiB.
 */
static struct dray_bytes dray_view_bytes(const struct dray_view *view,
					 u64 offset, u64 end)
{
	const struct dray_stretch *stretch =
		dray_place_find(view->place, offset);
	u64 into = offset - stretch->offset;
	u64 length = min(end - offset, stretch->length - into);
	dma_addr_t address = stretch->address + into;
	u64 low;

	if (view->domain) {
		length = min_t(u64, length, SZ_4K - address % SZ_4K);
		low = iommu_iova_to_phys(view->domain, address);
	} else {
		low = dma_to_phys(view->dev, address);
	}
	return (struct dray_bytes){ .low = low, .high = low + length };
}

/* How many runs there are; they are filled in where there is room for them. */
static int dray_runs_fill(const struct dray_view *view, u64 size,
			  struct dray_foreign_run *runs, u32 *count)
{
	struct dray_bytes bytes;
	u64 offset, end = 0;
	u32 step = 0;
	int ret = 0;

	*count = 0;
	for (offset = 0; offset < size && !ret;
	     offset += bytes.high - bytes.low) {
		bytes = dray_view_bytes(view, offset, size);
		if (*count && bytes.low == end) {
			if (runs)
				runs[*count - 1].bytes.high = bytes.high;
		} else {
			if (runs)
				runs[*count] = (struct dray_foreign_run){
					.bytes = bytes,
					.offset = offset,
				};
			++*count;
		}
		end = bytes.high;
		ret = dray_page_breathe(++step);
	}
	return ret;
}

static int dray_run_compare(const void *left, const void *right)
{
	const struct dray_foreign_run *a = left, *b = right;

	/* There may be a million of them, and the sorting itself never rests. */
	cond_resched();
	return a->bytes.low < b->bytes.low ? -1 : a->bytes.low > b->bytes.low;
}

static void dray_runs_sort(struct dray_foreign_run *runs, u32 count)
{
	u64 top = 0;
	u32 i;

	sort(runs, count, sizeof(*runs), dray_run_compare, NULL);
	for (i = 0; i < count; i++) {
		top = max(top, runs[i].bytes.high);
		runs[i].top = top;
	}
}

static int dray_runs_build(struct dray_attachment *attachment,
			   const struct dray_view *view)
{
	struct dray_foreign_run *runs;
	u32 count;
	int ret;

	ret = dray_runs_fill(view, attachment->size, NULL, &count);
	if (ret)
		return ret;
	runs = kvmalloc_array(count, sizeof(*runs),
			      GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!runs)
		return -ENOMEM;
	ret = dray_runs_fill(view, attachment->size, runs, &count);
	if (ret) {
		kvfree(runs);
		return ret;
	}
	dray_runs_sort(runs, count);
	attachment->runs = runs;
	attachment->run_count = count;
	return 0;
}

/* Its node's own mapping keeps it where it is, so that this stays true. */
static int dray_runs_get(struct dray_attachment *attachment,
			 const struct dray_view *view)
{
	int ret = 0;

	mutex_lock(&attachment->lock);
	if (!attachment->runs)
		ret = dray_runs_build(attachment, view);
	mutex_unlock(&attachment->lock);
	return ret;
}

/* What the span of @side has of one run; nothing where it ends at once. */
static struct dray_bytes dray_run_bytes(const struct dray_layout *side,
					const struct dray_foreign_run *run)
{
	u64 end = run->offset + (run->bytes.high - run->bytes.low);
	u64 low = max(side->low, run->offset), high = min(side->high, end);

	if (low >= high)
		return (struct dray_bytes){};
	return (struct dray_bytes){
		.low = run->bytes.low + (low - run->offset),
		.high = run->bytes.low + (high - run->offset),
	};
}

/*
 * Has @side, a dma-buf with its runs, any of these bytes?  1 or 0; -EINTR when
 * the task is being killed, -ENODEV when the node goes.  Whoever made the
 * dma-buf may have put one page into it any number of times, and each time at
 * a place that the transfer does not touch: there is no bound but its size.
 */
static int dray_runs_have(const struct dray_layout *side,
			  const struct dray_bytes *bytes, u32 *step)
{
	const struct dray_attachment *attachment = side->area.attachment;
	const struct dray_foreign_run *runs = attachment->runs;
	u32 low = 0, high = attachment->run_count, middle;
	struct dray_bytes own;
	int ret;

	/* @low: how many begin before the bytes end */
	while (low < high) {
		middle = low + (high - low) / 2;
		if (runs[middle].bytes.low < bytes->high)
			low = middle + 1;
		else
			high = middle;
	}
	while (low-- && runs[low].top > bytes->low) {
		own = dray_run_bytes(side, &runs[low]);
		if (own.high && dray_bytes_meet(&own, bytes))
			return 1;
		ret = dray_page_breathe(++*step);
		if (ret)
			return ret;
		if (READ_ONCE(attachment->node->gone))
			return -ENODEV;
	}
	return 0;
}

static int dray_runs_meet_pinned(const struct dray_layout *side,
				 const struct dray_layout *pinned)
{
	u32 index, last = dray_page_last(pinned), step = 0;
	struct dray_bytes bytes;
	int ret = 0;

	for (index = dray_page_first(pinned); index <= last && !ret; index++) {
		bytes = dray_page_bytes(pinned, index);
		ret = dray_runs_have(side, &bytes, &step);
		if (!ret)
			ret = dray_page_breathe(++step);
	}
	return ret;
}

static int dray_runs_meet_view(const struct dray_layout *side,
			       const struct dray_layout *other,
			       const struct dray_view *view)
{
	struct dray_bytes bytes;
	u64 offset;
	u32 step = 0;
	int ret = 0;

	for (offset = other->low; offset < other->high && !ret;
	     offset += bytes.high - bytes.low) {
		bytes = dray_view_bytes(view, offset, other->high);
		ret = dray_runs_have(side, &bytes, &step);
		if (!ret)
			ret = dray_page_breathe(++step);
	}
	return ret;
}

/*
 * As dray_layouts_meet(), where one is another driver's dma-buf; both are
 * placed for @dev.
 */
int dray_layouts_meet_placed(const struct dray_layout *a,
			     const struct dray_layout *b, struct device *dev)
{
	bool first = dray_area_is_whole(&a->area);
	const struct dray_layout *side = first ? a : b, *other = first ? b : a;
	struct dray_view view = dray_view_of(side, dev);
	struct dray_bytes bytes;
	u32 step = 0;
	int ret;

	if (!dray_area_is_whole(&side->area) ||
	    dray_area_is_same(&a->area, &b->area))
		return 0;
	ret = dray_runs_get(side->area.attachment, &view);
	if (ret)
		return ret;
	if (other->area.buffer) {
		bytes = dray_buffer_bytes(other);
		return dray_runs_have(side, &bytes, &step);
	}
	if (dray_layout_is_pinned(other))
		return dray_runs_meet_pinned(side, other);
	view.place = &other->place;
	return dray_runs_meet_view(side, other, &view);
}
