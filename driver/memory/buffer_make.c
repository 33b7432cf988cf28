// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffers: made and freed.  Memory is cleared before it can be seen.  The zeros
 * are written back before a device learns of it or a line of it is dropped.
 * Otherwise a sync for the CPU, which needs no right, would drop them and show
 * the earlier contents: see mapping.c.
 */
#include <linux/dma-buf.h>
#include <linux/err.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "base/device.h"
#include "base/disclosure.h"
#include "base/node.h"
#include "buffer.h"
#include "hold.h"
#include "mapping.h"
#include "trace.h"

/* Pages that are cleared before others may run. */
#define DRAY_CLEAR_STEP 64

/*
 * The memory is held: lists and the end of a node find it again.  A node that
 * ended meanwhile waits for its mappings.
 */
static void dray_buffer_revive(struct dray_buffer *buffer)
{
	/* The first reference holds it, the other is ours: RECLAIM may run now. */
	dray_entry_resurrect(&buffer->entry);
	dray_mappings_drop_gone(buffer);
	dray_buffer_put(buffer);
}

static void dray_buffer_release(struct kref *kref)
{
	struct dray_buffer *buffer =
		container_of(kref, struct dray_buffer, entry.kref);

	if (dray_hold_take(&buffer->entry)) {
		dray_buffer_revive(buffer);
		return;
	}
	/* The entry of a buffer that was never published need not be withdrawn. */
	if (dray_entry_withdraw(&buffer->entry))
		trace_dray_free(buffer);
	dray_mappings_drop(buffer, NULL);
	dma_resv_fini(&buffer->resv);
	dray_disclosures_forget(&buffer->entry);
	dray_entry_fini(&buffer->entry);
	mutex_destroy(&buffer->lock);
	/* The embedded charge must outlive foreign page references. */
	if (dray_heap_free(buffer->heap, &buffer->memory,
			   buffer->entry.condemned))
		kfree(buffer);
}

/* Clears in a single step if the kernel maps the pages in a piece. */
static void dray_clear_pages(struct page *page, size_t count)
{
	if (!PageHighMem(dray_page_at(page, count - 1))) {
		memset(page_address(page), 0, count << PAGE_SHIFT);
		return;
	}
	while (count)
		clear_highpage(dray_page_at(page, --count));
}

static int dray_buffer_clear(struct dray_buffer *buffer)
{
	struct dray_heap *heap = buffer->heap;
	size_t left, step, index = 0;

	if (heap->zeroed)
		return 0;
	if (heap->ops->clear)
		return heap->ops->clear(heap, &buffer->memory);
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
			       struct dray_node *node, u64 reach,
			       struct dray_refusal *refusal)
{
	dma_addr_t address;
	int ret;

	ret = dray_mapping_prepare(buffer, node, &address, refusal);
	if (!ret && address + buffer->size - 1 > reach)
		ret = dray_refuse(refusal, -ENOMEM, DRAY_REASON_MASK, reach);
	return ret;
}

struct dray_buffer *dray_buffer_create(struct dray_node *node,
				       struct dray_heap *heap,
				       const struct dray_heap_request *request,
				       u64 reach, struct dray_refusal *refusal)
{
	bool wait = dray_device_can_wait(node->dev);
	struct dray_buffer *buffer;
	int ret;

	buffer = kzalloc(sizeof(*buffer), GFP_KERNEL_ACCOUNT);
	if (!buffer)
		return ERR_PTR(-ENOMEM);
	buffer->charge.memory = buffer;
	buffer->memory.charge = &buffer->charge;
	ret = dray_heap_alloc(heap, request, &buffer->memory, refusal);
	if (ret) {
		kfree(buffer);
		return ERR_PTR(ret);
	}

	dray_entry_init(&buffer->entry, DRAY_KIND_BUFFER, dray_buffer_release);
	mutex_init(&buffer->lock);
	INIT_LIST_HEAD(&buffer->mappings);
	INIT_LIST_HEAD(&buffer->imports);
	dma_resv_init(&buffer->resv);
	buffer->heap = heap;
	buffer->size = request->size;
	buffer->mode = request->mode;

	ret = dray_buffer_clear(buffer);
	if (wait)
		dray_mapping_postpone(buffer, node);
	else if (!ret)
		ret = dray_buffer_prepare(buffer, node, reach, refusal);
	if (ret) {
		dray_buffer_put(buffer);
		return ERR_PTR(ret);
	}
	return buffer;
}
