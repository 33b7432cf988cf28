/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The fixture of tests that hold for every heap: each runs once for each type
 * that the node has, and nothing may be left over after it.
 */
#ifndef SELFTEST_FIXTURE_HEAP_H
#define SELFTEST_FIXTURE_HEAP_H

#include "ledger.h"
#include "process.h"
#include "setup.h"

FIXTURE(heap)
{
	int node;
	size_t page;
	struct dray_heap_info heap;
	struct ledger before;
};

HEAP_VARIANTS(heap);

FIXTURE_SETUP(heap)
{
	SETUP_NODE();
	SETUP_HEAP(variant->type);
	ASSERT_EQ(0, ledger_take(self->node, &self->before));
}

FIXTURE_TEARDOWN_PARENT(heap)
{
	EXPECT_EQ(0, ledger_reclaimed_differences(&self->before));
}

#endif
