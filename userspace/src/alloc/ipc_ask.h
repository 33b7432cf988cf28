/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What ipc_ask.c does for ipc_open.c. */
#ifndef DRAY_ALLOC_IPC_ASK_H
#define DRAY_ALLOC_IPC_ASK_H

#include "alloc/ipc.h"

/*
 * Asks the exporter for what the record names, without the lock.
 *
 * @connection: the lease; its end is the lease's
 * @fds: two descriptors, the buffer's and that of the generations
 */
int dray_ipc_ask(const struct dray_ipc_fields *fields,
		 struct dray_ipc_answer *answer, int *connection, int *fds);

#endif /* DRAY_ALLOC_IPC_ASK_H */
