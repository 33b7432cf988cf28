/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Entries: what buffers and attachments have in common, and how they are found
 * by their identifiers.  But for dray_entry_init() and dray_entry_put() none of
 * these functions sleeps, and all may be called by several tasks at once; of
 * dray_entry_resurrect() and dray_entry_withdraw() only whoever dropped the last
 * reference calls one.
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
	atomic_t transfers; /* in flight */

	struct dray_disclosure *disclosures; /* who has its address; see disclosure.c */
	bool disclosed; /* its address was given out */
	bool unsynced; /* written by a transfer that nobody maintained it for */
	bool condemned; /* a dead channel may still write it; see hold.c */
	atomic_t held; /* 1: freed, but a device may still write it */
};

/*
 * Of a new object, which the caller owns and has one reference to, and which
 * gets a number, from 1 on, that no other has ever had.  @release is for the
 * last reference, and ends with dray_entry_fini().
 */
void dray_entry_init(struct dray_entry *entry, u32 kind,
		     void (*release)(struct kref *kref));
void dray_entry_fini(struct dray_entry *entry);

static inline void dray_entry_get(struct dray_entry *entry)
{
	kref_get(&entry->kref);
}

static inline void dray_entry_put(struct dray_entry *entry)
{
	kref_put(&entry->kref, entry->release);
}

/*
 * From here on it is found by its identifier, and by the end of a node: so it
 * happens inside the node that it is mapped for.  The caller has a reference,
 * and goes on having it.
 */
void dray_entry_publish(struct dray_entry *entry);

/*
 * Takes what has no references from where others find it; false if it never
 * was there.
 */
bool dray_entry_withdraw(struct dray_entry *entry);

/*
 * Two references to something whose last one is gone: one is the caller's, the
 * other is for whoever reclaims it, which may be before this returns.
 */
void dray_entry_resurrect(struct dray_entry *entry);

/* What has this @id, with a reference; or NULL. */
struct dray_entry *dray_entry_of_id(u64 id);

/*
 * The first one above *@id, with a reference, or NULL after the last.  *@id
 * becomes its own identifier, and starts from 0.  What is published meanwhile
 * may be missed.
 */
struct dray_entry *dray_entry_next(u64 *id);

#endif /* DRAY_ENTRY_H */
