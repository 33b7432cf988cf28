/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Exports by what they lead to, for slots.c: with as many of them as there
 * can be, none is found by looking at the others.  With the lock, all of it.
 */
#ifndef DRAY_IPC_INDEX_H
#define DRAY_IPC_INDEX_H

#include "ipc/ipc.h"

/*
 * Room for @export, and what its importers get: 0, -ENOMEM, what
 * dray_buffer_share() gives.
 */
int dray_ipc_index_prepare(struct dray_ipc_export *export);
/* Undoes that, and takes it out where it was put in. */
void dray_ipc_index_remove(struct dray_ipc_export *export);

/* Puts it in: prepared, with all of its fields filled in. */
void dray_ipc_index_add(struct dray_ipc_export *export);
/* It has ended: it is no other's like any more. */
void dray_ipc_index_end(struct dray_ipc_export *export);
/* Its buffer is gone; those to come get another descriptor. */
void dray_ipc_index_lose_buffer(struct dray_ipc_export *export);

/* Those that have the same kept, one after the other; NULL at the end. */
struct dray_ipc_export *dray_ipc_index_first(const void *kept);
struct dray_ipc_export *dray_ipc_index_next(struct dray_ipc_export *export);

/* Nothing is exported any more. */
void dray_ipc_index_clear(void);

#endif /* DRAY_IPC_INDEX_H */
