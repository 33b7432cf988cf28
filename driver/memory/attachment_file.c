// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attachments: memory of others, their files and their mappings.  Like a
 * buffer, an attachment is mapped once for each device, on first use, without
 * bounce buffers.  Unbinding the file's node removes the mappings; pinned pages
 * stay until the file is closed.
 */
#include <linux/anon_inodes.h>
#include <linux/device.h>
#include <linux/dma-mapping.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "base/device.h"
#include "base/disclosure.h"
#include "base/node.h"
#include "attachment.h"
#include "foreign.h"
#include "hold.h"
#include "pin.h"
#include "trace.h"

static int dray_attached_map(struct dray_attachment *attachment,
			     struct dray_attached_mapping *mapping,
			     struct dray_refusal *refusal)
{
	if (attachment->dmabuf)
		return dray_foreign_map(attachment, mapping, refusal);
	return dray_pin_map(attachment, mapping, refusal);
}

static void dray_attached_unmap(struct dray_attachment *attachment,
				struct dray_attached_mapping *mapping)
{
	if (attachment->dmabuf)
		dray_foreign_unmap(attachment, mapping);
	else
		dray_pin_unmap(attachment, mapping);
	if (READ_ONCE(attachment->entry.disclosed))
		dray_device_flush_iotlb(mapping->dev);
}

/*
 * Turns the device's table into segments that cover exactly the attachment, or
 * with NULL only counts them.  Adjacent entries are joined in dma-bufs.  Pinned
 * memory keeps the pieces in which it was mapped, since maintenance must not
 * cross from piece to piece.  False if the table is too short.
 */
static bool dray_segments_fill(const struct dray_attachment *attachment,
			       struct dray_attached_mapping *mapping,
			       struct dray_place_segment *segment)
{
	u64 done = 0, length, skip = attachment->skip;
	struct scatterlist *entry;
	dma_addr_t address, end = 0;
	int i;

	mapping->count = 0;
	for_each_sgtable_dma_sg(mapping->table, entry, i) {
		length = sg_dma_len(entry);
		if (length <= skip) {
			skip -= length;
			continue;
		}
		address = sg_dma_address(entry) + skip;
		length = min(length - skip, attachment->size - done);
		skip = 0;
		if (attachment->dmabuf && mapping->count && address == end) {
			if (segment)
				segment[mapping->count - 1].length += length;
		} else {
			if (segment)
				segment[mapping->count] =
					(struct dray_place_segment){
						.offset = done,
						.length = length,
						.address = address,
					};
			mapping->count++;
		}
		end = address + length;
		done += length;
		if (done == attachment->size)
			return true;
	}
	return false;
}

static int dray_segments_build(const struct dray_attachment *attachment,
			       struct dray_attached_mapping *mapping)
{
	if (!dray_segments_fill(attachment, mapping, NULL))
		return -EINVAL;
	mapping->segment =
		kvmalloc_array(mapping->count, sizeof(*mapping->segment),
			       GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!mapping->segment)
		return -ENOMEM;
	dray_segments_fill(attachment, mapping, mapping->segment);
	return 0;
}

static struct dray_place
dray_attached_where(const struct dray_attachment *attachment,
		    const struct dray_attached_mapping *mapping)
{
	return (struct dray_place){
		.segment = mapping->segment,
		.count = mapping->count,
		.pages = attachment->pages,
		.skip = attachment->skip,
	};
}

/* Lets the device see earlier writes of the CPU. -EINTR as dray_rows_sync(). */
static int dray_attached_write_back(struct dray_attachment *attachment,
				    const struct dray_attached_mapping *mapping)
{
	struct dray_area_rows all = { .width = attachment->size, .rows = 1 };
	struct dray_place place = dray_attached_where(attachment, mapping);
	ktime_t start = ktime_get();
	int ret;

	ret = dray_rows_sync(mapping->dev, &place, &all, false, DMA_TO_DEVICE);
	if (!ret && dray_device_maintained(mapping->dev))
		dray_rows_count(&attachment->entry, mapping->dev,
				attachment->size, false, DMA_TO_DEVICE, start);
	return ret;
}

