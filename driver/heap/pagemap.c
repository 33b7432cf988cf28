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

#include "pagemap.h"

int dray_pagemap_init(struct dray_pagemap *map, phys_addr_t base,
		      phys_addr_t size)
{
	map->first = PFN_UP(base);
	map->pages = PFN_DOWN(base + size);
	map->pages -= min(map->pages, map->first);
	if (!map->pages)
		return -EINVAL;
	map->free = map->pages;
	map->taken = bitmap_zalloc(map->pages, GFP_KERNEL);
	return map->taken ? 0 : -ENOMEM;
}

static u64 dray_pagemap_total(const struct dray_pagemap *map)
{
	return (u64)map->pages << PAGE_SHIFT;
}

void dray_pagemap_range(const struct dray_pagemap *map, struct dray_heap *heap)
{
	heap->start = PFN_PHYS(map->first);
	heap->size = dray_pagemap_total(map);
}

void dray_pagemap_exit(struct dray_pagemap *map)
{
	bitmap_free(map->taken);
}

/* Among the first @pages. */
static unsigned long dray_pagemap_longest(const struct dray_pagemap *map,
					  unsigned long pages)
{
	unsigned long start, end = 0, longest = 0;

	while (end < pages) {
		start = find_next_zero_bit(map->taken, pages, end);
		end = find_next_bit(map->taken, pages, start);
		longest = max(longest, end - start);
		cond_resched();
	}
	return longest;
}

/* Runs that begin at multiples of it are lost to others, however short. */
size_t dray_pagemap_takes(struct dray_heap *heap,
			  const struct dray_heap_request *request)
{
	return max_t(u64, request->size, request->alignment);
}

int dray_pagemap_check(const struct dray_pagemap *map,
		       const struct dray_heap_request *request,
		       struct dray_refusal *refusal)
{
	u64 alignment = (u64)rounddown_pow_of_two(map->pages) << PAGE_SHIFT;
	u64 total = dray_pagemap_total(map);

	if (request->alignment > alignment)
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_ALIGNMENT,
				   alignment);
	if (request->size > total)
		return dray_refuse(refusal, -ENOMEM, DRAY_REASON_SIZE, total);
	return 0;
}

/* The number of pages that lie below the limit. */
static unsigned long dray_pagemap_below(const struct dray_pagemap *map,
					u64 limit)
{
	return dray_heap_below(PFN_PHYS(map->first), dray_pagemap_total(map),
			       limit) >>
	       PAGE_SHIFT;
}

/* The lowest run of @count pages below page @end, else all pages. */
static unsigned long dray_pagemap_from_bottom(const struct dray_pagemap *map,
					      unsigned long count,
					      unsigned long align,
					      unsigned long end)
{
	unsigned long offset = map->first & (align - 1), index;

	index = bitmap_find_next_zero_area_off(map->taken, end, 0, count,
					       align - 1, offset);
	return index + count <= end ? index : map->pages;
}

static unsigned long dray_pagemap_from_top(const struct dray_pagemap *map,
					   unsigned long count,
					   unsigned long align,
					   unsigned long end)
{
	unsigned long index, last;

	while (end >= count) {
		index = round_down(map->first + end - count, align);
		if (index < map->first)
			break;
		index -= map->first;
		last = find_last_bit(map->taken, index + count);
		if (last >= index + count || last < index)
			return index;
		end = last;
		cond_resched();
	}
	return map->pages;
}

/*
 * Finds a place at a multiple of @align pages; returns all pages if there is
 * none.
 */
static unsigned long
dray_pagemap_search(const struct dray_pagemap *map,
		    const struct dray_heap_request *request,
		    unsigned long align)
{
	unsigned long count = request->size >> PAGE_SHIFT;
	unsigned long end = dray_pagemap_below(map, request->limit);

	if (end < count)
		return map->pages;
	return request->top ? dray_pagemap_from_top(map, count, align, end)
			    : dray_pagemap_from_bottom(map, count, align, end);
}

bool dray_pagemap_find(struct dray_pagemap *map,
		       const struct dray_heap_request *request,
		       unsigned long *index)
{
	*index = dray_pagemap_search(map, request,
				     request->alignment >> PAGE_SHIFT);
	if (*index == map->pages)
		return false;
	dray_pagemap_take(map, *index, request->size >> PAGE_SHIFT);
	return true;
}

/* The largest alignment below the one asked for at which it could be had. */
static u64 dray_pagemap_alignment(const struct dray_pagemap *map,
				  const struct dray_heap_request *request)
{
	unsigned long align = request->alignment >> PAGE_SHIFT;

	do {
		align /= 2;
		cond_resched();
	} while (align > 1 &&
		 dray_pagemap_search(map, request, align) == map->pages);
	return (u64)align << PAGE_SHIFT;
}

int dray_pagemap_refuse(const struct dray_pagemap *map,
			const struct dray_heap_request *request,
			struct dray_refusal *refusal)
{
	unsigned long count = request->size >> PAGE_SHIFT;
	unsigned long below = dray_pagemap_below(map, request->limit);
	unsigned long longest;

	if (map->free < count)
		return dray_refuse(refusal, -ENOMEM, DRAY_REASON_FULL,
				   (u64)map->free << PAGE_SHIFT);
	longest = dray_pagemap_longest(map, map->pages);
	if (longest < count)
		return dray_refuse(refusal, -ENOMEM, DRAY_REASON_FRAGMENTED,
				   (u64)longest << PAGE_SHIFT);
	if (dray_pagemap_longest(map, below) < count)
		return dray_refuse(refusal, -ENOMEM, DRAY_REASON_MASK,
				   request->limit);
	return dray_refuse(refusal, -ENOMEM, DRAY_REASON_ALIGNMENT,
			   dray_pagemap_alignment(map, request));
}

void dray_pagemap_take(struct dray_pagemap *map, unsigned long index,
		       unsigned long count)
{
	bitmap_set(map->taken, index, count);
	map->free -= count;
}

void dray_pagemap_give(struct dray_pagemap *map, unsigned long index,
		       unsigned long count)
{
	bitmap_clear(map->taken, index, count);
	map->free += count;
}

void dray_pagemap_state(const struct dray_pagemap *map,
			struct dray_heap_info *info)
{
	info->total = dray_pagemap_total(map);
	info->free = (u64)map->free << PAGE_SHIFT;
	info->largest_free = (u64)dray_pagemap_longest(map, map->pages)
			     << PAGE_SHIFT;
	info->largest_request = info->total;
}
