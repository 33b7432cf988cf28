/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The fixture of tests that take the node's device away: whatever a test did,
 * the node is there for the next one.
 */
#ifndef SELFTEST_FIXTURE_BOUND_H
#define SELFTEST_FIXTURE_BOUND_H

#include "binding.h"
#include "ledger.h"
#include "process.h"
#include "setup.h"

FIXTURE(bound)
{
	int node;
	size_t page;
	struct dray_info info;
	struct ledger before;
	struct binding binding;
};

FIXTURE_SETUP(bound)
{
	SETUP_NODE();
	ASSERT_EQ(0, node_info(self->node, &self->info));
	ASSERT_EQ(0, ledger_take(self->node, &self->before));
	ASSERT_EQ(0, binding_find(self->node, &self->binding));
}

FIXTURE_TEARDOWN_PARENT(bound)
{
	if (!node_answers(NULL)) {
		EXPECT_EQ(0, binding_bind(&self->binding));
	}
	EXPECT_EQ(0, ledger_reclaimed_differences(&self->before));
}

#endif
