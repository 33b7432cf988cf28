// SPDX-License-Identifier: Apache-2.0 OR MIT
/* resource: the object, and those that stand on no other. */
#include "resource.h"

POOL_FACT(a_block_comes_from_the_pool_and_goes_back)
{
	struct dray_resource *resource = pool_resource(*state);
	struct dray_location where;
	void *block = allocate(resource, 100, 4096);

	assert_int_equal((uintptr_t)block % 4096, 0);
	assert_works(dray_locate(block, &where));
	assert_ptr_equal(where.pool, *state);
	assert_works(dray_resource_deallocate(resource, block, 100, 0));
	assert_int_equal(stats_of(*state).blocks, 0);
	assert_works(dray_resource_deallocate(resource, NULL, 0, 0));
	dray_resource_unref(resource);
}

POOL_FACT(what_is_no_block_is_refused_and_not_counted)
{
	struct dray_resource *resource = pool_resource(*state);
	struct dray_pool *other = open_pool(test_spec(), NULL);
	char *block = allocate(resource, 100, 0);
	char *foreign = take(other, 100, 0);
	int local;

	assert_fails(dray_resource_deallocate(resource, block + 1, 100, 0),
		     -EINVAL, "not a block");
	assert_fails(dray_resource_deallocate(resource, &local, 4, 0), -EINVAL,
		     "not a block");
	assert_fails(dray_resource_deallocate(resource, foreign, 100, 0),
		     -EINVAL, "not a block");
	assert_int_equal(stats_of(other).blocks, 1);
	assert_int_equal(stats_of(*state).bad_frees, 0);
	assert_works(dray_resource_deallocate(resource, block, 100, 0));
	assert_fails(dray_resource_deallocate(resource, block, 100, 0), -EINVAL,
		     "all blocks of \"pool\" are freed");
	dray_pool_free(other, foreign);
	dray_pool_close(other);
	dray_resource_unref(resource);
}

POOL_FACT(a_second_free_is_refused_while_others_are_out)
{
	struct dray_resource *resource = pool_resource(*state);
	void *block = allocate(resource, 100, 0);
	void *other = allocate(resource, 100, 0);

	assert_works(dray_resource_deallocate(resource, block, 100, 0));
	assert_fails(dray_resource_deallocate(resource, block, 100, 0), -EINVAL,
		     "not a block of this pool");
	assert_works(dray_resource_deallocate(resource, other, 100, 0));
	dray_resource_unref(resource);
}

FACT(a_closed_pool_allocates_no_more_and_takes_back)
{
	struct dray_pool *pool = open_pool(test_spec(), NULL), *later;
	struct dray_resource *resource = pool_resource(pool);
	void *block = allocate(resource, 100, 0), *out;

	dray_pool_close(pool);
	assert_fails(dray_resource_allocate(resource, 1, 0, 0, &out), -ENOMEM,
		     "is closed");
	assert_works(dray_resource_deallocate(resource, block, 100, 0));
	/* The pool that is made next is not the one that is gone. */
	later = open_pool(test_spec(), NULL);
	assert_fails(dray_resource_allocate(resource, 1, 0, 0, &out), -ENOMEM,
		     "is closed");
	dray_pool_close(later);
	dray_resource_unref(resource);
}

POOL_FACT(what_cannot_be_is_refused_before_the_pool_is_asked)
{
	struct dray_resource *resource = pool_resource(*state);
	void *out = state;

	assert_fails(dray_resource_allocate(resource, 1, 3, 0, &out), -EINVAL,
		     "not a power of two");
	assert_fails(dray_resource_allocate(resource, SIZE_MAX, 0, 0, &out),
		     -ENOMEM, "at most");
	assert_ptr_equal(out, state);
	dray_resource_unref(resource);
}

POOL_FACT(a_pool_has_what_its_node_has)
{
	struct dray_resource *resource = pool_resource(*state);
	struct dray_capacity capacity;

	assert_works(dray_resource_capacity(resource, &capacity));
	assert_true(capacity.total > 0);
	assert_true(capacity.free > 0 && capacity.free <= capacity.total);
	dray_resource_unref(resource);
}

FACT(the_heap_gives_aligned_blocks_and_does_not_know_how_many)
{
	struct dray_resource *resource = NULL;
	struct dray_capacity capacity;
	void *block;

	assert_works(dray_resource_malloc(&resource));
	block = allocate(resource, 0, 4096);
	assert_int_equal((uintptr_t)block % 4096, 0);
	assert_works(dray_resource_deallocate(resource, block, 0, 0));
	assert_fails(dray_resource_capacity(resource, &capacity), -EOPNOTSUPP,
		     "\"malloc\" cannot report");
	dray_resource_unref(resource);
}

/* A resource of the caller's own: one block. */
struct own {
	char block[64];
	uint64_t stream;
	int destroyed;
};

static int own_allocate(void *ctx, size_t size, size_t alignment,
			uint64_t stream, void **out)
{
	struct own *own = ctx;

	if (size > sizeof(own->block))
		return -ENOMEM;
	own->stream = stream;
	*out = own->block;
	return 0;
}

static int own_deallocate(void *ctx, void *block, size_t size, uint64_t stream)
{
	struct own *own = ctx;

	return block == own->block ? 0 : -EINVAL;
}

static void own_destroy(void *ctx)
{
	((struct own *)ctx)->destroyed++;
}

static const struct dray_resource_ops own_ops = {
	.size = sizeof(own_ops),
	.name = "own",
	.allocate = own_allocate,
	.deallocate = own_deallocate,
	.destroy = own_destroy,
};

FACT(one_of_the_caller_s_own_is_asked_and_ends_once)
{
	struct own own = { .destroyed = 0 };
	struct dray_resource *resource = NULL;
	void *block = NULL, *out;

	assert_works(dray_resource_create(&own_ops, &own, &resource));
	assert_string_equal(dray_resource_name(resource), "own");
	assert_works(dray_resource_allocate(resource, 64, 0, 7, &block));
	assert_ptr_equal(block, own.block);
	assert_int_equal(own.stream, 7);
	assert_int_equal(dray_resource_allocate(resource, 65, 0, 0, &out),
			 -ENOMEM);
	assert_ptr_equal(dray_resource_ref(resource), resource);
	dray_resource_unref(resource);
	/* A block that is out keeps it. */
	dray_resource_unref(resource);
	assert_int_equal(own.destroyed, 0);
	assert_works(dray_resource_deallocate(resource, block, 64, 0));
	assert_int_equal(own.destroyed, 1);
}

FACT(one_that_lacks_something_is_refused)
{
	struct dray_resource_ops ops = own_ops;
	struct dray_resource *resource = NULL;

	ops.size = 8;
	assert_fails(dray_resource_create(&ops, NULL, &resource), -EINVAL,
		     "8 bytes");
	ops = own_ops;
	ops.allocate = NULL;
	assert_fails(dray_resource_create(&ops, NULL, &resource), -EINVAL,
		     "without allocate");
	ops = own_ops;
	ops.deallocate = NULL;
	assert_fails(dray_resource_create(&ops, NULL, &resource), -EINVAL,
		     "without deallocate");
	ops.name = NULL;
	assert_fails(dray_resource_create(&ops, NULL, &resource), -EINVAL,
		     "without a name");
	assert_null(resource);
}
