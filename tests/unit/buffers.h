/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Buffers of a node, those that can be shared, and descriptors of this process. */
#ifndef DRAY_TESTS_BUFFERS_H
#define DRAY_TESTS_BUFFERS_H

#include "node.h"

static inline struct dray_buffer *alloc(struct dray_node *node, uint64_t size)
{
	struct dray_buffer *buffer = NULL;

	assert_works(dray_buffer_alloc(node, size, NULL, &buffer));
	return buffer;
}

static inline int open_descriptors(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* A node whose buffers can be passed on: kernel, or shareable host memory. */
static inline struct dray_node *open_sharing(void)
{
	return open_node(on_kernel() ? test_spec() : "host:shareable");
}

#endif /* DRAY_TESTS_BUFFERS_H */
