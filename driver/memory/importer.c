// SPDX-License-Identifier: GPL-2.0-only
/*
 * Importers: devices of other drivers for which a buffer's dma-bufs are mapped.
 * The table of each mapping is made entry by entry, and every CPU access to the
 * whole buffer maintains it until it is unmapped.
 */
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "base/device.h"
#include "buffer.h"
#include "importer.h"
#include "mapping.h"
#include "trace.h"

/* A buffer as an attachment maps it. */
struct dray_import {
	struct list_head list; /* of the buffer, under its lock */
	struct dray_buffer *buffer;
	struct device *dev;
	enum dma_data_direction direction;
	struct sg_table table;
};

/*
 * A carveout's table has no pages.  Importers get it even if they do not set
 * allow_peer2peer.  Only dynamic importers can set it.  Importers of cameras and
 * displays are static, use only the addresses, and would be refused although
 * they work.  No importer may look at the pages of a table: CONFIG_DMABUF_DEBUG
 * hides them.
 */
int dray_importer_attach(struct dma_buf *dmabuf,
			 struct dma_buf_attachment *attachment)
{
	struct dray_buffer *buffer = dmabuf->priv;

	atomic_inc(&buffer->attached);
	trace_dray_attach(&buffer->entry, buffer->size, attachment->dev);
	return 0;
}

void dray_importer_detach(struct dma_buf *dmabuf,
			  struct dma_buf_attachment *attachment)
{
	struct dray_buffer *buffer = dmabuf->priv;

	trace_dray_detach(&buffer->entry, buffer->size, attachment->dev);
	atomic_dec(&buffer->attached);
}

/* Entries within the device's limit, so that it need not split them. */
static int dray_import_fill(struct dray_import *import)
{
	size_t most = dray_device_longest(import->dev);
	struct dray_buffer *buffer = import->buffer;
	size_t done = 0, length;
	struct scatterlist *entry;
	struct page *page;
	int ret, i;

	ret = sg_alloc_table(&import->table, DIV_ROUND_UP(buffer->size, most),
			     GFP_KERNEL);
	if (ret)
		return ret;
	for_each_sgtable_sg(&import->table, entry, i) {
		length = min(most, buffer->size - done);
		/* Without pages an entry is only its addresses. */
		page = buffer->memory.page;
		if (page)
			page = dray_page_at(page, done >> PAGE_SHIFT);
		sg_set_page(entry, page, length, 0);
		done += length;
	}
	return 0;
}

/*
 * Does the device use a copy of entry @index?  It may reach some of them and
 * not the others.  All but the last are equally long.
 */
static bool dray_import_copied(const struct dray_import *import,
			       struct scatterlist *entry, unsigned int index)
{
	size_t length = import->table.sgl->length;

	return dray_device_bounced(import->dev, sg_dma_address(entry),
				   import->buffer->memory.start +
					   (phys_addr_t)index * length);
}

/* Does the device use a copy of any entry? */
static bool dray_import_any_copied(const struct dray_import *import)
{
	struct scatterlist *entry;
	int i;

	for_each_sgtable_dma_sg(&import->table, entry, i)
		if (dray_import_copied(import, entry, i))
			return true;
	return false;
}

static void dray_import_unmap_resource(struct dray_import *import)
{
	struct scatterlist *entry;
	int i;

	for_each_sgtable_dma_sg(&import->table, entry, i)
		dma_unmap_resource(import->dev, sg_dma_address(entry),
				   sg_dma_len(entry), import->direction,
				   DMA_ATTR_SKIP_CPU_SYNC);
	import->table.nents = 0;
}

/* For memory without pages. */
static int dray_import_map_resource(struct dray_import *import)
{
	phys_addr_t start = import->buffer->memory.start;
	struct scatterlist *entry;
	dma_addr_t address;
	int i;

	import->table.nents = 0;
	for_each_sgtable_sg(&import->table, entry, i) {
		address = dma_map_resource(import->dev, start, entry->length,
					   import->direction,
					   DMA_ATTR_SKIP_CPU_SYNC);
		if (dma_mapping_error(import->dev, address)) {
			dray_import_unmap_resource(import);
			return -EIO;
		}
		sg_dma_address(entry) = address;
		sg_dma_len(entry) = entry->length;
		import->table.nents++;
		start += entry->length;
	}
	return 0;
}

static int dray_import_map_pages(struct dray_import *import)
{
	return dma_map_sgtable(import->dev, &import->table, import->direction,
			       DMA_ATTR_SKIP_CPU_SYNC);
}

