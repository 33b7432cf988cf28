// SPDX-License-Identifier: GPL-2.0-only
/*
 * Importers: the devices of other drivers that a buffer's dma-bufs are mapped
 * for, and which maintenance of the whole buffer includes.
 */
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "buffer.h"
#include "export.h"
#include "trace.h"

struct dray_importer {
	struct list_head list; /* of a buffer */
	struct device *dev;
	struct sg_table table;
	enum dma_data_direction direction; /* DMA_NONE: not mapped */
};

/* Entries no longer than the device takes, so that it need not split them. */
static int dray_importer_table(struct dray_buffer *buffer, struct device *dev,
			       struct sg_table *table)
{
	size_t most = dma_get_max_seg_size(dev) & PAGE_MASK;
	size_t done = 0, length;
	struct scatterlist *entry;
	struct page *page;
	int ret, i;

	most = max_t(size_t, most, PAGE_SIZE);
	ret = sg_alloc_table(table, DIV_ROUND_UP(buffer->size, most),
			     GFP_KERNEL);
	if (ret)
		return ret;
	for_each_sgtable_sg(table, entry, i) {
		length = min(most, buffer->size - done);
		/* Without pages an entry has its addresses only. */
		page = buffer->extent.page;
		if (page)
			page += done >> PAGE_SHIFT;
		sg_set_page(entry, page, length, 0);
		done += length;
	}
	return 0;
}

int dray_importer_attach(struct dma_buf *dmabuf,
			 struct dma_buf_attachment *attachment)
{
	struct dray_buffer *buffer = dmabuf->priv;
	struct dray_importer *importer;
	int ret;

	importer = kzalloc(sizeof(*importer), GFP_KERNEL);
	if (!importer)
		return -ENOMEM;
	importer->dev = attachment->dev;
	importer->direction = DMA_NONE;
	ret = dray_importer_table(buffer, importer->dev, &importer->table);
	if (ret)
		goto free_importer;

	mutex_lock(&buffer->lock);
	if (buffer->mapped_devices >= DRAY_MAX_MAPPINGS) {
		ret = -ENOSPC;
	} else {
		list_add_tail(&importer->list, &buffer->attachments);
		buffer->mapped_devices++;
	}
	mutex_unlock(&buffer->lock);
	if (ret)
		goto free_table;
	attachment->priv = importer;
	trace_dray_attach(buffer, importer->dev);
	return 0;

free_table:
	sg_free_table(&importer->table);
free_importer:
	kfree(importer);
	return ret;
}

void dray_importer_detach(struct dma_buf *dmabuf,
			  struct dma_buf_attachment *attachment)
{
	struct dray_buffer *buffer = dmabuf->priv;
	struct dray_importer *importer = attachment->priv;

	mutex_lock(&buffer->lock);
	list_del(&importer->list);
	buffer->mapped_devices--;
	mutex_unlock(&buffer->lock);
	sg_free_table(&importer->table);
	kfree(importer);
}

/* Does the device use a copy? */
static bool dray_importer_bounced(struct dray_buffer *buffer,
				  struct dray_importer *importer)
{
	dma_addr_t address = sg_dma_address(importer->table.sgl);

	return dray_mapping_bounced(importer->dev, address,
				    buffer->extent.start);
}

static void dray_unmap_resource(struct sg_table *table, struct device *dev,
				enum dma_data_direction direction)
{
	struct scatterlist *entry;
	int i;

	for_each_sgtable_dma_sg(table, entry, i)
		dma_unmap_resource(dev, sg_dma_address(entry),
				   sg_dma_len(entry), direction,
				   DMA_ATTR_SKIP_CPU_SYNC);
	table->nents = 0;
}

/* Where there are no pages. */
static int dray_map_resource(struct dray_buffer *buffer, struct sg_table *table,
			     struct device *dev,
			     enum dma_data_direction direction)
{
	phys_addr_t start = buffer->extent.start;
	struct scatterlist *entry;
	dma_addr_t address;
	int i;

	table->nents = 0;
	for_each_sgtable_sg(table, entry, i) {
		address = dma_map_resource(dev, start, entry->length, direction,
					   DMA_ATTR_SKIP_CPU_SYNC);
		if (dma_mapping_error(dev, address)) {
			dray_unmap_resource(table, dev, direction);
			return -EIO;
		}
		sg_dma_address(entry) = address;
		sg_dma_len(entry) = entry->length;
		table->nents++;
		start += entry->length;
	}
	return 0;
}

static void dray_importer_unmap_table(struct dray_buffer *buffer,
				      struct dray_importer *importer,
				      enum dma_data_direction direction)
{
	if (buffer->extent.page)
		dma_unmap_sgtable(importer->dev, &importer->table, direction,
				  DMA_ATTR_SKIP_CPU_SYNC);
	else
		dray_unmap_resource(&importer->table, importer->dev, direction);
}

