/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Resources over a pool of the test's own. */
#ifndef DRAY_TESTS_RESOURCE_H
#define DRAY_TESTS_RESOURCE_H

#include "pool.h"

static inline struct dray_resource *pool_resource(struct dray_pool *pool)
{
	struct dray_resource *resource = NULL;

	assert_works(dray_resource_pool(pool, &resource));
	return resource;
}

/* What a test stacks on the pool: its only reference is that of the top. */
#define STACK(pool, call)                                             \
	({                                                            \
		struct dray_resource *upstream = pool_resource(pool); \
		struct dray_resource *top = NULL;                     \
                                                                      \
		assert_works(call);                                   \
		dray_resource_unref(upstream);                        \
		top;                                                  \
	})

static inline void *allocate(struct dray_resource *resource, size_t size,
			     size_t alignment)
{
	void *block = NULL;

	assert_works(dray_resource_allocate(resource, size, alignment, 0,
					    &block));
	return block;
}

static inline void give_back(struct dray_resource *resource, void *block,
			     size_t size)
{
	assert_works(dray_resource_deallocate(resource, block, size, 0));
}

#endif /* DRAY_TESTS_RESOURCE_H */
