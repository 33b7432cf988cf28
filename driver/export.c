// SPDX-License-Identifier: GPL-2.0-only
/*
 * The exporter: a buffer as a dma-buf for the importers of other drivers.
 * There are no pin callbacks: they would give every importer that does not
 * know them a cached mapping in both directions at attach.
 */
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "buffer.h"
#include "compat.h"
#include "export.h"

struct dray_attachment {
	struct list_head list; /* of a buffer */
	struct device *dev;
	struct sg_table table;
	enum dma_data_direction direction; /* DMA_NONE: not mapped */
};

/* Entries no longer than the device takes, so that it need not split them. */
static int dray_attachment_table(struct dray_buffer *buffer, struct device *dev,
				 struct sg_table *table)
{
	size_t most = dma_get_max_seg_size(dev) & PAGE_MASK;
	size_t done = 0, length;
	struct scatterlist *entry;
	int ret, i;

	most = max_t(size_t, most, PAGE_SIZE);
	ret = sg_alloc_table(table, DIV_ROUND_UP(buffer->size, most),
			     GFP_KERNEL);
	if (ret)
		return ret;
	for_each_sgtable_sg(table, entry, i) {
		length = min(most, buffer->size - done);
		sg_set_page(entry, dray_buffer_page(buffer, done >> PAGE_SHIFT),
			    length, 0);
		done += length;
	}
	return 0;
}

static int dray_attach(struct dma_buf *dmabuf,
		       struct dma_buf_attachment *attachment)
{
	struct dray_buffer *buffer = dmabuf->priv;
	struct dray_attachment *importer;
	int ret;

	importer = kzalloc(sizeof(*importer), GFP_KERNEL);
	if (!importer)
		return -ENOMEM;
	importer->dev = attachment->dev;
	importer->direction = DMA_NONE;
	ret = dray_attachment_table(buffer, importer->dev, &importer->table);
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
	return 0;

free_table:
	sg_free_table(&importer->table);
free_importer:
	kfree(importer);
	return ret;
}

static void dray_detach(struct dma_buf *dmabuf,
			struct dma_buf_attachment *attachment)
{
	struct dray_buffer *buffer = dmabuf->priv;
	struct dray_attachment *importer = attachment->priv;

	mutex_lock(&buffer->lock);
	list_del(&importer->list);
	buffer->mapped_devices--;
	mutex_unlock(&buffer->lock);
	sg_free_table(&importer->table);
	kfree(importer);
}

static struct sg_table *dray_map(struct dma_buf_attachment *attachment,
				 enum dma_data_direction direction)
{
	struct dray_buffer *buffer = attachment->dmabuf->priv;
	struct dray_attachment *importer = attachment->priv;
	int ret;

	ret = dma_map_sgtable(importer->dev, &importer->table, direction,
			      DMA_ATTR_SKIP_CPU_SYNC);
	if (ret)
		return ERR_PTR(ret);
	/* From here on a CPU access maintains for this importer too. */
	mutex_lock(&buffer->lock);
	importer->direction = direction;
	mutex_unlock(&buffer->lock);
	dma_sync_sgtable_for_device(importer->dev, &importer->table, direction);
	return &importer->table;
}

/* Did the device write to a copy?  Then that must come back now. */
static bool dray_attachment_bounced(struct dray_attachment *importer)
{
	struct scatterlist *entry = importer->table.sgl;

	return importer->direction != DMA_TO_DEVICE &&
	       dray_mapping_bounced(importer->dev, sg_dma_address(entry),
				    sg_phys(entry));
}

/*
 * Without maintenance: that would drop lines which the CPU has written since.
 * Whoever reads next begins a CPU access, which does what is needed.
 */
static void dray_unmap(struct dma_buf_attachment *attachment,
		       struct sg_table *table,
		       enum dma_data_direction direction)
{
	struct dray_buffer *buffer = attachment->dmabuf->priv;
	struct dray_attachment *importer = attachment->priv;

	if (dray_attachment_bounced(importer))
		dma_sync_sgtable_for_cpu(importer->dev, table, direction);
	mutex_lock(&buffer->lock);
	importer->direction = DMA_NONE;
	mutex_unlock(&buffer->lock);
	dma_unmap_sgtable(importer->dev, table, direction,
			  DMA_ATTR_SKIP_CPU_SYNC);
}