static struct dray_attached_mapping *
dray_attached_create(struct dray_attachment *attachment, struct device *dev,
		     struct dray_refusal *refusal)
{
	struct dray_attached_mapping *mapping;
	int ret;

	mapping = kzalloc(sizeof(*mapping), GFP_KERNEL_ACCOUNT);
	if (!mapping)
		return ERR_PTR(-ENOMEM);
	mapping->dev = dev;
	ret = dray_attached_map(attachment, mapping, refusal);
	if (ret)
		goto free_mapping;
	ret = dray_segments_build(attachment, mapping);
	if (ret)
		goto unmap;
	if (!attachment->dmabuf) {
		ret = dray_attached_write_back(attachment, mapping);
		if (ret)
			goto free_stretches;
	}
	return mapping;

free_stretches:
	kvfree(mapping->segment);
unmap:
	dray_attached_unmap(attachment, mapping);
free_mapping:
	kfree(mapping);
	return ERR_PTR(ret);
}

int dray_attachment_place(struct dray_attachment *attachment,
			  struct device *dev, struct dray_place *place,
			  struct dray_refusal *refusal)
{
	struct dray_attached_mapping *mapping;
	int ret = 0;

	mutex_lock(&attachment->lock);
	list_for_each_entry(mapping, &attachment->mappings, list)
		if (mapping->dev == dev)
			goto found;

	mapping = dray_attached_create(attachment, dev, refusal);
	if (IS_ERR(mapping)) {
		ret = PTR_ERR(mapping);
		goto out;
	}
	atomic_inc(&attachment->node->mappings);
	list_add_tail(&mapping->list, &attachment->mappings);
	trace_dray_map(&attachment->entry, attachment->size, dev);
found:
	*place = dray_attached_where(attachment, mapping);
out:
	mutex_unlock(&attachment->lock);
	return ret;
}

/*
 * Flushes before the node is unbound, like dray_mapping_flush() for a buffer.
 * A single device stands for all.  The exporter of a dma-buf flushes it.
 */
static void dray_attachment_flush(struct dray_attachment *attachment)
{
	struct dray_area_rows all = {
		.width = attachment->size,
		.rows = 1,
		.unkillable = true,
	};
	struct dray_attached_mapping *mapping;
	struct dray_place place;

	if (attachment->dmabuf || !attachment->writable ||
	    !(READ_ONCE(attachment->entry.disclosed) ||
	      READ_ONCE(attachment->entry.unsynced)))
		return;
	mutex_lock(&attachment->lock);
	list_for_each_entry(mapping, &attachment->mappings, list) {
		if (!dray_device_maintained(mapping->dev))
			continue;
		place = dray_attached_where(attachment, mapping);
		dray_rows_sync_kept(mapping->dev, &place, &all, true);
		break;
	}
	mutex_unlock(&attachment->lock);
}

/* Unmaps for all devices: the attachment is freed, or its node is unbound. */
static void dray_attachment_unmap(struct dray_attachment *attachment)
{
	struct dray_attached_mapping *mapping, *next;
	struct dray_node *node = attachment->node;

	mutex_lock(&attachment->lock);
	list_for_each_entry_safe(mapping, next, &attachment->mappings, list) {
		list_del(&mapping->list);
		dray_attached_unmap(attachment, mapping);
		kvfree(mapping->segment);
		kfree(mapping);
		if (atomic_dec_and_test(&node->mappings))
			wake_up_all(&node->unmapped);
	}
	mutex_unlock(&attachment->lock);
}

void dray_attachment_print(struct dray_attachment *attachment,
			   struct seq_file *file)
{
	struct dray_attached_mapping *mapping;

	mutex_lock(&attachment->lock);
	list_for_each_entry(mapping, &attachment->mappings, list)
		seq_printf(file, " %s", dev_name(mapping->dev));
	mutex_unlock(&attachment->lock);
}

/*
 * The memory is held.  If the node began to end before this reference existed,
 * that end waits until the mappings are removed.
 */
