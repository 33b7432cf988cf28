// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffers: allocation, and the end of a buffer.
 * Memory is cleared before anybody can see it.  The zeros are written back
 * before a device is told of it or a line of it is dropped: otherwise a sync
 * for the CPU, which needs no right, would throw them away and show what the
 * memory held before.  See mapping.c.
 */
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/dma-buf.h>
#include <linux/err.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "buffer.h"
#include "device.h"
#include "held.h"
#include "node.h"
#include "trace.h"

#define DRAY_LARGEST_SIZE ((u64)(SIZE_MAX & PAGE_MASK))

/* Pages that are cleared before others may run. */
#define DRAY_CLEAR_STEP 64

/*
 * The memory is held: whoever lists buffers finds it, and so does the end of a
 * node.  An end that came by before it could be found is waiting for its
 * mappings.
 */
static void dray_buffer_revive(struct dray_buffer *buffer)
{
	/* One reference holds it, the other is ours: RECLAIM may come now. */
	dray_entry_resurrect(&buffer->entry);
	dray_mappings_drop_gone(buffer);
	dray_buffer_put(buffer);
}

static void dray_buffer_release(struct kref *kref)
{
	struct dray_buffer *buffer =
		container_of(kref, struct dray_buffer, entry.kref);

	if (dray_entry_hold(&buffer->entry)) {
		dray_buffer_revive(buffer);
		return;
	}
	/* One that was never shown to anybody is not there. */
	if (dray_entry_withdraw(&buffer->entry))
		trace_dray_free(buffer);
	dray_mappings_drop(buffer, NULL);
	dma_resv_fini(&buffer->resv);
	dray_entry_forget(&buffer->entry);
	dray_entry_fini(&buffer->entry);
	mutex_destroy(&buffer->lock);
	/* Whoever still holds pages of it is paid for by what is in here. */
	if (dray_heap_free(buffer->heap, &buffer->extent,
			   buffer->entry.condemned))
		kfree(buffer);
}

/*
 * The buffer behind a file descriptor, and whether it may be written through
 * that; ERR_PTR for any other file.
 */
struct dray_buffer *dray_buffer_of_fd(int fd, bool *writable,
				      struct dray_refusal *refusal)
{
	struct dma_buf *dmabuf = dma_buf_get(fd);
	struct dray_buffer *buffer;
	int ret;

	if (IS_ERR(dmabuf)) {
		ret = dray_refuse(refusal, PTR_ERR(dmabuf), DRAY_REASON_FOREIGN,
				  (u32)fd);
		return ERR_PTR(ret);
	}
	buffer = dray_exported(dmabuf, writable);
	if (buffer)
		dray_entry_get(&buffer->entry);
	dma_buf_put(dmabuf);
	if (!buffer) {
		ret = dray_refuse(refusal, -EINVAL, DRAY_REASON_FOREIGN,
				  (u32)fd);
		return ERR_PTR(ret);
	}
	return buffer;
}

/* In one step where the kernel sees it in one piece. */
static void dray_clear_pages(struct page *page, size_t count)
{
	if (!PageHighMem(page + count - 1)) {
		memset(page_address(page), 0, count << PAGE_SHIFT);
		return;
	}
	for (; count; count--)
		clear_highpage(page++);
}

