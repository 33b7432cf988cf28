// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The memory that is in the way.  If no run serves, that is the range of a heap
 * for which the fewest bytes must be given back; if a limit is met, the largest
 * buffers that count against it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "why.h"
#include "why_read.h"

static const struct plan_heap *heap_of(const struct why_finding *finding)
{
	return &finding->plan.heaps[finding->need.heap];
}

bool why_asks(const struct why_finding *finding, uint32_t heap)
{
	if (finding->request.heap != DRAY_HEAP_ANY)
		return finding->request.heap == heap;
	return plan_asks(&finding->plan, heap, finding->request.mode);
}

static void find_add_holder(struct why_finding *finding,
			    const struct buffer_entry *entry, uint64_t bytes)
{
	struct why_need *need = &finding->need;
	struct why_holder *holder;

	need->holders = memory_resize(need->holders, need->count + 1,
				      sizeof(*need->holders));
	holder = &need->holders[need->count++];
	*holder = (struct why_holder){ .entry = *entry, .bytes = bytes };
	holder->entry.node = finding->node;
	if (entry->info.flags & DRAY_BUFFER_ORPHAN &&
	    !(entry->info.flags & DRAY_BUFFER_HELD))
		holders_find(finding->node->name, entry->info.id,
			     &holder->keepers);
}

/* The bytes of a part that lie in the range. */
static uint64_t bytes_inside(const struct plan_window *window,
			     const struct dray_part *part)
{
	uint64_t start = part->offset, end = part->offset + part->length;

	if (start < window->offset)
		start = window->offset;
	if (end > window->offset + window->length)
		end = window->offset + window->length;
	return end - start;
}

static void find_add_part(struct why_finding *finding,
			  const struct dray_part *part)
{
	struct why_need *need = &finding->need;
	uint64_t bytes = bytes_inside(&need->window, part);
	struct buffer_entry entry = { 0 };

	if (plan_is_free(heap_of(finding), part))
		return;
	if (part->state == DRAY_PART_QUARANTINED)
		need->quarantined += bytes;
	else if (part->state == DRAY_PART_SYSTEM)
		need->system += bytes;
	else if (!part->id ||
		 dray_node_buffer_info(finding->node->node, part->id,
				       &entry.info, sizeof(entry.info)))
		need->others += bytes;
	else
		find_add_holder(finding, &entry, bytes);
}

/* Would another run of free memory help? */
static bool is_about_runs(const struct plan_answer *answer)
{
	return answer->reason == DRAY_REASON_FULL ||
	       answer->reason == DRAY_REASON_FRAGMENTED ||
	       answer->reason == DRAY_REASON_MASK ||
	       (answer->reason == DRAY_REASON_ALIGNMENT &&
		answer->error == -ENOMEM);
}

/* Of all heaps that ALLOC asks, the range with the fewest bytes. */
static void find_range(struct why_finding *finding)
{
	struct plan_node *plan = &finding->plan;
	struct why_need *need = &finding->need;
	struct plan_answer answer;
	struct plan_window window;
	uint32_t i;

	for (i = 0; i < plan->info.heap_count; i++) {
		if (!why_asks(finding, i) || plan->heaps[i].error)
			continue;
		answer = plan_heap(plan, i, &finding->request);
		if (!is_about_runs(&answer))
			continue;
		window = plan_window(plan, i, &finding->request);
		if (!window.found || !window.taken ||
		    (need->kind == WHY_RANGE && need->bytes <= window.taken))
			continue;
		*need = (struct why_need){
			.kind = WHY_RANGE,
			.heap = i,
			.bytes = window.taken,
			.window = window,
		};
	}
	for (i = need->window.first; i < need->window.end; i++)
		find_add_part(finding, &heap_of(finding)->parts[i]);
}

/* Bytes to give back until @bytes more are within @limit; 0: none would help. */
static uint64_t why_find_excess(uint64_t limit, uint64_t used, uint64_t bytes)
{
	return bytes > limit || used <= limit - bytes ? 0
						      : used - (limit - bytes);
}

