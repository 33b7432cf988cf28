/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The fixture of tests that hold for dedicated memory only, which a test may
 * fill: nobody else lives in it.
 */
#ifndef SELFTEST_FIXTURE_RESERVED_H
#define SELFTEST_FIXTURE_RESERVED_H

#include "harness.h"

#include "ledger.h"
#include "node.h"
#include "process.h"

FIXTURE(reserved)
{
	int node;
	size_t page;
	struct dray_heap_info heap;
	struct ledger before;
};

FIXTURE_SETUP(reserved)
{
	int ret;

	self->node = node_open();
	ASSERT_LE(0, self->node)
	{
		TH_LOG("%s: %s", node_path(), strerror(-self->node));
	}
	ret = node_find_heap(self->node, DRAY_HEAP_RESERVED, &self->heap);
	if (ret == -ENOENT)
		SKIP(return, "this node has no reserved heap");
	ASSERT_EQ(0, ret);
	ASSERT_EQ(0, ledger_take(self->node, &self->before));
	self->page = (size_t)sysconf(_SC_PAGESIZE);
}

FIXTURE_TEARDOWN_PARENT(reserved)
{
	EXPECT_EQ(0, ledger_differences(&self->before));
}

#endif
