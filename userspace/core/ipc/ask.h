/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Asks an exporter, and identifies the memory in its answer. */
#ifndef DRAY_IPC_ASK_H
#define DRAY_IPC_ASK_H

#include "ipc/ipc.h"

/* Equal for two descriptors of the same memory. */
struct dray_ipc_identity {
	dev_t device;
	ino_t inode;
};

int dray_ipc_identify(int fd, struct dray_ipc_identity *identity);
bool dray_ipc_is_same(const struct dray_ipc_identity *a,
		      const struct dray_ipc_identity *b);
/* A hash of the identity. */
uint64_t dray_ipc_key(const struct dray_ipc_identity *identity);

/*
 * Asks the exporter for the memory of the record, without the lock.
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
