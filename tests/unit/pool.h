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

/* Closes the pool, which has every block back. */
static inline int pool_teardown(void **state)
{
	struct dray_pool_stats stats = { .size = sizeof(stats) };

	dray_pool_stats(*state, &stats);
	dray_pool_close(*state);
	assert_int_equal(stats.blocks, 0);
	return 0;
}

#define POOL_FACT(name) \
	FACT_WITH(name, pool_setup, pool_teardown)

static inline struct dray_pool_stats stats_of(struct dray_pool *pool)
{
	struct dray_pool_stats stats = { .size = sizeof(stats) };

	assert_works(dray_pool_stats(pool, &stats));
	return stats;
}

static inline void *take(struct dray_pool *pool, size_t size, size_t alignment)
{
	void *block = dray_pool_alloc(pool, size, alignment);

	if (!block)
		fail_msg("%zu bytes: %s", size, dray_last_error());
	return block;
}

#define FIXED_SIZE ((size_t)32 << 20)

/* A pool that can take no more than what it has at first. */
static inline int fixed_pool_setup(void **state)
{
	struct dray_pool_options options = { .initial = FIXED_SIZE,
					     .limit = FIXED_SIZE };

	*state = open_pool(test_spec(), &options);
	return 0;
}

/* What is not given back is missing for the next fact on a board. */
static inline int fixed_pool_teardown(void **state)
{
	assert_int_equal(stats_of(*state).used, 0);
	return pool_teardown(state);
}

#define FIXED_POOL_FACT(name)                                   \
	FACT_WITH(name, fixed_pool_setup, fixed_pool_teardown)

#endif /* DRAY_TESTS_POOL_H */
