/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Leases of other users.  Each needs a descriptor of the exporter, so they are
 * limited to a share of its limit (RLIMIT_NOFILE) and leave the rest to its own
 * user: half for all of them, a quarter for each user, and an eighth for each
 * user and record.  With the lock, all of it.
 */
#ifndef DRAY_IPC_OTHERS_H
#define DRAY_IPC_OTHERS_H

#include <sys/types.h>

#include "base/address_table.h"

/* The shares, in the order of their sizes; part of an answer. */
enum dray_ipc_share {
	DRAY_IPC_SHARE_RECORD,	/* a user's leases of a record */
	DRAY_IPC_SHARE_USER,	/* a user's */
	DRAY_IPC_SHARE_ALL,	/* of all other users */
	DRAY_IPC_SHARES,
};

/*
 * Counts a lease of the record in @slot for @user, in a table that is all zero
 * at first: 0, -ENOMEM, or -EDQUOT.
 *
 * @share, @limit: the share that is used up, and the leases in it
 */
int dray_ipc_others_take(struct dray_address_table *others, uid_t user,
			 uint32_t slot, uint32_t *share, uint32_t *limit);
/* Undoes that. */
void dray_ipc_others_give(struct dray_address_table *others, uid_t user,
			  uint32_t slot);

#endif /* DRAY_IPC_OTHERS_H */
