// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dray: a pool over the host's memory, of the kind that NODE names, through
 * the calls that any program has.
 */
#include <errno.h>
#include <stdio.h>

#include <dray/dray.h>

#include "contender.h"
#include "region.h"

static struct dray_pool *pool;

int contender_open(size_t size, bool painted, void **region)
{
	struct dray_pool_options options = { .initial = size, .limit = size };
	struct dray_location where;
	struct dray_node *node;
	void *block;
	int ret = dray_node_open(NODE, &node);

	if (!ret)
		ret = dray_pool_create(node, &options, &pool);
	if (ret) {
		fprintf(stderr, "%s\n", dray_last_error());
		return ret;
	}
	dray_node_unref(node);
#ifdef PUBLISH /* nobody asks: it is to cost nothing until somebody does */
	ret = dray_publish_start();
	if (ret)
		return ret;
#endif

	block = dray_pool_alloc(pool, 1, 0);
	ret = block ? dray_locate(block, &where) : -ENOMEM;
	if (ret)
		return ret;
	*region = dray_buffer_data(where.buffer);
	dray_pool_free(pool, block);
	/* It has been cleared, and nothing of the pool's is in it. */
	if (painted)
		region_paint(*region, size);
	return 0;
}

int contender_thread(void)
{
	return 0;
}

void *contender_alloc(size_t size)
{
	return dray_pool_alloc(pool, size, 0);
}

void contender_free(void *block)
{
	dray_pool_free(pool, block);
}
