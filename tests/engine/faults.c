// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Transfers on an engine that is late, fails, hangs, or has nothing to give:
 * what the fence says, what becomes of the channel, and that the memory which
 * a hanging engine may still write is not given out again.
 */
#include <sys/time.h>

#include "../selftests/tracing.h"
#include "fixture_fault.h"

TEST_F(fault, more_runs_than_the_engine_has_descriptors_are_copied)
{
	struct dray_submit submit;

	ASSERT_EQ(0, knob("slots", 1));
	ASSERT_EQ(0, submit_on(self, 0, &submit));
	EXPECT_EQ(8, submit.runs);
	EXPECT_EQ(1, fence_wait(submit.fence_fd));
	EXPECT_TRUE(is_equal(self));
}

TEST_F(fault, an_engine_without_descriptors_is_given_up_and_can_come_back)
{
	struct dray_submit submit;

	ASSERT_EQ(0, knob("slots", 0));
	ASSERT_EQ(0, watchdog(IMPATIENT));
	ASSERT_EQ(0, submit_on(self, 0, &submit));
	EXPECT_EQ(-EIO, fence_wait(submit.fence_fd));
	ASSERT_EQ(0, knob("slots", 4));
	ASSERT_EQ(0, watchdog(PATIENT));
	EXPECT_EQ(1, copy_on(self, 0));
}

TEST_F(fault, an_error_of_the_engine_is_the_fences_and_the_channel_lives)
{
	struct dray_submit submit;

	ASSERT_EQ(0, knob("fail", 1));
	ASSERT_EQ(0, submit_on(self, 0, &submit));
	EXPECT_EQ(-EIO, fence_wait(submit.fence_fd));
	READ_CHANNEL(channel, 0);
	EXPECT_EQ(1, channel.failed);
	EXPECT_EQ(0, channel.flags & DRAY_CHANNEL_DEAD);
	ASSERT_EQ(0, knob("fail", 0));
	EXPECT_EQ(1, copy_on(self, 0));
}

/* The trace says why, as the fence does: of what failed, hung, or never began. */
TEST_F(fault, the_end_of_a_failed_job_is_an_event_with_its_error)
{
	struct dray_submit failed, hung, behind;

	TRACE_BEGIN();
	ASSERT_EQ(0, knob("fail", 1));
	ASSERT_EQ(0, submit_on(self, 0, &failed));
	EXPECT_EQ(-EIO, fence_wait(failed.fence_fd));
	EXPECT_TRUE(trace_has("dray_complete:", "seqno=1 "));
	EXPECT_TRUE(trace_has("dray_complete:", "error=-5"));
	EXPECT_FALSE(trace_has("dray_complete:", "error=0"));
	ASSERT_EQ(0, knob("fail", 0));
	TRACE_BEGIN();
	ASSERT_EQ(0, submit_two_that_hang(self, &hung, &behind));
	EXPECT_EQ(-ETIMEDOUT, fence_wait(hung.fence_fd));
	EXPECT_EQ(-EIO, fence_wait(behind.fence_fd));
	tracing_stop();
	EXPECT_TRUE(trace_has("channel=copy1 ", "error=-110"));
	EXPECT_TRUE(trace_has("channel=copy1 ", "error=-5"));
	EXPECT_FALSE(trace_has("channel=copy1 ", "error=0"));
}

TEST_F(fault, a_channel_that_hangs_is_dead_and_the_other_one_serves)
{
	struct dray_submit first, second, submit;

	ASSERT_EQ(0, submit_two_that_hang(self, &first, &second));
	EXPECT_EQ(-ETIMEDOUT, fence_wait(first.fence_fd));
	EXPECT_EQ(-EIO, fence_wait(second.fence_fd));
	READ_CHANNEL(channel, 1);
	EXPECT_NE(0, channel.flags & DRAY_CHANNEL_DEAD);
	EXPECT_EQ(2, channel.failed);

	EXPECT_EQ(-EIO, submit_on(self, 1, &submit));
	EXPECT_EQ(DRAY_REASON_DEAD, submit.reason);
	EXPECT_EQ(1, submit.limit);
	ASSERT_EQ(0, watchdog(PATIENT));
	ASSERT_EQ(0, submit_on(self, DRAY_CHANNEL_ANY, &submit));
	EXPECT_EQ(0, submit.channel);
	EXPECT_EQ(1, fence_wait(submit.fence_fd));
}

