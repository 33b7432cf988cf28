// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that is held.  Without an IOMMU an address works as long as there is
 * memory: a device that was given one goes on writing when the process that
 * drove it has been killed.  So the memory of a buffer or an attachment whose
 * address was given out stays where it is when its last reference goes after
 * the end of that process, or of one of several: pages stay pinned, another
 * driver's dma-buf stays.  RECLAIM frees it, by somebody who knows that the
 * hardware is quiet.  Where all live who were told, whoever lets go of the
 * memory has said so.
 *
 * So does an attachment to which a dead channel may still write, whoever lives:
 * no heap keeps that memory out of use, as it does with a buffer's.
 */
#include <linux/capability.h>
#include <linux/device.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/sysfs.h>

#include "attach.h"
#include "buffer.h"
#include "held.h"
#include "node.h"

static bool hold = true;
module_param(hold, bool, 0444);
MODULE_PARM_DESC(hold, "nodes hold memory that a device may still write");

/* Processes that are told apart for each entry. */
#define DRAY_MAX_ASKERS 16

/* A process that was told an address for the device of @node. */
struct dray_asker {
	struct dray_asker *next;
	struct dray_node *node; /* a reference */
	struct pid *pid; /* NULL: there were too many; they count as ended */
	u64 program; /* of the process: every execve() makes it another */
};

/* The askers of all entries. */
static DEFINE_SPINLOCK(dray_askers_lock);

static void dray_asker_free(struct dray_asker *asker)
{
	put_pid(asker->pid);
	dray_node_put(asker->node);
	kfree(asker);
}

static struct dray_asker *dray_asker_new(struct dray_node *node)
{
	struct dray_asker *asker = kmalloc(sizeof(*asker), GFP_KERNEL_ACCOUNT);

	if (!asker)
		return NULL;
	dray_node_get(node);
	asker->node = node;
	asker->pid = get_pid(task_tgid(current));
	asker->program = READ_ONCE(current->self_exec_id);
	return asker;
}

/* Does @asker, where it is remembered, stand for the other one too? */
static bool dray_asker_covers(const struct dray_asker *asker,
			      const struct dray_asker *other)
{
	return asker->node == other->node &&
	       (!asker->pid ||
		(asker->pid == other->pid && asker->program == other->program));
}

/*
 * Remembers @asker, or frees it where another stands for it.  Beyond the limit
 * the processes of a node are not told apart any more.
 */
static void dray_entry_remember(struct dray_entry *entry,
				struct dray_asker *asker)
{
	struct dray_asker *other, *same = NULL;
	struct pid *pid = NULL;
	int count = 0;

	spin_lock(&dray_askers_lock);
	for (other = entry->askers; other; other = other->next) {
		if (dray_asker_covers(other, asker))
			goto unlock;
		if (other->node == asker->node)
			same = other;
		count++;
	}
	if (count >= DRAY_MAX_ASKERS) {
		if (same) {
			swap(same->pid, pid);
			goto unlock;
		}
		swap(asker->pid, pid);
	}
	asker->next = entry->askers;
	entry->askers = asker;
	asker = NULL;
unlock:
	spin_unlock(&dray_askers_lock);
	put_pid(pid);
	if (asker)
		dray_asker_free(asker);
}

/*
 * Its address for @node is about to be given to the caller.  None who was told
 * before is forgotten: what a device does for one goes on when another asks.
 */
int dray_entry_disclose(struct dray_entry *entry, struct dray_node *node)
{
	struct dray_asker *asker;

	/* What is unmapped behind an IOMMU has no address any more. */
	if (!(node->flags & DRAY_NODE_IOMMU)) {
		asker = dray_asker_new(node);
		if (!asker)
			return -ENOMEM;
		dray_entry_remember(entry, asker);
	}
	WRITE_ONCE(entry->disclosed, true);
	return 0;
}

void dray_entry_forget(struct dray_entry *entry)
{
	struct dray_asker *asker;

	/* Nobody can be told any more. */
	while ((asker = entry->askers)) {
		entry->askers = asker->next;
		dray_asker_free(asker);
	}
}