static void dray_attachment_revive(struct dray_attachment *attachment)
{
	/* The holder's reference, and the caller's: RECLAIM may run now. */
	dray_entry_resurrect(&attachment->entry);
	if (READ_ONCE(attachment->node->gone))
		dray_attachment_unmap(attachment);
	dray_attachment_put(attachment);
}

static void dray_attachment_release(struct kref *kref)
{
	struct dray_attachment *attachment =
		container_of(kref, struct dray_attachment, entry.kref);

	if (dray_hold_take(&attachment->entry)) {
		dray_attachment_revive(attachment);
		return;
	}
	if (dray_entry_withdraw(&attachment->entry))
		trace_dray_detach(&attachment->entry, attachment->size,
				  attachment->node->dev);
	dray_attachment_unmap(attachment);
	if (attachment->dmabuf)
		dray_foreign_put(attachment);
	else
		dray_unpin(attachment);
	dray_disclosures_forget(&attachment->entry);
	dray_entry_fini(&attachment->entry);
	dray_node_put(attachment->node);
	mutex_destroy(&attachment->lock);
	kfree(attachment);
}

static int dray_attachment_close(struct inode *inode, struct file *file)
{
	dray_attachment_put(file->private_data);
	return 0;
}

static const struct file_operations dray_attachment_fops = {
	.owner = THIS_MODULE,
	.release = dray_attachment_close,
};

struct file *dray_attachment_open(struct dray_attachment *attachment)
{
	struct file *file;

	file = anon_inode_getfile("dray-attachment", &dray_attachment_fops,
				  attachment, O_RDWR);
	if (IS_ERR(file))
		dray_attachment_put(attachment);
	return file;
}

struct dray_attachment *dray_attachment_get(int fd)
{
	struct dray_attachment *attachment = NULL;
	struct file *file = fget(fd);

	if (!file)
		return NULL;
	if (file->f_op == &dray_attachment_fops) {
		attachment = file->private_data;
		dray_entry_get(&attachment->entry);
	}
	fput(file);
	return attachment;
}

struct dray_attachment *dray_attachment_of_fd(int fd, struct dray_node *node,
					      struct dray_refusal *refusal)
{
	struct dray_attachment *attachment = dray_attachment_get(fd);
	int ret;

	if (attachment && attachment->node != node) {
		dray_attachment_put(attachment);
		ret = dray_refuse(refusal, -EINVAL, DRAY_REASON_FOREIGN,
				  (u32)fd);
		return ERR_PTR(ret);
	}
	return attachment;
}

/*
 * Unmaps when @node is unbound and no call is inside any more.  An attachment
 * that is being freed at the same time unmaps itself; the caller waits for
 * that.
 */
void dray_attachments_drop_node(struct dray_node *node)
{
	struct dray_attachment *attachment;
	struct dray_entry *entry;
	u64 id = 0;

	while ((entry = dray_entry_next(&id))) {
		attachment = dray_entry_attachment(entry);
		if (attachment && attachment->node == node) {
			dray_attachment_flush(attachment);
			dray_attachment_unmap(attachment);
		}
		dray_entry_put(entry);
		cond_resched();
	}
}

struct dray_attachment *dray_attachment_create(struct dray_node *node,
					       const struct dray_attach *args,
					       struct dray_refusal *refusal)
{
	bool user = args->flags & DRAY_ATTACH_USER;
	struct dray_attachment *attachment;
	int ret;

	attachment = kzalloc(sizeof(*attachment), GFP_KERNEL_ACCOUNT);
	if (!attachment)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&attachment->mappings);
	mutex_init(&attachment->lock);
	attachment->writable = !(args->flags & DRAY_ATTACH_READ_ONLY);
	if (user)
		ret = dray_pin(attachment, args->address, args->length,
			       refusal);
	else
		ret = dray_foreign_get(attachment, args->dmabuf_fd, refusal);
	if (ret) {
		mutex_destroy(&attachment->lock);
		kfree(attachment);
		return ERR_PTR(ret);
	}
	dray_entry_init(&attachment->entry,
			user ? DRAY_KIND_USER : DRAY_KIND_DMABUF,
			dray_attachment_release);
	dray_node_get(node);
	attachment->node = node;
	return attachment;
}