/*
 * For a device that only writes, which has lines dropped and none written back:
 * the zeros.  A mapping is maintained in its own direction alone, so this takes
 * one for a moment.
 */
static int dray_importer_write_back(struct dray_buffer *buffer,
				    struct dray_importer *importer)
{
	bool written;
	int ret;

	mutex_lock(&buffer->lock);
	written = dray_mappings_written_back(buffer);
	mutex_unlock(&buffer->lock);
	if (written)
		return 0;
	ret = dma_map_sgtable(importer->dev, &importer->table, DMA_TO_DEVICE,
			      0);
	if (!ret)
		dma_unmap_sgtable(importer->dev, &importer->table,
				  DMA_TO_DEVICE, 0);
	return ret;
}

struct sg_table *dray_importer_map(struct dma_buf_attachment *attachment,
				   enum dma_data_direction direction)
{
	struct dray_buffer *buffer = attachment->dmabuf->priv;
	struct dray_importer *importer = attachment->priv;
	bool cached = dray_extent_is_cached(&buffer->extent);
	struct device *dev = importer->dev;
	int ret;

	if (direction != DMA_TO_DEVICE && !dray_is_writable(attachment->dmabuf))
		return ERR_PTR(-EACCES);
	if (cached && direction == DMA_FROM_DEVICE) {
		ret = dray_importer_write_back(buffer, importer);
		if (ret)
			return ERR_PTR(ret);
	}
	ret = buffer->extent.page
		      ? dma_map_sgtable(dev, &importer->table, direction,
					DMA_ATTR_SKIP_CPU_SYNC)
		      : dray_map_resource(buffer, &importer->table, dev,
					  direction);
	if (ret)
		return ERR_PTR(ret);
	if (!cached && dray_importer_bounced(buffer, importer)) {
		/* The copy would be made of what the cache has of it. */
		dray_importer_unmap_table(buffer, importer, direction);
		return ERR_PTR(-EIO);
	}
	mutex_lock(&buffer->lock);
	/* Nobody may drop zeros that are in the cache only. */
	if (cached && direction != DMA_FROM_DEVICE &&
	    !dray_mappings_written_back(buffer))
		dma_sync_sgtable_for_device(dev, &importer->table, direction);
	/* From here on a CPU access maintains for this importer too. */
	importer->direction = direction;
	mutex_unlock(&buffer->lock);
	if (cached)
		dma_sync_sgtable_for_device(dev, &importer->table, direction);
	return &importer->table;
}

/*
 * Without maintenance: that would drop lines which the CPU has written since.
 * Whoever reads next begins a CPU access, which does what is needed.
 */
void dray_importer_unmap(struct dma_buf_attachment *attachment,
			 struct sg_table *table,
			 enum dma_data_direction direction)
{
	struct dray_buffer *buffer = attachment->dmabuf->priv;
	struct dray_importer *importer = attachment->priv;

	/* Did the device write to a copy?  Then that must come back now. */
	if (direction != DMA_TO_DEVICE &&
	    dray_importer_bounced(buffer, importer))
		dma_sync_sgtable_for_cpu(importer->dev, table, direction);
	mutex_lock(&buffer->lock);
	importer->direction = DMA_NONE;
	mutex_unlock(&buffer->lock);
	dray_importer_unmap_table(buffer, importer, direction);
}

static void dray_importer_sync(struct dray_buffer *buffer,
			       struct dray_importer *importer, bool writable,
			       bool for_cpu)
{
	/* Before lines are dropped for a reader, they are written back. */
	bool keep = !writable && importer->direction == DMA_BIDIRECTIONAL &&
		    !dray_importer_bounced(buffer, importer);

	if (!for_cpu || keep)
		dma_sync_sgtable_for_device(importer->dev, &importer->table,
					    importer->direction);
	if (for_cpu)
		dma_sync_sgtable_for_cpu(importer->dev, &importer->table,
					 importer->direction);
}

void dray_importers_sync(struct dray_buffer *buffer, bool writable,
			 bool for_cpu)
{
	struct dray_importer *importer;

	lockdep_assert_held(&buffer->lock);
	list_for_each_entry(importer, &buffer->attachments, list) {
		if (importer->direction == DMA_NONE)
			continue;
		/* There is no way to write back what would be dropped. */
		if (!writable && importer->direction == DMA_FROM_DEVICE &&
		    !dray_importer_bounced(buffer, importer))
			continue;
		dray_importer_sync(buffer, importer, writable, for_cpu);
	}
}
