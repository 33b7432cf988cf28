// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * manager: when objects are finalized that may wait.  The limits are those of
 * Numba's queue: more than 10 of them, or more than 20 % of what there is.
 */
#include "child.h"
#include "manager.h"

static void drop_new(struct dray_manager *manager, size_t size, int count,
		     int *finalized)
{
	while (count--)
		dray_memory_unref(counted_memory(manager, size, finalized));
}

MANAGER_FACT(ten_wait_and_the_eleventh_is_one_too_many)
{
	int finalized = 0;

	drop_new(*state, 0, 10, &finalized);
	assert_int_equal(finalized, 0);
	assert_int_equal(manager_stats(*state).pending, 10);
	drop_new(*state, 0, 1, &finalized);
	assert_int_equal(finalized, 11);
	assert_int_equal(manager_stats(*state).pending, 0);
	assert_int_equal(manager_stats(*state).flushes, 1);
}

MANAGER_FACT(a_fifth_of_the_capacity_waits_and_not_a_byte_more)
{
	int finalized = 0;
	uint64_t fifth;

	assert_works(dray_manager_initialize(*state));
	fifth = manager_stats(*state).capacity / 100 * 20;
	assert_true(fifth > 0);
	drop_new(*state, (size_t)fifth, 1, &finalized);
	assert_int_equal(finalized, 0);
	assert_int_equal(manager_stats(*state).pending_bytes, fifth);
	drop_new(*state, 1, 1, &finalized);
	assert_int_equal(finalized, 2);
}

MANAGER_FACT(the_limits_can_be_set)
{
	int finalized = 0;

	assert_works(dray_manager_set_pending(*state, 2, 20));
	drop_new(*state, 0, 2, &finalized);
	assert_int_equal(finalized, 0);
	assert_works(dray_manager_set_pending(*state, 1, 20));
	assert_int_equal(finalized, 2);
	assert_works(dray_manager_set_pending(*state, 0, 20));
	drop_new(*state, 0, 1, &finalized);
	assert_int_equal(finalized, 3);
	assert_fails(dray_manager_set_pending(*state, 0, 101), -EINVAL,
		     "101 percent");
}

MANAGER_FACT(sections_of_deferral_nest)
{
	int finalized = 0;

	dray_manager_defer_cleanup(*state);
	dray_manager_defer_cleanup(*state);
	drop_new(*state, 0, 50, &finalized);
	assert_int_equal(dray_manager_flush(*state), 0);
	assert_works(dray_manager_end_deferral(*state));
	drop_new(*state, 0, 1, &finalized);
	assert_int_equal(finalized, 0);
	assert_works(dray_manager_end_deferral(*state));
	assert_int_equal(finalized, 51);
	assert_fails(dray_manager_end_deferral(*state), -EINVAL,
		     "without its begin");
}

MANAGER_FACT(what_is_within_the_limits_outlives_a_deferral)
{
	int finalized = 0;

	dray_manager_defer_cleanup(*state);
	drop_new(*state, 0, 10, &finalized);
	assert_works(dray_manager_end_deferral(*state));
	assert_int_equal(finalized, 0);
	assert_int_equal(dray_manager_flush(*state), 10);
	assert_int_equal(finalized, 10);
}

MANAGER_FACT(frees_at_once_wait_for_the_end_of_a_deferral)
{
	int finalized = 0;

	assert_works(dray_manager_set_pending(*state, 0, 0));
	dray_manager_defer_cleanup(*state);
	drop_new(*state, 0, 1, &finalized);
	assert_int_equal(finalized, 0);
	assert_works(dray_manager_end_deferral(*state));
	assert_int_equal(finalized, 1);
}

MANAGER_FACT(a_reset_frees_in_a_deferral_too)
{
	int finalized = 0;

	dray_manager_defer_cleanup(*state);
	drop_new(*state, 0, 5, &finalized);
	assert_works(dray_manager_reset(*state));
	assert_int_equal(finalized, 5);
	assert_int_equal(manager_stats(*state).deferrals, 1);
	assert_works(dray_manager_end_deferral(*state));
}

FACT(the_last_reference_frees_what_waits)
{
	struct dray_manager *manager = open_manager(test_spec(), NULL, NULL);
	int finalized = 0;

	dray_manager_defer_cleanup(manager);
	drop_new(manager, 0, 5, &finalized);
	assert_ptr_equal(dray_manager_ref(manager), manager);
	dray_manager_unref(manager);
	assert_int_equal(finalized, 0);
	dray_manager_unref(manager);
	assert_int_equal(finalized, 5);
	dray_manager_unref(NULL);
}

