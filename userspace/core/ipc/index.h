/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Indexes of exports for slots.c, so that a lookup never scans all of them.
 * With the lock, all of it.
 */
#ifndef DRAY_IPC_INDEX_H
#define DRAY_IPC_INDEX_H

#include "ipc/ipc.h"

/*
 * Reserves room for @export, and opens or shares its descriptor: 0, -ENOMEM,
 * and the errors of dray_buffer_share().
 */
int dray_ipc_index_prepare(struct dray_ipc_export *export);
/* Undoes that, and removes @export from the indexes. */
void dray_ipc_index_remove(struct dray_ipc_export *export);

/* Puts it in: prepared, with all of its fields filled in. */
void dray_ipc_index_add(struct dray_ipc_export *export);
/* It has ended: dray_ipc_find_same() must not return it again. */
void dray_ipc_index_end(struct dray_ipc_export *export);
/* Its buffer is gone; those to come get another descriptor. */
void dray_ipc_index_lose_buffer(struct dray_ipc_export *export);

/* Exports with the same keeper, one after the other; NULL at the end. */
struct dray_ipc_export *dray_ipc_index_first(const void *kept);
struct dray_ipc_export *dray_ipc_index_next(struct dray_ipc_export *export);

/* Nothing is exported any more. */
void dray_ipc_index_clear(void);

#endif /* DRAY_IPC_INDEX_H */
