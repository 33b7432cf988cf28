// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who holds what: LIST and BUFFER_INFO.  A caller sees the buffers of its own
 * user, a privileged one sees all, and whoever has a buffer's descriptor may
 * ask about it.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#include "buffer.h"
#include "identifier.h"
#include "node.h"

static bool dray_buffer_is_own(struct dray_buffer *buffer)
{
	return uid_eq(buffer->uid, current_euid());
}

int dray_list_call(struct dray_opener *opener, void *data,
		   struct dray_reply *reply)
{
	struct dray_list *args = data;
	u64 __user *ids = u64_to_user_ptr(args->ids);
	bool all = capable(CAP_SYS_ADMIN), visible;
	struct dray_buffer *buffer;
	u32 count = 0;
	u64 id = 0;
	int ret;

	ret = dray_node_enter(opener->node);
	if (ret)
		return ret;
	dray_node_leave(opener->node);

	while ((buffer = dray_buffer_next(&id))) {
		visible = all || dray_buffer_is_own(buffer);
		dray_buffer_put(buffer);
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

/* The place of @heap among the node's. */
static u32 dray_heap_index(struct dray_node *node, struct dray_heap *heap)
{
	u32 index;

	for (index = 0; index < node->heap_count; index++)
		if (node->heaps[index] == heap)
			return index;
	return DRAY_HEAP_ANY;
}

static u32 dray_buffer_attachments(struct dray_buffer *buffer)
{
	struct list_head *entry;
	u32 count = 0;

	mutex_lock(&buffer->lock);
	list_for_each(entry, &buffer->attachments)
		count++;
	mutex_unlock(&buffer->lock);
	return count;
}

static void dray_buffer_owner(struct dray_buffer *buffer,
			      struct dray_buffer_info *args)
{
	args->uid = from_kuid_munged(current_user_ns(), buffer->uid);
	args->pid = pid_nr_ns(buffer->pid, task_active_pid_ns(current));
	memcpy(args->comm, buffer->comm, sizeof(args->comm));
	rcu_read_lock();
	if (!pid_task(buffer->pid, PIDTYPE_TGID))
		args->flags |= DRAY_BUFFER_ORPHAN;
	rcu_read_unlock();
}

static struct dray_buffer *
dray_buffer_asked(const struct dray_buffer_info *args, bool *writable)
{
	struct dray_refusal refusal;
	struct dray_buffer *buffer;

	*writable = true;
	if (args->flags & DRAY_BUFFER_BY_FD)
		return dray_buffer_of_fd(args->fd, writable, &refusal);
	buffer = dray_buffer_of_id(args->id);
	if (buffer && !dray_buffer_is_own(buffer) && !capable(CAP_SYS_ADMIN)) {
		dray_buffer_put(buffer);
		buffer = NULL;
	}
	return buffer ? buffer : ERR_PTR(-ENOENT);
}

int dray_buffer_info_call(struct dray_opener *opener, void *data,
			  struct dray_reply *reply)
{
	struct dray_node *node = opener->node;
	struct dray_buffer_info *args = data;
	struct dray_buffer *buffer;
	bool writable;
	int ret;

	if (args->flags & ~DRAY_BUFFER_BY_FD || args->reserved)
		return -EINVAL;
	ret = dray_node_enter(node);
	if (ret)
		return ret;
	dray_node_leave(node);
	buffer = dray_buffer_asked(args, &writable);
	if (IS_ERR(buffer))
		return PTR_ERR(buffer);

	if (!writable)
		args->flags |= DRAY_BUFFER_READ_ONLY;
	args->id = buffer->id;
	args->size = buffer->size;
	args->age_ns = jiffies64_to_nsecs(get_jiffies_64() - buffer->created);
	args->sync_bytes = atomic64_read(&buffer->sync_bytes);
	args->sync_ns = atomic64_read(&buffer->sync_ns);
	args->heap = dray_heap_index(node, buffer->heap);
	args->mode = buffer->mode;
	if (READ_ONCE(buffer->disclosed))
		args->flags |= DRAY_BUFFER_DISCLOSED;
	if (atomic_read(&buffer->held))
		args->flags |= DRAY_BUFFER_HELD;
	args->mapped = atomic_read(&buffer->mapped);
	args->attachments = dray_buffer_attachments(buffer);
	args->transfers = atomic_read(&buffer->transfers);
	dray_buffer_owner(buffer, args);
	memcpy(args->name, buffer->name, sizeof(args->name));
	memcpy(args->heap_name, buffer->heap->name, sizeof(args->heap_name));
	dray_buffer_put(buffer);
	return 0;
}
