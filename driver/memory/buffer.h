/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A buffer: one contiguous allocation.  Its dma-buf holds it, and so do the
 * transfers that use it; the memory goes back to its heap with the last of
 * them.  It is mapped once for each device that has dealt with it.
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
#include "area.h"

struct device;
struct dma_buf;
struct dray_node;
struct dray_reply;
struct seq_file;
struct vm_area_struct;

/*
 * The node that a buffer was allocated on has it with all its devices: its own,
 * and those of its channels, which are often one each.  Of other nodes so many
 * devices may have it.  Those of other drivers are among these as long as there
 * is room, and never take it from dray's own.
 */
#define DRAY_MAX_AWAY 8

/*
 * Nor do other users, who have its descriptor and open many nodes, take it from
 * the buffer's owner: these have four of them.
 */
#define DRAY_MAX_GUESTS 4

/* A buffer as one device finds it; mapping.c. */
struct dray_mapping {
	struct list_head list; /* of a buffer */
	struct dray_node *node; /* who unmaps at the latest; a reference */
	struct device *dev; /* the node's, or that of one of its engines */
	struct dray_stretch all; /* contiguous memory is one stretch */
	bool pending; /* what the CPU wrote before may be in caches only */
	bool away; /* on another node than the buffer */
	bool guest; /* and somebody else's */
};

struct dray_buffer {
	struct dray_entry entry;
	struct dray_heap *heap;
	struct dray_extent extent;
	struct dray_charge charge; /* the extent's */
	size_t size; /* bytes, whole pages, at most the extent's */
	u32 mode; /* enum dray_mode */
	struct dma_resv resv; /* fences of transfers and importers */

	int home; /* index of the node that it was allocated on */

	/* Who uses it, under @lock. */
	struct mutex lock;
	struct dray_node *postponed; /* not mapped for it yet; a reference */
	struct list_head mappings; /* for dray's own devices */
	struct dray_mapping first; /* one of @mappings, if it has a node */
	unsigned int away_devices; /* of @mappings */
	unsigned int guest_devices; /* of @away_devices */
	struct list_head importers; /* devices of others, through dma-buf */
	unsigned int importer_count;
	bool imported; /* by a device that writes, at any time */
	void *vaddr; /* for importers that vmap it */
	unsigned int vmap_count;

	/* For BUFFER_INFO. */
	atomic_t mapped; /* user mappings */
	atomic64_t sync_bytes;
	atomic64_t sync_ns;

	char name[DRAY_NAME_LEN];
};

/* NULL where @entry is none. */
static inline struct dray_buffer *dray_entry_buffer(struct dray_entry *entry)
{
	return entry->kind == DRAY_KIND_BUFFER
		       ? container_of(entry, struct dray_buffer, entry)
		       : NULL;
}

/*
 * May a device have written it without maintenance for the CPU after that?  What
 * transfers write is maintained when they end, unless SUBMIT is told not to.
 */
static inline bool dray_buffer_written_outside(const struct dray_buffer *buffer)
{
	return READ_ONCE(buffer->entry.disclosed) ||
	       READ_ONCE(buffer->entry.unsynced) || READ_ONCE(buffer->imported);
}

static inline struct page *dray_buffer_page(struct dray_buffer *buffer,
					    size_t index)
{
	return dray_page_at(buffer->extent.page, index);
}

/*
 * Cleared memory of @heap, not in the table yet; or an ERR_PTR.  The device of
 * @node finds none of it above @reach: for one that is not told at once where it
 * is, @request->limit must say so too.  The caller is inside the node.
 */
struct dray_buffer *dray_buffer_create(struct dray_node *node,
				       struct dray_heap *heap,
				       const struct dray_request *request,
				       u64 reach, struct dray_refusal *refusal);

/*
 * The buffer behind a file descriptor, with a reference, and whether it may be
 * written through that; ERR_PTR for any other file.
 */
struct dray_buffer *dray_buffer_of_fd(int fd, bool *writable,
				      struct dray_refusal *refusal);

/*
 * From wherever may sleep: with the last reference memory is unmapped and freed,
 * or held.
 */
static inline void dray_buffer_put(struct dray_buffer *buffer)
{
	dray_entry_put(&buffer->entry);
}

/* export.c: replies with a dma-buf; takes over the caller's reference */
int dray_export(struct dray_buffer *buffer, bool writable,
		struct dray_reply *reply);
struct dray_buffer *dray_exported(struct dma_buf *dmabuf, bool *writable);

/* mmap.c: operations of a dma-buf; -EACCES for what may not be mapped so */
int dray_mmap(struct dma_buf *dmabuf, struct vm_area_struct *vma);
int dray_mmap_read_only(struct dma_buf *dmabuf, struct vm_area_struct *vma);

/* mapping.c: where a device finds a buffer */
int dray_mapping_prepare(struct dray_buffer *buffer, struct dray_node *node,
			 dma_addr_t *address, struct dray_refusal *refusal);
int dray_mapping_place(struct dray_buffer *buffer, struct dray_node *node,
		       struct device *dev, struct dray_place *place,
		       struct dray_refusal *refusal);
void dray_mapping_postpone(struct dray_buffer *buffer, struct dray_node *node);
void dray_mappings_drop(struct dray_buffer *buffer, struct dray_node *node);
void dray_mappings_drop_node(struct dray_node *node);
void dray_mappings_drop_gone(struct dray_buffer *buffer);
void dray_mapping_print(struct dray_buffer *buffer, struct seq_file *file);
struct dray_place dray_mapping_where(const struct dray_buffer *buffer,
				     const struct dray_mapping *mapping);
int dray_mapping_make_postponed(struct dray_buffer *buffer);

/* mapping_sync.c: maintenance of all of it */
int dray_mapping_write_back(struct dray_buffer *buffer,
			    struct dray_mapping *mapping);
void dray_mapping_settle(struct dray_buffer *buffer,
			 struct dray_mapping *mapping);
int dray_mapping_sync_buffer(struct dray_buffer *buffer, bool writable,
			     bool for_cpu, enum dma_data_direction direction);
bool dray_mappings_written_back(struct dray_buffer *buffer);
bool dray_mappings_maintained(struct dray_buffer *buffer);

#endif /* DRAY_BUFFER_H */
