// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * An engine whose driver is known to call copies done that were not: no fence
 * of such a copy is 1.  Needs dray_test_engine.ko with zynqmp=1, then dray.ko
 * with nodes=1 channels=2.
 */
#include "fixture_fault.h"

/* One descriptor. */
static int submit_piece(FIXTURE_DATA(fault) * self, struct dray_submit *submit)
{
	struct dray_transfer transfer = whole(self);

	transfer.run = PIECE;
	*submit = (struct dray_submit)SUBMIT_OF(0, &transfer, 1);
	return node_call(self->node, DRAY_IOC_SUBMIT, submit);
}

TEST_F(fault, a_copy_that_a_reset_reports_as_done_has_failed)
{
	struct dray_submit submit;

	ASSERT_EQ(0, knob("reset", 1));
	ASSERT_EQ(0, watchdog(IMPATIENT));
	ASSERT_EQ(0, submit_piece(self, &submit));
	EXPECT_EQ(-ETIMEDOUT, fence_wait(submit.fence_fd));
	EXPECT_NE(0, memcmp(self->src.bytes, self->dst.bytes, PIECE));
}

TEST_F(fault, a_round_of_which_nothing_arrives_has_failed_and_the_channel_lives)
{
	struct dray_submit submit;

	ASSERT_EQ(0, knob("idle", 1));
	ASSERT_EQ(0, submit_on(self, 0, &submit));
	EXPECT_EQ(-EIO, fence_wait(submit.fence_fd));
	READ_CHANNEL(channel, 0);
	EXPECT_EQ(0, channel.flags & DRAY_CHANNEL_DEAD);
	ASSERT_EQ(0, knob("idle", 0));
	EXPECT_EQ(1, copy_on(self, 0));
}

TEST_F(fault, each_round_has_one_descriptor_more_of_the_few_that_there_are)
{
	int before = parameter_read("dray_test_engine", "descriptors");
	struct dray_submit submit;

	ASSERT_EQ(0, knob("slots", 2));
	ASSERT_EQ(0, submit_on(self, 0, &submit));
	EXPECT_EQ(8, submit.runs);
	EXPECT_EQ(1, fence_wait(submit.fence_fd));
	EXPECT_TRUE(is_equal(self));
	EXPECT_EQ(before + 16,
		  parameter_read("dray_test_engine", "descriptors"));
}

TEST_F(fault,
       an_engine_with_room_for_nothing_else_is_given_up_and_can_come_back)
{
	struct dray_submit submit;

	ASSERT_EQ(0, knob("slots", 1));
	ASSERT_EQ(0, watchdog(IMPATIENT));
	ASSERT_EQ(0, submit_on(self, 0, &submit));
	EXPECT_EQ(-EIO, fence_wait(submit.fence_fd));
	ASSERT_EQ(0, knob("slots", 4));
	ASSERT_EQ(0, watchdog(PATIENT));
	EXPECT_EQ(1, copy_on(self, 0));
}
