/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A pool on the node of the test, which both are its state. */
#ifndef DRAY_TESTS_POOL_H
#define DRAY_TESTS_POOL_H

#include "node.h"

static inline struct dray_pool *
open_pool(const char *spec, const struct dray_pool_options *options)
{
	struct dray_node *node = open_node(spec);
	struct dray_pool *pool = NULL;

	assert_works(dray_pool_create(node, options, &pool));
	dray_node_unref(node);
	return pool;
}

static inline int pool_setup(void **state)
{
	*state = open_pool(test_spec(), NULL);
	return 0;
}

static inline int pool_teardown(void **state)
{
	dray_pool_close(*state);
	return 0;
}

#define POOL_FACT(name) \
	cmocka_unit_test_setup_teardown(name, pool_setup, pool_teardown)

static inline struct dray_pool_stats stats_of(struct dray_pool *pool)
{
	struct dray_pool_stats stats;

	assert_works(dray_pool_stats(pool, &stats, sizeof(stats)));
	return stats;
}

static inline void *take(struct dray_pool *pool, size_t size, size_t alignment)
{
	void *block = dray_pool_alloc(pool, size, alignment);

	if (!block)
		fail_msg("%zu bytes: %s", size, dray_last_error());
	return block;
}

#endif /* DRAY_TESTS_POOL_H */
