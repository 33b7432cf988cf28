// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * pages: what was asked of host memory's pages is refused, or they are fetched
 * when it says; pages_numa and pages_huge have the rest.
 */
#include "memory/node.h"
#include "pages.h"

static const char *const kinds[] = { "host", "host:shareable" };
static int populate_error; /* 0: the kernel's own */
WRAPPED(int, madvise, (void *address, size_t size, int advice))
{
	if (advice == MADV_POPULATE_WRITE && populate_error) {
		errno = populate_error;
		return -1;
	}
	return __real_madvise(address, size, advice);
}

static void check_fetched(size_t expected, uint32_t flags)
{
	for (size_t i = 0; i < 2; i++) {
		struct dray_node *node = open_node(kinds[i]);
		struct dray_buffer *buffer = allocate(
			node, 8 * MIB, (struct dray_pages){ .flags = flags });
		char *data = dray_buffer_data(buffer);

		assert_int_equal(resident(data, 8 * MIB), expected);
		assert_true(all_bytes_are(data, 0, 8 * MIB));
		dray_buffer_unref(buffer);
		dray_node_unref(node);
	}
}

BRIEF(FACT_ON(on_host, pages_come_when_they_are_touched, NULL, NULL),
      check_fetched(0, 0));
BRIEF(FACT_ON(on_host, or_at_once_where_that_is_asked_for, NULL, NULL),
      check_fetched(8 * MIB, DRAY_PAGES_PREFAULT));

FACT_ON(on_host, an_old_kernel_has_them_touched, NULL, NULL)
{
	populate_error = EINVAL;
	check_fetched(8 * MIB, DRAY_PAGES_PREFAULT);
	populate_error = 0;
}

FACT_ON(on_host, pages_that_cannot_be_fetched_are_no_memory, NULL, NULL)
{
	const struct dray_pages pages = { .flags = DRAY_PAGES_PREFAULT };

	for (size_t i = 0; i < 2; i++) {
		populate_error = EFAULT;
		assert_fails(try_to_allocate(kinds[i], MIB, pages), -ENOMEM,
			     "fetching 1048576 bytes");
		populate_error = EHWPOISON;
		assert_fails(try_to_allocate(kinds[i], MIB, pages), -EHWPOISON,
			     "fetching 1048576 bytes");
	}
	populate_error = 0;
}

FACT_ON(on_host, a_pool_has_its_pages_before_its_blocks, NULL, NULL)
{
	const struct dray_pool_options options = {
		.initial = MIB,
		.pages.flags = DRAY_PAGES_PREFAULT,
	};

	for (size_t i = 0; i < 2; i++) {
		struct dray_pool *pool = open_pool(kinds[i], &options);
		char *small = take(pool, MIB / 2, 0);
		char *large = take(pool, 80 * MIB, 0);

		assert_int_equal(resident(small, MIB / 2), MIB / 2);
		assert_int_equal(resident(large, 80 * MIB), 80 * MIB);
		/* They stay, whatever is freed, until somebody says so. */
		memset(large, 1, 80 * MIB);
		dray_pool_free(pool, large);
		assert_int_equal(resident(large, 80 * MIB), 80 * MIB);
		assert_true(dray_pool_trim(pool) >= 80 * MIB);
		assert_int_equal(resident(large, 80 * MIB), 0);
		dray_pool_free(pool, small);
		dray_pool_close(pool);
	}
}

FACT_ON(on_host, a_pool_that_cannot_fetch_says_so, NULL, NULL)
{
	const struct dray_pool_options options = {
		.initial = MIB,
		.pages.flags = DRAY_PAGES_PREFAULT,
	};
	struct dray_pool *pool = open_pool("host", &options), *other;

	populate_error = ENOMEM;
	assert_fails(dray_pool_create(dray_pool_node(pool), &options, &other),
		     -ENOMEM, "fetching");
	errno = 0;
	assert_null(dray_pool_alloc(pool, 2 * MIB, 0));
	assert_int_equal(errno, ENOMEM);
	assert_non_null(strstr(dray_last_error(), "fetching"));
	assert_int_equal(stats_of(pool).reserved, MIB);
	populate_error = 0;
	dray_pool_free(pool, take(pool, 2 * MIB, 0));
	dray_pool_close(pool);
}

FACT(what_makes_no_sense_is_refused)
{
	assert_fails(try_pages(test_spec(), .flags = 4), -EINVAL,
		     "unknown flags of pages 0x4");
	assert_fails(try_pages(test_spec(), .policy = 4), -EINVAL,
		     "4 is not a NUMA policy");
	assert_fails(try_pages(test_spec(), .numa_nodes = 1), -EINVAL,
		     "one needs the other");
	assert_fails(try_pages(test_spec(), .policy = DRAY_NUMA_BIND), -EINVAL,
		     "one needs the other");
	assert_fails(try_pages(test_spec(), .policy = DRAY_NUMA_PREFERRED,
			       .numa_nodes = 3),
		     -EINVAL, "one NUMA node can be preferred");
}

FACT(a_pool_refuses_the_same)
{
	const struct dray_pool_options options = { .pages.policy = 9 };
	struct dray_node *node = open_node(test_spec());
	struct dray_pool *pool;

	assert_fails(dray_pool_create(node, &options, &pool), -EINVAL,
		     "9 is not a NUMA policy");
	dray_node_unref(node);
}

FACT_ON(on_kernel, the_module_has_pages_of_its_own, node_setup, node_teardown)
{
	struct dray_buffer *buffer;

	assert_fails(try_pages(test_spec(), .flags = DRAY_PAGES_HUGE),
		     -EOPNOTSUPP, "allocates from heaps");
	assert_fails(try_pages(test_spec(), .policy = DRAY_NUMA_BIND,
			       .numa_nodes = NODE_0),
		     -EOPNOTSUPP, "allocates from heaps");
	/* All its memory is there from the start. */
	buffer = allocate(*state, MIB,
			  (struct dray_pages){ .flags = DRAY_PAGES_PREFAULT });
	dray_buffer_unref(buffer);
}
