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
#include "rows.h"

struct device;
struct dma_buf;
struct dma_buf_attachment;
struct dray_attach;
struct dray_node;
struct dray_refusal;
struct file;
struct page;
struct seq_file;
struct user_struct;

struct dray_attachment {
	struct dray_entry entry;
	struct dray_node *node; /* the node that may use it; a reference */
	u64 size; /* bytes */
	bool writable; /* by devices */

	struct dma_buf *dmabuf; /* NULL: pinned memory */

	/* of pinned memory */
	struct page **pages;
	u32 page_count;
	u32 skip; /* bytes of the first page before the memory */

	struct user_struct *user; /* payer of the locked memory */
	u64 charged; /* bytes */

	struct mutex lock; /* the next */
	struct list_head mappings; /* for the node's devices */
};

/* NULL if @entry is a buffer. */
static inline struct dray_attachment *
dray_entry_attachment(struct dray_entry *entry)
{
	return entry->kind == DRAY_KIND_BUFFER
		       ? NULL
		       : container_of(entry, struct dray_attachment, entry);
}

/* The place of an attachment for a device. */
struct dray_attached_mapping {
	struct list_head list; /* of an attachment */
	struct device *dev;
	struct sg_table own; /* of pinned memory */
	struct dma_buf_attachment *import; /* of a dma-buf */
	struct sg_table *table; /* @own, or the exporter's */
	struct dray_place_segment *segment;
	u32 count;
};

static inline enum dma_data_direction
dray_attachment_direction(const struct dray_attachment *attachment)
{
	return attachment->writable ? DMA_BIDIRECTIONAL : DMA_TO_DEVICE;
}

/*
 * Pins the memory or holds the dma-buf that @args names.  Others find it once it
 * is published, inside the node and before it is mapped.
 */
struct dray_attachment *dray_attachment_create(struct dray_node *node,
					       const struct dray_attach *args,
					       struct dray_refusal *refusal);
/* Returns its file, which owns the caller's reference then; or an ERR_PTR. */
struct file *dray_attachment_open(struct dray_attachment *attachment);

/* The attachment behind @fd, with a reference; NULL if it is something else. */
struct dray_attachment *dray_attachment_get(int fd);
/* As above; an ERR_PTR if it is another node's. */
struct dray_attachment *dray_attachment_of_fd(int fd, struct dray_node *node,
					      struct dray_refusal *refusal);

/* May sleep. */
static inline void dray_attachment_put(struct dray_attachment *attachment)
{
	dray_entry_put(&attachment->entry);
}

/*
 * Finds its place for @dev, mapped on first use; the caller is inside the node.
 */
int dray_attachment_place(struct dray_attachment *attachment,
			  struct device *dev, struct dray_place *place,
			  struct dray_refusal *refusal);
void dray_attachments_drop_node(struct dray_node *node);
/* The devices for which it is mapped, for debugfs. */
void dray_attachment_print(struct dray_attachment *attachment,
			   struct seq_file *file);

#endif /* DRAY_ATTACHMENT_H */