static void dray_import_unmap(struct dray_import *import)
{
	if (import->buffer->memory.page)
		dma_unmap_sgtable(import->dev, &import->table,
				  import->direction, DMA_ATTR_SKIP_CPU_SYNC);
	else
		dray_import_unmap_resource(import);
	sg_free_table(&import->table);
}

/*
 * Writes back the zeros for a device that only writes: its lines are dropped,
 * and none written back.  A mapping is maintained only in its own direction, so
 * this makes another mapping for a moment.
 */
static int dray_import_write_back(struct dray_import *import)
{
	int ret;

	if (dray_mappings_written_back(import->buffer))
		return 0;
	ret = dma_map_sgtable(import->dev, &import->table, DMA_TO_DEVICE, 0);
	if (!ret)
		dma_unmap_sgtable(import->dev, &import->table, DMA_TO_DEVICE,
				  0);
	return ret;
}

static int dray_import_map(struct dray_import *import)
{
	const struct dray_heap_memory *memory = &import->buffer->memory;
	bool cached = dray_heap_memory_is_cached(memory);
	int ret;

	ret = dray_import_fill(import);
	if (ret)
		return ret;
	if (cached && import->direction == DMA_FROM_DEVICE) {
		ret = dray_import_write_back(import);
		if (ret)
			goto free_table;
	}
	ret = memory->page ? dray_import_map_pages(import)
			   : dray_import_map_resource(import);
	if (ret)
		goto free_table;
	if (!cached && dray_import_any_copied(import)) {
		/* The copy would hold stale cache lines. */
		dray_import_unmap(import);
		return -EIO;
	}
	return 0;

free_table:
	sg_free_table(&import->table);
	return ret;
}

struct sg_table *dray_importer_map(struct dma_buf_attachment *attachment,
				   enum dma_data_direction direction)
{
	struct dray_buffer *buffer = attachment->dmabuf->priv;
	struct dray_import *import;
	int ret;

	/* Drivers of any kind call this. */
	if (!valid_dma_direction(direction))
		return ERR_PTR(-EINVAL);
	if (direction != DMA_TO_DEVICE &&
	    !dray_dmabuf_is_writable(attachment->dmabuf))
		return ERR_PTR(-EACCES);
	import = kzalloc(sizeof(*import), GFP_KERNEL);
	if (!import)
		return ERR_PTR(-ENOMEM);
	import->buffer = buffer;
	import->dev = attachment->dev;
	import->direction = direction;
	mutex_lock(&buffer->lock);
	ret = dray_import_map(import);
	if (ret)
		goto unlock;
	if (dray_heap_memory_is_cached(&buffer->memory))
		dma_sync_sgtable_for_device(import->dev, &import->table,
					    direction);
	/*
	 * From here on a CPU access maintains the buffer for this importer too.
	 */
	list_add_tail(&import->list, &buffer->imports);
	if (direction != DMA_TO_DEVICE)
		WRITE_ONCE(buffer->imported, true);
unlock:
	mutex_unlock(&buffer->lock);
	if (ret) {
		kfree(import);
		return ERR_PTR(ret);
	}
	return &import->table;
}

/* Fetches the device's writes from copies: the last chance. */
static void dray_import_collect(struct dray_import *import)
{
	struct scatterlist *entry;
	int i;

	for_each_sgtable_dma_sg(&import->table, entry, i)
		if (dray_import_copied(import, entry, i))
			dma_sync_single_for_cpu(import->dev,
						sg_dma_address(entry),
						sg_dma_len(entry),
						import->direction);
}

/* As dray_import_write_back(), for a page. */
static int dray_import_write_back_page(struct dray_import *import, size_t index)
{
	struct page *page = dray_buffer_page(import->buffer, index);
	dma_addr_t address;

	address = dma_map_page(import->dev, page, 0, PAGE_SIZE, DMA_TO_DEVICE);
	if (dma_mapping_error(import->dev, address))
		return -ENOMEM;
	dma_unmap_page(import->dev, address, PAGE_SIZE, DMA_TO_DEVICE);
	return 0;
}

/*
 * Writes back and then drops the cache lines of an entry that begins with page
 * @index of the buffer.  It works page by page, to leave little time for writes
 * between the two steps.  If a page cannot be written back it keeps its lines,
 * and the call fails after the others.
 */