void dray_attachments_sync(struct dray_buffer *buffer, bool for_cpu,
			   enum dma_data_direction direction)
{
	struct dray_attachment *importer;

	lockdep_assert_held(&buffer->lock);
	list_for_each_entry(importer, &buffer->attachments, list) {
		if (importer->direction == DMA_NONE)
			continue;
		if (for_cpu)
			dma_sync_sgtable_for_cpu(importer->dev,
						 &importer->table,
						 importer->direction);
		else
			dma_sync_sgtable_for_device(importer->dev,
						    &importer->table,
						    importer->direction);
	}
}

/* The core calls this before it waits for fences, so wait here first. */
static int dray_begin_cpu_access(struct dma_buf *dmabuf,
				 enum dma_data_direction direction)
{
	struct dray_buffer *buffer = dmabuf->priv;
	long ret;

	ret = dray_resv_wait(&buffer->resv, direction != DMA_FROM_DEVICE);
	if (ret < 0)
		return ret;
	dray_mapping_sync_buffer(buffer, true, direction);
	return 0;
}

static int dray_end_cpu_access(struct dma_buf *dmabuf,
			       enum dma_data_direction direction)
{
	dray_mapping_sync_buffer(dmabuf->priv, false, direction);
	return 0;
}

/* High memory has no address of its own in the kernel. */
static void *dray_vmap_high(struct dray_buffer *buffer)
{
	size_t count = buffer->size >> PAGE_SHIFT, index;
	struct page **pages;
	void *vaddr;

	pages = kvmalloc_array(count, sizeof(*pages), GFP_KERNEL);
	if (!pages)
		return NULL;
	for (index = 0; index < count; index++)
		pages[index] = dray_buffer_page(buffer, index);
	vaddr = vmap(pages, count, VM_MAP, PAGE_KERNEL);
	kvfree(pages);
	return vaddr;
}

static bool dray_buffer_is_high(struct dray_buffer *buffer)
{
	size_t last = (buffer->size >> PAGE_SHIFT) - 1;

	return PageHighMem(dray_buffer_page(buffer, last));
}

static int dray_vmap(struct dma_buf *dmabuf, struct iosys_map *map)
{
	struct dray_buffer *buffer = dmabuf->priv;
	int ret = 0;

	mutex_lock(&buffer->lock);
	if (!buffer->vmap_count)
		buffer->vaddr = dray_buffer_is_high(buffer)
					? dray_vmap_high(buffer)
					: page_address(buffer->extent.page);
	if (buffer->vaddr) {
		buffer->vmap_count++;
		iosys_map_set_vaddr(map, buffer->vaddr);
	} else {
		ret = -ENOMEM;
	}
	mutex_unlock(&buffer->lock);
	return ret;
}

static void dray_vunmap(struct dma_buf *dmabuf, struct iosys_map *map)
{
	struct dray_buffer *buffer = dmabuf->priv;

	mutex_lock(&buffer->lock);
	if (!--buffer->vmap_count) {
		if (dray_buffer_is_high(buffer))
			vunmap(buffer->vaddr);
		buffer->vaddr = NULL;
	}
	mutex_unlock(&buffer->lock);
	iosys_map_clear(map);
}

static void dray_release(struct dma_buf *dmabuf)
{
	dray_buffer_put(dmabuf->priv);
}

static const struct dma_buf_ops dray_dma_buf_ops = {
	.attach = dray_attach,
	.detach = dray_detach,
	.map_dma_buf = dray_map,
	.unmap_dma_buf = dray_unmap,
	.begin_cpu_access = dray_begin_cpu_access,
	.end_cpu_access = dray_end_cpu_access,
	.mmap = dray_mmap,
	.vmap = dray_vmap,
	.vunmap = dray_vunmap,
	.release = dray_release,
};

/* A dma-buf over @buffer, which takes over the caller's reference. */
struct dma_buf *dray_export(struct dray_buffer *buffer)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);

	info.ops = &dray_dma_buf_ops;
	info.size = buffer->size;
	info.flags = O_RDWR;
	info.resv = &buffer->resv;
	info.priv = buffer;
	return dma_buf_export(&info);
}

/* The buffer of a dma-buf of ours, which holds it; NULL for any other. */
struct dray_buffer *dray_exported(struct dma_buf *dmabuf)
{
	return dmabuf->ops == &dray_dma_buf_ops ? dmabuf->priv : NULL;
}

MODULE_INFO(import_ns, "DMA_BUF");
