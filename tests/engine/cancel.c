// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * CANCEL while an engine hangs: what is fed no more, what drains, and how many
 * the call says it has stopped.
 */
#include "fixture_fault.h"

static int cancel(int node, int fence, struct dray_cancel *args)
{
	*args = (struct dray_cancel){
		.fence_fd = fence,
		.channel = DRAY_CHANNEL_ANY,
	};
	return node_call(node, DRAY_IOC_CANCEL, args);
}

TEST_F(fault, what_the_engine_does_not_have_yet_is_not_fed)
{
	struct dray_cancel args;
	struct dray_submit slow;

	/* four slots, eight descriptors: the second round never comes */
	ASSERT_EQ(0, knob("hang", 1));
	ASSERT_EQ(0, submit_on(self, 0, &slow));
	ASSERT_EQ(0, cancel(self->node, slow.fence_fd, &args));
	EXPECT_EQ(1, args.count);
	ASSERT_EQ(0, knob("hang", 0));
	EXPECT_EQ(-ECANCELED, fence_wait(slow.fence_fd));
	EXPECT_NE(0, memcmp(self->src.bytes + 4 * PIECE,
			    self->dst.bytes + 4 * PIECE, 4 * PIECE));
}

TEST_F(fault, what_was_issued_drains_before_the_fence_signals)
{
	struct dray_cancel args;
	struct dray_submit slow;

	ASSERT_EQ(0, knob("hang", 1));
	ASSERT_EQ(0, submit_on(self, 0, &slow));
	ASSERT_TRUE(engine_fills());
	ASSERT_EQ(0, cancel(self->node, slow.fence_fd, &args));
	EXPECT_EQ(1, args.count);
	EXPECT_EQ(0, fence_status(slow.fence_fd));
	READ_BUFFER(info, self->dst.id);
	EXPECT_EQ(1, info.transfers);
	ASSERT_EQ(0, knob("hang", 0));
	EXPECT_EQ(-ECANCELED, fence_wait(slow.fence_fd));
	ASSERT_EQ(0, node_buffer_info(self->node, self->dst.id, &info));
	EXPECT_EQ(0, info.transfers);
}

TEST_F(fault, one_of_a_queue_is_cancelled_and_the_others_are_done)
{
	struct dray_submit first, second, third;
	struct dray_cancel args;

	ASSERT_EQ(0, knob("hang", 1));
	ASSERT_EQ(0, submit_on(self, 0, &first));
	ASSERT_EQ(0, submit_on(self, 0, &second));
	ASSERT_EQ(0, submit_on(self, 0, &third));
	ASSERT_EQ(0, cancel(self->node, second.fence_fd, &args));
	EXPECT_EQ(1, args.count);
	ASSERT_EQ(0, knob("hang", 0));
	EXPECT_EQ(1, fence_wait(third.fence_fd));
	EXPECT_EQ(-ECANCELED, fence_status(second.fence_fd));
	EXPECT_EQ(1, fence_status(first.fence_fd));
	EXPECT_TRUE(is_equal(self));
}

TEST_F(fault, all_of_an_opener_are_cancelled_and_the_other_openers_are_not)
{
	int other = node_open(), mine = self->node;
	struct dray_submit first, second, theirs;
	struct dray_cancel args;

	ASSERT_LE(0, other);
	ASSERT_EQ(0, knob("hang", 1));
	ASSERT_EQ(0, submit_on(self, 0, &first));
	ASSERT_EQ(0, submit_on(self, 1, &second));
	self->node = other;
	ASSERT_EQ(0, submit_on(self, 0, &theirs));
	self->node = mine;
	ASSERT_EQ(0, cancel(mine, -1, &args));
	EXPECT_EQ(2, args.count);
	ASSERT_EQ(0, knob("hang", 0));
	EXPECT_EQ(-ECANCELED, fence_wait(first.fence_fd));
	EXPECT_EQ(-ECANCELED, fence_wait(second.fence_fd));
	EXPECT_EQ(1, fence_wait(theirs.fence_fd));
	close(other);
}

TEST_F(fault, one_channel_is_cancelled_and_the_other_one_is_not)
{
	struct dray_cancel args = { .fence_fd = -1, .channel = 1 };
	struct dray_submit first, second;

	ASSERT_EQ(0, knob("hang", 1));
	ASSERT_EQ(0, submit_on(self, 0, &first));
	ASSERT_EQ(0, submit_on(self, 1, &second));
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_CANCEL, &args));
	EXPECT_EQ(1, args.count);
	ASSERT_EQ(0, knob("hang", 0));
	EXPECT_EQ(1, fence_wait(first.fence_fd));
	EXPECT_EQ(-ECANCELED, fence_wait(second.fence_fd));
}

