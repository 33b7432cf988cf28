// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dma-bufs of other drivers: dray is an importer like any other.  How their
 * memory is maintained only their exporter knows, and only for the whole.
 */
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "base/compat.h"
#include "base/device.h"
#include "heap/account.h"
#include "attachment.h"
#include "buffer.h"
#include "dmabuf.h"
#include "foreign.h"

static int dray_foreign_check(const struct dray_attachment *attachment,
			      struct dma_buf *dmabuf, int fd,
			      struct dray_refusal *refusal)
{
	bool writable;

	if (dray_dmabuf_buffer(dmabuf, &writable))
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_OWN, (u32)fd);
	if (attachment->writable && !(dmabuf->file->f_mode & FMODE_WRITE))
		return dray_refuse(refusal, -EACCES, DRAY_REASON_READ_ONLY,
				   (u32)fd);
	if (!dmabuf->size)
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_SIZE, 0);
	return 0;
}

int dray_foreign_get(struct dray_attachment *attachment, int fd,
		     struct dray_refusal *refusal)
{
	struct dma_buf *dmabuf = dma_buf_get(fd);
	int ret;

	if (IS_ERR(dmabuf))
		return dray_refuse(refusal, PTR_ERR(dmabuf),
				   DRAY_REASON_FOREIGN, (u32)fd);
	ret = dray_foreign_check(attachment, dmabuf, fd, refusal);
	if (ret)
		goto put_dmabuf;
	ret = dray_charge_user(dmabuf->size, &attachment->user, refusal);
	if (ret)
		goto put_dmabuf;
	attachment->charged = dmabuf->size;
	attachment->size = dmabuf->size;
	attachment->dmabuf = dmabuf;
	return 0;

put_dmabuf:
	dma_buf_put(dmabuf);
	return ret;
}

/*
 * If the module cannot hold it, memory that a device may write stays for good.
 */
void dray_foreign_put(struct dray_attachment *attachment)
{
	if (READ_ONCE(attachment->entry.condemned))
		return;
	dma_buf_put(attachment->dmabuf);
	dray_uncharge_user(attachment->user, attachment->charged);
}

/*
 * Would the device get copies?  Some exporters have no pages to compare with,
 * and a kernel that debugs dma-bufs hides them: there a device for which
 * there are bounce buffers at all is not let in.
 */
static bool dray_foreign_is_bounced(struct dray_attached_mapping *mapping)
{
	struct device *dev = mapping->dev;
	struct scatterlist *entry;
	int i;

	if (dray_device_translated(dev))
		return false;
	if (dma_max_mapping_size(dev) == SIZE_MAX)
		return false;
	if (IS_ENABLED(CONFIG_DMABUF_DEBUG))
		return true;
	for_each_sgtable_sg(mapping->table, entry, i)
		if (!sg_page(entry) ||
		    dray_device_bounced(dev, sg_dma_address(entry),
					sg_phys(entry)))
			return true;
	return false;
}

int dray_foreign_map(struct dray_attachment *attachment,
		     struct dray_attached_mapping *mapping,
		     struct dray_refusal *refusal)
{
	struct dma_buf_attachment *import;
	struct sg_table *table;

	import = dma_buf_attach(attachment->dmabuf, mapping->dev);
	if (IS_ERR(import))
		return PTR_ERR(import);
	table = dray_dmabuf_map(import, dray_attachment_direction(attachment));
	if (IS_ERR(table)) {
		dma_buf_detach(attachment->dmabuf, import);
		return PTR_ERR(table);
	}
	mapping->import = import;
	mapping->table = table;
	if (dray_foreign_is_bounced(mapping)) {
		dray_foreign_unmap(attachment, mapping);
		return dray_refuse(refusal, -ENOMEM, DRAY_REASON_BOUNCE,
				   dray_device_reach(mapping->dev));
	}
	return 0;
}

void dray_foreign_unmap(struct dray_attachment *attachment,
			struct dray_attached_mapping *mapping)
{
	dray_dmabuf_unmap(mapping->import, mapping->table,
			  dray_attachment_direction(attachment));
	dma_buf_detach(attachment->dmabuf, mapping->import);
}

/* For the CPU, waits for the fences of writers. */
int dray_foreign_sync(struct dray_attachment *attachment, bool for_cpu,
		      enum dma_data_direction direction)
{
	int ret;

	if (for_cpu)
		return dma_buf_begin_cpu_access(attachment->dmabuf, direction);
	/*
	 * Without beginning an access: that would wait for fences, also of
	 * dray's own jobs, and might drop CPU writes.  Exporters write back all
	 * the same; only udmabuf refuses if it has no CPU mapping to maintain.
	 */
	ret = dma_buf_end_cpu_access(attachment->dmabuf, direction);
	if (ret == -EINVAL && !strcmp(attachment->dmabuf->exp_name, "udmabuf"))
		return 0;
	return ret;
}
