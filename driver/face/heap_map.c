// SPDX-License-Identifier: GPL-2.0-only
/*
 * HEAP_MAP: how a heap's range is used, in offsets.  Where the range lies stays
 * with callers that may know addresses, as for ALLOC.
 */
#include <linux/minmax.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "base/node.h"
#include "base/reply.h"
#include "heap/heap.h"
#include "memory/parts.h"
#include "calls.h"
#include "limit.h"

/* Tells where a request could lie; refuses one that ALLOC never meets. */
static int dray_heap_map_reach(struct dray_opener *opener,
			       struct dray_heap *heap,
			       struct dray_heap_map *args,
			       struct dray_refusal *refusal)
{
	struct dray_heap_request request = {
		.size = PAGE_SIZE,
		.alignment = max_t(u64, args->alignment, PAGE_SIZE),
	};
	u64 rest, limit;
	int ret;

	ret = dray_limit_check(opener, heap, args->address_limit, refusal);
	if (ret)
		return ret;
	ret = heap->ops->check(heap, &request, refusal);
	if (ret || !heap->size)
		return ret;
	limit = dray_limit_physical(opener->node->dev, args->address_limit);
	rest = heap->start & (request.alignment - 1);
	args->size = heap->size;
	args->first_aligned = rest ? request.alignment - rest : 0;
	args->reach = dray_heap_below(heap->start, heap->size, limit);
	return 0;
}

/* Inside the node; sets *@heap, which stays for as long as the module. */
static int dray_heap_map_inside(struct dray_opener *opener,
				struct dray_heap **heap,
				struct dray_heap_map *args,
				struct dray_refusal *refusal)
{
	struct dray_node *node = opener->node;

	if (args->heap >= node->heap_count)
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_HEAP,
				   node->heap_count);
	*heap = node->heaps[array_index_nospec(args->heap, node->heap_count)];
	return dray_heap_map_reach(opener, *heap, args, refusal);
}

static int dray_heap_map_tell(struct dray_parts *parts,
			      struct dray_heap_map *args)
{
	struct dray_part __user *user = u64_to_user_ptr(args->parts);
	struct dray_part part;
	u32 count = 0;

	while (dray_parts_next(parts, &part)) {
		if (count < args->room &&
		    copy_to_user(&user[count], &part, sizeof(part)))
			return -EFAULT;
		count++;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	args->count = count;
	return 0;
}

int dray_heap_map_call(struct dray_opener *opener, void *data,
		       struct dray_reply *reply)
{
	struct dray_node *node = opener->node;
	struct dray_heap_map *args = data;
	struct dray_heap *heap;
	struct dray_parts parts;
	int ret;

	if (args->flags || args->reserved)
		return -EINVAL;
	args->count = 0;
	args->size = 0;
	args->first_aligned = 0;
	args->reach = 0;
	ret = dray_alignment_check(args->alignment, &reply->refusal);
	if (ret)
		return ret;
	ret = dray_node_enter(node);
	if (ret)
		return ret;
	ret = dray_heap_map_inside(opener, &heap, args, &reply->refusal);
	dray_node_leave(node);
	if (ret || !args->size)
		return ret;
	ret = dray_parts_look(&parts, heap);
	if (!ret)
		ret = dray_heap_map_tell(&parts, args);
	dray_parts_free(&parts);
	return ret;
}
