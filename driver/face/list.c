// SPDX-License-Identifier: GPL-2.0-only
/*
 * LIST and BUFFER_INFO: the holders of memory.  A caller sees the entries of
 * its own user, a privileged one sees all, and with the descriptor of a buffer
 * or an attachment any caller may ask about it.
 */
#include <linux/dma-buf.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <linux/user_namespace.h>

#include "base/node.h"
#include "memory/attachment.h"
#include "memory/buffer.h"
#include "memory/dmabuf.h"
#include "calls.h"

int dray_list_call(struct dray_opener *opener, void *data,
		   struct dray_reply *reply)
{
	struct dray_list *args = data;
	u64 __user *ids = u64_to_user_ptr(args->ids);
	bool all = dray_entry_sees_all(), visible;
	struct dray_entry *entry;
	u32 count = 0;
	u64 id = 0;
	int ret;

	ret = dray_node_check(opener->node);
	if (ret)
		return ret;

	while ((entry = dray_entry_next(&id))) {
		visible = all || dray_entry_is_own(entry);
		dray_entry_put(entry);
		if (visible && count < args->room && put_user(id, &ids[count]))
			return -EFAULT;
		count += visible;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	args->count = count;
	return 0;
}

/* Returns the index of @heap among the node's. */
static u32 dray_heap_index(struct dray_node *node, struct dray_heap *heap)
{
	u32 index;

	for (index = 0; index < node->heap_count; index++)
		if (node->heaps[index] == heap)
			return index;
	return DRAY_HEAP_ANY;
}

/* Fills in the part that only a buffer has. */
static void dray_buffer_describe(struct dray_buffer *buffer,
				 struct dray_node *node,
				 struct dray_buffer_info *args)
{
	args->size = buffer->size;
	args->sync_bytes = atomic64_read(&buffer->sync_bytes);
	args->sync_ns = atomic64_read(&buffer->sync_ns);
	args->heap = dray_heap_index(node, buffer->heap);
	args->mode = buffer->mode;
	args->mapped = atomic_read(&buffer->mapped);
	args->attachments = atomic_read(&buffer->attached);
	strscpy_pad(args->name, buffer->name, sizeof(args->name));
	strscpy_pad(args->heap_name, buffer->heap->name,
		    sizeof(args->heap_name));
}

static void dray_attachment_describe(struct dray_attachment *attachment,
				     struct dray_buffer_info *args)
{
	struct dma_buf *dmabuf = attachment->dmabuf;

	args->size = attachment->charged;
	args->heap = DRAY_HEAP_ANY;
	if (!attachment->writable)
		args->flags |= DRAY_BUFFER_READ_ONLY;
	strscpy_pad(args->node_name, attachment->node->name,
		    sizeof(args->node_name));
	if (!dmabuf)
		return;
	strscpy_pad(args->heap_name, dmabuf->exp_name, sizeof(args->heap_name));
	/* Its holders give it a name, and may give it another one now. */
	spin_lock(&dmabuf->name_lock);
	if (dmabuf->name)
		strscpy_pad(args->name, dmabuf->name, sizeof(args->name));
	spin_unlock(&dmabuf->name_lock);
}

static void dray_entry_describe(struct dray_entry *entry,
				struct dray_buffer_info *args)
{
	args->id = entry->id;
	args->kind = entry->kind;
	args->age_ns = jiffies64_to_nsecs(get_jiffies_64() - entry->created);
	args->transfers = atomic_read(&entry->transfers);
	if (READ_ONCE(entry->disclosed))
		args->flags |= DRAY_BUFFER_DISCLOSED;
	if (atomic_read(&entry->held))
		args->flags |= DRAY_BUFFER_HELD;
	args->uid = from_kuid_munged(current_user_ns(), entry->uid);
	args->pid = pid_nr_ns(entry->pid, task_active_pid_ns(current));
	memcpy(args->comm, entry->comm, sizeof(args->comm));
	rcu_read_lock();
	if (!pid_task(entry->pid, PIDTYPE_TGID))
		args->flags |= DRAY_BUFFER_ORPHAN;
	rcu_read_unlock();
}

static struct dray_entry *dray_entry_of_fd(int fd, bool *writable)
{
	struct dray_attachment *attachment = dray_attachment_get(fd);
	struct dray_refusal refusal;
	struct dray_buffer *buffer;

	if (attachment)
		return &attachment->entry;
	buffer = dray_dmabuf_of_fd(fd, writable, &refusal);
	return IS_ERR(buffer) ? ERR_CAST(buffer) : &buffer->entry;
}

static struct dray_entry *dray_entry_asked(const struct dray_buffer_info *args,
					   bool *writable)
{
	struct dray_entry *entry;

	*writable = true;
	if (args->flags & DRAY_BUFFER_BY_FD)
		return dray_entry_of_fd(args->fd, writable);
	entry = dray_entry_of_id(args->id);
	if (entry && !dray_entry_is_own(entry) && !dray_entry_sees_all()) {
		dray_entry_put(entry);
		entry = NULL;
	}
	return entry ? entry : ERR_PTR(-ENOENT);
}

/* Flags that only a reply has. */
#define DRAY_BUFFER_SAID                                                      \
	(DRAY_BUFFER_ORPHAN | DRAY_BUFFER_READ_ONLY | DRAY_BUFFER_DISCLOSED | \
	 DRAY_BUFFER_HELD)

int dray_buffer_info_call(struct dray_opener *opener, void *data,
			  struct dray_reply *reply)
{
	struct dray_node *node = opener->node;
	struct dray_buffer_info *args = data;
	struct dray_buffer *buffer;
	struct dray_entry *entry;
	bool writable;
	int ret;

	/* The flags of an earlier reply may still be set. */
	if (args->flags & ~(DRAY_BUFFER_BY_FD | DRAY_BUFFER_SAID))
		return -EINVAL;
	ret = dray_node_check(node);
	if (ret)
		return ret;
	entry = dray_entry_asked(args, &writable);
	if (IS_ERR(entry))
		return PTR_ERR(entry);

	*args = (struct dray_buffer_info){
		.fd = args->fd,
		.flags = args->flags & DRAY_BUFFER_BY_FD,
	};
	if (!writable)
		args->flags |= DRAY_BUFFER_READ_ONLY;
	dray_entry_describe(entry, args);
	buffer = dray_entry_buffer(entry);
	if (buffer)
		dray_buffer_describe(buffer, node, args);
	else
		dray_attachment_describe(dray_entry_attachment(entry), args);
	dray_entry_put(entry);
	return 0;
}
