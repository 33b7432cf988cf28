/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The two halves of publishing: publish_socket.c answers, snapshot.c writes. */
#ifndef DRAY_PUBLISH_SNAPSHOT_H
#define DRAY_PUBLISH_SNAPSHOT_H

#include <dray/publish.h>

/*
 * Makes a sealed memfd with a snapshot of all pools of this process.  Returns
 * it, or a negative errno.  Called without a lock; takes the locks of one pool
 * and of notes, for a few blocks at a time.  @open is the memfd while it is open.
 */
int dray_snapshot_make(_Atomic int *open);

#endif /* DRAY_PUBLISH_SNAPSHOT_H */
