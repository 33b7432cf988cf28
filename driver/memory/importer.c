// SPDX-License-Identifier: GPL-2.0-only
/*
 * Importers: the devices of other drivers that a buffer's dma-bufs are mapped
 * for, and which maintenance of the whole buffer includes.  A device is one,
 * however often it is attached, with an import for each direction.
 */
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/err.h>
#include <linux/slab.h>

#include "buffer.h"
#include "export.h"
#include "import.h"
#include "trace.h"

struct dray_importer {
	struct list_head list; /* of a buffer, whose lock guards the rest too */
	struct device *dev;
	unsigned int attachments;
	struct dray_import imports[DMA_NONE]; /* by direction */
};

/* The one for @dev, made for its first attachment. */
static struct dray_importer *dray_importer_of(struct dray_buffer *buffer,
					      struct device *dev)
{
	enum dma_data_direction direction;
	struct dray_importer *importer;

	lockdep_assert_held(&buffer->lock);
	list_for_each_entry(importer, &buffer->importers, list)
		if (importer->dev == dev)
			return importer;

	if (buffer->away_devices + buffer->importer_count >= DRAY_MAX_AWAY)
		return ERR_PTR(-ENOSPC);
	importer = kzalloc(sizeof(*importer), GFP_KERNEL);
	if (!importer)
		return ERR_PTR(-ENOMEM);
	importer->dev = dev;
	for (direction = 0; direction < DMA_NONE; direction++)
		importer->imports[direction] = (struct dray_import){
			.buffer = buffer,
			.dev = dev,
			.direction = direction,
		};
	list_add_tail(&importer->list, &buffer->importers);
	buffer->importer_count++;
	return importer;
}

/*
 * A carveout's table has no pages, and is not kept from importers that do not
 * say by allow_peer2peer that they take such.  Only dynamic ones can say it;
 * those of cameras and displays are static, use nothing but the addresses, and
 * would be refused although they work.  None may look at pages of a table in any
 * case: CONFIG_DMABUF_DEBUG hides them.
 */
int dray_importer_attach(struct dma_buf *dmabuf,
			 struct dma_buf_attachment *attachment)
{
	struct dray_buffer *buffer = dmabuf->priv;
	struct dray_importer *importer;

	mutex_lock(&buffer->lock);
	importer = dray_importer_of(buffer, attachment->dev);
	if (!IS_ERR(importer))
		importer->attachments++;
	mutex_unlock(&buffer->lock);
	if (IS_ERR(importer))
		return PTR_ERR(importer);
	attachment->priv = importer;
	trace_dray_attach(&buffer->entry, buffer->size, attachment->dev);
	return 0;
}

void dray_importer_detach(struct dma_buf *dmabuf,
			  struct dma_buf_attachment *attachment)
{
	struct dray_buffer *buffer = dmabuf->priv;
	struct dray_importer *importer = attachment->priv;

	trace_dray_detach(&buffer->entry, buffer->size, attachment->dev);
	mutex_lock(&buffer->lock);
	if (!--importer->attachments) {
		list_del(&importer->list);
		buffer->importer_count--;
		kfree(importer);
	}
	mutex_unlock(&buffer->lock);
}

/* The attachments of all. */
u32 dray_importers_attached(struct dray_buffer *buffer)
{
	struct dray_importer *importer;
	u32 count = 0;

	mutex_lock(&buffer->lock);
	list_for_each_entry(importer, &buffer->importers, list)
		count += importer->attachments;
	mutex_unlock(&buffer->lock);
	return count;
}

struct sg_table *dray_importer_map(struct dma_buf_attachment *attachment,
				   enum dma_data_direction direction)
{
	struct dray_buffer *buffer = attachment->dmabuf->priv;
	struct dray_importer *importer = attachment->priv;
	struct sg_table *table;
	int ret;

	/* Drivers of any kind call this. */
	if (!valid_dma_direction(direction))
		return ERR_PTR(-EINVAL);
	if (direction != DMA_TO_DEVICE && !dray_is_writable(attachment->dmabuf))
		return ERR_PTR(-EACCES);
	table = kmalloc(sizeof(*table), GFP_KERNEL);
	if (!table)
		return ERR_PTR(-ENOMEM);
	mutex_lock(&buffer->lock);
	ret = dray_import_get(&importer->imports[direction], table);
	if (!ret && direction != DMA_TO_DEVICE)
		WRITE_ONCE(buffer->imported, true);
	mutex_unlock(&buffer->lock);
	if (ret) {
		kfree(table);
		return ERR_PTR(ret);
	}
	return table;
}

void dray_importer_unmap(struct dma_buf_attachment *attachment,
			 struct sg_table *table,
			 enum dma_data_direction direction)
{
	struct dray_buffer *buffer = attachment->dmabuf->priv;
	struct dray_importer *importer = attachment->priv;

	mutex_lock(&buffer->lock);
	dray_import_put(&importer->imports[direction], table);
	mutex_unlock(&buffer->lock);
	kfree(table);
}

int dray_importers_sync(struct dray_buffer *buffer, bool writable, bool for_cpu)
{
	enum dma_data_direction direction;
	struct dray_importer *importer;
	struct dray_import *import;
	int ret = 0;

	lockdep_assert_held(&buffer->lock);
	list_for_each_entry(importer, &buffer->importers, list)
		for (direction = 0; direction < DMA_NONE && !ret; direction++) {
			import = &importer->imports[direction];
			if (import->users)
				ret = dray_import_sync(import, writable,
						       for_cpu);
		}
	return ret;
}
