// SPDX-License-Identifier: GPL-2.0-only
/*
 * ATTACH: an attachment and its file.  The file belongs to the node that made
 * it; when that is unbound the mappings for its devices go, and what is pinned
 * stays until the file is closed.
 */
#include <linux/anon_inodes.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "base/node.h"
#include "attachment.h"
#include "buffer.h"
#include "held.h"
#include "trace.h"

/*
 * The memory is held.  An end of the node that came by before there was a
 * reference again is waiting for its mappings.
 */
static void dray_attachment_revive(struct dray_attachment *attachment)
{
	/* One reference holds it, the other is ours: RECLAIM may come now. */
	dray_entry_resurrect(&attachment->entry);
	if (READ_ONCE(attachment->node->gone))
		dray_attachment_unmap(attachment);
	dray_attachment_put(attachment);
}

static void dray_attachment_release(struct kref *kref)
{
	struct dray_attachment *attachment =
		container_of(kref, struct dray_attachment, entry.kref);

	if (dray_entry_hold(&attachment->entry)) {
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
	dray_entry_forget(&attachment->entry);
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

/* With a reference; NULL where @fd is something else. */
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

/* The same; an error where it is another node's. */
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
 * When @node is unbound and nobody is inside any more.  An attachment that is
 * being freed at the same time unmaps itself; the caller waits for that.
 */
void dray_attachments_drop_node(struct dray_node *node)
{
	struct dray_attachment *attachment;
	struct dray_entry *entry;
	u64 id = 0;

	while ((entry = dray_entry_next(&id))) {
		attachment = dray_entry_attachment(entry);
		if (attachment && attachment->node == node) {
			dray_attachment_settle(attachment);
			dray_attachment_unmap(attachment);
		}
		dray_entry_put(entry);
		cond_resched();
	}
}

static int dray_attach_check(const struct dray_attach *args)
{
	bool user = args->flags & DRAY_ATTACH_USER;

	if (args->flags & ~(DRAY_ATTACH_USER | DRAY_ATTACH_READ_ONLY) ||
	    args->reserved)
		return -EINVAL;
	if (user ? args->dmabuf_fd != -1 : args->address || args->length)
		return -EINVAL;
	return 0;
}

static struct dray_attachment *
dray_attachment_create(struct dray_node *node, const struct dray_attach *args,
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

/*
 * From here on the end of the node finds it: so this happens inside, and
 * before it is mapped.  *@segments stays 0 for who may not know how many there
 * are.
 */
static int dray_attachment_publish(struct dray_attachment *attachment,
				   const struct dray_opener *opener,
				   u32 *segments, struct dray_refusal *refusal)
{
	struct dray_node *node = attachment->node;
	struct dray_place place;
	int ret = dray_node_enter(node);

	if (ret)
		return ret;
	dray_entry_publish(&attachment->entry);
	trace_dray_attach(&attachment->entry, attachment->size, node->dev);
	ret = dray_attachment_place(attachment, node->dev, &place, refusal);
	if (!ret && dray_pieces_allowed(opener, node->dev))
		*segments = place.count;
	dray_node_leave(node);
	return ret;
}

int dray_attach_call(struct dray_opener *opener, void *data,
		     struct dray_reply *reply)
{
	struct dray_attachment *attachment;
	struct dray_attach *args = data;
	struct file *file;
	u32 segments = 0;
	int ret;

	ret = dray_attach_check(args);
	if (ret)
		return ret;
	ret = dray_node_check(opener->node);
	if (ret)
		return ret;
	attachment =
		dray_attachment_create(opener->node, args, &reply->refusal);
	if (IS_ERR(attachment))
		return PTR_ERR(attachment);
	ret = dray_attachment_publish(attachment, opener, &segments,
				      &reply->refusal);
	if (ret)
		goto put_attachment;
	file = anon_inode_getfile("dray-attachment", &dray_attachment_fops,
				  attachment, O_RDWR);
	if (IS_ERR(file)) {
		ret = PTR_ERR(file);
		goto put_attachment;
	}
	ret = dray_reply_give(reply, file);
	if (ret)
		return ret;
	/* The file in the reply has the attachment. */
	args->fd = reply->fd;
	args->id = attachment->entry.id;
	args->length = attachment->size;
	args->segments = segments;
	return 0;

put_attachment:
	dray_attachment_put(attachment);
	return ret;
}
