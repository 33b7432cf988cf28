// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * manager: each allocation of the library's own fails once, and nothing is
 * left of what was begun.  fault.h has the way.
 */
#include "manager.h"
#include "fault.h"

/* All that a runtime does with a manager; 0 or the first error. */
static int use_all(struct dray_node *node)
{
	struct dray_memory *memory = NULL, *host = NULL, *pinned = NULL;
	struct dray_memory *view = NULL, *there = NULL;
	struct dray_manager *manager = NULL;
	struct dray_ipc_handle handle;
	struct dray_capacity capacity;
	int ret, local;

	ret = dray_get_manager(node, &manager);
	if (!ret)
		ret = dray_manager_memalloc(manager, 100000, 0, &memory);
	if (!ret)
		ret = dray_memory_view(memory, 10, 10, &view);
	if (!ret)
		ret = dray_manager_memhostalloc(
			manager, 100, DRAY_HOST_WRITE_COMBINED, &host);
	if (!ret)
		ret = dray_manager_mempin(manager, &local, sizeof(local), 0,
					  NULL, NULL, &pinned);
	if (!ret)
		ret = dray_manager_get_memory_info(manager, &capacity);
	if (!ret)
		ret = dray_manager_get_ipc_handle(manager, view, &handle);
	if (!ret)
		ret = dray_manager_open_ipc_handle(manager, &handle, &there);
	dray_memory_unref(there);
	dray_memory_unref(pinned);
	dray_memory_unref(host);
	dray_memory_unref(view);
	dray_memory_unref(memory);
	dray_manager_unref(manager);
	return ret;
}

FACT(whatever_fails_nothing_is_left)
{
	struct dray_node *node = open_node("host:shareable");
	size_t before = buffers_of(node);
	int n, ret, failed = 0;

	assert_works(use_all(node));
	for (n = 0;; n++) {
		arm(n, ENOMEM);
		ret = use_all(node);
		disarm();
		if (!faulted)
			break;
		assert_int_equal(buffers_of(node), before);
		/* No manager of the node is left. */
		assert_works(dray_set_manager(NULL));
		failed += ret != 0;
	}
	assert_int_equal(ret, 0);
	assert_true(failed > 10);
	dray_node_unref(node);
}

FACT(an_object_that_cannot_be_made_gives_its_block_back)
{
	struct dray_pool *pool = open_pool("host", NULL);
	struct dray_resource *resource = NULL;
	struct dray_manager *manager;
	struct dray_memory *memory = NULL;
	int n;

	assert_works(dray_resource_pool(pool, &resource));
	manager = open_manager("host", NULL, resource);
	assert_works(dray_manager_initialize(manager));
	/* Without the thread's cache, which may fail to be made. */
	dray_pool_free(pool, take(pool, 100, 0));
	for (n = 0;; n++) {
		arm(n, ENOMEM);
		if (!dray_manager_memalloc(manager, 100, 0, &memory))
			break;
		disarm();
		assert_null(memory);
		assert_int_equal(stats_of(pool).blocks, 0);
	}
	disarm();
	assert_true(n > 0);
	dray_memory_unref(memory);
	dray_manager_unref(manager);
	dray_resource_unref(resource);
	dray_pool_close(pool);
}
