/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A buffer's dma-bufs: what export.c and importer.c tell one another, mapping_sync.c
 * of the importers that take part when a whole buffer is maintained, and list.c
 * of how often they are attached.
 */
#ifndef DRAY_EXPORT_H
#define DRAY_EXPORT_H

#include <linux/dma-direction.h>
#include <linux/types.h>

struct dma_buf;
struct dma_buf_attachment;
struct dray_buffer;
struct sg_table;

/* May the buffer be written through it? */
bool dray_is_writable(struct dma_buf *dmabuf);

/* importer.c: operations of a dma-buf */
int dray_importer_attach(struct dma_buf *dmabuf,
			 struct dma_buf_attachment *attachment);
void dray_importer_detach(struct dma_buf *dmabuf,
			  struct dma_buf_attachment *attachment);
struct sg_table *dray_importer_map(struct dma_buf_attachment *attachment,
				   enum dma_data_direction direction);
void dray_importer_unmap(struct dma_buf_attachment *attachment,
			 struct sg_table *table,
			 enum dma_data_direction direction);

/*
 * All that are mapped, when the whole buffer is maintained; the caller holds
 * its lock.  @writable: whoever asks may write.  -EINTR when the task is being
 * killed.
 */
int dray_importers_sync(struct dray_buffer *buffer, bool writable,
			bool for_cpu);

u32 dray_importers_attached(struct dray_buffer *buffer);

#endif /* DRAY_EXPORT_H */
