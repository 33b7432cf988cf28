// SPDX-License-Identifier: GPL-2.0-only
/*
 * Importers: the devices of other drivers that a buffer's dma-bufs are mapped
 * for, and which maintenance of the whole buffer includes.  A device is one,
 * however often it is attached: it is mapped once for each direction, and what
 * an attachment gets is a copy of that table.
 */
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "buffer.h"
#include "device.h"
#include "export.h"
#include "trace.h"

/* Where a device finds a buffer, for one direction. */
struct dray_import {
	struct sg_table table; /* while there are users */
	unsigned int users; /* attachments that have it mapped */
};

struct dray_importer {
	struct list_head list; /* of a buffer, whose lock guards the rest too */
	struct device *dev;
	unsigned int attachments;
	struct dray_import imports[DMA_NONE]; /* by direction */
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

/* The one for @dev, made for its first attachment. */
static struct dray_importer *dray_importer_of(struct dray_buffer *buffer,
					      struct device *dev)
{
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
	list_add_tail(&importer->list, &buffer->importers);
	buffer->importer_count++;
	return importer;
}

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
	trace_dray_attach(buffer, attachment->dev);
	return 0;
}

void dray_importer_detach(struct dma_buf *dmabuf,
			  struct dma_buf_attachment *attachment)
{
	struct dray_buffer *buffer = dmabuf->priv;
	struct dray_importer *importer = attachment->priv;

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

/* Does the device use a copy? */
static bool dray_import_bounced(struct dray_buffer *buffer, struct device *dev,
				const struct dray_import *import)
{
	return dray_device_bounced(dev, sg_dma_address(import->table.sgl),
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

static void dray_import_unmap_table(struct dray_buffer *buffer,
				    struct device *dev,
				    struct dray_import *import,
				    enum dma_data_direction direction)
{
	if (buffer->extent.page)
		dma_unmap_sgtable(dev, &import->table, direction,
				  DMA_ATTR_SKIP_CPU_SYNC);
	else
		dray_unmap_resource(&import->table, dev, direction);
}

/*
 * For a device that only writes, which has lines dropped and none written back:
 * the zeros.  A mapping is maintained in its own direction alone, so this takes
 * one for a moment.
 */
static int dray_import_write_back(struct dray_buffer *buffer,
				  struct device *dev,
				  struct dray_import *import)
{
	int ret;

	if (dray_mappings_written_back(buffer))
		return 0;
	ret = dma_map_sgtable(dev, &import->table, DMA_TO_DEVICE, 0);
	if (!ret)
		dma_unmap_sgtable(dev, &import->table, DMA_TO_DEVICE, 0);
	return ret;
}

/* Maps for the first user. */
static int dray_import_map_table(struct dray_buffer *buffer, struct device *dev,
				 struct dray_import *import,
				 enum dma_data_direction direction)
{
	bool cached = dray_extent_is_cached(&buffer->extent);
	int ret;

	ret = dray_importer_table(buffer, dev, &import->table);
	if (ret)
		return ret;
	if (cached && direction == DMA_FROM_DEVICE) {
		ret = dray_import_write_back(buffer, dev, import);
		if (ret)
			goto free_table;
	}
	ret = buffer->extent.page
		      ? dma_map_sgtable(dev, &import->table, direction,
					DMA_ATTR_SKIP_CPU_SYNC)
		      : dray_map_resource(buffer, &import->table, dev,
					  direction);
	if (ret)
		goto free_table;
	if (!cached && dray_import_bounced(buffer, dev, import)) {
		/* The copy would be made of what the cache has of it. */
		ret = -EIO;
		goto unmap;
	}
	return 0;

unmap:
	dray_import_unmap_table(buffer, dev, import, direction);
free_table:
	sg_free_table(&import->table);
	return ret;
}

static int dray_import_get(struct dray_buffer *buffer, struct device *dev,
			   struct dray_import *import,
			   enum dma_data_direction direction)
{
	int ret;

	lockdep_assert_held(&buffer->lock);
	if (!import->users) {
		ret = dray_import_map_table(buffer, dev, import, direction);
		if (ret)
			return ret;
	}
	/*
	 * Before a CPU access can drop them, zeros that are in the cache only
	 * are written back.  What the device is writing already, in memory or
	 * in its copy, stays.
	 */
	if (dray_extent_is_cached(&buffer->extent) &&
	    (!import->users || (direction != DMA_FROM_DEVICE &&
				!dray_import_bounced(buffer, dev, import))))
		dma_sync_sgtable_for_device(dev, &import->table, direction);
	/* From here on a CPU access maintains for this importer too. */
	import->users++;
	return 0;
}

static void dray_import_put(struct dray_buffer *buffer, struct device *dev,
			    struct dray_import *import,
			    enum dma_data_direction direction)
{
	lockdep_assert_held(&buffer->lock);
	if (--import->users)
		return;
	dray_import_unmap_table(buffer, dev, import, direction);
	sg_free_table(&import->table);
}

/* Entry by entry: the chains between them stay @to's own. */
static int dray_import_copy(const struct dray_import *import,
			    struct sg_table *to)
{
	struct scatterlist *from = import->table.sgl, *entry;
	int ret, i;

	ret = sg_alloc_table(to, import->table.orig_nents, GFP_KERNEL);
	if (ret)
		return ret;
	for_each_sgtable_sg(to, entry, i) {
		*entry = *from;
		from = sg_next(from);
	}
	to->nents = import->table.nents;
	return 0;
}

struct sg_table *dray_importer_map(struct dma_buf_attachment *attachment,
				   enum dma_data_direction direction)
{
	struct dray_buffer *buffer = attachment->dmabuf->priv;
	struct dray_importer *importer = attachment->priv;
	struct dray_import *import = &importer->imports[direction];
	struct sg_table *table;
	int ret;

	if (direction != DMA_TO_DEVICE && !dray_is_writable(attachment->dmabuf))
		return ERR_PTR(-EACCES);
	table = kmalloc(sizeof(*table), GFP_KERNEL);
	if (!table)
		return ERR_PTR(-ENOMEM);
	mutex_lock(&buffer->lock);
	ret = dray_import_get(buffer, importer->dev, import, direction);
	if (!ret) {
		ret = dray_import_copy(import, table);
		if (ret)
			dray_import_put(buffer, importer->dev, import,
					direction);
	}
	mutex_unlock(&buffer->lock);
	if (ret) {
		kfree(table);
		return ERR_PTR(ret);
	}
	return table;
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
	struct dray_import *import = &importer->imports[direction];

	mutex_lock(&buffer->lock);
	/* Did the device write to a copy?  Then that must come back now. */
	if (direction != DMA_TO_DEVICE &&
	    dray_import_bounced(buffer, importer->dev, import))
		dma_sync_sgtable_for_cpu(importer->dev, &import->table,
					 direction);
	dray_import_put(buffer, importer->dev, import, direction);
	mutex_unlock(&buffer->lock);
	sg_free_table(table);
	kfree(table);
}

/* Of one piece; a page of a reader's is written back before it is dropped. */
static void dray_import_sync_step(struct device *dev, dma_addr_t address,
				  size_t length,
				  enum dma_data_direction direction, bool keep,
				  bool for_cpu)
{
	if (!for_cpu || (keep && direction == DMA_BIDIRECTIONAL))
		dma_sync_single_for_device(dev, address, length, direction);
	if (for_cpu)
		dma_sync_single_for_cpu(dev, address, length, direction);
}

static int dray_import_sync(struct dray_buffer *buffer, struct device *dev,
			    struct dray_import *import,
			    enum dma_data_direction direction, bool writable,
			    bool for_cpu)
{
	/* Lines are dropped for a reader: what is in them must not be lost. */
	bool keep = !writable && !dray_import_bounced(buffer, dev, import);
	size_t most = keep ? PAGE_SIZE : DRAY_SYNC_STEP, left, step;
	struct scatterlist *entry;
	dma_addr_t address;
	int i;

	/* There is no way to write them back. */
	if (keep && direction == DMA_FROM_DEVICE)
		return 0;
	for_each_sgtable_dma_sg(&import->table, entry, i) {
		address = sg_dma_address(entry);
		for (left = sg_dma_len(entry); left; left -= step) {
			if (fatal_signal_pending(current))
				return -EINTR;
			step = min(left, most);
			dray_import_sync_step(dev, address, step, direction,
					      keep, for_cpu);
			address += step;
			cond_resched();
		}
	}
	return 0;
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
				ret = dray_import_sync(buffer, importer->dev,
						       import, direction,
						       writable, for_cpu);
		}
	return ret;
}