TEST_F(fault, what_waits_for_an_in_fence_need_not_wait_any_more)
{
	struct dray_transfer transfer = whole(self);
	struct dray_submit hung, after = {
		.channel = 1,
		.transfers = (uintptr_t)&transfer,
		.count = 1,
		.in_fence_count = 1,
	};
	struct dray_cancel args;

	ASSERT_EQ(0, knob("hang", 1));
	ASSERT_EQ(0, submit_on(self, 0, &hung));
	after.in_fences = (uintptr_t)&hung.fence_fd;
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_SUBMIT, &after));
	ASSERT_EQ(0, cancel(self->node, after.fence_fd, &args));
	EXPECT_EQ(1, args.count);
	EXPECT_EQ(-ECANCELED, fence_wait(after.fence_fd));
	EXPECT_EQ(0, fence_status(hung.fence_fd));
	ASSERT_EQ(0, knob("hang", 0));
	EXPECT_EQ(1, fence_wait(hung.fence_fd));
}

TEST_F(fault, what_the_engine_has_all_of_ends_as_it_ends)
{
	struct dray_transfer transfer = whole(self);
	struct dray_submit submit = SUBMIT_OF(0, &transfer, 1);
	struct dray_cancel args;

	/* the work item feeds it some time after the call */
	transfer.run = PIECE;
	ASSERT_EQ(0, knob("hang", 1));
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_SUBMIT, &submit));
	ASSERT_EQ(0, cancel(self->node, submit.fence_fd, &args));
	ASSERT_EQ(0, knob("hang", 0));
	if (args.count) {
		EXPECT_EQ(-ECANCELED, fence_wait(submit.fence_fd));
	} else {
		EXPECT_EQ(1, fence_wait(submit.fence_fd));
		EXPECT_EQ(0, memcmp(self->src.bytes, self->dst.bytes, PIECE));
	}
}

TEST_F(fault, a_second_cancel_stops_nothing_more)
{
	struct dray_cancel args;
	struct dray_submit slow;

	ASSERT_EQ(0, knob("hang", 1));
	ASSERT_EQ(0, submit_on(self, 0, &slow));
	ASSERT_EQ(0, cancel(self->node, slow.fence_fd, &args));
	ASSERT_EQ(0, cancel(self->node, slow.fence_fd, &args));
	EXPECT_EQ(0, args.count);
	ASSERT_EQ(0, cancel(self->node, -1, &args));
	EXPECT_EQ(0, args.count);
	ASSERT_EQ(0, knob("hang", 0));
	EXPECT_EQ(-ECANCELED, fence_wait(slow.fence_fd));
}

TEST_F(fault, a_cancelled_opener_submits_again)
{
	struct dray_submit slow, again;
	struct dray_cancel args;

	ASSERT_EQ(0, knob("hang", 1));
	ASSERT_EQ(0, submit_on(self, 0, &slow));
	ASSERT_EQ(0, cancel(self->node, -1, &args));
	ASSERT_EQ(0, submit_on(self, 0, &again));
	ASSERT_EQ(0, knob("hang", 0));
	EXPECT_EQ(1, fence_wait(again.fence_fd));
	EXPECT_EQ(-ECANCELED, fence_status(slow.fence_fd));
	EXPECT_TRUE(is_equal(self));
}

/* When that process sleeps, in the call that waits for a slot. */
static int let_it_go_on(void *pid)
{
	return wait_for(process_sleeps, pid) && !knob("hang", 0) ? 0 : 1;
}

TEST_F(fault, cancel_wakes_who_waits_for_a_slot)
{
	struct dray_submit submit;
	struct dray_cancel args;
	pid_t mine = getpid(), child;

	ASSERT_EQ(0, knob("hang", 1));
	for (uint32_t i = 0; i < self->info.queue_depth; i++)
		ASSERT_EQ(0, submit_on(self, 0, &submit));
	ASSERT_EQ(0, cancel(self->node, -1, &args));
	EXPECT_LE(self->info.queue_depth - 1, args.count);
	child = process_start(let_it_go_on, &mine);
	ASSERT_LT(0, child);
	/* blocks until the round that is out has drained, no longer */
	ASSERT_EQ(0, submit_on(self, 0, &submit));
	EXPECT_EQ(1, fence_wait(submit.fence_fd));
	EXPECT_EQ(0, process_wait(child));
}

TEST_F(fault, the_fence_of_another_opener_is_refused)
{
	struct dray_cancel args;
	struct dray_submit slow;

	OPEN_NODE(other);
	ASSERT_EQ(0, knob("hang", 1));
	ASSERT_EQ(0, submit_on(self, 0, &slow));
	EXPECT_EQ(-EINVAL, cancel(other, slow.fence_fd, &args));
	EXPECT_EQ(DRAY_REASON_FOREIGN, args.reason);
	EXPECT_EQ((uint64_t)slow.fence_fd, args.limit);
	ASSERT_EQ(0, knob("hang", 0));
	EXPECT_EQ(1, fence_wait(slow.fence_fd));
	close(other);
}