/* A manager whose pool has room for one object of this size. */
#define LARGE ((size_t)3 << 20)

static struct dray_manager *open_small(struct dray_pool **pool)
{
	struct dray_pool_options options = { .initial = LARGE, .limit = LARGE };
	struct dray_resource *resource = NULL;
	struct dray_manager *manager;

	*pool = open_pool(test_spec(), &options);
	assert_works(dray_resource_pool(*pool, &resource));
	manager = open_manager(test_spec(), NULL, resource);
	dray_resource_unref(resource);
	return manager;
}

FACT(a_full_manager_flushes_and_asks_once_more)
{
	struct dray_pool *pool;
	struct dray_manager *manager = open_small(&pool);
	struct dray_memory *memory = memalloc(manager, LARGE), *other = NULL;

	dray_memory_unref(memory);
	assert_int_equal(manager_stats(manager).pending, 1);
	memory = memalloc(manager, LARGE);
	assert_int_equal(manager_stats(manager).retries, 1);
	assert_int_equal(manager_stats(manager).pending, 0);
	/* Nothing waits: there is nothing to ask again for. */
	assert_fails(dray_manager_memalloc(manager, LARGE, 0, &other), -ENOMEM,
		     "pool");
	assert_int_equal(manager_stats(manager).retries, 1);
	dray_memory_unref(memory);
	assert_works(dray_manager_memhostalloc(manager, LARGE, 0, &other));
	assert_int_equal(manager_stats(manager).retries, 2);
	dray_memory_unref(other);
	dray_manager_unref(manager);
	dray_pool_close(pool);
}

static void *flush_all(void *manager)
{
	assert_int_equal(dray_manager_flush(manager), 1);
	return NULL;
}