/*
 * Files and mappings are closed by a process that is already ending.  After an
 * execve() it lives on, but nothing of the program that was told.
 */
static bool dray_asker_ended(const struct dray_asker *asker)
{
	struct task_struct *task;
	bool ended;

	if (!asker->pid)
		return true;
	rcu_read_lock();
	task = pid_task(asker->pid, PIDTYPE_TGID);
	ended = !task || READ_ONCE(task->signal->flags) & SIGNAL_GROUP_EXIT ||
		!atomic_read(&task->signal->live) ||
		READ_ONCE(task->self_exec_id) != asker->program;
	rcu_read_unlock();
	return ended;
}

/* One that ended and whose device may still write; or NULL. */
static const struct dray_asker *dray_entry_ended(const struct dray_entry *entry)
{
	const struct dray_asker *asker;

	for (asker = entry->askers; asker; asker = asker->next)
		if (READ_ONCE(asker->node->hold) && dray_asker_ended(asker))
			return asker;
	return NULL;
}

/* Bytes of memory that it takes. */
static u64 dray_entry_bytes(struct dray_entry *entry)
{
	struct dray_buffer *buffer = dray_entry_buffer(entry);

	return buffer ? buffer->extent.size
		      : dray_entry_attachment(entry)->charged;
}

/* A heap tells how much of it is held. */
static void dray_heap_count_held(struct dray_entry *entry, s64 step)
{
	struct dray_buffer *buffer = dray_entry_buffer(entry);

	if (buffer)
		atomic64_add(step, &buffer->heap->held);
}

/*
 * Is @entry, whose last reference is gone, to be held?  A device may still write
 * it.  Then the module is held too.  It cannot be when it is on its way out:
 * what a device may write then stays out of use for good.
 */
bool dray_entry_hold(struct dray_entry *entry)
{
	const struct dray_asker *asker = NULL;
	struct pid *pid = entry->pid;

	if (!entry->condemned) {
		asker = dray_entry_ended(entry);
		if (!asker)
			return false;
	} else if (dray_entry_buffer(entry)) {
		/* Its heap keeps it out of use. */
		return false;
	}
	if (!try_module_get(THIS_MODULE)) {
		entry->condemned = true;
		return false;
	}
	if (asker && asker->pid)
		pid = asker->pid;
	dray_heap_count_held(entry, dray_entry_bytes(entry));
	atomic_set(&entry->held, 1);
	pr_notice_ratelimited("dray: %s %llu of process %d is held\n",
			      dray_entry_buffer(entry) ? "buffer"
						       : "attachment",
			      entry->id, pid_nr(pid));
	return true;
}

/* Takes over the caller's reference; false when it is not held. */
static bool dray_entry_reclaim(struct dray_entry *entry,
			       struct dray_reclaim *args)
{
	bool held = atomic_cmpxchg(&entry->held, 1, 0);
	u64 bytes = dray_entry_bytes(entry);

	if (held) {
		args->bytes += bytes;
		args->count++;
		args->attachments += !dray_entry_buffer(entry);
		dray_heap_count_held(entry, -bytes);
		dray_entry_forget(entry);
		/* No device writes it: so says the caller. */
		entry->condemned = false;
		/* The reference that held it. */
		dray_entry_put(entry);
	}
	dray_entry_put(entry);
	/* The caller's open file holds the module too. */
	if (held)
		module_put(THIS_MODULE);
	return held;
}

static int dray_reclaim_all(struct dray_reclaim *args)
{
	struct dray_entry *entry;
	u64 id = 0;

	while ((entry = dray_entry_next(&id))) {
		dray_entry_reclaim(entry, args);
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
	struct dray_entry *entry;
	int ret;

	if (args->flags)
		return -EINVAL;
	args->count = 0;
	args->attachments = 0;
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
		goto out;
	}
	entry = dray_entry_of_id(args->id);
	if (!entry || !dray_entry_reclaim(entry, args))
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
