/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A node and a pool, of memory that can be passed on, for the whole program. */
#ifndef DRAY_TESTS_SHAREABLE_H
#define DRAY_TESTS_SHAREABLE_H

#include "node.h"

static struct dray_node *node;
static struct dray_pool *pool;

static inline int set_up(void **state)
{
	node = open_shareable_node();
	return dray_pool_create(node, NULL, &pool);
}

static inline int tear_down(void **state)
{
	dray_pool_close(pool);
	dray_node_unref(node);
	return 0;
}

#endif /* DRAY_TESTS_SHAREABLE_H */
