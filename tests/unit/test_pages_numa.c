// SPDX-License-Identifier: Apache-2.0 OR MIT
/* pages: those of a NUMA node are where the kernel says that they are. */
#include <linux/mempolicy.h>

#include "pages.h"

static const char *const kinds[] = { "host", "host:shareable" };

static void skip_without_numa(void)
{
	void *page = mmap(NULL, MIB, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long mask = NODE_0;
	long ret = syscall(SYS_mbind, page, MIB, MPOL_BIND, &mask, 65ul, 0);

	munmap(page, MIB);
	if (ret)
		skip();
}

static void check_policy_at(const void *address, int expected)
{
	unsigned long mask[16] = { 0 };
	int mode = -1;

	assert_int_equal(syscall(SYS_get_mempolicy, &mode, mask,
				 8 * sizeof(mask), address, MPOL_F_ADDR),
			 0);
	assert_int_equal(mode, expected);
	assert_int_equal(mask[0], expected == MPOL_DEFAULT ? 0 : NODE_0);
}

/* What /proc/self/numa_maps has for the mapping that begins there. */
static void check_numa_maps(const void *start, const char *expected)
{
	FILE *file = fopen("/proc/self/numa_maps", "re");
	char line[512], policy[64];
	uintptr_t address;
	bool found = false;

	assert_non_null(file);
	while (!found && fgets(line, sizeof(line), file))
		found = sscanf(line, "%" SCNxPTR " %63s", &address, policy) ==
				2 &&
			address == (uintptr_t)start;
	fclose(file);
	assert_true(found);
	assert_string_equal(policy, expected);
}

FACT(a_policy_is_that_of_the_mapping)
{
	static const struct {
		uint32_t policy;
		int mode;
		const char *name;
	} policies[] = {
		{ DRAY_NUMA_PREFERRED, MPOL_PREFERRED, "prefer:0" },
		{ DRAY_NUMA_BIND, MPOL_BIND, "bind:0" },
		{ DRAY_NUMA_INTERLEAVE, MPOL_INTERLEAVE, "interleave:0" },
	};
	struct dray_buffer *buffer;
	size_t i, j;

	skip_without_numa();
	for (i = 0; i < 6; i++) {
		struct dray_node *node = open_node(kinds[i % 2]);

		j = i / 2;
		buffer = allocate(node, MIB,
				  (struct dray_pages){
					  .policy = policies[j].policy,
					  .numa_nodes = NODE_0,
				  });
		check_policy_at(dray_buffer_data(buffer), policies[j].mode);
		check_numa_maps(dray_buffer_data(buffer), policies[j].name);
		dray_buffer_unref(buffer);
		/* The next one there has none of it. */
		buffer = allocate(node, MIB, (struct dray_pages){ 0 });
		check_policy_at(dray_buffer_data(buffer), MPOL_DEFAULT);
		dray_buffer_unref(buffer);
		dray_node_unref(node);
	}
}

FACT(a_pool_has_it_wherever_it_grows)
{
	const struct dray_pool_options options = {
		.initial = MIB,
		.pages = { .policy = DRAY_NUMA_BIND,
			   .numa_nodes = NODE_0,
			   .flags = DRAY_PAGES_PREFAULT },
	};

	skip_without_numa();
	for (size_t i = 0; i < 2; i++) {
		struct dray_pool *pool = open_pool(kinds[i], &options);
		char *small = take(pool, MIB / 2, 0);
		char *large = take(pool, 40 * MIB, 0);

		check_policy_at(small, MPOL_BIND);
		check_policy_at(large, MPOL_BIND);
		check_policy_at(large + 40 * MIB - 1, MPOL_BIND);
		dray_pool_free(pool, small);
		dray_pool_free(pool, large);
		dray_pool_close(pool);
	}
}

FACT(a_node_that_is_not_there_is_named)
{
	skip_without_numa();
	assert_fails(try_pages("host", .policy = DRAY_NUMA_BIND,
			       .numa_nodes = 1ull << 63),
		     -EINVAL, "nodes 0x8000000000000000");
}

/*
 * Machines with two NUMA nodes are rare; the emulated PC has them, and says so:
 * there nothing is skipped.
 */
static void skip_without_second_node(void)
{
	unsigned long mask[16] = { 0 };

	skip_without_numa();
	assert_int_equal(syscall(SYS_get_mempolicy, NULL, mask,
				 8 * sizeof(mask), NULL, MPOL_F_MEMS_ALLOWED),
			 0);
	if (mask[0] & NODE_1)
		return;
	assert_null(getenv("DRAY_TEST_TWO_NUMA_NODES"));
	skip();
}

/* How many of the pages that begin there lie on each of both nodes. */
static void count_pages(char *start, size_t size, size_t counts[2])
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), offset;

	counts[0] = counts[1] = 0;
	for (offset = 0; offset < size; offset += page) {
		void *address = start + offset;
		int node = -1;

		assert_int_equal(syscall(SYS_move_pages, 0, 1ul, &address, NULL,
					 &node, 0),
				 0);
		assert_in_range(node, 0, 1);
		counts[node]++;
	}
}

FACT(pages_lie_where_the_policy_says)
{
	static const struct {
		uint32_t policy;
		uint64_t nodes;
		size_t parts[2]; /* of the two nodes, in halves */
	} policies[] = {
		{ DRAY_NUMA_BIND, NODE_0, { 2, 0 } },
		{ DRAY_NUMA_BIND, NODE_1, { 0, 2 } },
		{ DRAY_NUMA_PREFERRED, NODE_0, { 2, 0 } },
		{ DRAY_NUMA_PREFERRED, NODE_1, { 0, 2 } },
		{ DRAY_NUMA_INTERLEAVE, NODE_0 | NODE_1, { 1, 1 } },
	};
	size_t half = MIB / 2 / (size_t)sysconf(_SC_PAGESIZE), counts[2], i, j;

	skip_without_second_node();
	for (i = 0; i < 2; i++) {
		struct dray_node *node = open_node(kinds[i]);

		for (j = 0; j < 5; j++) {
			struct dray_buffer *buffer = allocate(
				node, MIB,
				(struct dray_pages){
					.flags = DRAY_PAGES_PREFAULT,
					.policy = policies[j].policy,
					.numa_nodes = policies[j].nodes,
				});

			count_pages(dray_buffer_data(buffer), MIB, counts);
			assert_int_equal(counts[0],
					 policies[j].parts[0] * half);
			assert_int_equal(counts[1],
					 policies[j].parts[1] * half);
			dray_buffer_unref(buffer);
		}
		dray_node_unref(node);
	}
}

FACT(what_a_pool_grows_by_lies_there_too)
{
	const struct dray_pool_options options = {
		.initial = MIB,
		.pages = { .policy = DRAY_NUMA_BIND,
			   .numa_nodes = NODE_1,
			   .flags = DRAY_PAGES_PREFAULT },
	};
	size_t counts[2], i;

	skip_without_second_node();
	for (i = 0; i < 2; i++) {
		struct dray_pool *pool = open_pool(kinds[i], &options);
		char *large = take(pool, 40 * MIB, 0);

		count_pages(large, 40 * MIB, counts);
		assert_int_equal(counts[0], 0);
		dray_pool_free(pool, large);
		dray_pool_close(pool);
	}
}

FACTS_ON(on_host)
