// SPDX-License-Identifier: Apache-2.0 OR MIT
/* manager: what dray's own one gives, and how objects begin and end. */
#include "../selftests/step.h"
#include "manager.h"

static const struct dray_memory_description *
describe(const struct dray_memory *memory)
{
	return dray_memory_describe(memory);
}

MANAGER_FACT(memalloc_gives_memory_of_the_node)
{
	struct dray_memory *memory = memalloc(*state, 1000);
	struct dray_location where;

	assert_int_equal(describe(memory)->bytes, 1000);
	assert_int_equal(describe(memory)->kind, DRAY_MEMORY_SHARED);
	assert_ptr_equal(dray_memory_manager_of(memory), *state);
	assert_works(dray_locate(describe(memory)->pointer, &where));
	assert_ptr_equal(where.block, describe(memory)->pointer);
	memset(describe(memory)->pointer, 1, 1000);
	dray_memory_unref(memory);
}

MANAGER_FACT(an_object_of_no_bytes_is_one)
{
	struct dray_memory *memory = memalloc(*state, 0);

	assert_int_equal(describe(memory)->bytes, 0);
	assert_non_null(describe(memory)->pointer);
	assert_int_equal(manager_stats(*state).objects, 1);
	dray_memory_unref(memory);
}

/* Finalized, released: each of the two, in this order. */
struct order {
	int step, finalized, released;
};

static void finalize_in_order(void *ctx,
			      const struct dray_memory_description *memory)
{
	struct order *order = ctx;

	assert_ptr_equal(memory->pointer, order);
	order->finalized = ++order->step;
}

static void release_in_order(void *owner)
{
	struct order *order = owner;

	order->released = ++order->step;
}

MANAGER_FACT(the_owner_outlives_the_finalizer)
{
	struct order order = { .step = 0 };
	const struct dray_memory_description description = {
		.pointer = &order,
		.bytes = sizeof(order),
		.kind = DRAY_MEMORY_HOST,
		.finalize = finalize_in_order,
		.ctx = &order,
		.owner = &order,
		.release_owner = release_in_order,
	};
	struct dray_memory *memory = NULL;

	assert_works(dray_memory_create(*state, &description, &memory));
	assert_ptr_equal(dray_memory_ref(memory), memory);
	dray_memory_unref(memory);
	assert_int_equal(order.step, 0);
	dray_memory_unref(memory);
	assert_int_equal(order.finalized, 1);
	assert_int_equal(order.released, 2);
	dray_memory_unref(NULL);
}

MANAGER_FACT(an_unknown_kind_or_flag_is_refused)
{
	struct dray_memory_description description = { .kind = 6 };
	struct dray_memory *memory = NULL;

	assert_fails(dray_memory_create(*state, &description, &memory), -EINVAL,
		     "6 is not a kind of memory: 0 to 5");
	description.kind = 0;
	description.flags = 2;
	assert_fails(dray_memory_create(*state, &description, &memory), -EINVAL,
		     "unknown flags 0x2");
	assert_null(memory);
}

MANAGER_FACT(addresses_have_a_kind)
{
	struct dray_pool *pool = open_pool(test_spec(), NULL);
	void *block = take(pool, 100, 0);
	int local;

	assert_int_equal(dray_manager_kind_of(*state, &local),
			 DRAY_MEMORY_UNKNOWN);
	assert_int_equal(dray_manager_kind_of(*state, NULL),
			 DRAY_MEMORY_UNKNOWN);
	assert_int_equal(dray_manager_kind_of(*state, block),
			 DRAY_MEMORY_SHARED);
	dray_pool_free(pool, block);
	dray_pool_close(pool);
}

MANAGER_FACT(memory_info_has_what_is_free_and_in_all)
{
	struct dray_capacity capacity;

	assert_works(dray_manager_get_memory_info(*state, &capacity));
	assert_true(capacity.free > 0);
	assert_true(capacity.free <= capacity.total);
}

MANAGER_FACT(initialize_again_and_reset_leave_objects_alone)
{
	struct dray_memory *memory;

	/* In Numba a reset may be the first call of all. */
	assert_works(dray_manager_reset(*state));
	memory = memalloc(*state, 1000);
	memset(describe(memory)->pointer, 7, 1000);
	assert_works(dray_manager_initialize(*state));
	assert_works(dray_manager_initialize(*state));
	assert_works(dray_manager_reset(*state));
	assert_true(all_bytes_are(describe(memory)->pointer, 7, 1000));
	assert_int_equal(manager_stats(*state).objects, 1);
	dray_memory_unref(memory);
}

FACT(objects_outlive_the_last_reference_to_the_manager)
{
	struct dray_manager *manager = open_manager(test_spec(), NULL, NULL);
	struct dray_memory *memory = memalloc(manager, 1000);
	struct dray_location where;
	void *pointer = describe(memory)->pointer;

	dray_manager_unref(manager);
	memset(pointer, 1, 1000);
	assert_works(dray_locate(pointer, &where));
	/* Nobody would flush it any more: it goes at once. */
	dray_memory_unref(memory);
	assert_int_equal(dray_locate(pointer, &where), -ENOENT);
}