/* The CPU may take back what such a channel had; behind it there is a device. */
TEST_F(fault, a_channel_that_is_dead_is_a_target_of_sync_until_its_node_goes)
{
	struct dray_range range = { .fd = self->dst.fd,
				    .width = self->dst.size,
				    .rows = 1 };
	struct dray_sync sync = {
		.owner = DRAY_SYNC_FOR_CPU,
		.direction = DRAY_FROM_DEVICE,
		.count = 1,
		.ranges = (uintptr_t)&range,
	};
	struct dray_submit submit;

	ASSERT_EQ(0, knob("hang", 1));
	ASSERT_EQ(0, watchdog(IMPATIENT));
	ASSERT_EQ(0, submit_on(self, 0, &submit));
	EXPECT_EQ(-ETIMEDOUT, fence_wait(submit.fence_fd));
	EXPECT_EQ(0, node_call(self->node, DRAY_IOC_SYNC, &sync));
	ASSERT_EQ(0, knob("hang", 0));
	ASSERT_EQ(0, write_text(DRIVER "unbind", "dray-virtual.0"));
	EXPECT_EQ(-ENODEV, node_call(self->node, DRAY_IOC_SYNC, &sync));
	/* as the fixture expects it */
	ASSERT_EQ(0, write_text(DRIVER "bind", "dray-virtual.0"));
}

struct lost {
	int node;
	int count;
};

static bool lists_count(void *context)
{
	struct lost *lost = context;

	return node_count(lost->node) == lost->count;
}

TEST_F(fault, memory_of_a_hanging_engine_is_kept_until_it_has_finished)
{
	struct lost lost = { .node = self->node };
	struct dray_submit submit;

	ASSERT_EQ(0, knob("hang", 1));
	ASSERT_EQ(0, watchdog(IMPATIENT));
	ASSERT_EQ(0, submit_on(self, 0, &submit));
	EXPECT_EQ(-ETIMEDOUT, fence_wait(submit.fence_fd));
	close(submit.fence_fd);
	buffer_close(&self->src);
	buffer_close(&self->dst);
	EXPECT_EQ(2, node_count(self->node));
	READ_BUFFER(info, self->dst.id);
	EXPECT_EQ(1, info.transfers);
	ASSERT_EQ(0, knob("hang", 0));
	EXPECT_TRUE(wait_for(lists_count, &lost));
}

TEST_F(fault, unbinding_a_hanging_node_completes_and_memory_stays_out_of_use)
{
	struct dray_heap_info now;
	struct dray_submit submit;

	READ_HEAP(before, 0);
	ASSERT_EQ(0, knob("hang", 1));
	ASSERT_EQ(0, watchdog(IMPATIENT));
	ASSERT_EQ(0, submit_on(self, 0, &submit));
	EXPECT_EQ(-ETIMEDOUT, fence_wait(submit.fence_fd));
	EXPECT_EQ(0, write_text(DRIVER "unbind", "dray-virtual.0"));
	EXPECT_EQ(-ENODEV, node_heap(self->node, 0, &now));
	EXPECT_EQ(-ENODEV, submit_on(self, 0, &submit));
	/* the mapping stays, and can be written */
	memset(self->dst.bytes, 1, self->dst.size);
	close(self->node);
	buffer_close(&self->src);
	buffer_close(&self->dst);
	ASSERT_EQ(0, write_text(DRIVER "bind", "dray-virtual.0"));
	ASSERT_TRUE(wait_for(node_answers, NULL));
	self->node = node_open();
	ASSERT_LE(0, self->node);
	EXPECT_EQ(0, node_count(self->node));
	ASSERT_EQ(0, node_heap(self->node, 0, &now));
	EXPECT_EQ(before.buffers - 2, now.buffers);
	EXPECT_EQ(16 * PIECE, now.quarantined - before.quarantined);
}

TEST_F(fault, unbinding_drains_what_is_out_and_refuses_what_waits)
{
	struct dray_submit slow, queued;
	int ret;

	ASSERT_EQ(0, knob("hang", 1));
	ASSERT_EQ(0, submit_on(self, 0, &slow));
	ASSERT_EQ(0, submit_on(self, 0, &queued));
	EXPECT_EQ(0, unbind_held(DRIVER, "dray-virtual.0"));
	ret = fence_status(slow.fence_fd);
	EXPECT_TRUE(ret == 1 || ret == -ENODEV)
	{
		TH_LOG("the fence says %d", ret);
	}
	EXPECT_EQ(-ENODEV, fence_status(queued.fence_fd));
}

