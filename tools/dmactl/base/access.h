/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Opens nodes; explains a missing module, node or permission. */
#ifndef DMACTL_ACCESS_H
#define DMACTL_ACCESS_H

#include <dray/memory.h>

#include "command.h"

struct open_node {
	char name[DRAY_NAME_LEN];
	struct dray_node *node;
	struct dray_info info;
};

struct open_nodes {
	struct open_node *entries;
	size_t count;
	/* EXIT_FAILED if some could not be opened, after a complaint */
	enum exit_code status;
};

/*
 * Opens the node that the request names, or all.  Returns false after a
 * complaint if no node could be opened.
 */
bool nodes_open(const struct request *request, struct open_nodes *nodes);

/*
 * The same for commands that work on one node: opens the one that the request names,
 * or the first, as a program would.
 */
bool nodes_open_first(const struct request *request, struct open_nodes *nodes);

void nodes_close(struct open_nodes *nodes);

/* Complains that @doing ("list its buffers") failed with @error on a node. */
void node_complain(const struct open_node *node, const char *doing, int error);

/* Reads heap @index of a node; returns false after a complaint. */
bool node_heap(const struct open_node *node, uint32_t index,
	       struct dray_heap_info *heap);

/* Complains that the module is not loaded, or has no node. */
void complain_no_module(void);

#endif /* DMACTL_ACCESS_H */