/* Memory has run out; before its own thread can flush, another one does. */
static bool flush_elsewhere(void *ctx, size_t size, int error)
{
	struct dray_manager **manager = ctx;
	pthread_t thread;

	if (!*manager)
		return false;
	assert_int_equal(pthread_create(&thread, NULL, flush_all, *manager), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	*manager = NULL;
	return false;
}

FACT(what_another_thread_flushed_is_asked_for_too)
{
	struct dray_pool_options options = { .initial = LARGE, .limit = LARGE };
	struct dray_pool *pool = open_pool(test_spec(), &options);
	struct dray_manager *manager, *flushed = NULL;
	struct dray_resource *source, *asking;
	struct dray_memory *memory;

	assert_works(dray_resource_pool(pool, &source));
	assert_works(dray_resource_on_failure(source, flush_elsewhere, &flushed,
					      &asking));
	manager = open_manager(test_spec(), NULL, asking);
	dray_resource_unref(asking);
	dray_resource_unref(source);
	dray_memory_unref(memalloc(manager, LARGE));
	flushed = manager;
	memory = memalloc(manager, LARGE);
	assert_null(flushed);
	assert_int_equal(manager_stats(manager).retries, 1);
	dray_memory_unref(memory);
	dray_manager_unref(manager);
	dray_pool_close(pool);
}

FACT(a_deferral_is_kept_when_memory_runs_out)
{
	struct dray_pool *pool;
	struct dray_manager *manager = open_small(&pool);
	struct dray_memory *other = NULL;

	dray_manager_defer_cleanup(manager);
	dray_memory_unref(memalloc(manager, LARGE));
	assert_int_equal(dray_manager_memalloc(manager, LARGE, 0, &other),
			 -ENOMEM);
	assert_int_equal(manager_stats(manager).pending, 1);
	assert_works(dray_manager_end_deferral(manager));
	other = memalloc(manager, LARGE);
	dray_memory_unref(other);
	dray_manager_unref(manager);
	dray_pool_close(pool);
}

struct allocator {
	struct dray_manager *manager;
	int left; /* objects that are made, one by the finalizer of another */
};

static void finalize_and_allocate(void *ctx,
				  const struct dray_memory_description *memory)
{
	struct allocator *allocator = ctx;
	struct dray_memory_description next = *memory;
	struct dray_memory *object = NULL;

	dray_memory_unref(memalloc(allocator->manager, 100));
	if (!allocator->left)
		return;
	allocator->left--;
	assert_works(dray_memory_create(allocator->manager, &next, &object));
	dray_memory_unref(object);
}

MANAGER_FACT(a_finalizer_may_allocate_and_drop_objects)
{
	struct allocator allocator = { *state, 100000 };
	const struct dray_memory_description description = {
		.flags = DRAY_MEMORY_DEFERRED,
		.finalize = finalize_and_allocate,
		.ctx = &allocator,
	};
	struct dray_memory *object = NULL;

	assert_works(dray_memory_create(*state, &description, &object));
	dray_memory_unref(object);
	/* As calls in one another, so many would not fit a stack. */
	dray_manager_flush(*state);
	assert_int_equal(allocator.left, 0);
	assert_int_equal(manager_stats(*state).pending, 0);
}

static void release_link(void *owner)
{
	dray_memory_unref(owner);
}

static void drop_chain(struct dray_manager *manager)
{
	struct dray_memory *first = NULL;

	for (int i = 0; i < 100000; i++) {
		const struct dray_memory_description description = {
			.flags = DRAY_MEMORY_DEFERRED,
			.owner = first,
			.release_owner = first ? release_link : NULL,
		};

		assert_works(dray_memory_create(manager, &description, &first));
	}
	dray_memory_unref(first);
}

MANAGER_FACT(a_chain_of_owners_is_no_chain_of_calls)
{
	drop_chain(*state);
	assert_int_equal(dray_manager_flush(*state), 100000);
	/* Nor is it where nothing waits. */
	assert_works(dray_manager_set_pending(*state, 0, 0));
	drop_chain(*state);
	assert_int_equal(manager_stats(*state).objects, 0);
	assert_int_equal(manager_stats(*state).pending, 0);
}

MANAGER_FACT(a_finalizer_that_drops_another_manager_s_ends_it_at_once)
{
	struct dray_manager *other = open_manager(test_spec(), NULL, NULL);
	int finalized = 0;
	const struct dray_memory_description description = {
		.flags = DRAY_MEMORY_DEFERRED,
		.owner = counted_memory(other, 0, &finalized),
		.release_owner = release_link,
	};
	struct dray_memory *memory = NULL;

	assert_works(dray_manager_set_pending(other, 0, 0));
	assert_works(dray_memory_create(*state, &description, &memory));
	dray_memory_unref(memory);
	assert_int_equal(finalized, 0);
	assert_int_equal(dray_manager_flush(*state), 1);
	assert_int_equal(finalized, 1);
	dray_manager_unref(other);
}

#define THREADS 4
#define OBJECTS 2000

static int finalized_by_threads;

static void count_together(void *ctx,
			   const struct dray_memory_description *memory)
{
	__atomic_fetch_add(&finalized_by_threads, 1, __ATOMIC_RELAXED);
}

static void *make_and_drop(void *manager)
{
	const struct dray_memory_description description = {
		.bytes = 10,
		.flags = DRAY_MEMORY_DEFERRED,
		.finalize = count_together,
	};
	struct dray_memory *memory = NULL;

	for (int i = 0; i < OBJECTS; i++) {
		if (i % 100 == 0)
			dray_manager_defer_cleanup(manager);
		if (dray_memory_create(manager, &description, &memory))
			abort();
		dray_memory_unref(memory);
		if (i % 100 == 50 && dray_manager_end_deferral(manager))
			abort();
		if (i % 30 == 0)
			dray_manager_flush(manager);
	}
	dray_manager_unref(manager);
	return NULL;
}

FACT(threads_finalize_each_object_once)
{
	struct dray_manager *manager = open_manager(test_spec(), NULL, NULL);
	pthread_t threads[THREADS];
	int i;

	finalized_by_threads = 0;
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL,
						make_and_drop,
						dray_manager_ref(manager)),
				 0);
	dray_manager_unref(manager);
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(finalized_by_threads, THREADS * OBJECTS);
}

static int go_on(struct dray_manager *manager, struct dray_memory *memory,
		 const int *finalized)
{
	alarm(DEADLINE);
	dray_memory_unref(memory);
	STEP_EQ(4, dray_manager_flush(manager));
	STEP_EQ(3, *finalized);
	STEP_EQ(0, dray_manager_memalloc(manager, 5000, 0, &memory));
	memset(dray_memory_describe(memory)->pointer, 1, 5000);
	dray_memory_unref(memory);
	return 0;
}

MANAGER_FACT(a_child_goes_on_with_what_waits)
{
	struct dray_memory *memory = memalloc(*state, 1000);
	int finalized = 0;
	pid_t child;

	drop_new(*state, 0, 3, &finalized);
	child = fork();
	if (!child)
		_exit(go_on(*state, memory, &finalized));
	assert_int_equal(status_of(child), 0);
	assert_int_equal(finalized, 0);
	dray_memory_unref(memory);
	assert_int_equal(dray_manager_flush(*state), 4);
	assert_int_equal(finalized, 3);
}