TEST_F(fault, an_in_fence_of_another_channel_holds_a_transfer_back)
{
	struct dray_transfer transfer = whole(self);
	struct dray_submit slow, after = {
		.channel = 1,
		.transfers = (uintptr_t)&transfer,
		.count = 1,
		.in_fence_count = 1,
	};

	ASSERT_EQ(0, knob("stuck", 1));
	ASSERT_EQ(0, submit_on(self, 0, &slow));
	after.in_fences = (uintptr_t)&slow.fence_fd;
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_SUBMIT, &after));
	EXPECT_EQ(0, fence_status(after.fence_fd));
	ASSERT_EQ(0, knob("stuck", 0));
	EXPECT_EQ(1, fence_wait(after.fence_fd));
	EXPECT_EQ(1, fence_status(slow.fence_fd));
}

TEST_F(fault, a_transfer_behind_a_failed_in_fence_is_cancelled)
{
	struct dray_transfer transfer = whole(self);
	struct dray_submit failed, after = {
		.channel = 1,
		.transfers = (uintptr_t)&transfer,
		.count = 1,
		.in_fence_count = 1,
	};

	ASSERT_EQ(0, knob("hang", 1));
	ASSERT_EQ(0, knob("fail", 1));
	ASSERT_EQ(0, submit_on(self, 0, &failed));
	after.in_fences = (uintptr_t)&failed.fence_fd;
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_SUBMIT, &after));
	ASSERT_EQ(0, knob("hang", 0));
	EXPECT_EQ(-ECANCELED, fence_wait(after.fence_fd));
	EXPECT_EQ(-EIO, fence_status(failed.fence_fd));
}

TEST_F(fault, closing_the_node_cancels_what_waits_for_an_in_fence)
{
	struct dray_transfer transfer = whole(self);
	int other = node_open();
	struct dray_submit slow, after = {
		.channel = 1,
		.transfers = (uintptr_t)&transfer,
		.count = 1,
		.in_fence_count = 1,
	};

	ASSERT_LE(0, other);
	ASSERT_EQ(0, knob("hang", 1));
	ASSERT_EQ(0, submit_on(self, 0, &slow));
	after.in_fences = (uintptr_t)&slow.fence_fd;
	ASSERT_EQ(0, node_call(other, DRAY_IOC_SUBMIT, &after));
	close(other);
	EXPECT_EQ(-ECANCELED, fence_wait(after.fence_fd));
	EXPECT_EQ(0, fence_status(slow.fence_fd));
	ASSERT_EQ(0, knob("hang", 0));
	EXPECT_EQ(1, fence_wait(slow.fence_fd));
}

static void ignore(int number)
{
}

TEST_F(fault, a_full_queue_says_so_or_waits_and_can_be_interrupted)
{
	struct sigaction action = { .sa_handler = ignore };
	/* again and again: one may come before the call */
	struct itimerval often = { .it_interval.tv_usec = 100000,
				   .it_value.tv_usec = 100000 };
	struct itimerval never = { 0 };
	struct dray_transfer transfer = whole(self);
	struct dray_submit submit, extra = {
		.channel = 0,
		.flags = DRAY_SUBMIT_NONBLOCK,
		.transfers = (uintptr_t)&transfer,
		.count = 1,
	};
	uint32_t i;

	ASSERT_EQ(0, sigaction(SIGALRM, &action, NULL));
	ASSERT_EQ(0, knob("hang", 1));
	for (i = 0; i < self->info.queue_depth; i++)
		ASSERT_EQ(0, submit_on(self, 0, &submit));
	EXPECT_EQ(-EAGAIN, node_call(self->node, DRAY_IOC_SUBMIT, &extra));
	EXPECT_EQ(DRAY_REASON_BUSY, extra.reason);
	EXPECT_EQ(self->info.queue_depth, extra.limit);
	extra.flags = 0;
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &often, NULL));
	EXPECT_EQ(-EINTR, node_call(self->node, DRAY_IOC_SUBMIT, &extra));
	setitimer(ITIMER_REAL, &never, NULL);
}

TEST_F(fault, the_module_stays_while_a_fence_is_held)
{
	struct dray_submit submit;

	ASSERT_EQ(0, submit_on(self, 0, &submit));
	EXPECT_EQ(1, fence_wait(submit.fence_fd));
	buffer_close(&self->src);
	buffer_close(&self->dst);
	close(self->node);
	EXPECT_EQ(-1, syscall(SYS_delete_module, "dray", O_NONBLOCK));
	EXPECT_EQ(EAGAIN, errno);
	close(submit.fence_fd);
	self->node = -1;
}
