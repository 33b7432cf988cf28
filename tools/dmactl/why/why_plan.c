// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The decision of ALLOC for a heap, step by step as in the driver: the mode, the
 * right to the address limit, the size of an empty heap, locked memory,
 * quotas, and a free run.  A step returns true if it decided.
 */
#include <errno.h>
#include <string.h>

#include "why_plan.h"

#define MODE_BIT(mode) (1u << (mode))

static uint64_t at_least(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t at_most(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The next multiple of @unit, a power of two; 0 if it is 2^64. */
static uint64_t plan_round_up(uint64_t number, uint64_t unit)
{
	return (number + unit - 1) & ~(unit - 1);
}

/* The largest power of two that is not above @number, which is not 0. */
static uint64_t power_below(uint64_t number)
{
	return UINT64_C(1) << (63 - __builtin_clzll(number));
}

static bool why_plan_refuse(struct plan_answer *answer, int error,
			    uint32_t reason, uint64_t limit)
{
	answer->error = error;
	answer->reason = reason;
	answer->limit = limit;
	return true;
}

bool plan_is_dedicated(const struct plan_heap *heap)
{
	return heap->info.type == DRAY_HEAP_RESERVED ||
	       heap->info.type == DRAY_HEAP_CARVEOUT;
}

bool plan_is_free(const struct plan_heap *heap, const struct dray_part *part)
{
	/* CMA's other users move away if they can. */
	return part->state == DRAY_PART_FREE ||
	       (part->state == DRAY_PART_SYSTEM && !plan_is_dedicated(heap));
}

uint64_t plan_bytes(const struct plan_node *node,
		    const struct plan_request *request)
{
	return plan_round_up(request->size, node->info.page_size);
}

static uint64_t plan_alignment_of(const struct plan_node *node,
				  const struct plan_request *request)
{
	return at_least(request->alignment, node->info.page_size);
}

uint64_t plan_charge(const struct plan_node *node, uint32_t index,
		     const struct plan_request *request)
{
	uint64_t size = plan_bytes(node, request);

	if (node->heaps[index].info.type == DRAY_HEAP_PAGES)
		return size;
	return at_least(size, plan_alignment_of(node, request));
}

struct plan_answer plan_check(const struct plan_node *node,
			      const struct plan_request *request)
{
	uint64_t page = node->info.page_size;
	uint64_t largest = (uint64_t)SIZE_MAX & ~(page - 1);
	struct plan_answer answer = { 0 };

	if (request->mode > DRAY_MODE_DEVICE)
		why_plan_refuse(&answer, -EINVAL, DRAY_REASON_MODE,
				DRAY_MODE_DEVICE);
	else if (!request->size || request->size > -page)
		why_plan_refuse(&answer, -EINVAL, DRAY_REASON_SIZE, largest);
	else if (request->size > largest)
		why_plan_refuse(&answer, -ENOMEM, DRAY_REASON_SIZE, largest);
	else if (request->alignment & (request->alignment - 1))
		why_plan_refuse(&answer, -EINVAL, DRAY_REASON_ALIGNMENT,
				UINT64_C(1) << 63);
	else if (request->heap != DRAY_HEAP_ANY &&
		 request->heap >= node->info.heap_count)
		why_plan_refuse(&answer, -EINVAL, DRAY_REASON_HEAP,
				node->info.heap_count);
	return answer;
}

/* A device that snoops gets cached memory if the heap offers it. */
static bool why_plan_offers(const struct plan_node *node,
			    const struct plan_heap *heap, uint32_t mode)
{
	uint32_t modes = heap->info.modes;

	if (node->info.flags & DRAY_NODE_COHERENT &&
	    modes & MODE_BIT(DRAY_MODE_CACHED) && mode != DRAY_MODE_DEVICE)
		mode = DRAY_MODE_CACHED;
	return modes & MODE_BIT(mode);
}

static bool refuse_mode(const struct plan_heap *heap,
			struct plan_answer *answer)
{
	uint32_t modes = heap->info.modes;

	return why_plan_refuse(answer, -EOPNOTSUPP, DRAY_REASON_MODE,
			       modes ? (uint64_t)__builtin_ctz(modes) : 0);
}

/* HEAP_MAP asks for the same right as ALLOC. */
static bool decide_right(const struct plan_heap *heap,
			 const struct plan_request *request,
			 struct plan_answer *answer)
{
	uint64_t mask = request->mask;

	if (!(mask & (mask + 1)) || heap->error != -EPERM)
		return false;
	return why_plan_refuse(answer, -EPERM, DRAY_REASON_PERMISSION,
			       power_below(mask) - 1);
}

/* Could it be served if all of the heap were free? */
static bool decide_empty(const struct plan_node *node, uint32_t index,
			 const struct plan_request *request,
			 struct plan_answer *answer)
{
	const struct plan_heap *heap = &node->heaps[index];
	bool pages = heap->info.type == DRAY_HEAP_PAGES;
	uint64_t alignment = heap->largest_alignment;
	uint64_t size = plan_bytes(node, request);

	if (alignment && plan_alignment_of(node, request) > alignment)
		return why_plan_refuse(answer, -EINVAL, DRAY_REASON_ALIGNMENT,
				       alignment);
	/* CMA aligns to the size. */
	if (!pages && !plan_is_dedicated(heap))
		size = plan_charge(node, index, request);
	if (size > heap->info.largest_request)
		return why_plan_refuse(answer, -ENOMEM,
				       pages ? DRAY_REASON_ORDER
					     : DRAY_REASON_SIZE,
				       heap->info.largest_request);
	return false;
}

static bool limit_is_met(uint64_t limit, uint64_t used, uint64_t bytes)
{
	return limit && (used > limit || bytes > limit - used);
}

static bool decide_charge(const struct plan_node *node, uint32_t index,
			  const struct plan_request *request,
			  struct plan_answer *answer)
{
	const struct dray_heap_info *info = &node->heaps[index].info;
	uint64_t bytes = plan_charge(node, index, request);

	if (info->flags & DRAY_HEAP_SHARED && !node->may_lock &&
	    (bytes > node->lock_limit ||
	     node->locked > node->lock_limit - bytes))
		return why_plan_refuse(answer, -ENOMEM, DRAY_REASON_MEMLOCK,
				       node->lock_limit);
	if (limit_is_met(info->limit, info->charged, bytes))
		return why_plan_refuse(answer, -EDQUOT, DRAY_REASON_QUOTA,
				       info->limit);
	if (limit_is_met(info->user_limit, info->user_used, bytes))
		return why_plan_refuse(answer, -EDQUOT, DRAY_REASON_QUOTA,
				       info->user_limit);
	return false;
}

uint64_t plan_longest(const struct plan_heap *heap, uint64_t alignment,
		      uint64_t reach)
{
	uint64_t first = heap->map.first_aligned & (alignment - 1);
	uint64_t start, end, longest = 0;
	uint32_t i = 0;

	while (i < heap->map.count) {
		if (!plan_is_free(heap, &heap->parts[i])) {
			i++;
			continue;
		}
		start = heap->parts[i].offset;
		while (i < heap->map.count &&
		       plan_is_free(heap, &heap->parts[i]))
			i++;
		end = heap->parts[i - 1].offset + heap->parts[i - 1].length;
		end = at_most(end, reach);
		start = start <= first ? first
				       : first + plan_round_up(start - first,
							       alignment);
		if (end > start)
			longest = at_least(longest, end - start);
	}
	return longest;
}

/* As dray_pagemap_refuse() answers if no run serves. */
static bool decide_run(const struct plan_node *node,
		       const struct plan_heap *heap,
		       const struct plan_request *request,
		       struct plan_answer *answer)
{
	uint64_t size = plan_bytes(node, request);
	uint64_t alignment = plan_alignment_of(node, request);
	uint64_t page = node->info.page_size;
	uint64_t reach = heap->map.reach;
	uint64_t longest;

	if (plan_longest(heap, alignment, reach) >= size)
		return true;
	if (heap->info.free < size)
		return why_plan_refuse(answer, -ENOMEM, DRAY_REASON_FULL,
				       heap->info.free);
	longest = plan_longest(heap, page, heap->map.size);
	if (longest < size)
		return why_plan_refuse(answer, -ENOMEM, DRAY_REASON_FRAGMENTED,
				       longest);
	if (plan_longest(heap, page, reach) < size)
		return why_plan_refuse(answer, -ENOMEM, DRAY_REASON_MASK,
				       at_most(node->info.dma_mask,
					       request->mask ? request->mask
							     : UINT64_MAX));
	do
		alignment /= 2;
	while (alignment > page && plan_longest(heap, alignment, reach) < size);
	return why_plan_refuse(answer, -ENOMEM, DRAY_REASON_ALIGNMENT,
			       alignment);
}

/* CMA moves others away, so the gaps between dray's own buffers are a bound. */
static bool decide_cma(const struct plan_node *node, uint32_t index,
		       const struct plan_request *request,
		       struct plan_answer *answer)
{
	const struct plan_heap *heap = &node->heaps[index];
	uint64_t size = plan_charge(node, index, request);
	uint64_t page = node->info.page_size;

	if (heap->info.free < size)
		return why_plan_refuse(answer, -ENOMEM, DRAY_REASON_FULL,
				       heap->info.free);
	if (!heap->error && heap->map.count &&
	    plan_longest(heap, page, heap->map.size) < size)
		return why_plan_refuse(answer, -ENOMEM, DRAY_REASON_FRAGMENTED,
				       size - page);
	if (!heap->error && heap->map.count &&
	    plan_longest(heap, page, heap->map.reach) < size)
		return why_plan_refuse(answer, -ENOMEM, DRAY_REASON_MASK,
				       request->mask ? request->mask
						     : node->info.dma_mask);
	return true;
}

/* The page allocator's pieces are powers of two, at multiples of their size. */
static bool decide_pages(const struct plan_node *node, uint32_t index,
			 const struct plan_request *request,
			 struct plan_answer *answer)
{
	const struct dray_heap_info *info = &node->heaps[index].info;
	uint64_t size = at_least(plan_bytes(node, request),
				 plan_alignment_of(node, request));

	if (size > info->largest_free)
		return why_plan_refuse(answer, -ENOMEM, DRAY_REASON_FRAGMENTED,
				       info->largest_free);
	return true;
}

struct plan_answer plan_heap(const struct plan_node *node, uint32_t index,
			     const struct plan_request *request)
{
	const struct plan_heap *heap = &node->heaps[index];
	bool dedicated = plan_is_dedicated(heap);
	struct plan_answer answer = plan_check(node, request);

	if (answer.error)
		return answer;
	if (!why_plan_offers(node, heap, request->mode)) {
		refuse_mode(heap, &answer);
		return answer;
	}
	if (decide_right(heap, request, &answer) ||
	    decide_empty(node, index, request, &answer))
		return answer;
	/* From here on others may change the answer. */
	answer.likely = !dedicated || heap->error;
	if (decide_charge(node, index, request, &answer))
		return answer;
	/* An IOMMU finds addresses of its own for a limit below its mask. */
	if (node->info.flags & DRAY_NODE_IOMMU && request->mask &&
	    request->mask < node->info.dma_mask)
		answer.likely = true;
	if (dedicated && !heap->error)
		decide_run(node, heap, request, &answer);
	else if (heap->info.type == DRAY_HEAP_PAGES)
		decide_pages(node, index, request, &answer);
	else
		decide_cma(node, index, request, &answer);
	return answer;
}

bool plan_asks(const struct plan_node *node, uint32_t index, uint32_t mode)
{
	bool carveout = node->heaps[index].info.type == DRAY_HEAP_CARVEOUT;
	uint32_t i;

	if (!why_plan_offers(node, &node->heaps[index], mode))
		return false;
	if (!carveout || mode == DRAY_MODE_DEVICE)
		return true;
	/* Memory without a mapping serves if no other heap offers the mode. */
	for (i = 0; i < node->info.heap_count; i++)
		if (node->heaps[i].info.type != DRAY_HEAP_CARVEOUT &&
		    why_plan_offers(node, &node->heaps[i], mode))
			return false;
	return true;
}

/* Would a heap behind @index serve it for certain? */
static bool is_served_later(const struct plan_node *node, uint32_t index,
			    const struct plan_request *request)
{
	struct plan_answer answer;

	while (++index < node->info.heap_count) {
		if (!plan_asks(node, index, request->mode))
			continue;
		answer = plan_heap(node, index, request);
		if (!answer.error && !answer.likely)
			return true;
	}
	return false;
}

/* Finds the first heap that would serve it; a refusal is the first heap's. */
static struct plan_answer decide_any(const struct plan_node *node,
				     const struct plan_request *request,
				     uint32_t *heap)
{
	struct plan_answer first = { 0 }, answer;
	bool likely = false;
	uint32_t i;

	*heap = DRAY_HEAP_ANY;
	for (i = 0; i < node->info.heap_count; i++) {
		if (!plan_asks(node, i, request->mode))
			continue;
		answer = plan_heap(node, i, request);
		/* A refusal that may be wrong makes the next heap uncertain. */
		likely = likely || answer.likely;
		if (!answer.error) {
			*heap = i;
			answer.elsewhere = likely;
			answer.likely = answer.likely &&
					!is_served_later(node, i, request);
			return answer;
		}
		if (*heap != DRAY_HEAP_ANY)
			continue;
		*heap = i;
		first = answer;
	}
	if (*heap == DRAY_HEAP_ANY)
		refuse_mode(&node->heaps[0], &first);
	first.likely = likely;
	return first;
}

struct plan_answer plan_decide(const struct plan_node *node,
			       const struct plan_request *request,
			       uint32_t *heap)
{
	struct plan_answer answer = plan_check(node, request);

	*heap = DRAY_HEAP_ANY;
	if (answer.error)
		return answer;
	if (request->heap == DRAY_HEAP_ANY)
		return decide_any(node, request, heap);
	*heap = request->heap;
	return plan_heap(node, request->heap, request);
}
