/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Entries: the common part of buffers and attachments, found by identifier.
 * Only dray_entry_init() and dray_entry_put() may sleep.  Several tasks may
 * call all of these at once; dray_entry_resurrect() and dray_entry_withdraw()
 * are for the task that dropped the last reference.
 */
#ifndef DRAY_ENTRY_H
#define DRAY_ENTRY_H

#include <linux/atomic.h>
#include <linux/dray.h>
#include <linux/kref.h>
#include <linux/rbtree.h>
#include <linux/types.h>
#include <linux/uidgid.h>

struct dray_disclosure;
struct dray_usage;
struct pid;

/* Part of a buffer or of an attachment. */
struct dray_entry {
	struct kref kref;
	void (*release)(struct kref *kref);
	struct rb_node link; /* of all, by identifier */
	u64 id;
	u32 kind; /* enum dray_kind */

	u64 created; /* jiffies */
	kuid_t uid;
	struct pid *pid;
	char comm[DRAY_COMM_LEN];
	struct dray_usage *usage; /* of its opener, or NULL; a reference */
	u64 counted; /* bytes, there */
	atomic_t transfers; /* in flight */

	struct dray_disclosure *disclosures; /* processes that know it */
	bool disclosed; /* its address was disclosed */
	bool unsynced; /* written by a transfer, and not maintained */
	bool condemned; /* a dead channel may still write it; see hold.c */
	atomic_t held; /* 1: freed, but a device may still write it */
};

/*
 * Initialises the entry of a new object with a reference and a number, from 1
 * on, that is never used again.  @release runs with the last reference, and ends
 * with dray_entry_fini().
 */
void dray_entry_init(struct dray_entry *entry, u32 kind,
		     void (*release)(struct kref *kref));
void dray_entry_fini(struct dray_entry *entry);

/* Counts its @bytes in @usage until its end; before it is published. */
void dray_entry_count(struct dray_entry *entry, struct dray_usage *usage,
		      u64 bytes);

static inline void dray_entry_get(struct dray_entry *entry)
{
	kref_get(&entry->kref);
}

static inline void dray_entry_put(struct dray_entry *entry)
{
	kref_put(&entry->kref, entry->release);
}

/*
 * Makes the entry visible by its identifier and to the end of a node.  So the
 * caller is inside the node that it is mapped for, and keeps its reference.
 */
void dray_entry_publish(struct dray_entry *entry);

/* Hides an entry without references; false if it was never published. */
bool dray_entry_withdraw(struct dray_entry *entry);

/*
 * Gets two references to an entry without any: the caller's, and the reference of
 * the task that reclaims it, which may run before this returns.
 */
void dray_entry_resurrect(struct dray_entry *entry);

/* Does the caller see the entries of all users?  Without an audit record. */
bool dray_entry_sees_all(void);
/* Is it the caller's?  Then it sees @entry in any case. */
bool dray_entry_is_own(const struct dray_entry *entry);

/* Returns the entry with @id and a reference, or NULL. */
struct dray_entry *dray_entry_of_id(u64 id);

/*
 * Returns the first entry above *@id with a reference, or NULL after the last.
 * *@id starts from 0 and becomes the entry's own.  An entry published meanwhile
 * may be missed.
 */
struct dray_entry *dray_entry_next(u64 *id);

#endif /* DRAY_ENTRY_H */
