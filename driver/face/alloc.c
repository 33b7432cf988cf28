// SPDX-License-Identifier: GPL-2.0-only
/*
 * ALLOC: checks the request, and chooses its heap.
 */
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/err.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/string.h>

#include "base/device.h"
#include "base/node.h"
#include "base/reply.h"
#include "heap/heap.h"
#include "memory/buffer.h"
#include "memory/dmabuf.h"
#include "memory/trace.h"
#include "calls.h"
#include "limit.h"

#define DRAY_LARGEST_SIZE ((u64)(SIZE_MAX & PAGE_MASK))

static int dray_alloc_check(struct dray_node *node,
			    const struct dray_alloc *args,
			    struct dray_refusal *refusal)
{
	int ret;

	if (args->flags & ~DRAY_ALLOC_TOP || args->reserved)
		return -EINVAL;
	if (*args->name &&
	    strnlen(args->name, sizeof(args->name)) == sizeof(args->name))
		return -EINVAL;
	if (args->mode > DRAY_MODE_DEVICE)
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_MODE,
				   DRAY_MODE_DEVICE);
	if (!args->size || args->size > round_down(U64_MAX, PAGE_SIZE))
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_SIZE,
				   DRAY_LARGEST_SIZE);
	if (args->size > DRAY_LARGEST_SIZE)
		return dray_refuse(refusal, -ENOMEM, DRAY_REASON_SIZE,
				   DRAY_LARGEST_SIZE);
	ret = dray_alignment_check(args->alignment, refusal);
	if (ret)
		return ret;
	if (args->heap != DRAY_HEAP_ANY && args->heap >= node->heap_count)
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_HEAP,
				   node->heap_count);
	return 0;
}

static int dray_refuse_mode(struct dray_node *node,
			    const struct dray_heap *heap,
			    struct dray_refusal *refusal)
{
	u32 modes = dray_heap_modes(heap, node->dev);

	return dray_refuse(refusal, -EOPNOTSUPP, DRAY_REASON_MODE,
			   __ffs(modes));
}

/*
 * Returns the heaps that DRAY_HEAP_ANY may take for @mode, a bit for each.
 * Unmapped memory is scarce and of one use: it is for buffers that need no
 * mapping either, and otherwise only if no other heap offers the mode.
 */
static unsigned long dray_heaps_for(struct dray_node *node, u32 mode)
{
	unsigned long offering = 0, unmapped = 0;
	u32 heap, effect;

	for (heap = 0; heap < node->heap_count; heap++) {
		effect = mode;
		if (!dray_heap_offers(node->heaps[heap], node->dev, &effect))
			continue;
		offering |= BIT(heap);
		if (node->heaps[heap]->kind->unmapped)
			unmapped |= BIT(heap);
	}
	if (mode != DRAY_MODE_DEVICE && offering & ~unmapped)
		offering &= ~unmapped;
	return offering;
}

/* Allocates from the node's heap @index. */
static struct dray_buffer *dray_alloc_from(struct dray_opener *opener,
					   u32 index,
					   const struct dray_alloc *args,
					   struct dray_refusal *refusal)
{
	struct dray_node *node = opener->node;
	struct dray_heap *heap = node->heaps[index];
	struct dray_heap_request request = {
		.size = PAGE_ALIGN(args->size),
		.alignment = max_t(u64, args->alignment, PAGE_SIZE),
		.limit = dray_limit_physical(node->dev, args->address_limit),
		.top = args->flags & DRAY_ALLOC_TOP,
		.mode = args->mode,
	};
	u64 reach;
	int ret;

	if (!dray_heap_offers(heap, node->dev, &request.mode))
		return ERR_PTR(dray_refuse_mode(node, heap, refusal));
	ret = dray_limit_check(opener, heap, args->address_limit, refusal);
	if (ret)
		return ERR_PTR(ret);
	reach = dray_limit_reach(node->dev, args->address_limit);
	return dray_buffer_create(node, heap, &request, reach, refusal);
}

/*
 * Allocates from the first heap that can, and sets *@index.  If none can, the
 * reply is about the first, the one meant for such requests.
 */
static struct dray_buffer *dray_alloc_from_any(struct dray_opener *opener,
					       u32 *index,
					       const struct dray_alloc *args,
					       struct dray_refusal *refusal)
{
	struct dray_node *node = opener->node;
	unsigned long heaps = dray_heaps_for(node, args->mode);
	struct dray_buffer *buffer, *first = NULL;
	struct dray_refusal later;
	unsigned int heap;

	if (!heaps)
		return ERR_PTR(dray_refuse_mode(node, node->heaps[0], refusal));
	for_each_set_bit(heap, &heaps, DRAY_MAX_HEAPS) {
		buffer = dray_alloc_from(opener, heap, args,
					 first ? &later : refusal);
		if (!IS_ERR(buffer)) {
			*index = heap;
			*refusal = (struct dray_refusal){};
			return buffer;
		}
		if (!first)
			first = buffer;
		if (fatal_signal_pending(current))
			break;
	}
	return first;
}

/* Inside the node: from the named heap, or from any; sets *@index. */
static struct dray_buffer *dray_alloc_inside(struct dray_opener *opener,
					     u32 *index,
					     const struct dray_alloc *args,
					     struct dray_refusal *refusal)
{
	struct dray_node *node = opener->node;
	struct dray_buffer *buffer;

	if (args->heap == DRAY_HEAP_ANY) {
		buffer = dray_alloc_from_any(opener, index, args, refusal);
	} else {
		*index = array_index_nospec(args->heap, node->heap_count);
		buffer = dray_alloc_from(opener, *index, args, refusal);
	}
	if (IS_ERR(buffer))
		return buffer;
	if (*args->name)
		strscpy(buffer->name, args->name, sizeof(buffer->name));
	dray_entry_count(&buffer->entry, opener->usage, buffer->memory.size);
	dray_entry_publish(&buffer->entry);
	trace_dray_alloc(buffer);
	return buffer;
}

int dray_alloc_call(struct dray_opener *opener, void *data,
		    struct dray_reply *reply)
{
	struct dray_node *node = opener->node;
	struct dray_alloc *args = data;
	struct dray_buffer *buffer;
	u32 index = 0;
	int ret;

	ret = dray_alloc_check(node, args, &reply->refusal);
	if (ret)
		return ret;
	ret = dray_node_enter(node);
	if (ret)
		return ret;
	buffer = dray_alloc_inside(opener, &index, args, &reply->refusal);
	dray_node_leave(node);
	ret = PTR_ERR_OR_ZERO(buffer);
	if (ret)
		return ret;
	ret = dray_dmabuf_export(buffer, true, reply);
	if (ret)
		return ret;
	/* The dma-buf in the reply has the buffer. */
	args->fd = reply->fd;
	args->id = buffer->entry.id;
	args->size = buffer->size;
	args->heap = index;
	args->mode = buffer->mode;
	return 0;
}
