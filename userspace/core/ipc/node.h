/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * How a process tells another one which node a buffer is to be opened on: by
 * its back end, and for the kernel's by its name.  Both are part of the ABI.
 */
#ifndef DRAY_IPC_NODE_H
#define DRAY_IPC_NODE_H

#include <dray/memory.h>

enum dray_ipc_backend {
	DRAY_IPC_HOST = 1,
	DRAY_IPC_KERNEL = 2,
};

/* Describes @node in @backend and @name: "dray0", or empty for the host. */
int dray_ipc_describe_node(struct dray_node *node, uint32_t *backend,
			   char name[DRAY_NAME_LEN]);

/* Whether that names a node, there or not: 0, or -EBADMSG. */
int dray_ipc_check_node(uint32_t backend, const char name[DRAY_NAME_LEN]);

/* Opens it; errors of dray_ipc_check_node() and dray_node_open(). */
int dray_ipc_open_node(uint32_t backend, const char name[DRAY_NAME_LEN],
		       struct dray_node **out);

#endif /* DRAY_IPC_NODE_H */
