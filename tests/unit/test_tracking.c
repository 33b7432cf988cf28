// SPDX-License-Identifier: Apache-2.0 OR MIT
/* resource: who has which block, and the table that it is kept in. */
#include "base/address_table.h"
#include "resource.h"

static struct dray_tracking numbers_of(struct dray_resource *resource)
{
	struct dray_tracking numbers = { .size = sizeof(numbers) };

	assert_works(dray_tracking_get(resource, &numbers));
	return numbers;
}

static struct dray_resource *track(struct dray_pool *pool, size_t sites)
{
	return STACK(pool, dray_resource_tracking(upstream, sites, &top));
}

/* By a call that shows in the stack. */
__attribute__((noinline)) static void *
a_function_that_allocates(struct dray_resource *resource, size_t size)
{
	void *block = allocate(resource, size, 0);

	/* So that the call is none in the place of a return. */
	assert_non_null(block);
	return block;
}

struct seen {
	struct dray_outstanding blocks[4];
	size_t sites[4];
	bool here[4]; /* a site in this file's function */
	int count;
	int stop_at;
};

static int see(void *ctx, const struct dray_outstanding *block)
{
	struct seen *seen = ctx;
	uintptr_t function = (uintptr_t)a_function_that_allocates;

	seen->blocks[seen->count] = *block;
	seen->sites[seen->count] = block->site_count;
	for (size_t i = 0; i < block->site_count; i++)
		if ((uintptr_t)block->sites[i] - function < 500)
			seen->here[seen->count] = true;
	return ++seen->count == seen->stop_at ? 77 : 0;
}

POOL_FACT(what_is_out_is_shown_with_who_asked_for_it)
{
	struct dray_resource *resource = track(*state, DRAY_TRACKING_SITES);
	void *first = a_function_that_allocates(resource, 100);
	void *second = a_function_that_allocates(resource, 50);
	void *third = NULL;
	struct seen seen = { .count = 0 };

	assert_works(dray_resource_allocate(resource, 7, 0, 99, &third));
	give_back(resource, second, 50);
	assert_works(dray_tracking_visit(resource, see, &seen));
	assert_int_equal(seen.count, 2);
	assert_ptr_equal(seen.blocks[0].block, first);
	assert_int_equal(seen.blocks[0].size, 100);
	assert_int_equal(seen.blocks[0].number, 1);
	assert_true(seen.here[0]);
	assert_ptr_equal(seen.blocks[1].block, third);
	assert_int_equal(seen.blocks[1].stream, 99);
	assert_int_equal(seen.blocks[1].number, 3);
	assert_false(seen.here[1]);
	assert_int_equal(numbers_of(resource).blocks, 2);
	assert_int_equal(numbers_of(resource).bytes, 107);

	seen = (struct seen){ .stop_at = 1 };
	assert_int_equal(dray_tracking_visit(resource, see, &seen), 77);
	assert_int_equal(seen.count, 1);
	give_back(resource, first, 100);
	give_back(resource, third, 7);
	dray_resource_unref(resource);
}

POOL_FACT(no_more_call_sites_are_kept_than_asked_for)
{
	struct dray_resource *upstream = pool_resource(*state), *top = NULL;
	struct dray_resource *none = track(*state, 0);
	struct dray_resource *two = track(*state, 2);
	void *first = a_function_that_allocates(none, 1);
	void *second = a_function_that_allocates(two, 1);
	struct seen seen = { .count = 0 };

	assert_works(dray_tracking_visit(none, see, &seen));
	assert_works(dray_tracking_visit(two, see, &seen));
	assert_int_equal(seen.sites[0], 0);
	assert_int_equal(seen.sites[1], 2);
	assert_fails(dray_resource_tracking(upstream, 33, &top), -EINVAL,
		     "33 call sites");
	give_back(none, first, 1);
	give_back(two, second, 1);
	dray_resource_unref(none);
	dray_resource_unref(two);
	dray_resource_unref(upstream);
}

