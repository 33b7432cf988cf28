// SPDX-License-Identifier: GPL-2.0-only
/*
 * Disclosures: each says which process knows an address of a buffer or an
 * attachment, and for which node's device.  After the end of such a process the
 * memory is held (hold.c).
 */
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "disclosure.h"
#include "entry.h"
#include "node.h"

/* Processes that are distinguished for each entry. */
#define DRAY_MAX_DISCLOSURES 16

/* A process that knows an address for the device of @node. */
struct dray_disclosure {
	struct dray_disclosure *next;
	struct dray_node *node; /* a reference */
	struct pid *pid; /* NULL: there were too many; they count as ended */
	u64 program; /* of the process: every execve() makes it another */
};

/* The disclosures of all entries. */
static DEFINE_SPINLOCK(dray_disclosures_lock);

static void dray_disclosure_free(struct dray_disclosure *disclosure)
{
	put_pid(disclosure->pid);
	dray_node_put(disclosure->node);
	kfree(disclosure);
}

static struct dray_disclosure *dray_disclosure_new(struct dray_node *node)
{
	struct dray_disclosure *disclosure =
		kmalloc(sizeof(*disclosure), GFP_KERNEL_ACCOUNT);

	if (!disclosure)
		return NULL;
	dray_node_get(node);
	disclosure->node = node;
	disclosure->pid = get_pid(task_tgid(current));
	disclosure->program = READ_ONCE(current->self_exec_id);
	return disclosure;
}

/* Does @disclosure make @other unnecessary? */
static bool dray_disclosure_covers(const struct dray_disclosure *disclosure,
				   const struct dray_disclosure *other)
{
	return disclosure->node == other->node &&
	       (!disclosure->pid || (disclosure->pid == other->pid &&
				     disclosure->program == other->program));
}

/*
 * Remembers @disclosure, or frees it if another covers it.  Beyond the limit
 * the processes of a node are no longer distinguished.
 */
static void dray_disclosure_keep(struct dray_entry *entry,
				 struct dray_disclosure *disclosure)
{
	struct dray_disclosure *other, *same = NULL;
	struct pid *pid = NULL;
	int count = 0;

	spin_lock(&dray_disclosures_lock);
	for (other = entry->disclosures; other; other = other->next) {
		if (dray_disclosure_covers(other, disclosure))
			goto unlock;
		if (other->node == disclosure->node)
			same = other;
		count++;
	}
	if (count >= DRAY_MAX_DISCLOSURES) {
		if (same) {
			swap(same->pid, pid);
			goto unlock;
		}
		swap(disclosure->pid, pid);
	}
	disclosure->next = entry->disclosures;
	entry->disclosures = disclosure;
	disclosure = NULL;
unlock:
	spin_unlock(&dray_disclosures_lock);
	put_pid(pid);
	if (disclosure)
		dray_disclosure_free(disclosure);
}

/*
 * Keeps all earlier disclosures: a device still works for a process after another
 * asks.
 */
int dray_disclosure_add(struct dray_entry *entry, struct dray_node *node)
{
	struct dray_disclosure *disclosure;

	/* Behind an IOMMU an address ends with its mapping. */
	if (!(node->flags & DRAY_NODE_IOMMU)) {
		disclosure = dray_disclosure_new(node);
		if (!disclosure)
			return -ENOMEM;
		dray_disclosure_keep(entry, disclosure);
	}
	WRITE_ONCE(entry->disclosed, true);
	return 0;
}

void dray_disclosures_forget(struct dray_entry *entry)
{
	struct dray_disclosure *disclosure;

	/* Without references no process can ask. */
	while ((disclosure = entry->disclosures)) {
		entry->disclosures = disclosure->next;
		dray_disclosure_free(disclosure);
	}
}

/*
 * Files and mappings are closed by a process that is already ending.  After an
 * execve() it lives on, but nothing of the program that knew the address.
 */
static bool dray_process_ended(const struct dray_disclosure *disclosure)
{
	struct task_struct *task;
	bool ended;

	if (!disclosure->pid)
		return true;
	rcu_read_lock();
	task = pid_task(disclosure->pid, PIDTYPE_TGID);
	ended = !task || READ_ONCE(task->signal->flags) & SIGNAL_GROUP_EXIT ||
		!atomic_read(&task->signal->live) ||
		READ_ONCE(task->self_exec_id) != disclosure->program;
	rcu_read_unlock();
	return ended;
}

bool dray_disclosures_ended(const struct dray_entry *entry, struct pid **pid)
{
	const struct dray_disclosure *disclosure;

	for (disclosure = entry->disclosures; disclosure;
	     disclosure = disclosure->next) {
		if (!READ_ONCE(disclosure->node->hold) ||
		    !dray_process_ended(disclosure))
			continue;
		if (disclosure->pid)
			*pid = disclosure->pid;
		return true;
	}
	return false;
}
