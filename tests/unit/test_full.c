// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * full: whoever says that there is no more memory, the sentence names what the
 * pool still has in one piece.
 */
#include <dray/array.h>

#include "fault.h"
#include "pool.h"

/* More than any window has, and no size that could never be met. */
#if SIZE_MAX > UINT32_MAX
#define TOO_MUCH ((size_t)UINT32_MAX << 6)
#else
#define TOO_MUCH ((size_t)PTRDIFF_MAX - 4096)
#endif

static void assert_says(const char *part)
{
	if (!strstr(dray_last_error(), part))
		fail_msg("'%s' does not say '%s'", dray_last_error(), part);
}

static void assert_names_largest(struct dray_pool *pool, uint64_t largest)
{
	char words[80];

	assert_int_equal(errno, ENOMEM);
	snprintf(words, sizeof(words), "the largest free run has %" PRIu64,
		 largest);
	assert_says("\"named\"");
	assert_says(words);
	assert_int_equal(stats_of(pool).largest_free, largest);
}

static struct dray_pool *open_named(const char *spec)
{
	const struct dray_pool_options options = { .name = "named" };

	return open_pool(spec, &options);
}

static void says_so_without_a_limit(const char *spec)
{
	struct dray_pool *pool = open_named(spec);
	void *block = take(pool, 1000, 0);
	uint64_t largest = stats_of(pool).largest_free;

	assert_null(dray_pool_alloc(pool, TOO_MUCH, 0));
	assert_names_largest(pool, largest);
	assert_null(dray_pool_calloc(pool, 1, TOO_MUCH));
	assert_names_largest(pool, largest);
	assert_null(dray_pool_realloc(pool, block, TOO_MUCH));
	assert_names_largest(pool, largest);
	assert_null(dray_pool_alloc(pool, TOO_MUCH, 1 << 20));
	assert_names_largest(pool, largest);
	dray_pool_free(pool, block);
	dray_pool_close(pool);
}

FACT(a_request_beyond_all_memory_names_the_largest_run)
{
	says_so_without_a_limit(test_spec());
	says_so_without_a_limit("host:shareable");
}

/* Each call of the system fails from now on. */
static void says_so_when_refused(const char *spec)
{
	struct dray_pool *pool = open_named(spec);
	uint64_t largest = stats_of(pool).largest_free;
	void *block;

	arm_with(0, true);
	block = dray_pool_alloc(pool, (size_t)largest + 1, 0);
	disarm();
	assert_true(faulted);
	assert_null(block);
	assert_names_largest(pool, largest);
	dray_pool_close(pool);
}

FACT(so_does_one_that_the_system_refuses)
{
	says_so_when_refused("host");
	says_so_when_refused("host:shareable");
}

FACT(an_array_says_what_its_pool_says)
{
	struct dray_pool *pool = open_named(test_spec());
	/* Or the pool of a node gives all back before it refuses. */
	void *held = take(pool, 1000, 0);
	uint64_t largest = stats_of(pool).largest_free;
	const int64_t shape = (int64_t)TOO_MUCH;
	struct dray_resource *resource = NULL;
	struct dray_array *array = NULL;
	struct dray_block *block = NULL;
	dray_dtype byte;
	void *taken = NULL;

	assert_works(dray_dtype_parse("|u1", &byte));
	assert_int_equal(dray_array_create(pool, byte, 1, &shape, &array),
			 -ENOMEM);
	assert_names_largest(pool, largest);
	assert_int_equal(dray_block_create_pooled(pool, TOO_MUCH, 0, &block),
			 -ENOMEM);
	assert_names_largest(pool, largest);
	assert_works(dray_resource_pool(pool, &resource));
	assert_int_equal(dray_resource_allocate(resource, TOO_MUCH, 0, 0,
						&taken),
			 -ENOMEM);
	assert_names_largest(pool, largest);
	dray_resource_unref(resource);
	dray_pool_free(pool, held);
	dray_pool_close(pool);
}
