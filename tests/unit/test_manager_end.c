// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * manager: a finalizer drops the last reference, inside of a call that goes on
 * with the manager.  Managers have pages of their own here, which nobody can
 * look at once they are freed.
 */
#include <sys/mman.h>

#include "manager.h"
#include "manager/manager.h"

static void *pages; /* of the last one */
WRAPPED(void *, calloc, (size_t count, size_t size))
{
	if (size != sizeof(struct dray_manager))
		return __real_calloc(count, size);
	pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return pages == MAP_FAILED ? NULL : pages;
}
WRAPPED(void, free, (void *memory))
{
	if (memory && memory == pages)
		mprotect(pages, sizeof(struct dray_manager), PROT_NONE);
	else
		__real_free(memory);
}

static int ended;
static int allocations;

static void note_end(void *ctx)
{
	ended++;
}

static int never_enough(struct dray_manager *self, size_t size, uint64_t stream,
			struct dray_memory **out)
{
	allocations++;
	return -ENOMEM;
}

static const struct dray_manager_ops ending = {
	.interface_version = DRAY_MANAGER_INTERFACE,
	.base = DRAY_MANAGER_HOST_ONLY,
	.name = "ending",
	.destroy = note_end,
	.memalloc = never_enough,
};

static void drop_manager(void *ctx,
			 const struct dray_memory_description *memory)
{
	dray_manager_unref(ctx);
}

/* A manager whose only reference goes with what waits to be finalized. */
static struct dray_manager *manager_of_its_own(void)
{
	struct dray_manager *manager = open_manager(test_spec(), &ending, NULL);
	const struct dray_memory_description description = {
		.flags = DRAY_MEMORY_DEFERRED,
		.finalize = drop_manager,
		.ctx = manager,
	};
	struct dray_memory *memory = NULL;

	ended = 0;
	allocations = 0;
	assert_works(dray_memory_create(manager, &description, &memory));
	dray_memory_unref(memory);
	assert_int_equal(ended, 0);
	return manager;
}

FACT(a_flush_outlives_the_last_reference)
{
	assert_int_equal(dray_manager_flush(manager_of_its_own()), 1);
	assert_int_equal(ended, 1);
}

FACT(so_does_a_change_of_the_limits)
{
	assert_works(dray_manager_set_pending(manager_of_its_own(), 0, 0));
	assert_int_equal(ended, 1);
}

FACT(so_does_the_end_of_a_deferral)
{
	struct dray_manager *manager = manager_of_its_own();

	dray_manager_defer_cleanup(manager);
	assert_works(dray_manager_set_pending(manager, 0, 0));
	assert_int_equal(ended, 0);
	assert_works(dray_manager_end_deferral(manager));
	assert_int_equal(ended, 1);
}

FACT(so_does_a_reset)
{
	assert_works(dray_manager_reset(manager_of_its_own()));
	assert_int_equal(ended, 1);
}

FACT(so_does_an_allocation_that_is_tried_again)
{
	struct dray_memory *memory = NULL;

	assert_int_equal(dray_manager_memalloc(manager_of_its_own(), 100, 0,
					       &memory),
			 -ENOMEM);
	assert_null(memory);
	assert_int_equal(allocations, 2);
	assert_int_equal(ended, 1);
}
