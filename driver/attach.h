/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An attachment: memory that is not dray's, made reachable for a node.  It is
 * pinned memory of a process or the dma-buf of another driver.  Its file holds
 * it, and so do the transfers that use it.
 */
#ifndef DRAY_ATTACH_H
#define DRAY_ATTACH_H

#include <linux/dma-direction.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/scatterlist.h>
#include <linux/types.h>

#include "area.h"

struct device;
struct dma_buf;
struct dma_buf_attachment;
struct dray_node;
struct dray_reclaim;
struct page;
struct pid;
struct user_struct;

struct dray_attachment {
	struct kref kref;
	struct list_head list; /* of all */
	struct dray_node *node; /* who may use it; a reference */
	u64 size; /* bytes */
	bool writable; /* by devices */
	bool condemned; /* a dead channel may still write it */
	struct list_head held; /* freed, but a device may still write it */

	struct dma_buf *dmabuf; /* NULL: pinned memory, the next five */
	struct page **pages;
	u32 page_count;
	u32 chain_bits;
	u32 *chains; /* where it has which page; see overlap.c */
	u32 skip; /* bytes of the first page before the memory */

	struct user_struct *user; /* whose locked memory it is */
	u64 charged; /* bytes */

	struct mutex lock; /* @chains and the next three */
	struct pid *told; /* the process that has its address; or NULL */
	struct list_head mappings;
	u32 mapped_devices;
};

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
void dray_attachment_put(struct dray_attachment *attachment);
void dray_attachments_drop_node(struct dray_node *node);

/* attach_held.c */
void dray_attachment_disclose(struct dray_attachment *attachment);
bool dray_attachment_hold(struct dray_attachment *attachment);
void dray_attachment_keep(struct dray_attachment *attachment);
/* All that are held; -EINTR when the task is being killed. */
int dray_attachments_reclaim(struct dray_reclaim *args);

/* attach_map.c */
int dray_attachment_place(struct dray_attachment *attachment,
			  struct device *dev, struct dray_place *place,
			  struct dray_refusal *refusal);
void dray_attachment_unmap(struct dray_attachment *attachment);

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

#endif /* DRAY_ATTACH_H */
