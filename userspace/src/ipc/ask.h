/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What comes from an exporter: how it is asked for, and told apart. */
#ifndef DRAY_IPC_ASK_H
#define DRAY_IPC_ASK_H

#include "ipc/ipc.h"

/* What two descriptors of the same memory agree in. */
struct dray_ipc_identity {
	dev_t device;
	ino_t inode;
};

int dray_ipc_identify(int fd, struct dray_ipc_identity *identity);
bool dray_ipc_is_same(const struct dray_ipc_identity *a,
		      const struct dray_ipc_identity *b);
/* The same for the same; others may have it too. */
uint64_t dray_ipc_key(const struct dray_ipc_identity *identity);

/*
 * Asks the exporter for what the record names, without the lock.
 *
 * @copies: the lease is short, and an exporter at its limit gives it too
 * @connection: the lease; its end is the lease's
 * @buffer: the buffer's descriptor
 */
int dray_ipc_ask(const struct dray_ipc_fields *fields, bool copies,
		 struct dray_ipc_answer *answer, int *connection, int *buffer);

/*
 * Tells the exporter that the memory is mapped here, which ends the wait of a
 * handover.  Does not wait: the connection has room for it.
 */
int dray_ipc_say_mapped(int connection);

#endif /* DRAY_IPC_ASK_H */
