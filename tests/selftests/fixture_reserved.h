/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The fixture of tests that hold for dedicated memory only, which a test may
 * fill: nobody else lives in it.
 */
#ifndef SELFTEST_FIXTURE_RESERVED_H
#define SELFTEST_FIXTURE_RESERVED_H

#include "ledger.h"
#include "process.h"
#include "setup.h"

FIXTURE(reserved)
{
	int node;
	size_t page;
	struct dray_heap_info heap;
	struct ledger before;
};

FIXTURE_SETUP(reserved)
{
	SETUP_NODE();
	SETUP_HEAP(DRAY_HEAP_RESERVED);
	ASSERT_EQ(0, ledger_take(self->node, &self->before));
}

FIXTURE_TEARDOWN_PARENT(reserved)
{
	EXPECT_EQ(0, ledger_differences(&self->before));
}

#endif
