// SPDX-License-Identifier: GPL-2.0-only
/*
 * Askers: the processes that were told an address of a buffer or an attachment,
 * each with the node for whose device it was.  Memory is held when one of them
 * has ended (held.c).
 */
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "disclosure.h"
#include "entry.h"
#include "node.h"

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
 * None who was told before is forgotten: what a device does for one goes on when
 * another asks.
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

bool dray_entry_asker_ended(const struct dray_entry *entry, struct pid **pid)
{
	const struct dray_asker *asker;

	for (asker = entry->askers; asker; asker = asker->next) {
		if (!READ_ONCE(asker->node->hold) || !dray_asker_ended(asker))
			continue;
		if (asker->pid)
			*pid = asker->pid;
		return true;
	}
	return false;
}
