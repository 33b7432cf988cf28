// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of the caller, pinned for as long as the attachment lives, even if the
 * process unmaps it.  A device that writes gets only memory that the process
 * may write.  Whole pages are mapped: for the bytes around the memory the
 * kernel would use a bounce buffer.
 */
#include <linux/dma-direct.h>
#include <linux/dma-mapping.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "base/device.h"
#include "heap/account.h"
#include "attachment.h"
#include "buffer.h"
#include "pin.h"

#define DRAY_PIN_BATCH 512

/* Keeps every per-page array below INT_MAX bytes. */
static u64 dray_pin_most(void)
{
	return min_t(u64, totalram_pages(),
		     INT_MAX / sizeof(struct dray_place_segment))
	       << PAGE_SHIFT;
}

/*
 * For a device that only reads, memory may be read-only.  If it is writable, it
 * is pinned for writing all the same: otherwise the process's next write would
 * go to a page of its own, which the device does not see.
 */
static long dray_pin_batch(unsigned long start, u32 count, bool write,
			   struct page **pages)
{
	long pinned;

	pinned = pin_user_pages_fast(start, count, FOLL_LONGTERM | FOLL_WRITE,
				     pages);
	/* Only this page: the next may be written again. */
	if (pinned <= 0 && !write && !fatal_signal_pending(current))
		pinned = pin_user_pages_fast(start, 1, FOLL_LONGTERM, pages);
	return pinned ? pinned : -EFAULT;
}

static void dray_unpin_pages(struct page **pages, u32 count, bool dirty)
{
	u32 batch;

	for (; count; count -= batch, pages += batch) {
		batch = min_t(u32, count, DRAY_PIN_BATCH);
		unpin_user_pages_dirty_lock(pages, batch, dirty);
		cond_resched();
	}
}

static int dray_pin_pages(struct dray_attachment *attachment, u64 address,
			  u32 count, struct dray_refusal *refusal)
{
	unsigned long start = address & PAGE_MASK, at;
	u32 done = 0, batch;
	long pinned = 0;

	while (done < count) {
		batch = min_t(u32, count - done, DRAY_PIN_BATCH);
		at = start + ((unsigned long)done << PAGE_SHIFT);
		pinned = dray_pin_batch(at, batch, attachment->writable,
					attachment->pages + done);
		if (pinned < 0)
			break;
		done += pinned;
		if (fatal_signal_pending(current)) {
			pinned = -EINTR;
			break;
		}
		cond_resched();
	}
	if (pinned >= 0)
		return 0;
	dray_unpin_pages(attachment->pages, done, false);
	if (fatal_signal_pending(current))
		return -EINTR;
	return dray_refuse(refusal, pinned, DRAY_REASON_PINNED,
			   done ? ((u64)done << PAGE_SHIFT) - attachment->skip
				: 0);
}

/* Outside of the node, since user memory may take its time. */
int dray_pin(struct dray_attachment *attachment, u64 address, u64 length,
	     struct dray_refusal *refusal)
{
	u64 most = dray_pin_most(), end;
	u32 count;
	int ret;

	if (!length || length > most ||
	    check_add_overflow(address, length, &end))
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_SIZE, most);
	if (address > ULONG_MAX || end - 1 > ULONG_MAX ||
	    !access_ok(u64_to_user_ptr(address), length))
		return dray_refuse(refusal, -EFAULT, DRAY_REASON_PINNED, 0);
	attachment->skip = offset_in_page((unsigned long)address);
	count = PFN_UP(attachment->skip + length);
	attachment->charged = (u64)count << PAGE_SHIFT;
	ret = dray_charge_user(attachment->charged, &attachment->user, refusal);
	if (ret)
		return ret;

	attachment->pages = kvmalloc_array(count, sizeof(struct page *),
					   GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!attachment->pages) {
		ret = -ENOMEM;
		goto uncharge;
	}
	ret = dray_pin_pages(attachment, address, count, refusal);
	if (ret)
		goto free_pages;
	attachment->page_count = count;
	attachment->size = length;
	return 0;

free_pages:
	kvfree(attachment->pages);
uncharge:
	dray_uncharge_user(attachment->user, attachment->charged);
	return ret;
}

/* If the module cannot hold it, memory that a device may write stays pinned. */
void dray_unpin(struct dray_attachment *attachment)
{
	if (!READ_ONCE(attachment->entry.condemned)) {
		dray_unpin_pages(attachment->pages, attachment->page_count,
				 attachment->writable);
		dray_uncharge_user(attachment->user, attachment->charged);
	}
	kvfree(attachment->pages);
}

/* A device that does not reach it would get a copy. */
static bool dray_pin_is_reached(const struct dray_attachment *attachment,
				struct device *dev, u64 reach)
{
	phys_addr_t start;
	u32 i;

	if (dray_device_translated(dev))
		return true;
	for (i = 0; i < attachment->page_count; i++) {
		start = page_to_phys(attachment->pages[i]);
		if ((u64)phys_to_dma(dev, start) + PAGE_SIZE - 1 > reach)
			return false;
	}
	return true;
}

static bool dray_pin_is_bounced(struct dray_attached_mapping *mapping)
{
	struct scatterlist *entry;
	int i;

	if (dray_device_translated(mapping->dev))
		return false;
	for_each_sgtable_sg(mapping->table, entry, i)
		if (dray_device_bounced(mapping->dev, sg_dma_address(entry),
					sg_phys(entry)))
			return true;
	return false;
}

int dray_pin_map(struct dray_attachment *attachment,
		 struct dray_attached_mapping *mapping,
		 struct dray_refusal *refusal)
{
	enum dma_data_direction direction =
		dray_attachment_direction(attachment);
	struct device *dev = mapping->dev;
	u64 reach = dray_device_reach(dev);
	unsigned long count = attachment->page_count;
	struct sg_table *table = &mapping->own;
	int ret;

	if (!dray_pin_is_reached(attachment, dev, reach))
		return dray_refuse(refusal, -ENOMEM, DRAY_REASON_BOUNCE, reach);
	mapping->table = table;
	ret = sg_alloc_table_from_pages_segment(table, attachment->pages, count,
						0, count << PAGE_SHIFT,
						dray_device_longest(dev),
						GFP_KERNEL_ACCOUNT);
	if (ret)
		return ret;
	ret = dma_map_sgtable(dev, table, direction, DRAY_MAP_ATTRS);
	if (ret) {
		ret = dray_refuse(refusal, -ENOMEM, DRAY_REASON_BOUNCE, reach);
		goto free_table;
	}
	if (dray_pin_is_bounced(mapping)) {
		ret = dray_refuse(refusal, -ENOMEM, DRAY_REASON_BOUNCE, reach);
		goto unmap;
	}
	return 0;

unmap:
	dma_unmap_sgtable(dev, table, direction, DRAY_MAP_ATTRS);
free_table:
	sg_free_table(table);
	return ret;
}

void dray_pin_unmap(struct dray_attachment *attachment,
		    struct dray_attached_mapping *mapping)
{
	dma_unmap_sgtable(mapping->dev, &mapping->own,
			  dray_attachment_direction(attachment),
			  DRAY_MAP_ATTRS);
	sg_free_table(&mapping->own);
}
