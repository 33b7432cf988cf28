// SPDX-License-Identifier: Apache-2.0 OR MIT
/* References of nodes, and their submissions. */
#include <stdlib.h>

#include "memory/backend.h"

struct dray_node *dray_node_ref(struct dray_node *node)
{
	if (node)
		atomic_fetch_add_explicit(&node->references, 1,
					  memory_order_relaxed);
	return node;
}

void dray_node_unref(struct dray_node *node)
{
	if (!node || atomic_fetch_sub_explicit(&node->references, 1,
					       memory_order_acq_rel) != 1)
		return;
	node->backend->close(node);
	free(node);
}

int dray_node_submit(struct dray_node *node, struct dray_submit *args)
{
	return node->backend->submit(node, args);
}
