/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Starts of fixtures and of tests.  A fixture that uses SETUP_NODE() has `int node`
 * and `size_t page`, and one with SETUP_HEAP() `struct dray_heap_info heap`.  Any
 * failure ends the test.
 */
#ifndef SELFTEST_SETUP_H
#define SELFTEST_SETUP_H

#include "harness.h"

#include "node.h"

#define SETUP_NODE()                                                          \
	do {                                                                  \
		self->node = node_open();                                     \
		ASSERT_LE(0, self->node)                                      \
		{                                                             \
			TH_LOG("%s: %s", node_path(), strerror(-self->node)); \
		}                                                             \
		self->page = (size_t)sysconf(_SC_PAGESIZE);                   \
	} while (0)

/* The node's heap of that type; where it has none the test is skipped. */
#define SETUP_HEAP(heap_type)                                               \
	do {                                                                \
		int found =                                                 \
			node_find_heap(self->node, heap_type, &self->heap); \
		if (found == -ENOENT)                                       \
			SKIP(return, "this node has no %s heap",            \
				   heap_type_name(heap_type));              \
		ASSERT_EQ(0, found);                                        \
	} while (0)

#define NEED_ADDRESSES()                                      \
	SKIP_IF(!(self->info.flags & DRAY_NODE_ADDRESS),      \
		"this node tells no addresses")
#define NEED_ATTACHING()         \
	SKIP_IF(node_copies(),   \
		"nothing is attached for a device that gets copies")

/* Skips the test if @given, a descriptor or an errno, says that vgem is missing. */
#define NEED_VGEM(given)                                            \
	SKIP_IF((given) == -ENODEV, "the module vgem is not loaded"); \
	ASSERT_LE(0, given)

/* Each declares its first argument and reads or opens it. */
#define DECLARE(assertion, type, name, function, ...) \
	type name;                                    \
	assertion(0, function(self->node, __VA_ARGS__))

#define OPEN_NODE(name)         \
	int name = node_open(); \
	ASSERT_LE(0, name)
#define ALLOCATE_BUFFER(name, heap, size)                               \
	DECLARE(ASSERT_EQ, struct buffer, name, buffer_allocate, heap, \
		size, &name)
/* The same with a mapping. */
#define OPEN_BUFFER(name, heap, size)                                     \
	DECLARE(ASSERT_EQ, struct buffer, name, buffer_open, heap, size, \
		&name)
#define ATTACH_MEMORY(name, bytes, size, flags)                      \
	DECLARE(ASSERT_LE, struct dray_attach, name, attach_memory, \
		bytes, size, flags, &name)
#define ATTACH_DMA_BUF(name, fd, flags)                                   \
	DECLARE(ASSERT_LE, struct dray_attach, name, attach_dma_buf, fd, \
		flags, &name)
#define READ_NODE(name) \
	DECLARE(ASSERT_EQ, struct dray_info, name, node_info, &name)
#define READ_HEAP(name, index)                                             \
	DECLARE(ASSERT_EQ, struct dray_heap_info, name, node_heap, index, \
		&name)
#define READ_CHANNEL(name, index)                                       \
	DECLARE(ASSERT_EQ, struct dray_channel_info, name, node_channel, \
		index, &name)
#define READ_BUFFER(name, id)                                              \
	DECLARE(ASSERT_EQ, struct dray_buffer_info, name, node_buffer_info, \
		id, &name)

/* Every test once for each type of heap whose memory the kernel maps. */
#define HEAP_VARIANTS(fixture)                  \
	FIXTURE_VARIANT(fixture)                \
	{                                       \
		uint32_t type;                  \
	};                                      \
	FIXTURE_VARIANT_ADD(fixture, reserved){ \
		.type = DRAY_HEAP_RESERVED,     \
	};                                      \
	FIXTURE_VARIANT_ADD(fixture, cma){      \
		.type = DRAY_HEAP_CMA,          \
	};                                      \
	FIXTURE_VARIANT_ADD(fixture, pages)     \
	{                                       \
		.type = DRAY_HEAP_PAGES,        \
	}

#endif