static int dray_import_flush_entry(struct dray_import *import,
				   struct scatterlist *entry, size_t index,
				   bool killable)
{
	dma_addr_t address = sg_dma_address(entry);
	int ret = 0, failed;
	size_t left;

	for (left = sg_dma_len(entry); left; left -= PAGE_SIZE) {
		if (killable && fatal_signal_pending(current))
			return -EINTR;
		failed = dray_import_write_back_page(import, index++);
		if (failed)
			ret = failed;
		else
			dma_sync_single_for_cpu(import->dev, address, PAGE_SIZE,
						import->direction);
		address += PAGE_SIZE;
		cond_resched();
	}
	return ret;
}

/*
 * As dray_mapping_flush(), before this mapping ends, unless later CPU accesses
 * still maintain the buffer for a device of dray.
 */
static void dray_import_flush(struct dray_import *import)
{
	struct dray_buffer *buffer = import->buffer;
	struct scatterlist *entry;
	size_t done = 0;
	int i;

	if (buffer->mode != DRAY_MODE_CACHED ||
	    import->direction == DMA_TO_DEVICE ||
	    dev_is_dma_coherent(import->dev) ||
	    dray_mappings_maintained(buffer))
		return;
	for_each_sgtable_dma_sg(&import->table, entry, i) {
		if (!dray_import_copied(import, entry, i))
			dray_import_flush_entry(import, entry,
						done >> PAGE_SHIFT, false);
		done += sg_dma_len(entry);
	}
}

/*
 * Mostly without maintenance: the next reader begins a CPU access.  That does
 * all that is needed and loses none of the CPU's later writes.
 */
void dray_importer_unmap(struct dma_buf_attachment *attachment,
			 struct sg_table *table,
			 enum dma_data_direction direction)
{
	struct dray_import *import =
		container_of(table, struct dray_import, table);
	struct dray_buffer *buffer = import->buffer;

	mutex_lock(&buffer->lock);
	if (import->direction != DMA_TO_DEVICE)
		dray_import_collect(import);
	list_del(&import->list);
	dray_import_flush(import);
	dray_import_unmap(import);
	mutex_unlock(&buffer->lock);
	kfree(import);
}

static int dray_import_sync_entry(struct dray_import *import,
				  struct scatterlist *entry, bool for_cpu)
{
	enum dma_data_direction direction = import->direction;
	dma_addr_t address = sg_dma_address(entry);
	struct device *dev = import->dev;
	size_t left, step;

	for (left = sg_dma_len(entry); left; left -= step) {
		if (fatal_signal_pending(current))
			return -EINTR;
		step = min_t(size_t, left, DRAY_SYNC_STEP);
		if (for_cpu)
			dma_sync_single_for_cpu(dev, address, step, direction);
		else
			dma_sync_single_for_device(dev, address, step,
						   direction);
		address += step;
		cond_resched();
	}
	return 0;
}

/*
 * For a reader: drops lines, and writes back other programs' data in them
 * first.  A reader wrote nothing that a device could miss.
 */
static int dray_import_sync_kept(struct dray_import *import,
				 struct scatterlist *entry, size_t index,
				 bool for_cpu)
{
	if (for_cpu && import->direction != DMA_TO_DEVICE)
		return dray_import_flush_entry(import, entry, index, true);
	if (!for_cpu && import->direction == DMA_FROM_DEVICE)
		return 0;
	return dray_import_sync_entry(import, entry, for_cpu);
}

static int dray_import_sync(struct dray_import *import, bool writable,
			    bool for_cpu)
{
	struct scatterlist *entry;
	size_t index = 0;
	int ret, i;

	for_each_sgtable_dma_sg(&import->table, entry, i) {
		/* A copy cannot be written back: the device's data is in it. */
		if (writable || dray_import_copied(import, entry, i))
			ret = dray_import_sync_entry(import, entry, for_cpu);
		else
			ret = dray_import_sync_kept(import, entry, index,
						    for_cpu);
		if (ret)
			return ret;
		index += sg_dma_len(entry) >> PAGE_SHIFT;
	}
	return 0;
}

int dray_importers_sync(struct dray_buffer *buffer, bool writable, bool for_cpu)
{
	struct dray_import *import;
	int ret;

	lockdep_assert_held(&buffer->lock);
	list_for_each_entry(import, &buffer->imports, list) {
		ret = dray_import_sync(import, writable, for_cpu);
		if (ret)
			return ret;
	}
	return 0;
}
