/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Disclosures: which processes were told an address.
 */
#ifndef DRAY_DISCLOSURE_H
#define DRAY_DISCLOSURE_H

#include <linux/types.h>

struct dray_entry;
struct dray_node;
struct pid;

/*
 * The address for @node is about to be given to the caller.  -ENOMEM:
 * then the caller must not be told.
 */
int dray_disclosure_add(struct dray_entry *entry, struct dray_node *node);
/* Nobody has the address any more. */
void dray_disclosures_forget(struct dray_entry *entry);
/*
 * Has a process ended that was told, and whose device may still write?  *@pid
 * becomes its own where it is known.  The last reference to @entry is gone.
 */
bool dray_disclosures_ended(const struct dray_entry *entry, struct pid **pid);

#endif /* DRAY_DISCLOSURE_H */
