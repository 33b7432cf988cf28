// SPDX-License-Identifier: GPL-2.0-only
/*
 * The exporter: a buffer as a dma-buf for the importers of other drivers.
 * There are no pin callbacks: they would give every importer that does not
 * know them a cached mapping in both directions at attach.  A buffer may have
 * a second, read-only dma-buf beside the first, over the same fences: its
 * importers read, and nobody writes through it.
 */
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "buffer.h"
#include "compat.h"
#include "export.h"
#include "node.h"
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

static int dray_attach(struct dma_buf *dmabuf,
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

static void dray_detach(struct dma_buf *dmabuf,
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

static void dray_importer_unmap(struct dray_buffer *buffer,
				struct dray_importer *importer,
				enum dma_data_direction direction)
{
	if (buffer->extent.page)
		dma_unmap_sgtable(importer->dev, &importer->table, direction,
				  DMA_ATTR_SKIP_CPU_SYNC);
	else
		dray_unmap_resource(&importer->table, importer->dev, direction);
}

static bool dray_is_writable(struct dma_buf *dmabuf);

static struct sg_table *dray_map(struct dma_buf_attachment *attachment,
				 enum dma_data_direction direction)
{
	struct dray_buffer *buffer = attachment->dmabuf->priv;
	struct dray_importer *importer = attachment->priv;
	struct device *dev = importer->dev;
	int ret;

	if (direction != DMA_TO_DEVICE && !dray_is_writable(attachment->dmabuf))
		return ERR_PTR(-EACCES);
	ret = buffer->extent.page
		      ? dma_map_sgtable(dev, &importer->table, direction,
					DMA_ATTR_SKIP_CPU_SYNC)
		      : dray_map_resource(buffer, &importer->table, dev,
					  direction);
	if (ret)
		return ERR_PTR(ret);
	if (!dray_extent_is_cached(&buffer->extent) &&
	    dray_importer_bounced(buffer, importer)) {
		/* The copy would be made of what the cache has of it. */
		dray_importer_unmap(buffer, importer, direction);
		return ERR_PTR(-EIO);
	}
	/* From here on a CPU access maintains for this importer too. */
	mutex_lock(&buffer->lock);
	importer->direction = direction;
	mutex_unlock(&buffer->lock);
	if (dray_extent_is_cached(&buffer->extent))
		dma_sync_sgtable_for_device(dev, &importer->table, direction);
	return &importer->table;
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
	struct dray_importer *importer = attachment->priv;

	/* Did the device write to a copy?  Then that must come back now. */
	if (direction != DMA_TO_DEVICE &&
	    dray_importer_bounced(buffer, importer))
		dma_sync_sgtable_for_cpu(importer->dev, table, direction);
	mutex_lock(&buffer->lock);
	importer->direction = DMA_NONE;
	mutex_unlock(&buffer->lock);
	dray_importer_unmap(buffer, importer, direction);
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

/* The core calls this before it waits for fences, so wait here first. */
static int dray_begin_cpu_access(struct dma_buf *dmabuf,
				 enum dma_data_direction direction)
{
	struct dray_buffer *buffer = dmabuf->priv;
	long ret;

	ret = dray_resv_wait(&buffer->resv, direction != DMA_FROM_DEVICE);
	if (ret < 0)
		return ret;
	dray_mapping_sync_buffer(buffer, dray_is_writable(dmabuf), true,
				 direction);
	return 0;
}

static int dray_end_cpu_access(struct dma_buf *dmabuf,
			       enum dma_data_direction direction)
{
	dray_mapping_sync_buffer(dmabuf->priv, dray_is_writable(dmabuf), false,
				 direction);
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

static void *dray_buffer_vmap(struct dray_buffer *buffer)
{
	if (buffer->extent.vaddr)
		return buffer->extent.vaddr;
	if (dray_buffer_is_high(buffer))
		return dray_vmap_high(buffer);
	return page_address(buffer->extent.page);
}

static void dray_buffer_vunmap(struct dray_buffer *buffer)
{
	if (!buffer->extent.vaddr && dray_buffer_is_high(buffer))
		vunmap(buffer->vaddr);
	buffer->vaddr = NULL;
}

static int dray_vmap(struct dma_buf *dmabuf, struct iosys_map *map)
{
	struct dray_buffer *buffer = dmabuf->priv;
	int ret = 0;

	/* What the kernel does not map is not for other drivers' CPU either. */
	if (buffer->mode == DRAY_MODE_DEVICE || !buffer->extent.page)
		return -EACCES;
	mutex_lock(&buffer->lock);
	if (!buffer->vmap_count)
		buffer->vaddr = dray_buffer_vmap(buffer);
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
	if (!--buffer->vmap_count)
		dray_buffer_vunmap(buffer);
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

/* No vmap: whoever has that address may write. */
static const struct dma_buf_ops dray_read_only_ops = {
	.attach = dray_attach,
	.detach = dray_detach,
	.map_dma_buf = dray_map,
	.unmap_dma_buf = dray_unmap,
	.begin_cpu_access = dray_begin_cpu_access,
	.end_cpu_access = dray_end_cpu_access,
	.mmap = dray_mmap_read_only,
	.release = dray_release,
};

static bool dray_is_writable(struct dma_buf *dmabuf)
{
	return dmabuf->ops == &dray_dma_buf_ops;
}

/* A dma-buf over @buffer, which takes over the caller's reference. */
struct dma_buf *dray_export(struct dray_buffer *buffer, bool writable)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);

	info.ops = writable ? &dray_dma_buf_ops : &dray_read_only_ops;
	info.size = buffer->size;
	info.flags = writable ? O_RDWR : O_RDONLY;
	info.resv = &buffer->resv;
	info.priv = buffer;
	return dma_buf_export(&info);
}

/* The buffer of a dma-buf of ours, which holds it; NULL for any other. */
struct dray_buffer *dray_exported(struct dma_buf *dmabuf, bool *writable)
{
	*writable = dray_is_writable(dmabuf);
	return *writable || dmabuf->ops == &dray_read_only_ops ? dmabuf->priv
							       : NULL;
}

int dray_export_call(struct dray_opener *opener, void *data,
		     struct dray_reply *reply)
{
	struct dray_refusal refusal = {};
	struct dray_export *args = data;
	struct dray_buffer *buffer;
	struct dma_buf *dmabuf;
	bool writable;
	int ret;

	if (args->flags != DRAY_EXPORT_READ_ONLY)
		return -EINVAL;
	ret = dray_node_enter(opener->node);
	if (ret)
		return ret;
	dray_node_leave(opener->node);
	buffer = dray_buffer_of_fd(args->buffer_fd, &writable, &refusal);
	if (IS_ERR(buffer)) {
		ret = PTR_ERR(buffer);
		goto out;
	}
	dmabuf = dray_export(buffer, false);
	if (IS_ERR(dmabuf)) {
		dray_buffer_put(buffer);
		ret = PTR_ERR(dmabuf);
		goto out;
	}
	ret = get_unused_fd_flags(O_CLOEXEC);
	if (ret < 0) {
		dma_buf_put(dmabuf);
		goto out;
	}
	reply->fd = ret;
	reply->file = dmabuf->file;
	args->fd = ret;
	ret = 0;
out:
	args->reason = refusal.reason;
	args->limit = refusal.limit;
	return ret;
}

MODULE_INFO(import_ns, "DMA_BUF");
