// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * RECLAIM: frees memory that is held, for whoever may; and until then neither the
 * module goes nor does an unbind change anything.
 */
#include "binding.h"
#include "fixture_held.h"
#include "step.h"

static int reclaim(int node, uint64_t id, struct dray_reclaim *call)
{
	*call = (struct dray_reclaim){ .id = id };
	return node_call(node, DRAY_IOC_RECLAIM, call);
}

TEST_F(held, reclaim_frees_one)
{
	uint64_t first = hold_one(self), second = hold_one(self);
	struct dray_reclaim call;

	ASSERT_NE(0, first);
	ASSERT_NE(0, second);
	ASSERT_EQ(0, reclaim(self->node, first, &call));
	EXPECT_EQ(1, call.count);
	EXPECT_EQ(PAGES * self->page, call.bytes);
	EXPECT_EQ(0, node_lists(self->node, first));
	EXPECT_TRUE(is_held(self->node, second));
	EXPECT_EQ(-ENOENT, reclaim(self->node, first, &call));
	ASSERT_EQ(0, reclaim(self->node, second, &call));
	EXPECT_EQ(0, ledger_differences(&self->before));
}

TEST_F(held, reclaim_frees_all)
{
	struct dray_reclaim call;

	ASSERT_NE(0, hold_one(self));
	ASSERT_NE(0, hold_one(self));
	ASSERT_EQ(0, reclaim(self->node, 0, &call));
	EXPECT_EQ(2, call.count);
	EXPECT_EQ(2 * PAGES * self->page, call.bytes);
	EXPECT_EQ(0, ledger_differences(&self->before));
	ASSERT_EQ(0, reclaim(self->node, 0, &call));
	EXPECT_EQ(0, call.count);
}

TEST_F(held, reclaim_leaves_what_is_in_use)
{
	struct dray_reclaim call;

	OPEN_BUFFER(buffer, self->heap.index, self->page);
	EXPECT_EQ(-ENOENT, reclaim(self->node, buffer.id, &call));
	EXPECT_EQ(-ENOENT, reclaim(self->node, UINT64_MAX, &call));
	EXPECT_EQ(0, reclaim(self->node, 0, &call));
	EXPECT_EQ(0, call.count);
	EXPECT_EQ(1, node_lists(self->node, buffer.id));
	fill_random(buffer.bytes, buffer.size, 3);
}

TEST_F(held, reclaim_knows_no_flags)
{
	struct dray_reclaim call = { .flags = 1 };

	EXPECT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_RECLAIM, &call));
}

/* 1 refused with the right reason, else something went wrong */
static int reclaim_without_right(void *context)
{
	uint64_t *id = context;
	struct dray_reclaim call;
	int node = node_open();

	STEP_LE(0, node);
	STEP_EQ(0, process_keep(CAPABILITY(CAP_SYS_ADMIN)));
	STEP_EQ(-EPERM, reclaim(node, *id, &call));
	STEP_EQ(DRAY_REASON_PERMISSION, call.reason);
	STEP_EQ(-EPERM, reclaim(node, 0, &call));
	STEP_EQ(0, call.count);
	return 1;
}

TEST_F(held, without_rawio_reclaim_is_refused)
{
	uint64_t id = hold_one(self);

	ASSERT_NE(0, id);
	EXPECT_EQ(1, process_run(reclaim_without_right, &id));
	EXPECT_TRUE(is_held(self->node, id));
}

static long module_references(void)
{
	FILE *file = fopen("/sys/module/dray/refcnt", "r");
	long count = -1;

	if (!file || fscanf(file, "%ld", &count) != 1)
		count = -1;
	if (file)
		fclose(file);
	return count;
}

TEST_F(held, the_module_stays_as_long_as_memory_is_held)
{
	long before = module_references();
	struct dray_reclaim call;
	uint64_t id;

	/* What is a part of the kernel has no state of being loaded. */
	SKIP_IF(access("/sys/module/dray/initstate", F_OK),
		"dray is no module here");
	id = hold_one(self);
	ASSERT_LT(0, before);
	ASSERT_NE(0, id);
	EXPECT_EQ(before + 1, module_references());
	EXPECT_EQ(-1, syscall(SYS_delete_module, "dray", O_NONBLOCK));
	EXPECT_EQ(EAGAIN, errno);
	ASSERT_EQ(0, reclaim(self->node, id, &call));
	EXPECT_EQ(before, module_references());
}

TEST_F(held, unbind_completes_and_the_memory_is_held_on)
{
	struct dray_reclaim call;
	struct binding binding;
	uint64_t id = hold_one(self);

	ASSERT_NE(0, id);
	ASSERT_EQ(0, binding_find(self->node, &binding));
	close(self->node);
	ASSERT_EQ(0, binding_unbind(&binding));
	ASSERT_EQ(0, binding_bind(&binding));
	self->node = node_open();
	ASSERT_LE(0, self->node);
	EXPECT_TRUE(is_held(self->node, id));
	EXPECT_EQ(0, reclaim(self->node, id, &call));
	EXPECT_EQ(0, ledger_differences(&self->before));
}
