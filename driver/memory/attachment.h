/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An attachment: memory that is not dray's, made reachable for a node.  It is
 * pinned memory of a process or the dma-buf of another driver.  Its file holds
 * it, and so do the transfers that use it.
 */
#ifndef DRAY_ATTACHMENT_H
#define DRAY_ATTACHMENT_H

#include <linux/dma-direction.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/scatterlist.h>
#include <linux/types.h>

#include "base/entry.h"
#include "area.h"

struct device;
struct dma_buf;
struct dma_buf_attachment;
struct dray_foreign_run;
struct dray_node;
struct page;
struct seq_file;
struct user_struct;

struct dray_attachment {
	struct dray_entry entry;
	struct dray_node *node; /* who may use it; a reference */
	u64 size; /* bytes */
	bool writable; /* by devices */

	struct dma_buf *dmabuf; /* NULL: pinned memory */
	struct dray_foreign_run *runs; /* of a dma-buf; see overlap_dmabuf.c */
	u32 run_count;

	/* of pinned memory */
	struct page **pages;
	u32 page_count;
	u32 *order; /* their indices, by frame; see overlap.c */
	u32 skip; /* bytes of the first page before the memory */

	struct user_struct *user; /* whose locked memory it is */
	u64 charged; /* bytes */

	struct mutex lock; /* @runs, @order and the next */
	struct list_head mappings; /* for the node's devices */
};

/* NULL where @entry is none. */
static inline struct dray_attachment *
dray_entry_attachment(struct dray_entry *entry)
{
	return entry->kind == DRAY_KIND_BUFFER
		       ? NULL
		       : container_of(entry, struct dray_attachment, entry);
}

/* Where one device finds an attachment. */
struct dray_attached_mapping {
	struct list_head list; /* of an attachment */
	struct device *dev;
	struct sg_table own; /* of pinned memory */
	struct dma_buf_attachment *import; /* of a dma-buf */
	struct sg_table *table; /* @own, or the exporter's */
	struct dray_stretch *stretch;
	u32 count;
};

static inline enum dma_data_direction
dray_attachment_direction(const struct dray_attachment *attachment)
{
	return attachment->writable ? DMA_BIDIRECTIONAL : DMA_TO_DEVICE;
}

/* attach.c: references may be dropped from wherever may sleep */
struct dray_attachment *dray_attachment_of_fd(int fd, struct dray_node *node,
					      struct dray_refusal *refusal);
struct dray_attachment *dray_attachment_get(int fd);
void dray_attachments_drop_node(struct dray_node *node);

static inline void dray_attachment_put(struct dray_attachment *attachment)
{
	dray_entry_put(&attachment->entry);
}

/* attach_map.c */
int dray_attachment_place(struct dray_attachment *attachment,
			  struct device *dev, struct dray_place *place,
			  struct dray_refusal *refusal);
void dray_attachment_settle(struct dray_attachment *attachment);
void dray_attachment_unmap(struct dray_attachment *attachment);
void dray_attachment_print(struct dray_attachment *attachment,
			   struct seq_file *file);

/* pin.c: memory of the caller; pinned once, mapped for each device */
int dray_pin(struct dray_attachment *attachment, u64 address, u64 length,
	     struct dray_refusal *refusal);
void dray_unpin(struct dray_attachment *attachment);
int dray_pin_map(struct dray_attachment *attachment,
		 struct dray_attached_mapping *mapping,
		 struct dray_refusal *refusal);
void dray_pin_unmap(struct dray_attachment *attachment,
		    struct dray_attached_mapping *mapping);

/* foreign.c: a dma-buf of another driver; the same */
int dray_foreign_get(struct dray_attachment *attachment, int fd,
		     struct dray_refusal *refusal);
void dray_foreign_put(struct dray_attachment *attachment);
int dray_foreign_map(struct dray_attachment *attachment,
		     struct dray_attached_mapping *mapping,
		     struct dray_refusal *refusal);
void dray_foreign_unmap(struct dray_attachment *attachment,
			struct dray_attached_mapping *mapping);
int dray_foreign_sync(struct dray_attachment *attachment, bool for_cpu,
		      enum dma_data_direction direction);

#endif /* DRAY_ATTACHMENT_H */
