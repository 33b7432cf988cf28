/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The broker's two sides: its thread (broker_thread.c) and its connections (serve.c).
 * With the lock, all of it.
 */
#ifndef DRAY_IPC_BROKER_H
#define DRAY_IPC_BROKER_H

#include "ipc/ipc.h"

struct dray_ipc_connection;

struct dray_ipc_broker {
	int listener;
	int poller;
	int wake;
	int reserve;		/* closed to refuse an importer; -1: in use */
	bool deaf;		/* no descriptor is left to accept with */
	bool ends;
	uint64_t starts;	/* again, before it ended */
	uint32_t waiting;	/* how many of the asking there are */
	struct dray_address_table others;	/* others.c's */
	struct dray_ipc_connection *asking;	/* the latest first */
};

/* Watches the listener, unless the broker is deaf.  0, or -1 and errno. */
int dray_ipc_listen(struct dray_ipc_broker *broker, int how);
/* Opens a descriptor in reserve if there is none: 0, or -1 and errno. */
int dray_ipc_restock(struct dray_ipc_broker *broker);
/* Accepts a connection. */
void dray_ipc_accept(struct dray_ipc_broker *broker);
/* Something came from that connection, or its end. */
void dray_ipc_attend(struct dray_ipc_broker *broker,
		     struct dray_ipc_connection *connection);
/* Hangs up on importers that did not ask in time. */
void dray_ipc_drop_silent(struct dray_ipc_broker *broker);
/* Until when to wait at most for an event, in milliseconds; -1: no limit. */
int dray_ipc_patience(const struct dray_ipc_broker *broker);
/* Hangs up on all importers that did not ask yet. */
void dray_ipc_hang_up_all(struct dray_ipc_broker *broker);

#endif /* DRAY_IPC_BROKER_H */
