// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * CANCEL: what it refuses, and what it leaves alone.  What it stops is shown
 * with an engine that takes its time, in ../engine.
 */
#include "fixture_engine.h"

static int cancel(FIXTURE_DATA(engine) * self, struct dray_cancel *args)
{
	return node_call(self->node, DRAY_IOC_CANCEL, args);
}

TEST_F(engine, cancel_of_nothing_stops_nothing)
{
	struct dray_cancel args = {
		.fence_fd = -1,
		.channel = DRAY_CHANNEL_ANY,
		.count = 7,
	};

	ASSERT_EQ(0, cancel(self, &args));
	EXPECT_EQ(0, args.count);
	EXPECT_EQ(0, args.reason);
}

TEST_F(engine, cancel_of_what_is_done_leaves_its_fence_alone)
{
	struct dray_transfer transfer = engine_copy(self, self->page);
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	struct dray_cancel args = { 0 };

	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit));
	ASSERT_EQ(1, fence_wait(submit.fence_fd));
	args.fence_fd = submit.fence_fd;
	ASSERT_EQ(0, cancel(self, &args));
	EXPECT_EQ(0, args.count);
	EXPECT_EQ(1, fence_status(submit.fence_fd));
}

TEST_F(engine, cancel_of_a_long_job_ends_it_and_the_memory_is_free_again)
{
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	struct dray_cancel args = { .fence_fd = -1,
				    .channel = DRAY_CHANNEL_ANY };
	struct dray_transfer transfer = engine_slow(self);
	int status;

	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit));
	ASSERT_EQ(0, cancel(self, &args));
	status = fence_wait(submit.fence_fd);
	EXPECT_EQ(args.count ? -ECANCELED : 1, status);
	READ_BUFFER(info, self->dst.id);
	EXPECT_EQ(0, info.transfers);
}

TEST_F(engine, unknown_flags_are_refused)
{
	struct dray_cancel args = {
		.fence_fd = -1,
		.channel = DRAY_CHANNEL_ANY,
		.flags = 1,
	};

	EXPECT_EQ(-EINVAL, cancel(self, &args));
	args.flags = 0;
	args.reserved = 1;
	EXPECT_EQ(-EINVAL, cancel(self, &args));
}

TEST_F(engine, a_channel_that_is_not_there_is_refused)
{
	struct dray_cancel args = {
		.fence_fd = -1,
		.channel = self->info.channel_count,
	};

	EXPECT_EQ(-EINVAL, cancel(self, &args));
	EXPECT_EQ(DRAY_REASON_CHANNEL, args.reason);
	EXPECT_EQ(self->info.channel_count, args.limit);
}

TEST_F(engine, a_descriptor_that_is_no_fence_is_refused)
{
	struct dray_cancel args = { .fence_fd = self->src.fd };

	EXPECT_EQ(-EINVAL, cancel(self, &args));
	EXPECT_EQ(DRAY_REASON_FOREIGN, args.reason);
	EXPECT_EQ((uint64_t)self->src.fd, args.limit);
	args.fence_fd = open("/dev/null", O_RDONLY);
	ASSERT_LE(0, args.fence_fd);
	EXPECT_EQ(-EINVAL, cancel(self, &args));
	close(args.fence_fd);
	EXPECT_EQ(-EBADF, cancel(self, &args));
	EXPECT_EQ(DRAY_REASON_FOREIGN, args.reason);
}
