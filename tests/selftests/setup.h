/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What fixtures begin with, for use in FIXTURE_SETUP.  A fixture that uses
 * these has `int node` and `size_t page`, and `struct dray_heap_info heap` for
 * the second.  What fails ends the test.
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
