// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tree of buffers and attachments by identifier, for LIST, BUFFER_INFO,
 * RECLAIM, debugfs and the end of a node.  It holds no references: an entry
 * leaves it with its last one.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/spinlock.h>
#include <linux/user_namespace.h>

#include "entry.h"
#include "usage.h"

/*
 * Sorted by identifier.  The lock also guards the step between one reference
 * and none.
 */
static struct rb_root dray_entries = RB_ROOT;
static DEFINE_SPINLOCK(dray_entries_lock);
static atomic64_t dray_last_id;

void dray_entry_init(struct dray_entry *entry, u32 kind,
		     void (*release)(struct kref *kref))
{
	kref_init(&entry->kref);
	entry->release = release;
	RB_CLEAR_NODE(&entry->link);
	entry->id = atomic64_inc_return_relaxed(&dray_last_id);
	entry->kind = kind;
	entry->created = get_jiffies_64();
	entry->uid = current_euid();
	entry->pid = get_pid(task_tgid(current));
	/* Without its lock: the last byte is never other than zero. */
	memcpy(entry->comm, current->comm, sizeof(entry->comm) - 1);
}

static void dray_entry_account(struct dray_entry *entry, s64 step)
{
	struct dray_usage *usage = entry->usage;
	bool buffer = entry->kind == DRAY_KIND_BUFFER;

	atomic64_add(step, buffer ? &usage->buffers : &usage->attachments);
	atomic64_add(step * (s64)entry->counted,
		     buffer ? &usage->memory : &usage->attached);
}

void dray_entry_count(struct dray_entry *entry, struct dray_usage *usage,
		      u64 bytes)
{
	dray_usage_get(usage);
	entry->usage = usage;
	entry->counted = bytes;
	dray_entry_account(entry, 1);
	if (entry->kind != DRAY_KIND_BUFFER)
		return;
	atomic64_inc(&usage->allocated_buffers);
	atomic64_add(bytes, &usage->allocated);
}

void dray_entry_fini(struct dray_entry *entry)
{
	if (entry->usage) {
		dray_entry_account(entry, -1);
		dray_usage_put(entry->usage);
	}
	put_pid(entry->pid);
}

void dray_entry_publish(struct dray_entry *entry)
{
	struct rb_node **link = &dray_entries.rb_node, *parent = NULL;
	struct dray_entry *other;

	spin_lock(&dray_entries_lock);
	while (*link) {
		parent = *link;
		other = rb_entry(parent, struct dray_entry, link);
		link = entry->id < other->id ? &parent->rb_left
					     : &parent->rb_right;
	}
	rb_link_node(&entry->link, parent, link);
	rb_insert_color(&entry->link, &dray_entries);
	spin_unlock(&dray_entries_lock);
}

bool dray_entry_withdraw(struct dray_entry *entry)
{
	if (RB_EMPTY_NODE(&entry->link))
		return false;
	spin_lock(&dray_entries_lock);
	rb_erase(&entry->link, &dray_entries);
	spin_unlock(&dray_entries_lock);
	return true;
}

void dray_entry_resurrect(struct dray_entry *entry)
{
	spin_lock(&dray_entries_lock);
	refcount_set(&entry->kref.refcount, 2);
	spin_unlock(&dray_entries_lock);
}

/* Finds the first entry from @id on, even one that is being freed; or NULL. */
static struct dray_entry *dray_entry_from(u64 id)
{
	struct rb_node *node = dray_entries.rb_node;
	struct dray_entry *entry, *found = NULL;

	lockdep_assert_held(&dray_entries_lock);
	while (node) {
		entry = rb_entry(node, struct dray_entry, link);
		if (entry->id >= id) {
			found = entry;
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	return found;
}

bool dray_entry_sees_all(void)
{
	return ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN);
}

bool dray_entry_is_own(const struct dray_entry *entry)
{
	return uid_eq(entry->uid, current_euid());
}

struct dray_entry *dray_entry_of_id(u64 id)
{
	struct dray_entry *entry;

	spin_lock(&dray_entries_lock);
	entry = dray_entry_from(id);
	if (entry && (entry->id != id || !kref_get_unless_zero(&entry->kref)))
		entry = NULL;
	spin_unlock(&dray_entries_lock);
	return entry;
}

struct dray_entry *dray_entry_next(u64 *id)
{
	struct dray_entry *entry = NULL;

	spin_lock(&dray_entries_lock);
	while (*id < U64_MAX) {
		entry = dray_entry_from(*id + 1);
		if (!entry)
			break;
		*id = entry->id;
		if (kref_get_unless_zero(&entry->kref))
			break;
		entry = NULL;
	}
	spin_unlock(&dray_entries_lock);
	return entry;
}
