// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs of pages in a dedicated region: a bitmap, searched from either end for
 * the first run that has the alignment and lies below the limit.
 */
#include <linux/bitmap.h>
#include <linux/log2.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/pfn.h>
#include <linux/sched.h>

#include "runs.h"

int dray_runs_init(struct dray_runs *runs, phys_addr_t base, phys_addr_t size)
{
	runs->first = PFN_UP(base);
	runs->pages = PFN_DOWN(base + size);
	runs->pages -= min(runs->pages, runs->first);
	if (!runs->pages)
		return -EINVAL;
	runs->free = runs->pages;
	runs->taken = bitmap_zalloc(runs->pages, GFP_KERNEL);
	return runs->taken ? 0 : -ENOMEM;
}

void dray_runs_exit(struct dray_runs *runs)
{
	bitmap_free(runs->taken);
}

static u64 dray_runs_total(const struct dray_runs *runs)
{
	return (u64)runs->pages << PAGE_SHIFT;
}

static unsigned long dray_runs_longest(const struct dray_runs *runs)
{
	unsigned long start, end = 0, longest = 0;

	while (end < runs->pages) {
		start = find_next_zero_bit(runs->taken, runs->pages, end);
		end = find_next_bit(runs->taken, runs->pages, start);
		longest = max(longest, end - start);
		cond_resched();
	}
	return longest;
}

int dray_runs_check(const struct dray_runs *runs,
		    const struct dray_request *request,
		    struct dray_refusal *refusal)
{
	u64 alignment = (u64)rounddown_pow_of_two(runs->pages) << PAGE_SHIFT;
	u64 total = dray_runs_total(runs);

	if (request->alignment > alignment)
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_ALIGNMENT,
				   alignment);
	if (request->size > total)
		return dray_refuse(refusal, -ENOMEM, DRAY_REASON_SIZE, total);
	return 0;
}

/* The number of pages that lie below the limit. */
static unsigned long dray_runs_below(const struct dray_runs *runs, u64 limit)
{
	phys_addr_t base = PFN_PHYS(runs->first);

	if (limit < base)
		return 0;
	if (limit - base >= dray_runs_total(runs) - 1)
		return runs->pages;
	return (limit - base + 1) >> PAGE_SHIFT;
}

/* The lowest run of @count pages below page @end, else all pages. */
static unsigned long dray_runs_from_bottom(const struct dray_runs *runs,
					   unsigned long count,
					   unsigned long align,
					   unsigned long end)
{
	unsigned long index;

	index = bitmap_find_next_zero_area_off(runs->taken, end, 0, count,
					       align - 1,
					       runs->first & (align - 1));
	return index + count <= end ? index : runs->pages;
}

static unsigned long dray_runs_from_top(const struct dray_runs *runs,
					unsigned long count,
					unsigned long align, unsigned long end)
{
	unsigned long index, last;

	while (end >= count) {
		index = round_down(runs->first + end - count, align);
		if (index < runs->first)
			break;
		index -= runs->first;
		last = find_last_bit(runs->taken, index + count);
		if (last >= index + count || last < index)
			return index;
		end = last;
		cond_resched();
	}
	return runs->pages;
}

bool dray_runs_find(struct dray_runs *runs, const struct dray_request *request,
		    unsigned long *index)
{
	unsigned long count = request->size >> PAGE_SHIFT;
	unsigned long align = request->alignment >> PAGE_SHIFT;
	unsigned long end = dray_runs_below(runs, request->limit);

	if (end < count)
		return false;
	*index = request->top ? dray_runs_from_top(runs, count, align, end)
			      : dray_runs_from_bottom(runs, count, align, end);
	if (*index == runs->pages)
		return false;
	dray_runs_take(runs, *index, count);
	return true;
}

int dray_runs_refuse(const struct dray_runs *runs,
		     const struct dray_request *request,
		     struct dray_refusal *refusal)
{
	unsigned long count = request->size >> PAGE_SHIFT;
	unsigned long longest;

	if (runs->free < count)
		return dray_refuse(refusal, -ENOMEM, DRAY_REASON_FULL,
				   (u64)runs->free << PAGE_SHIFT);
	longest = dray_runs_longest(runs);
	if (longest >= count &&
	    dray_runs_below(runs, request->limit) < runs->pages)
		return dray_refuse(refusal, -ENOMEM, DRAY_REASON_MASK,
				   request->limit);
	return dray_refuse(refusal, -ENOMEM, DRAY_REASON_FRAGMENTED,
			   (u64)longest << PAGE_SHIFT);
}

void dray_runs_take(struct dray_runs *runs, unsigned long index,
		    unsigned long count)
{
	bitmap_set(runs->taken, index, count);
	runs->free -= count;
}

void dray_runs_give(struct dray_runs *runs, unsigned long index,
		    unsigned long count)
{
	bitmap_clear(runs->taken, index, count);
	runs->free += count;
}

void dray_runs_state(const struct dray_runs *runs, struct dray_heap_info *info)
{
	info->total = dray_runs_total(runs);
	info->free = (u64)runs->free << PAGE_SHIFT;
	info->largest_free = (u64)dray_runs_longest(runs) << PAGE_SHIFT;
	info->largest_request = info->total;
}
