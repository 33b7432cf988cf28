// SPDX-License-Identifier: GPL-2.0-only
/*
 * The exporter: a buffer as a dma-buf, and the CPU's accesses through it.
 * There are no pin callbacks: with them, an importer that does not know them
 * would get a cached mapping in both directions at attach.  A second, read-only
 * dma-buf of a buffer shares its fences.  Its importers read, and the CPU cannot
 * write through it.
 */
#include <linux/dma-buf.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "base/compat.h"
#include "base/reply.h"
#include "buffer.h"
#include "dmabuf.h"
#include "importer.h"
#include "mapping.h"
#include "mmap.h"

/*
 * Maintains the whole buffer, for the node even without attachments, and for
 * the importers.  -EINTR when the task is being killed.
 */
static int dray_buffer_sync(struct dray_buffer *buffer, bool writable,
			    bool for_cpu, enum dma_data_direction direction)
{
	int ret;

	if (buffer->mode != DRAY_MODE_CACHED)
		return 0;
	if (for_cpu && !writable && !dray_buffer_written_outside(buffer))
		return 0;
	mutex_lock(&buffer->lock);
	ret = dray_mappings_sync(buffer, writable, for_cpu, direction);
	if (!ret)
		ret = dray_importers_sync(buffer, writable, for_cpu);
	mutex_unlock(&buffer->lock);
	return ret;
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
	return dray_buffer_sync(buffer, dray_dmabuf_is_writable(dmabuf), true,
				direction);
}

static int dray_end_cpu_access(struct dma_buf *dmabuf,
			       enum dma_data_direction direction)
{
	return dray_buffer_sync(dmabuf->priv, dray_dmabuf_is_writable(dmabuf),
				false, direction);
}

/* High memory is without an address of its own in the kernel. */
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
	if (buffer->memory.vaddr)
		return buffer->memory.vaddr;
	if (dray_buffer_is_high(buffer))
		return dray_vmap_high(buffer);
	return page_address(buffer->memory.page);
}

static void dray_buffer_vunmap(struct dray_buffer *buffer)
{
	if (!buffer->memory.vaddr && dray_buffer_is_high(buffer))
		vunmap(buffer->vaddr);
	buffer->vaddr = NULL;
}

static int dray_vmap(struct dma_buf *dmabuf, struct iosys_map *map)
{
	struct dray_buffer *buffer = dmabuf->priv;
	int ret = 0;

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
	.attach = dray_importer_attach,
	.detach = dray_importer_detach,
	.map_dma_buf = dray_importer_map,
	.unmap_dma_buf = dray_importer_unmap,
	.begin_cpu_access = dray_begin_cpu_access,
	.end_cpu_access = dray_end_cpu_access,
	.mmap = dray_mmap,
	.vmap = dray_vmap,
	.vunmap = dray_vunmap,
	.release = dray_release,
};

/*
 * Memory without a kernel mapping lacks vmap for other drivers, too.  The operation
 * is absent, since the kernel warns if it fails.
 */
static const struct dma_buf_ops dray_unmapped_ops = {
	.attach = dray_importer_attach,
	.detach = dray_importer_detach,
	.map_dma_buf = dray_importer_map,
	.unmap_dma_buf = dray_importer_unmap,
	.begin_cpu_access = dray_begin_cpu_access,
	.end_cpu_access = dray_end_cpu_access,
	.mmap = dray_mmap,
	.release = dray_release,
};

/* No vmap: its address would allow writing. */
static const struct dma_buf_ops dray_read_only_ops = {
	.attach = dray_importer_attach,
	.detach = dray_importer_detach,
	.map_dma_buf = dray_importer_map,
	.unmap_dma_buf = dray_importer_unmap,
	.begin_cpu_access = dray_begin_cpu_access,
	.end_cpu_access = dray_end_cpu_access,
	.mmap = dray_mmap_read_only,
	.release = dray_release,
};

static const struct dma_buf_ops *dray_ops(struct dray_buffer *buffer,
					  bool writable)
{
	if (!writable)
		return &dray_read_only_ops;
	if (buffer->mode == DRAY_MODE_DEVICE || !buffer->memory.page)
		return &dray_unmapped_ops;
	return &dray_dma_buf_ops;
}

/* As DMA_BUF_SET_NAME does, for fdinfo and debugfs; the core frees it. */
static int dray_dmabuf_name(struct dma_buf *dmabuf,
			    const struct dray_buffer *buffer)
{
	char *name;

	if (!*buffer->name)
		return 0;
	name = kstrdup(buffer->name, GFP_KERNEL_ACCOUNT);
	if (!name)
		return -ENOMEM;
	spin_lock(&dmabuf->name_lock);
	dmabuf->name = name;
	spin_unlock(&dmabuf->name_lock);
	return 0;
}

int dray_dmabuf_export(struct dray_buffer *buffer, bool writable,
		       struct dray_reply *reply)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct dma_buf *dmabuf;
	int ret;

	info.ops = dray_ops(buffer, writable);
	info.size = buffer->size;
	info.flags = writable ? O_RDWR : O_RDONLY;
	info.resv = &buffer->resv;
	info.priv = buffer;
	dmabuf = dma_buf_export(&info);
	if (IS_ERR(dmabuf)) {
		dray_buffer_put(buffer);
		return PTR_ERR(dmabuf);
	}
	ret = dray_dmabuf_name(dmabuf, buffer);
	if (ret) {
		dma_buf_put(dmabuf);
		return ret;
	}
	return dray_reply_give(reply, dmabuf->file);
}

/* The buffer of a dma-buf of ours, which holds it; NULL for any other. */
struct dray_buffer *dray_dmabuf_buffer(struct dma_buf *dmabuf, bool *writable)
{
	*writable = dray_dmabuf_is_writable(dmabuf);
	return dmabuf->ops == &dray_dma_buf_ops ||
			       dmabuf->ops == &dray_unmapped_ops ||
			       dmabuf->ops == &dray_read_only_ops
		       ? dmabuf->priv
		       : NULL;
}

struct dray_buffer *dray_dmabuf_of_fd(int fd, bool *writable,
				      struct dray_refusal *refusal)
{
	struct dma_buf *dmabuf = dma_buf_get(fd);
	struct dray_buffer *buffer;
	int ret;

	if (IS_ERR(dmabuf)) {
		ret = dray_refuse(refusal, PTR_ERR(dmabuf), DRAY_REASON_FOREIGN,
				  (u32)fd);
		return ERR_PTR(ret);
	}
	buffer = dray_dmabuf_buffer(dmabuf, writable);
	if (buffer)
		dray_entry_get(&buffer->entry);
	dma_buf_put(dmabuf);
	if (!buffer) {
		ret = dray_refuse(refusal, -EINVAL, DRAY_REASON_FOREIGN,
				  (u32)fd);
		return ERR_PTR(ret);
	}
	return buffer;
}

MODULE_INFO(import_ns, "DMA_BUF");
