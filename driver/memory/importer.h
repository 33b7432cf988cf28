/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Drivers that import a buffer's dma-bufs: the operations for the dma-buf core,
 * and the maintenance that a CPU access needs for their devices.
 */
#ifndef DRAY_IMPORTER_H
#define DRAY_IMPORTER_H

#include <linux/dma-buf.h>
#include <linux/fs.h>

struct dray_buffer;

/* May devices and the CPU write the buffer through @dmabuf? */
static inline bool dray_dmabuf_is_writable(const struct dma_buf *dmabuf)
{
	return dmabuf->file->f_mode & FMODE_WRITE;
}

/* Operations of a dma-buf. */
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
 * Maintains the whole buffer for all devices that have it mapped; the caller
 * holds its lock.  @writable: the CPU access may write.  -EINTR when the task
 * is being killed.
 */
int dray_importers_sync(struct dray_buffer *buffer, bool writable,
			bool for_cpu);

#endif /* DRAY_IMPORTER_H */
