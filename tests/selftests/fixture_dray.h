/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The fixture of most tests: the node is open, and after each test, in a
 * process that outlives it, nothing may be left over.
 */
#ifndef SELFTEST_FIXTURE_DRAY_H
#define SELFTEST_FIXTURE_DRAY_H

#include "ledger.h"
#include "process.h"
#include "setup.h"

FIXTURE(dray)
{
	int node;
	size_t page;
	struct dray_info info;
	struct ledger before;
};

FIXTURE_SETUP(dray)
{
	SETUP_NODE();
	ASSERT_EQ(0, node_info(self->node, &self->info));
	ASSERT_EQ(0, ledger_take(self->node, &self->before));
}

FIXTURE_TEARDOWN_PARENT(dray)
{
	EXPECT_EQ(0, ledger_reclaimed_differences(&self->before));
}

#endif
