/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Disclosures: the processes that were told an address.
 */
#ifndef DRAY_DISCLOSURE_H
#define DRAY_DISCLOSURE_H

#include <linux/types.h>

struct dray_entry;
struct dray_node;
struct pid;

/*
 * Records that the caller is about to get the address for @node. -ENOMEM: then
 * it must not get it.
 */
int dray_disclosure_add(struct dray_entry *entry, struct dray_node *node);
/* Forgets all of them: no process has the address any more. */
void dray_disclosures_forget(struct dray_entry *entry);
/*
 * Has a process ended that was told, and may its device still write?  Sets
 * *@pid to it if it is known.  The last reference to @entry is gone.
 */
bool dray_disclosures_ended(const struct dray_entry *entry, struct pid **pid);

#endif /* DRAY_DISCLOSURE_H */
