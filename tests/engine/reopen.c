// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A dead channel that root lets serve again while its node stays bound.  Needs
 * dray_test_engine.ko, then dray.ko with nodes=1 channels=2.
 */
#include "fixture_fault.h"

static int reopen(FIXTURE_DATA(fault) * self, const char *channel)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/class/misc/%s/reopen",
		 self->info.name);
	return write_text(path, channel);
}

/* Channel 0; the status of the fence that ends with it. */
static int kill_channel(FIXTURE_DATA(fault) * self)
{
	int ret = copy_and_hang(self);

	return watchdog(PATIENT) ?: ret;
}

static bool is_dead(FIXTURE_DATA(fault) * self)
{
	struct dray_channel_info channel;

	return node_channel(self->node, 0, &channel) ||
	       channel.flags & DRAY_CHANNEL_DEAD;
}

TEST_F(fault, a_dead_channel_that_is_reopened_serves_again)
{
	struct dray_submit submit;

	ASSERT_EQ(-ETIMEDOUT, kill_channel(self));
	EXPECT_TRUE(is_dead(self));
	EXPECT_EQ(-EIO, submit_on(self, 0, &submit));
	ASSERT_EQ(0, reopen(self, "0"));
	READ_CHANNEL(channel, 0);
	EXPECT_EQ(DRAY_CHANNEL_COPY, channel.flags);
	ASSERT_EQ(0, knob("hang", 0));
	EXPECT_EQ(1, copy_on(self, 0));
}

TEST_F(fault, memory_of_the_job_that_hung_stays_out_of_use_after_reopening)
{
	READ_HEAP(before, 0);
	ASSERT_EQ(-ETIMEDOUT, kill_channel(self));
	ASSERT_EQ(0, reopen(self, "0"));
	buffer_close(&self->src);
	buffer_close(&self->dst);
	EXPECT_EQ(0, node_count(self->node));
	READ_HEAP(now, 0);
	EXPECT_EQ(16 * PIECE, now.quarantined - before.quarantined);
}

TEST_F(fault, an_engine_that_cannot_be_stopped_is_not_reopened)
{
	ASSERT_EQ(-ETIMEDOUT, kill_channel(self));
	ASSERT_EQ(0, knob("stubborn", 1));
	EXPECT_EQ(-EBUSY, reopen(self, "0"));
	EXPECT_TRUE(is_dead(self));
	ASSERT_EQ(0, knob("stubborn", 0));
	EXPECT_EQ(0, reopen(self, "0"));
	EXPECT_FALSE(is_dead(self));
}

TEST_F(fault, reopening_does_nothing_to_the_jobs_of_a_living_channel)
{
	struct dray_submit submit;

	ASSERT_EQ(0, knob("hang", 1));
	ASSERT_EQ(0, submit_on(self, 0, &submit));
	EXPECT_EQ(0, reopen(self, "0"));
	EXPECT_EQ(0, fence_status(submit.fence_fd));
	ASSERT_EQ(0, knob("hang", 0));
	EXPECT_EQ(1, fence_wait(submit.fence_fd));
	EXPECT_TRUE(is_equal(self));
}

TEST_F(fault, a_channel_that_is_not_there_cannot_be_reopened)
{
	EXPECT_EQ(-EINVAL, reopen(self, "2"));
	EXPECT_EQ(-EINVAL, reopen(self, "-1"));
	EXPECT_EQ(-EINVAL, reopen(self, "copy0"));
}