static int dray_buffer_clear(struct dray_buffer *buffer)
{
	struct dray_heap *heap = buffer->heap;
	size_t left, step, index = 0;

	if (heap->zeroed)
		return 0;
	if (heap->ops->clear)
		return heap->ops->clear(heap, &buffer->extent);
	for (left = buffer->size >> PAGE_SHIFT; left; left -= step) {
		step = min_t(size_t, left, DRAY_CLEAR_STEP);
		dray_clear_pages(dray_buffer_page(buffer, index), step);
		index += step;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

/* Maps it for the node's device, which may lie behind an IOMMU. */
static int dray_buffer_prepare(struct dray_buffer *buffer,
			       struct dray_node *node, u64 limit,
			       struct dray_refusal *refusal)
{
	dma_addr_t address;
	int ret;

	ret = dray_mapping_prepare(buffer, node, &address, refusal);
	if (!ret && address + buffer->size - 1 > limit)
		ret = dray_refuse(refusal, -ENOMEM, DRAY_REASON_MASK, limit);
	return ret;
}

/*
 * Allocates from one heap, for @node; not in the table yet.  The node's device
 * reaches addresses up to @limit.  It is mapped later when @wait says so: then
 * the request has the same limit.
 */
static struct dray_buffer *
dray_buffer_create(struct dray_node *node, struct dray_heap *heap,
		   const struct dray_request *request, u64 limit, bool wait,
		   struct dray_refusal *refusal)
{
	struct dray_buffer *buffer;
	int ret;

	buffer = kzalloc(sizeof(*buffer), GFP_KERNEL_ACCOUNT);
	if (!buffer)
		return ERR_PTR(-ENOMEM);
	buffer->charge.memory = buffer;
	buffer->extent.charge = &buffer->charge;
	ret = dray_heap_alloc(heap, request, &buffer->extent, refusal);
	if (ret) {
		kfree(buffer);
		return ERR_PTR(ret);
	}

	dray_entry_init(&buffer->entry, DRAY_KIND_BUFFER, dray_buffer_release);
	mutex_init(&buffer->lock);
	INIT_LIST_HEAD(&buffer->mappings);
	INIT_LIST_HEAD(&buffer->importers);
	dma_resv_init(&buffer->resv);
	buffer->heap = heap;
	buffer->size = request->size;
	buffer->mode = request->mode;
	buffer->home = node->index;

	ret = dray_buffer_clear(buffer);
	if (wait)
		dray_mapping_postpone(buffer, node);
	else if (!ret)
		ret = dray_buffer_prepare(buffer, node, limit, refusal);
	if (ret) {
		dray_buffer_put(buffer);
		return ERR_PTR(ret);
	}
	return buffer;
}

static int dray_alloc_check(struct dray_node *node,
			    const struct dray_alloc *args,
			    struct dray_refusal *refusal)
{
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
	/* Not is_power_of_2(): it takes half of the number on 32 bits. */
	if (args->alignment & (args->alignment - 1))
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_ALIGNMENT,
				   1ULL << 63);
	if (args->heap != DRAY_HEAP_ANY && args->heap >= node->heap_count)
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_HEAP,
				   node->heap_count);
	return 0;
}

static int dray_refuse_mode(struct dray_node *node, u32 heap,
			    struct dray_refusal *refusal)
{
	u32 modes = dray_heap_modes(node->heaps[heap], node->dev);

	return dray_refuse(refusal, -EOPNOTSUPP, DRAY_REASON_MODE,
			   __ffs(modes));
}

/*
 * One limit after the other would tell where memory lies.  Who may not know
 * that has the limits that hardware has: so many bits of an address.
 */
static int dray_limit_check(const struct dray_opener *opener,
			    const struct dray_heap *heap, u64 limit,
			    struct dray_refusal *refusal)
{
	if (!(limit & (limit + 1)) || dray_address_allowed(opener, heap))
		return 0;
	return dray_refuse(refusal, -EPERM, DRAY_REASON_PERMISSION,
			   GENMASK_ULL(fls64(limit) - 2, 0));
}

/*
 * The heaps that DRAY_HEAP_ANY may take for @mode, a bit for each.  Memory that
 * the kernel does not map is scarce and of one use: it is for buffers that need
 * no mapping either, else for what no other heap has.
 */
static u32 dray_heaps_for(struct dray_node *node, u32 mode)
{
	u32 heap, effect, offering = 0, carveouts = 0;

	for (heap = 0; heap < node->heap_count; heap++) {
		effect = mode;
		if (!dray_heap_offers(node->heaps[heap], node->dev, &effect))
			continue;
		offering |= BIT(heap);
		if (node->heaps[heap]->type == DRAY_HEAP_CARVEOUT)
			carveouts |= BIT(heap);
	}
	if (mode != DRAY_MODE_DEVICE && offering & ~carveouts)
		offering &= ~carveouts;
	return offering;
}

