// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that is held.  Without an IOMMU an address works as long as there is
 * memory: a device that was given one goes on writing when the process that
 * drove it has been killed.  So the memory of a buffer whose address was given
 * out stays where it is when its last reference goes after the end of that
 * process.  RECLAIM frees it, by somebody who knows that the hardware is
 * quiet.  A process that lives and lets go of its buffers has said so itself.
 */
#include <linux/capability.h>
#include <linux/device.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sysfs.h>

#include "attach.h"
#include "buffer.h"
#include "held.h"
#include "identifier.h"
#include "node.h"

static bool hold = true;
module_param(hold, bool, 0444);
MODULE_PARM_DESC(hold, "nodes hold memory that a device may still write");

/* The address of @buffer for @node is about to be given to the caller. */
void dray_buffer_disclose(struct dray_buffer *buffer, struct dray_node *node)
{
	struct dray_node *before_node;
	struct pid *before;

	WRITE_ONCE(buffer->disclosed, true);
	/* What is unmapped behind an IOMMU has no address any more. */
	if (node->flags & DRAY_NODE_IOMMU)
		return;
	dray_node_get(node);
	mutex_lock(&buffer->lock);
	before = buffer->told;
	before_node = buffer->told_by;
	buffer->told = get_pid(task_tgid(current));
	buffer->told_by = node;
	mutex_unlock(&buffer->lock);
	put_pid(before);
	if (before_node)
		dray_node_put(before_node);
}

void dray_buffer_forget(struct dray_buffer *buffer)
{
	struct dray_node *node;
	struct pid *pid;

	/* Nobody can be told any more. */
	if (!buffer->told)
		return;
	mutex_lock(&buffer->lock);
	pid = buffer->told;
	node = buffer->told_by;
	buffer->told = NULL;
	buffer->told_by = NULL;
	mutex_unlock(&buffer->lock);
	put_pid(pid);
	if (node)
		dray_node_put(node);
}

/* Files and mappings are closed by a process that is already ending. */
bool dray_process_ended(struct pid *pid)
{
	struct task_struct *task;
	bool ended;

	rcu_read_lock();
	task = pid_task(pid, PIDTYPE_TGID);
	ended = !task || READ_ONCE(task->signal->flags) & SIGNAL_GROUP_EXIT ||
		!atomic_read(&task->signal->live);
	rcu_read_unlock();
	return ended;
}

/*
 * Is @buffer, whose last reference is gone, to be held?  Then the module is
 * held too.  It cannot be when it is on its way out: what a device may write
 * then stays out of use for good.
 */
bool dray_buffer_hold(struct dray_buffer *buffer)
{
	if (!buffer->id || !buffer->told || buffer->condemned)
		return false;
	if (!READ_ONCE(buffer->told_by->hold) ||
	    !dray_process_ended(buffer->told))
		return false;
	if (!try_module_get(THIS_MODULE)) {
		buffer->condemned = true;
		return false;
	}
	atomic64_add(buffer->extent.size, &buffer->heap->held);
	atomic_set(&buffer->held, 1);
	pr_notice_ratelimited("dray: buffer %llu of process %d is held\n",
			      buffer->id, pid_nr(buffer->told));
	return true;
}

/* Takes over the caller's reference; false when the buffer is not held. */
static bool dray_buffer_reclaim(struct dray_buffer *buffer,
				struct dray_reclaim *args)
{
	bool held = atomic_cmpxchg(&buffer->held, 1, 0);
	size_t size = buffer->extent.size;

	if (held) {
		atomic64_sub(size, &buffer->heap->held);
		dray_buffer_forget(buffer);
		/* The reference that held it. */
		dray_buffer_put(buffer);
		args->bytes += size;
		args->count++;
	}
	dray_buffer_put(buffer);
	/* The caller's open file holds the module too. */
	if (held)
		module_put(THIS_MODULE);
	return held;
}

static int dray_reclaim_all(struct dray_reclaim *args)
{
	struct dray_buffer *buffer;
	u64 id = 0;

	while ((buffer = dray_buffer_next(&id))) {
		dray_buffer_reclaim(buffer, args);
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

int dray_reclaim_call(struct dray_opener *opener, void *data,
		      struct dray_reply *reply)
{
	struct dray_refusal refusal = {};
	struct dray_reclaim *args = data;
	struct dray_buffer *buffer;
	int ret;

	if (args->flags || args->reserved)
		return -EINVAL;
	args->count = 0;
	args->bytes = 0;
	ret = dray_node_enter(opener->node);
	if (ret)
		goto out;
	dray_node_leave(opener->node);
	if (!capable(CAP_SYS_RAWIO)) {
		ret = dray_refuse(&refusal, -EPERM, DRAY_REASON_PERMISSION, 0);
		goto out;
	}
	if (!args->id) {
		ret = dray_reclaim_all(args);
		if (!ret)
			ret = dray_attachments_reclaim(args);
		goto out;
	}
	buffer = dray_buffer_of_id(args->id);
	if (!buffer || !dray_buffer_reclaim(buffer, args))
		ret = -ENOENT;
out:
	args->reason = refusal.reason;
	args->limit = refusal.limit;
	return ret;
}

static struct dray_node *to_node(struct device *dev)
{
	struct miscdevice *misc = dev_get_drvdata(dev);

	return container_of(misc, struct dray_node, misc);
}

static ssize_t hold_show(struct device *dev, struct device_attribute *attribute,
			 char *buf)
{
	return sysfs_emit(buf, "%d\n", READ_ONCE(to_node(dev)->hold));
}

static ssize_t hold_store(struct device *dev,
			  struct device_attribute *attribute, const char *buf,
			  size_t count)
{
	bool value;
	int ret;

	ret = kstrtobool(buf, &value);
	if (ret)
		return ret;
	WRITE_ONCE(to_node(dev)->hold, value);
	return count;
}
static DEVICE_ATTR_RW(hold);

static struct attribute *dray_node_attrs[] = { &dev_attr_hold.attr, NULL };

static const struct attribute_group dray_node_group = {
	.attrs = dray_node_attrs,
};

const struct attribute_group *dray_node_groups[] = { &dray_node_group, NULL };

bool dray_hold_default(void)
{
	return hold;
}
