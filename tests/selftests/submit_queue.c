// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * SUBMIT, order: what one queue makes of it, a queue that is full, several
 * queues, and signals during a wait.
 */
#include <sys/time.h>

#include "fixture_engine.h"

TEST_F(engine, buffers_in_flight_are_counted)
{
	SUBMIT_SLOW(submit, transfer);
	READ_BUFFER(info, self->dst.id);
	EXPECT_EQ(0, fence_status(submit.fence_fd));
	EXPECT_LE(1, info.transfers);
	ASSERT_EQ(1, fence_wait(submit.fence_fd));
	ASSERT_EQ(0, node_buffer_info(self->node, self->dst.id, &info));
	EXPECT_EQ(0, info.transfers);
}

TEST_F(engine, what_is_submitted_later_on_a_channel_ends_later)
{
	struct dray_submit slow = { 0 }, quick = { 0 };
	struct dray_transfer transfer = engine_slow(self);
	struct dray_transfer second = engine_copy(self, self->unit);

	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &slow));
	ASSERT_EQ(0, engine_submit(self, &second, 1, &quick));
	ASSERT_EQ(1, fence_wait(quick.fence_fd));
	EXPECT_EQ(1, fence_status(slow.fence_fd));
}

TEST_F(engine, another_channel_does_not_wait)
{
	struct dray_submit slow = { .channel = 0 }, quick = { .channel = 1 };
	struct dray_transfer transfer = engine_slow(self);
	struct dray_transfer second = engine_copy(self, self->unit);

	SKIP_IF(self->info.channel_count < 2, "this node has one DMA channel");
	/* other buffers, so that no reservation orders the two */
	OPEN_BUFFER(other, DRAY_HEAP_ANY, 2 * self->page);
	second.dst_fd = other.fd;
	second.src_fd = other.fd;
	second.src_offset = self->page;
	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &slow));
	ASSERT_EQ(0, engine_submit(self, &second, 1, &quick));
	EXPECT_EQ(1, fence_wait(quick.fence_fd));
	EXPECT_EQ(0, fence_status(slow.fence_fd));
	EXPECT_EQ(1, fence_wait(slow.fence_fd));
}

TEST_F(engine, a_full_queue_says_so_instead_of_waiting)
{
	struct dray_submit slow = { 0 }, submit;
	struct dray_transfer first = engine_slow(self);
	struct dray_transfer next = engine_copy(self, self->unit);
	uint32_t i;
	int ret = 0;

	ASSERT_EQ(0, engine_submit(self, &first, 1, &slow));
	for (i = 1; !ret && i < self->info.queue_depth + 1; i++) {
		submit = (struct dray_submit){ .flags = DRAY_SUBMIT_NONBLOCK };
		ret = engine_submit(self, &next, 1, &submit);
		if (!ret)
			close(submit.fence_fd);
	}
	/* the first holds its place all the time, else this says nothing */
	ASSERT_EQ(0, fence_status(slow.fence_fd));
	EXPECT_EQ(-EAGAIN, ret);
	EXPECT_EQ(self->info.queue_depth + 1, i);
	EXPECT_EQ(DRAY_REASON_BUSY, submit.reason);
	EXPECT_EQ(self->info.queue_depth, submit.limit);
	ASSERT_EQ(1, fence_wait(slow.fence_fd));
}

TEST_F(engine, a_blocking_submit_waits_for_its_place)
{
	struct dray_submit slow = { 0 }, submit = { 0 };
	struct dray_transfer first = engine_slow(self);
	struct dray_transfer next = engine_copy(self, self->unit);

	ASSERT_EQ(0, engine_submit(self, &first, 1, &slow));
	for (uint32_t i = 0; i < 2 * self->info.queue_depth; i++) {
		submit = (struct dray_submit){ 0 };
		ASSERT_EQ(0, engine_submit(self, &next, 1, &submit));
		if (i + 1 < 2 * self->info.queue_depth)
			close(submit.fence_fd);
	}
	EXPECT_EQ(1, fence_status(slow.fence_fd));
	EXPECT_EQ(1, fence_wait(submit.fence_fd));
}