/*
 * From the heap that is named, or from the first that can: *@taken.  Where none
 * can, the reply tells of the first, which is the one meant for such requests.
 */
static struct dray_buffer *dray_alloc_from(struct dray_opener *opener,
					   const struct dray_alloc *args,
					   u32 *taken,
					   struct dray_refusal *refusal)
{
	struct dray_request request = {
		.size = PAGE_ALIGN(args->size),
		.alignment = max_t(u64, args->alignment, PAGE_SIZE),
		.limit = U64_MAX,
		.top = args->flags & DRAY_ALLOC_TOP,
	};
	struct dray_node *node = opener->node;
	bool wait = dray_device_can_wait(node->dev);
	u64 limit = dray_device_reach(node->dev);
	struct dray_buffer *buffer, *first = NULL;
	struct dray_refusal later, *why;
	u32 heap, heaps;
	int ret;

	if (args->address_limit)
		limit = min_t(u64, limit, args->address_limit);
	/* Where addresses are translated, memory may lie anywhere. */
	if (wait ||
	    (!dray_device_translated(node->dev) && !node->dev->dma_range_map))
		request.limit = limit;

	if (args->heap != DRAY_HEAP_ANY) {
		heap = array_index_nospec(args->heap, node->heap_count);
		*taken = heap;
		request.mode = args->mode;
		if (!dray_heap_offers(node->heaps[heap], node->dev,
				      &request.mode))
			return ERR_PTR(dray_refuse_mode(node, heap, refusal));
		ret = dray_limit_check(opener, node->heaps[heap],
				       args->address_limit, refusal);
		if (ret)
			return ERR_PTR(ret);
		return dray_buffer_create(node, node->heaps[heap], &request,
					  limit, wait, refusal);
	}
	heaps = dray_heaps_for(node, args->mode);
	if (!heaps)
		return ERR_PTR(dray_refuse_mode(node, 0, refusal));
	for (; heaps; heaps &= heaps - 1) {
		heap = __ffs(heaps);
		request.mode = args->mode;
		dray_heap_offers(node->heaps[heap], node->dev, &request.mode);
		why = first ? &later : refusal;
		ret = dray_limit_check(opener, node->heaps[heap],
				       args->address_limit, why);
		buffer = ret ? ERR_PTR(ret)
			     : dray_buffer_create(node, node->heaps[heap],
						  &request, limit, wait, why);
		if (!IS_ERR(buffer)) {
			*taken = heap;
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

int dray_alloc_call(struct dray_opener *opener, void *data,
		    struct dray_reply *reply)
{
	struct dray_node *node = opener->node;
	struct dray_refusal refusal = {};
	struct dray_alloc *args = data;
	struct dray_buffer *buffer;
	u32 heap = 0;
	int ret;

	ret = dray_alloc_check(node, args, &refusal);
	if (ret)
		goto out;
	ret = dray_node_enter(node);
	if (ret)
		goto out;
	buffer = dray_alloc_from(opener, args, &heap, &refusal);
	if (IS_ERR(buffer)) {
		ret = PTR_ERR(buffer);
	} else {
		if (*args->name)
			strscpy(buffer->name, args->name, sizeof(buffer->name));
		dray_entry_publish(&buffer->entry);
		trace_dray_alloc(buffer);
	}
	dray_node_leave(node);
	if (ret)
		goto out;

	ret = dray_export(buffer, true, reply);
	if (ret)
		goto out;
	/* The dma-buf in the reply has the buffer. */
	args->fd = reply->fd;
	args->id = buffer->entry.id;
	args->size = buffer->size;
	args->heap = heap;
	args->mode = buffer->mode;
out:
	args->reason = refusal.reason;
	args->limit = refusal.limit;
	return ret;
}