FACT(a_manager_stands_on_any_resource)
{
	struct dray_resource *resource = NULL, *same = NULL;
	struct dray_manager *manager;
	struct dray_memory *memory;
	struct dray_capacity capacity;

	assert_works(dray_resource_malloc(&resource));
	manager = open_manager(test_spec(), NULL, resource);
	assert_works(dray_manager_resource(manager, &same));
	assert_ptr_equal(same, resource);
	dray_resource_unref(same);
	memory = memalloc(manager, 100);
	assert_fails(dray_manager_get_memory_info(manager, &capacity),
		     -EOPNOTSUPP, "\"malloc\"");
	assert_int_equal(manager_stats(manager).capacity, 0);
	dray_memory_unref(memory);
	dray_manager_unref(manager);
	dray_resource_unref(resource);
}

MANAGER_FACT(a_size_above_all_addresses_is_refused)
{
	struct dray_memory *memory = NULL;

	assert_fails(dray_manager_memalloc(*state, SIZE_MAX, 0, &memory),
		     -ENOMEM, "at most");
	assert_int_equal(dray_manager_memhostalloc(*state, SIZE_MAX, 0,
						   &memory),
			 -ENOMEM);
	assert_null(memory);
}

/* In a child: 0, or which step was wrong. */
static int open_handle(const struct dray_ipc_handle *handle)
{
	struct dray_memory *there = NULL, *again = NULL;
	struct dray_manager *manager;
	struct dray_node *node;
	struct dray_ipc_handle forged = *handle;

	STEP_EQ(0, dray_node_open(on_kernel() ? test_spec() : "host:shareable",
				  &node));
	STEP_EQ(0, dray_manager_create(node, NULL, NULL, &manager));
	STEP_EQ(0, dray_manager_open_ipc_handle(manager, handle, &there));
	STEP_EQ(0, dray_manager_open_ipc_handle(manager, handle, &again));
	STEP_EQ(50000, describe(there)->bytes);
	STEP_TRUE(describe(there)->pointer == describe(again)->pointer);
	STEP_TRUE(all_bytes_are(describe(there)->pointer, 3, 50000));
	memset(describe(there)->pointer, 4, 50000);
	dray_memory_unref(there);
	dray_memory_unref(again);
	forged.record.bytes[10]++;
	STEP_EQ(-EACCES,
		dray_manager_open_ipc_handle(manager, &forged, &there));
	dray_manager_unref(manager);
	dray_node_unref(node);
	return 0;
}

FACT(a_handle_leads_another_process_to_the_memory)
{
	struct dray_node *node = open_shareable_node();
	struct dray_manager *manager = NULL;
	struct dray_memory *memory, *part = NULL, *here = NULL;
	struct dray_ipc_handle handle;
	pid_t child;
	int status;

	assert_works(dray_manager_create(node, NULL, NULL, &manager));
	memory = memalloc(manager, 100000);
	memset(describe(memory)->pointer, 3, 100000);
	assert_works(dray_memory_view(memory, 50000, 50000, &part));
	assert_works(dray_manager_get_ipc_handle(manager, part, &handle));
	assert_int_equal(handle.size, 50000);
	child = fork();
	if (!child)
		_exit(open_handle(&handle));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_true(all_bytes_are(describe(memory)->pointer, 3, 50000));
	assert_true(all_bytes_are(describe(part)->pointer, 4, 50000));
	/* Here it is the memory itself. */
	assert_works(dray_manager_open_ipc_handle(manager, &handle, &here));
	assert_ptr_equal(describe(here)->pointer, describe(part)->pointer);
	dray_memory_unref(here);
	dray_memory_unref(part);
	dray_memory_unref(memory);
	assert_works(dray_manager_reset(manager));
	assert_fails(dray_manager_open_ipc_handle(manager, &handle, &here),
		     -ECONNREFUSED, "exports nothing");
	dray_manager_unref(manager);
	dray_node_unref(node);
}

FACT(what_nobody_else_can_reach_has_no_handle)
{
	struct dray_manager *manager = open_manager("host", NULL, NULL);
	struct dray_manager *other = open_manager("host", NULL, NULL);
	struct dray_memory *memory = memalloc(manager, 100), *pinned = NULL;
	struct dray_ipc_handle handle;
	int local;

	assert_fails(dray_manager_get_ipc_handle(manager, memory, &handle),
		     -EOPNOTSUPP, "private host memory");
	assert_fails(dray_manager_get_ipc_handle(other, memory, &handle),
		     -EINVAL, "another manager");
	assert_works(dray_manager_mempin(manager, &local, sizeof(local), 0,
					 NULL, NULL, &pinned));
	assert_fails(dray_manager_get_ipc_handle(manager, pinned, &handle),
		     -EINVAL, "no buffer of dray");
	dray_memory_unref(pinned);
	dray_memory_unref(memory);
	dray_manager_unref(other);
	dray_manager_unref(manager);
}