static void no_more(int number)
{
}

TEST_F(engine, a_signal_ends_the_wait_for_a_place)
{
	/* again and again: one may come before the call */
	struct itimerval often = { .it_interval = { .tv_usec = 10000 },
				   .it_value = { .tv_usec = 10000 } };
	struct itimerval never = { 0 };
	struct sigaction action = { .sa_handler = no_more };
	struct dray_submit slow = { 0 }, submit = { 0 };
	struct dray_transfer first = engine_slow(self);
	struct dray_transfer next = engine_copy(self, self->unit);
	int ret = 0;
	uint32_t i;

	ASSERT_EQ(0, engine_submit(self, &first, 1, &slow));
	ASSERT_EQ(0, sigaction(SIGALRM, &action, NULL));
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &often, NULL));
	for (i = 0; !ret && i <= self->info.queue_depth; i++) {
		submit = (struct dray_submit){ 0 };
		ret = engine_submit(self, &next, 1, &submit);
		if (!ret)
			close(submit.fence_fd);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	EXPECT_EQ(-EINTR, ret);
	ASSERT_EQ(1, fence_wait(slow.fence_fd));
	EXPECT_EQ(0, engine_run(self, &next, 1));
}

TEST_F(engine, a_signal_ends_the_cpus_wait_for_the_engine)
{
	struct itimerval often = { .it_interval = { .tv_usec = 10000 },
				   .it_value = { .tv_usec = 10000 } };
	struct itimerval never = { 0 };
	struct sigaction action = { .sa_handler = no_more };
	struct dray_submit slow = { 0 };
	struct dray_transfer transfer = engine_slow(self);
	int ret;

	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &slow));
	ASSERT_EQ(0, sigaction(SIGALRM, &action, NULL));
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &often, NULL));
	ret = cpu_begin(self->dst.fd, DMA_BUF_SYNC_READ);
	setitimer(ITIMER_REAL, &never, NULL);
	EXPECT_EQ(-EINTR, ret);
	EXPECT_EQ(1, fence_wait(slow.fence_fd));
}

TEST_F(engine, every_opener_has_a_queue_of_its_own)
{
	struct dray_submit slow = { 0 }, submit = { 0 };
	struct dray_transfer first = engine_slow(self);
	struct dray_transfer next = engine_copy(self, self->unit);
	int other = node_open();
	int ret = 0;

	ASSERT_LE(0, other);
	ASSERT_EQ(0, engine_submit(self, &first, 1, &slow));
	/* one slot of their user is left */
	for (uint32_t i = 2; !ret && i < self->info.queue_depth; i++) {
		submit = (struct dray_submit){ .flags = DRAY_SUBMIT_NONBLOCK };
		ret = engine_submit(self, &next, 1, &submit);
	}
	ASSERT_EQ(0, ret);
	submit = (struct dray_submit)SUBMIT_OF(0, &next, 1,
					       .flags = DRAY_SUBMIT_NONBLOCK);
	EXPECT_EQ(0, node_call(other, DRAY_IOC_SUBMIT, &submit));
	EXPECT_EQ(1, fence_wait(submit.fence_fd));
}

TEST_F(engine, the_job_runs_on_when_the_reply_cannot_be_written)
{
	struct dray_transfer transfer = engine_copy(self, BUFFER_SIZE);
	struct dray_submit submit = SUBMIT_OF(DRAY_CHANNEL_ANY, &transfer, 1);
	void *page = mmap(NULL, self->page, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, page);
	memcpy(page, &submit, sizeof(submit));
	ASSERT_EQ(0, mprotect(page, self->page, PROT_READ));
	ASSERT_EQ(-EFAULT, node_call(self->node, DRAY_IOC_SUBMIT, page));
	/* without a fence, the buffer still waits for who writes it */
	ASSERT_EQ(0, cpu_begin(self->dst.fd, DMA_BUF_SYNC_READ));
	model_transfer(self->model, 2, &transfer);
	EXPECT_EQ(-1, engine_difference(self));
}
