/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The node that a test runs on: the host, or what DRAY_TEST_NODE names, as
 * "kernel" on a machine with the module.
 */
#ifndef DRAY_TESTS_NODE_H
#define DRAY_TESTS_NODE_H

#include "unit.h"

static inline const char *test_spec(void)
{
	const char *spec = getenv("DRAY_TEST_NODE");

	return spec && *spec ? spec : "host";
}

static inline bool on_kernel(void)
{
	return !strncmp(test_spec(), "kernel", 6);
}

static inline bool on_host(void)
{
	return !on_kernel();
}

/* How often to throw dice: less on an emulated board, where all is slow. */
static inline int rounds(int most)
{
	return on_kernel() ? most / 20 : most;
}

static inline struct dray_node *open_node(const char *spec)
{
	struct dray_node *node = NULL;

	assert_works(dray_node_open(spec, &node));
	return node;
}

/* Memory that other processes can be given. */
static inline struct dray_node *open_shareable_node(void)
{
	return open_node(on_kernel() ? test_spec() : "host:shareable");
}

static inline int node_setup(void **state)
{
	*state = open_node(test_spec());
	return 0;
}

static inline int node_teardown(void **state)
{
	dray_node_unref(*state);
	return 0;
}

/* A fact whose state is a node. */
#define NODE_FACT(name) FACT_WITH(name, node_setup, node_teardown)

static inline size_t buffers_of(struct dray_node *node)
{
	size_t count = SIZE_MAX;

	assert_works(dray_node_list(node, NULL, 0, &count));
	return count;
}

static inline bool all_bytes_are(const void *memory, int value, size_t size)
{
	const unsigned char *bytes = memory;

	/* Each byte equals the one before it, and the first is right. */
	return !size ||
	       (bytes[0] == value && !memcmp(bytes, bytes + 1, size - 1));
}

/* Bytes of the pages of a range that are in memory; @start begins one. */
static inline size_t resident(const void *start, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), i, bytes = 0;
	unsigned char *there = malloc((size + page - 1) / page);

	assert_non_null(there);
	assert_int_equal(mincore((void *)start, size, there), 0);
	for (i = 0; i < (size + page - 1) / page; i++)
		bytes += there[i] & 1 ? page : 0;
	free(there);
	return bytes;
}

#endif /* DRAY_TESTS_NODE_H */
