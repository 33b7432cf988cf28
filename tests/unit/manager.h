/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What tests of managers ask for again and again. */
#ifndef DRAY_TESTS_MANAGER_H
#define DRAY_TESTS_MANAGER_H

#include "pool.h"

static inline struct dray_manager *
open_manager(const char *spec, const struct dray_manager_ops *ops,
	     struct dray_resource *resource)
{
	struct dray_node *node = open_node(spec);
	struct dray_manager *manager = NULL;

	assert_works(dray_manager_create(node, ops, resource, &manager));
	dray_node_unref(node);
	return manager;
}

static inline int manager_setup(void **state)
{
	*state = open_manager(test_spec(), NULL, NULL);
	return 0;
}

static inline int manager_teardown(void **state)
{
	dray_manager_unref(*state);
	return 0;
}

/* A fact about a native manager, which its state is. */
#define MANAGER_FACT(name)                                     \
	FACT_WITH(name, manager_setup, manager_teardown)

static inline struct dray_manager_stats
manager_stats(struct dray_manager *manager)
{
	struct dray_manager_stats stats = { .size = sizeof(stats) };

	dray_manager_stats(manager, &stats);
	return stats;
}

static inline struct dray_memory *memalloc(struct dray_manager *manager,
					   size_t size)
{
	struct dray_memory *memory = NULL;

	assert_works(dray_manager_memalloc(manager, size, 0, &memory));
	return memory;
}

/* An object that adds one to *@ctx when it is finalized. */
static inline void count_up(void *ctx,
			    const struct dray_memory_description *memory)
{
	++*(int *)ctx;
}

static inline struct dray_memory *counted_memory(struct dray_manager *manager,
						 size_t size, int *finalized)
{
	const struct dray_memory_description description = {
		.bytes = size,
		.flags = DRAY_MEMORY_DEFERRED,
		.finalize = count_up,
		.ctx = finalized,
	};
	struct dray_memory *memory = NULL;

	assert_works(dray_memory_create(manager, &description, &memory));
	return memory;
}

#endif /* DRAY_TESTS_MANAGER_H */
