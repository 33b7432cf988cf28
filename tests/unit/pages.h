/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Host memory whose pages are as the caller asks. */
#ifndef DRAY_TESTS_PAGES_H
#define DRAY_TESTS_PAGES_H

#include "memory/window.h"
#include "pool.h"

#define MIB ((size_t)1 << 20)
#define NODE_0 1	/* of NUMA; there is always one */
#define NODE_1 2

static inline struct dray_buffer *allocate(struct dray_node *node, size_t size,
				    struct dray_pages pages)
{
	struct dray_buffer_options options = { .pages = pages };
	struct dray_buffer *buffer = NULL;

	assert_works(dray_buffer_alloc(node, size, &options, &buffer));
	return buffer;
}

static inline int try_to_allocate(const char *spec, size_t size,
			   struct dray_pages pages)
{
	struct dray_buffer_options options = { .pages = pages };
	struct dray_node *node = open_node(spec);
	struct dray_buffer *buffer;
	size_t before = buffers_of(node), room = dray_window_room();
	int ret = dray_buffer_alloc(node, size, &options, &buffer);

	if (!ret)
		dray_buffer_unref(buffer);
	assert_int_equal(buffers_of(node), before);
	assert_int_equal(dray_window_room(), room);
	dray_node_unref(node);
	return ret;
}

/* Tries it with a MiB, of whose pages the further arguments are fields. */
#define try_pages(spec, ...) \
	try_to_allocate(spec, MIB, (struct dray_pages){ __VA_ARGS__ })

#endif /* DRAY_TESTS_PAGES_H */
