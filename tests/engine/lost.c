// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Callbacks that do not come, and callbacks that come too often: a round is
 * over when the engine's status says so, and never before.
 */
#include "fixture_fault.h"

TEST_F(fault, a_round_that_is_lost_without_a_callback_is_timed_out)
{
	struct dray_submit submit;

	ASSERT_EQ(0, knob("lose", 1));
	ASSERT_EQ(0, watchdog(IMPATIENT));
	ASSERT_EQ(0, submit_on(self, 0, &submit));
	EXPECT_EQ(-ETIMEDOUT, fence_wait(submit.fence_fd));
	READ_CHANNEL(channel, 0);
	EXPECT_NE(0, channel.flags & DRAY_CHANNEL_DEAD);
	EXPECT_FALSE(is_equal(self));
}

TEST_F(fault, a_job_of_one_descriptor_is_not_hurt_by_a_loss)
{
	struct dray_transfer transfer = whole(self);
	struct dray_submit submit = SUBMIT_OF(0, &transfer, 1);

	transfer.run = PIECE;
	ASSERT_EQ(0, knob("lose", 1));
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_SUBMIT, &submit));
	EXPECT_EQ(1, fence_wait(submit.fence_fd));
	EXPECT_EQ(0, memcmp(self->src.bytes, self->dst.bytes, PIECE));
}

/* As after a lost interrupt: only the status of the last descriptor tells. */
TEST_F(fault, a_round_that_is_done_without_a_callback_costs_time_and_no_channel)
{
	ASSERT_EQ(0, knob("mute", 1));
	ASSERT_EQ(0, watchdog(IMPATIENT));
	EXPECT_EQ(1, copy_on(self, 0));
	READ_CHANNEL(channel, 0);
	EXPECT_EQ(0, channel.flags & DRAY_CHANNEL_DEAD);
	ASSERT_EQ(0, knob("mute", 0));
	ASSERT_EQ(0, watchdog(PATIENT));
	memset(self->dst.bytes, 0, self->dst.size);
	EXPECT_EQ(1, copy_on(self, 0));
}

TEST_F(fault, stale_callbacks_do_not_end_a_round_before_its_time)
{
	ASSERT_EQ(0, knob("stale", 1));
	ASSERT_EQ(0, knob("delay_ms", 20));
	EXPECT_EQ(1, copy_on(self, 0));
}

TEST_F(fault, stale_callbacks_do_not_hold_a_round_up)
{
	struct dray_submit submit;

	ASSERT_EQ(0, knob("stale", 1));
	for (int i = 0; i < 20; i++) {
		ASSERT_EQ(0, submit_on(self, 0, &submit));
		EXPECT_EQ(1, fence_wait(submit.fence_fd));
		close(submit.fence_fd);
	}
	EXPECT_TRUE(is_equal(self));
}

/*
 * The engine holds a round until the machine goes on, later than the deadline:
 * neither the watchdog nor the engine was able to run.
 */
TEST_F(fault, a_machine_that_stood_still_has_not_lost_its_channel)
{
	struct dray_submit submit;

	/* No longer: RCU and others have patience for a few seconds. */
	ASSERT_EQ(0, watchdog(4000));
	ASSERT_EQ(0, knob("hang", 1));
	ASSERT_EQ(0, submit_on(self, 0, &submit));
	ASSERT_TRUE(engine_fills());
	ASSERT_EQ(0, knob("still", 4100));
	EXPECT_EQ(1, fence_wait(submit.fence_fd));
	READ_CHANNEL(channel, 0);
	EXPECT_EQ(0, channel.flags & DRAY_CHANNEL_DEAD);
	EXPECT_TRUE(is_equal(self));
}