static void find_limit(struct why_finding *finding, uint32_t index)
{
	const struct plan_node *plan = &finding->plan;
	const struct dray_heap_info *info = &plan->heaps[index].info;
	struct plan_answer answer = plan_heap(plan, index, &finding->request);
	struct why_need *need = &finding->need;
	uint64_t bytes = plan_charge(plan, index, &finding->request);

	*need = (struct why_need){ .heap = index };
	if (answer.reason == DRAY_REASON_MEMLOCK)
		need->bytes =
			why_find_excess(plan->lock_limit, plan->locked, bytes);
	else if (info->limit && answer.limit == info->limit &&
		 why_find_excess(info->limit, info->charged, bytes))
		need->bytes =
			why_find_excess(info->limit, info->charged, bytes);
	else
		need->bytes = why_find_excess(info->user_limit, info->user_used,
					      bytes);
	if (need->bytes)
		need->kind = answer.reason == DRAY_REASON_MEMLOCK ? WHY_LOCKED
								  : WHY_LIMIT;
}

/* Does it count against the limit that is met? */
static bool why_find_counts(const struct why_finding *finding,
			    const struct buffer_entry *entry, bool all_users)
{
	const struct plan_node *plan = &finding->plan;
	const struct dray_buffer_info *info = &entry->info;

	if (!all_users && info->uid != geteuid())
		return false;
	if (finding->need.kind == WHY_LIMIT)
		return is_buffer(info) && info->heap == finding->need.heap;
	return !is_buffer(info) ||
	       (info->heap < plan->info.heap_count &&
		plan->heaps[info->heap].info.flags & DRAY_HEAP_SHARED);
}

static int find_compare_sizes(const void *a, const void *b)
{
	const struct buffer_entry *first = a;
	const struct buffer_entry *second = b;

	if (first->info.size != second->info.size)
		return first->info.size < second->info.size ? 1 : -1;
	return 0;
}

/* The largest buffers that together have the bytes. */
static bool find_largest(struct why_finding *finding)
{
	const struct dray_heap_info *info = &heap_of(finding)->info;
	struct request request = { .node = finding->node->name };
	struct why_need *need = &finding->need;
	bool all_users =
		need->kind == WHY_LIMIT && info->limit &&
		why_find_excess(info->limit, info->charged,
				plan_charge(&finding->plan, need->heap,
					    &finding->request)) == need->bytes;
	struct buffer_list list;
	uint64_t left = need->bytes;
	size_t i;

	if (!buffers_gather(&request, &list))
		return false;
	if (list.count)
		qsort(list.entries, list.count, sizeof(*list.entries),
		      find_compare_sizes);
	for (i = 0; i < list.count && left; i++) {
		const struct buffer_entry *entry = &list.entries[i];

		if (!why_find_counts(finding, entry, all_users))
			continue;
		find_add_holder(finding, entry, entry->info.size);
		left -= entry->info.size < left ? entry->info.size : left;
	}
	need->others = left;
	buffers_free(&list);
	return true;
}

static bool find_need(struct why_finding *finding)
{
	const struct plan_answer *answer = &finding->answer;

	if (finding->heap == DRAY_HEAP_ANY)
		return true;
	if (answer->reason != DRAY_REASON_QUOTA &&
	    answer->reason != DRAY_REASON_MEMLOCK) {
		find_range(finding);
		return true;
	}
	find_limit(finding, finding->heap);
	return finding->need.kind == WHY_NOTHING || find_largest(finding);
}

bool why_find(struct why_finding *finding)
{
	int ret = plan_read(finding->node->node, &finding->node->info,
			    &finding->request, &finding->plan);

	if (ret) {
		node_complain(finding->node, "read its heaps", ret);
		return false;
	}
	finding->answer =
		plan_decide(&finding->plan, &finding->request, &finding->heap);
	if (!finding->answer.error)
		return true;
	if (!find_need(finding))
		return false;
	why_find_loans(finding);
	why_advise(finding);
	return true;
}

void why_free(struct why_finding *finding)
{
	size_t i;

	for (i = 0; i < finding->need.count; i++)
		holders_free(&finding->need.holders[i].keepers);
	for (i = 0; i < finding->advice_count; i++) {
		free(finding->advice[i].text);
		free(finding->advice[i].command);
	}
	free(finding->need.holders);
	free(finding->advice);
	plan_free(&finding->plan);
}
