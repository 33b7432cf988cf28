/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A buffer: a contiguous allocation.  Its dma-buf holds it, and so do the
 * transfers that use it; the memory returns to its heap with the last of them.
 * It is mapped once for each device that dealt with it.
 */
#ifndef DRAY_BUFFER_H
#define DRAY_BUFFER_H

#include <linux/dma-direction.h>
#include <linux/dma-resv.h>
#include <linux/list.h>
#include <linux/mutex.h>

#include "base/entry.h"
#include "heap/account.h"
#include "heap/heap.h"
#include "rows.h"

struct device;
struct dray_node;

/* A buffer as a device finds it (mapping.c). */
struct dray_mapping {
	struct list_head list; /* of a buffer */
	struct dray_node *node; /* unmaps at the latest; a reference */
	struct device *dev; /* of the node, or of an engine of it */
	struct dray_place_segment all; /* contiguous memory is a single segment */
	bool pending; /* earlier CPU writes may be in caches only */
};

struct dray_buffer {
	struct dray_entry entry;
	struct dray_heap *heap;
	struct dray_heap_memory memory;
	struct dray_charge charge; /* the memory's */
	size_t size; /* bytes, whole pages, at most the memory's */
	u32 mode; /* enum dray_mode */
	struct dma_resv resv; /* fences of transfers and importers */

	/* Users, under @lock. */
	struct mutex lock;
	struct dray_node *postponed; /* not mapped for it yet; a reference */
	struct list_head mappings; /* for dray's own devices */
	struct list_head imports; /* for devices of others, through dma-buf */
	bool imported; /* by a device that writes, at any time */
	void *vaddr; /* for importers that vmap it */
	unsigned int vmap_count;

	/* For BUFFER_INFO. */
	atomic_t mapped; /* user mappings */
	atomic_t attached; /* attachments of other drivers */
	atomic64_t sync_bytes;
	atomic64_t sync_ns;

	char name[DRAY_NAME_LEN];
};

/* NULL if @entry is an attachment. */
static inline struct dray_buffer *dray_entry_buffer(struct dray_entry *entry)
{
	return entry->kind == DRAY_KIND_BUFFER
		       ? container_of(entry, struct dray_buffer, entry)
		       : NULL;
}

/*
 * Whether a device may have written it without later maintenance for the CPU.
 * Transfers maintain their destinations when they end, unless a flag of SUBMIT
 * forbids it.
 */
static inline bool dray_buffer_written_outside(const struct dray_buffer *buffer)
{
	return READ_ONCE(buffer->entry.disclosed) ||
	       READ_ONCE(buffer->entry.unsynced) || READ_ONCE(buffer->imported);
}

static inline struct page *dray_buffer_page(struct dray_buffer *buffer,
					    size_t index)
{
	return dray_page_at(buffer->memory.page, index);
}

/*
 * Returns cleared memory of @heap, not published yet; or an ERR_PTR. The device
 * of @node finds all of it up to @reach.  If the device can learn of it later,
 * @request->limit must say so too.  The caller is inside the node.
 */
struct dray_buffer *dray_buffer_create(struct dray_node *node,
				       struct dray_heap *heap,
				       const struct dray_heap_request *request,
				       u64 reach, struct dray_refusal *refusal);

/* May sleep. The last reference unmaps the memory and frees it, or holds it. */
static inline void dray_buffer_put(struct dray_buffer *buffer)
{
	dray_entry_put(&buffer->entry);
}

#endif /* DRAY_BUFFER_H */