POOL_FACT(a_report_names_functions_and_the_sum)
{
	struct dray_resource *resource = track(*state, 8);
	void *block = a_function_that_allocates(resource, 1234);
	FILE *file = tmpfile();
	char text[4096] = "", program[100];
	size_t length;

	snprintf(program, sizeof(program), " in %s",
		 program_invocation_short_name);
	assert_non_null(file);
	assert_works(dray_tracking_report(resource, file));
	rewind(file);
	length = fread(text, 1, sizeof(text) - 1, file);
	text[length] = 0;
	assert_non_null(strstr(text, " of 1234 bytes\n  allocated by\n    "));
	/* The program's own name, whether or not it has symbols. */
	assert_non_null(strstr(text, program));
	assert_non_null(strstr(text, "1 block of 1234 bytes is out\n"));
	fclose(file);
	give_back(resource, block, 1234);

	file = fopen("/dev/full", "w");
	assert_non_null(file);
	assert_fails(dray_tracking_report(resource, file), -EIO, "not all");
	fclose(file);
	dray_resource_unref(resource);
}

POOL_FACT(what_is_not_out_is_not_freed)
{
	struct dray_resource *upstream = pool_resource(*state);
	struct dray_resource *resource = NULL;
	char *block, *past, *kept;

	assert_works(dray_resource_tracking(upstream, 0, &resource));
	block = allocate(resource, 100, 0);
	kept = allocate(resource, 100, 0);
	past = allocate(upstream, 100, 0);
	assert_fails(dray_resource_deallocate(resource, past, 100, 0), -EINVAL,
		     "is not an allocated block");
	assert_fails(dray_resource_deallocate(resource, block + 64, 100, 0),
		     -EINVAL, "is not an allocated block");
	give_back(resource, block, 100);
	assert_fails(dray_resource_deallocate(resource, block, 100, 0), -EINVAL,
		     "is not an allocated block");
	assert_int_equal(numbers_of(resource).bad_frees, 3);
	assert_int_equal(numbers_of(resource).blocks, 1);
	give_back(upstream, past, 100);
	give_back(resource, kept, 100);
	dray_resource_unref(resource);
	dray_resource_unref(upstream);
}

POOL_FACT(a_wrong_size_is_put_right)
{
	struct dray_resource *limit =
		STACK(*state, dray_resource_limit(upstream, 1000, &top));
	struct dray_resource *resource = NULL;
	struct dray_capacity capacity;

	assert_works(dray_resource_tracking(limit, 0, &resource));
	give_back(resource, allocate(resource, 1000, 0), 1);
	assert_int_equal(numbers_of(resource).wrong_sizes, 1);
	assert_works(dray_resource_capacity(limit, &capacity));
	assert_int_equal(capacity.free, 1000);
	dray_resource_unref(resource);
	dray_resource_unref(limit);
}

POOL_FACT(what_upstream_refuses_stays_out)
{
	struct dray_resource *upstream = pool_resource(*state);
	/* The block that is lost keeps it; so this does, for checkers. */
	static struct dray_resource *resource;
	void *block;

	assert_works(dray_resource_tracking(upstream, 0, &resource));
	block = allocate(resource, 100, 0);
	/* Freed past it: upstream has nothing out then. */
	dray_pool_free(*state, block);
	assert_int_equal(dray_resource_deallocate(resource, block, 100, 0),
			 -EINVAL);
	assert_int_equal(numbers_of(resource).blocks, 1);
	/* The address comes again: there is one such block, not two. */
	assert_ptr_equal(allocate(resource, 90, 0), block);
	assert_int_equal(numbers_of(resource).blocks, 1);
	assert_int_equal(numbers_of(resource).bytes, 90);
	give_back(resource, block, 90);
	dray_resource_unref(upstream);
	dray_resource_unref(resource);
}

#define KEYS 300

FACT(the_table_agrees_with_a_plain_list)
{
	struct dray_address_table table = { .count = 0 };
	struct dice dice = { 20261122 };
	void *expected[KEYS] = { NULL };
	size_t count = 0, key;
	uint64_t address;

	assert_null(dray_address_take(&table, 64));
	for (int i = 0; i < 200000; i++) {
		key = roll(&dice, KEYS);
		/* Few bits that differ, and none at all in the low ones. */
		address = key * 4096;
		if (roll(&dice, 2)) {
			void *value = &expected[roll(&dice, KEYS)];

			assert_true(dray_address_reserve(&table));
			assert_ptr_equal(dray_address_put(&table, address,
							  value),
					 expected[key]);
			count += !expected[key];
			expected[key] = value;
		} else {
			assert_ptr_equal(dray_address_take(&table, address),
					 expected[key]);
			count -= expected[key] != NULL;
			expected[key] = NULL;
		}
		assert_int_equal(table.count, count);
	}
	for (key = 0; key < KEYS; key++)
		assert_ptr_equal(dray_address_take(&table, key * 4096),
				 expected[key]);
	dray_address_end(&table);
}
