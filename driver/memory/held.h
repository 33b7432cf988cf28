/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that is held because a device may still write it; see held.c.
 */
#ifndef DRAY_HELD_H
#define DRAY_HELD_H

#include <linux/types.h>

struct dray_entry;
struct dray_node;
struct pid;

/*
 * asker.c: the address for @node is about to be given to the caller.  -ENOMEM:
 * then the caller must not be told.
 */
int dray_entry_disclose(struct dray_entry *entry, struct dray_node *node);
/* Nobody has the address any more. */
void dray_entry_forget(struct dray_entry *entry);
/*
 * Has a process ended that was told, and whose device may still write?  *@pid
 * becomes its own where it is known.  The last reference to @entry is gone.
 */
bool dray_entry_asker_ended(const struct dray_entry *entry, struct pid **pid);

/* held.c: is the memory held, now that its last reference is gone? */
bool dray_entry_hold(struct dray_entry *entry);

/* What a node does until it is told otherwise by its attribute. */
bool dray_hold_default(void);

#endif /* DRAY_HELD_H */
