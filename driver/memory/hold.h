/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that is held because a device may still write it; see hold.c.
 */
#ifndef DRAY_HOLD_H
#define DRAY_HOLD_H

#include <linux/types.h>

struct dray_entry;
struct dray_reclaim;

/* Is the memory held, now that its last reference is gone? */
bool dray_hold_take(struct dray_entry *entry);
/*
 * Frees it and adds it to @args; false if it is not held.  Takes over the
 * caller's reference.
 */
bool dray_hold_end(struct dray_entry *entry, struct dray_reclaim *args);

/* The initial `hold` attribute of nodes. */
bool dray_hold_default(void);

#endif /* DRAY_HOLD_H */
