/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The fixture of tests that hold for every heap: each runs once for each type
 * that the node has, and nothing may be left over after it.
 */
#ifndef SELFTEST_FIXTURE_HEAP_H
#define SELFTEST_FIXTURE_HEAP_H

#include "harness.h"

#include "ledger.h"
#include "node.h"
#include "process.h"

FIXTURE(heap)
{
	int node;
	size_t page;
	struct dray_heap_info heap;
	struct ledger before;
};

FIXTURE_VARIANT(heap)
{
	uint32_t type;
};

FIXTURE_VARIANT_ADD(heap, reserved){
	.type = DRAY_HEAP_RESERVED,
};

FIXTURE_VARIANT_ADD(heap, cma){
	.type = DRAY_HEAP_CMA,
};

FIXTURE_VARIANT_ADD(heap, pages){
	.type = DRAY_HEAP_PAGES,
};

FIXTURE_SETUP(heap)
{
	int ret;

	self->node = node_open();
	ASSERT_LE(0, self->node)
	{
		TH_LOG("%s: %s", node_path(), strerror(-self->node));
	}
	ret = node_find_heap(self->node, variant->type, &self->heap);
	if (ret == -ENOENT)
		SKIP(return, "this node has no %s heap",
			   heap_type_name(variant->type));
	ASSERT_EQ(0, ret);
	ASSERT_EQ(0, ledger_take(self->node, &self->before));
	self->page = (size_t)sysconf(_SC_PAGESIZE);
}

FIXTURE_TEARDOWN_PARENT(heap)
{
	EXPECT_EQ(0, node_reclaim());
	EXPECT_EQ(0, ledger_differences(&self->before));
}

#endif
