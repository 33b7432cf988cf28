// SPDX-License-Identifier: GPL-2.0-only
/*
 * Areas: the memory behind the descriptors of ADDRESS, SYNC and SUBMIT.  Files
 * above this file do not distinguish kinds of memory.
 */
#include <linux/dma-buf.h>
#include <linux/dma-map-ops.h>
#include <linux/err.h>

#include "base/device.h"
#include "base/disclosure.h"
#include "area.h"
#include "attachment.h"
#include "buffer.h"
#include "dmabuf.h"
#include "foreign.h"
#include "mapping.h"

int dray_area_of_fd(int fd, struct dray_node *node, struct dray_area *area,
		    struct dray_refusal *refusal)
{
	struct dray_attachment *attachment;
	struct dray_buffer *buffer;

	*area = (struct dray_area){};
	attachment = dray_attachment_of_fd(fd, node, refusal);
	if (IS_ERR(attachment))
		return PTR_ERR(attachment);
	if (attachment) {
		area->attachment = attachment;
		area->size = attachment->size;
		area->writable = attachment->writable;
		return 0;
	}
	buffer = dray_dmabuf_of_fd(fd, &area->writable, refusal);
	if (IS_ERR(buffer))
		return PTR_ERR(buffer);
	area->buffer = buffer;
	area->size = buffer->size;
	area->uncached = buffer->mode != DRAY_MODE_CACHED;
	return 0;
}

void dray_area_get(const struct dray_area *area)
{
	struct dray_entry *entry = dray_area_entry(area);

	if (entry)
		dray_entry_get(entry);
}

void dray_area_put(struct dray_area *area)
{
	if (area->attachment)
		dray_attachment_put(area->attachment);
	if (area->buffer)
		dray_buffer_put(area->buffer);
	area->attachment = NULL;
	area->buffer = NULL;
}

/* Maps on first use.  The caller is inside @node. */
int dray_area_place(const struct dray_area *area, struct dray_node *node,
		    struct device *dev, struct dray_place *place,
		    struct dray_refusal *refusal)
{
	if (area->attachment)
		return dray_attachment_place(area->attachment, dev, place,
					     refusal);
	return dray_mapping_place(area->buffer, node, dev, place, refusal);
}

bool dray_area_needs_sync(const struct dray_area *area, struct device *dev)
{
	/* Only the exporter of a dma-buf knows. */
	return dray_area_is_whole(area) ||
	       (!area->uncached && dray_device_maintained(dev));
}

/*
 * Does a sync for the CPU do nothing?  A device that only reads leaves nothing
 * to fetch.  For a reader of a buffer, lines are dropped only if a device may
 * write the buffer: another program may be writing those lines.
 */
static bool dray_area_is_done(const struct dray_area *area, bool for_cpu)
{
	if (!for_cpu || area->writable)
		return false;
	if (area->buffer)
		return !dray_buffer_written_outside(area->buffer);
	return !area->attachment->dmabuf;
}

bool dray_area_is_maintained(const struct dray_area *area, struct device *dev,
			     bool for_cpu)
{
	return dray_area_needs_sync(area, dev) &&
	       !dray_area_is_done(area, for_cpu);
}

/* Do offsets in both mean the same bytes? */
bool dray_area_is_same(const struct dray_area *a, const struct dray_area *b)
{
	if (a->attachment && b->attachment && a->attachment->dmabuf)
		return a->attachment->dmabuf == b->attachment->dmabuf;
	return a->buffer == b->buffer && a->attachment == b->attachment;
}

/* Returns the object with the fences of all users; NULL: there is none. */
struct dma_resv *dray_area_resv(const struct dray_area *area)
{
	if (area->buffer)
		return &area->buffer->resv;
	if (dray_area_is_whole(area))
		return area->attachment->dmabuf->resv;
	return NULL;
}

/* NULL if there is no area. */
struct dray_entry *dray_area_entry(const struct dray_area *area)
{
	if (area->buffer)
		return &area->buffer->entry;
	return area->attachment ? &area->attachment->entry : NULL;
}

/* Transfers in flight, as BUFFER_INFO shows them. */
void dray_area_count(const struct dray_area *area, int step)
{
	struct dray_entry *entry = dray_area_entry(area);

	if (entry)
		atomic_add(step, &entry->transfers);
}

/* A dead channel may still write the memory: it is not allocated again. */
void dray_area_condemn(const struct dray_area *area)
{
	struct dray_entry *entry = dray_area_entry(area);

	if (entry)
		WRITE_ONCE(entry->condemned, true);
}

/*
 * Marks the area before a transfer writes it without maintenance for the CPU.
 */
void dray_area_leave_unsynced(const struct dray_area *area)
{
	struct dray_entry *entry = dray_area_entry(area);

	if (entry)
		WRITE_ONCE(entry->unsynced, true);
}

/* Called before the caller learns the address for @node. */
int dray_area_disclose(const struct dray_area *area, struct dray_node *node)
{
	return dray_disclosure_add(dray_area_entry(area), node);
}

bool dray_area_is_whole(const struct dray_area *area)
{
	return area->attachment && area->attachment->dmabuf;
}

int dray_area_sync_whole(const struct dray_area *area, bool for_cpu,
			 enum dma_data_direction direction)
{
	return dray_foreign_sync(area->attachment, for_cpu, direction);
}

int dray_area_sync(const struct dray_area *area, struct device *dev,
		   const struct dray_place *place,
		   const struct dray_area_rows *rows, bool for_cpu,
		   enum dma_data_direction direction)
{
	if (dray_area_is_whole(area))
		return dray_area_sync_whole(area, for_cpu, direction);
	if (area->writable)
		return dray_rows_sync(dev, place, rows, for_cpu, direction);
	if (dray_area_is_done(area, for_cpu))
		return 0;
	if (area->buffer)
		return dray_rows_sync_kept(dev, place, rows, for_cpu);
	return dray_rows_sync(dev, place, rows, false, DMA_TO_DEVICE);
}
