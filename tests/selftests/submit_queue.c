// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * SUBMIT, order: out-fences, in-fences, chains across channels, a full queue,
 * and signals during a wait.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/time.h>

#include <linux/dma-buf.h>

#include "fixture_engine.h"

static void close_all(int *fences, unsigned int count)
{
	while (count--)
		close(fences[count]);
}

TEST_F(engine, the_fence_signals_with_success)
{
	struct dray_transfer transfer = engine_copy(self, self->page);
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };

	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit));
	ASSERT_LE(0, submit.fence_fd);
	EXPECT_EQ(FD_CLOEXEC, fcntl(submit.fence_fd, F_GETFD) & FD_CLOEXEC);
	EXPECT_EQ(1, fence_wait(submit.fence_fd));
	EXPECT_EQ(1, fence_status(submit.fence_fd));
	EXPECT_TRUE(fence_is_readable(submit.fence_fd));
}

TEST_F(engine, the_fence_is_not_signalled_while_the_engine_works)
{
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	struct dray_axis axis;
	struct dray_transfer transfer = engine_slow(self, &axis);

	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit));
	EXPECT_EQ(0, fence_status(submit.fence_fd));
	EXPECT_FALSE(fence_is_readable(submit.fence_fd));
	EXPECT_EQ(1, fence_wait(submit.fence_fd));
	model_transfer(self->model, 2, &transfer);
	EXPECT_EQ(-1, engine_difference(self));
}

TEST_F(engine, buffers_in_flight_are_counted)
{
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	struct dray_buffer_info info;
	struct dray_axis axis;
	struct dray_transfer transfer = engine_slow(self, &axis);

	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit));
	ASSERT_EQ(0, node_buffer_info(self->node, self->dst.id, &info));
	EXPECT_EQ(0, fence_status(submit.fence_fd));
	EXPECT_LE(1, info.transfers);
	ASSERT_EQ(1, fence_wait(submit.fence_fd));
	ASSERT_EQ(0, node_buffer_info(self->node, self->dst.id, &info));
	EXPECT_EQ(0, info.transfers);
}

TEST_F(engine, what_is_submitted_later_on_a_channel_ends_later)
{
	struct dray_submit slow = { 0 }, quick = { 0 };
	struct dray_axis axis;
	struct dray_transfer transfer = engine_slow(self, &axis);
	struct dray_transfer second = engine_copy(self, self->unit);

	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &slow));
	ASSERT_EQ(0, engine_submit(self, &second, 1, &quick));
	ASSERT_EQ(1, fence_wait(quick.fence_fd));
	EXPECT_EQ(1, fence_status(slow.fence_fd));
}

TEST_F(engine, another_channel_does_not_wait)
{
	struct dray_submit slow = { .channel = 0 }, quick = { .channel = 1 };
	struct dray_axis axis;
	struct dray_transfer transfer = engine_slow(self, &axis);
	struct dray_transfer second = engine_copy(self, self->unit);
	struct buffer other;

	if (self->info.channel_count < 2)
		SKIP(return, "this node has one DMA channel");
	/* other buffers, so that no reservation orders the two */
	ASSERT_EQ(0, buffer_open(self->node, DRAY_HEAP_ANY, 2 * self->page,
				 &other));
	second.dst_fd = other.fd;
	second.src_fd = other.fd;
	second.src_offset = self->page;
	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &slow));
	ASSERT_EQ(0, engine_submit(self, &second, 1, &quick));
	EXPECT_EQ(1, fence_wait(quick.fence_fd));
	EXPECT_EQ(0, fence_status(slow.fence_fd));
	EXPECT_EQ(1, fence_wait(slow.fence_fd));
}

TEST_F(engine, an_in_fence_orders_two_channels)
{
	struct dray_submit slow = { .channel = 0 }, after = { .channel = 1 };
	struct dray_axis axis;
	struct dray_transfer first = engine_slow(self, &axis);
	struct dray_transfer second = engine_copy(self, BUFFER_SIZE / 2);
	struct buffer copy;

	if (self->info.channel_count < 2)
		SKIP(return, "this node has one DMA channel");
	if (node_copies())
		SKIP(return, "the engine's copy is overwritten at SUBMIT");
	ASSERT_EQ(0,
		  buffer_open(self->node, DRAY_HEAP_ANY, BUFFER_SIZE, &copy));
	second.src_fd = self->dst.fd;
	second.dst_fd = copy.fd;
	second.run = BUFFER_SIZE;
	ASSERT_EQ(0, engine_submit(self, &first, 1, &slow));
	after.in_fences = (uintptr_t)&slow.fence_fd;
	after.in_fence_count = 1;
	ASSERT_EQ(0, engine_submit(self, &second, 1, &after));
	ASSERT_EQ(1, fence_wait(after.fence_fd));
	EXPECT_EQ(1, fence_status(slow.fence_fd));
	model_transfer(self->model, 2, &first);
	EXPECT_EQ(-1, first_difference(self->model[1].bytes, copy.bytes,
				       BUFFER_SIZE));
}

TEST_F(engine, a_chain_goes_to_and_fro_between_channels)
{
	enum {
		LINKS = 24
	};
	const uint64_t step = BUFFER_SIZE / (LINKS + 8);
	int fences[LINKS];
	int i;

	if (node_copies())
		SKIP(return, "the engine's copy is overwritten at SUBMIT");
	/* each link reads what the one before it wrote */
	for (i = 0; i < LINKS; i++) {
		struct dray_transfer transfer = engine_copy(self, step);
		struct dray_submit submit = {
			.channel = (uint32_t)i % self->info.channel_count,
		};

		transfer.src_fd = i ? self->dst.fd : self->src.fd;
		transfer.src_offset = i ? (uint64_t)i * step : 0;
		transfer.dst_offset = (uint64_t)(i + 1) * step;
		if (i) {
			submit.in_fences = (uintptr_t)&fences[i - 1];
			submit.in_fence_count = 1;
		}
		ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit));
		fences[i] = submit.fence_fd;
		model_transfer(self->model, 2, &transfer);
	}
	EXPECT_EQ(1, fence_wait(fences[LINKS - 1]));
	EXPECT_EQ(-1, engine_difference(self));
	close_all(fences, LINKS);
}

TEST_F(engine, the_most_in_fences_are_waited_for)
{
	struct dray_transfer transfer = engine_copy(self, self->unit);
	struct dray_submit last = { .channel = DRAY_CHANNEL_ANY };
	int fences[DRAY_MAX_IN_FENCES + 1];
	int i;

	for (i = 0; i <= DRAY_MAX_IN_FENCES; i++) {
		struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };

		ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit));
		fences[i] = submit.fence_fd;
	}
	last.in_fences = (uintptr_t)fences;
	last.in_fence_count = DRAY_MAX_IN_FENCES;
	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &last));
	EXPECT_EQ(1, fence_wait(last.fence_fd));
	for (i = 0; i < DRAY_MAX_IN_FENCES; i++)
		EXPECT_EQ(1, fence_status(fences[i]));
	last.in_fence_count = DRAY_MAX_IN_FENCES + 1;
	EXPECT_EQ(-EINVAL, engine_submit(self, &transfer, 1, &last));
}

TEST_F(engine, in_fences_that_are_none_are_refused)
{
	struct dray_transfer transfer = engine_copy(self, self->unit);
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	int fence = dup(0);

	close(fence);
	submit.in_fences = (uintptr_t)&fence;
	submit.in_fence_count = 1;
	/* no transfer is wrong, whatever the caller had there */
	submit.failed = 77;
	EXPECT_EQ(-EBADF, engine_submit(self, &transfer, 1, &submit));
	EXPECT_EQ(DRAY_REASON_FOREIGN, submit.reason);
	EXPECT_EQ((uint32_t)fence, submit.limit);
	EXPECT_EQ(0, submit.failed);
	fence = self->src.fd;
	EXPECT_EQ(-EINVAL, engine_submit(self, &transfer, 1, &submit));
	EXPECT_EQ(DRAY_REASON_FOREIGN, submit.reason);
	EXPECT_EQ((uint32_t)fence, submit.limit);
	submit.in_fences = 8;
	EXPECT_EQ(-EFAULT, engine_submit(self, &transfer, 1, &submit));
	EXPECT_EQ(-1, engine_difference(self));
}

TEST_F(engine, fences_of_two_channels_merge)
{
	struct dray_transfer transfer = engine_copy(self, self->unit);
	struct dray_submit a = { .channel = 0 };
	struct dray_submit b = { .channel = self->info.channel_count - 1 };
	int merged;

	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &a));
	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &b));
	merged = fence_merge(a.fence_fd, b.fence_fd);
	ASSERT_LE(0, merged);
	EXPECT_EQ(1, fence_wait(merged));
	EXPECT_EQ(1, fence_status(a.fence_fd));
	EXPECT_EQ(1, fence_status(b.fence_fd));
}

TEST_F(engine, polling_the_buffer_waits_for_the_engine)
{
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	struct pollfd poll_fd = { .fd = self->dst.fd, .events = POLLIN };
	struct dray_axis axis;
	struct dray_transfer transfer = engine_slow(self, &axis);

	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit));
	ASSERT_EQ(1, poll(&poll_fd, 1, FENCE_DEADLINE));
	EXPECT_EQ(1, fence_status(submit.fence_fd));
}

TEST_F(engine, the_cpus_access_waits_for_the_engine)
{
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	struct dray_axis axis;
	struct dray_transfer transfer = engine_slow(self, &axis);

	/* what the CPU wrote beside the rows must not be lost either */
	ASSERT_EQ(0, buffer_cpu_access(self->dst.fd,
				       DMA_BUF_SYNC_END | DMA_BUF_SYNC_WRITE));
	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit));
	ASSERT_EQ(0, buffer_cpu_access(self->dst.fd,
				       DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ));
	EXPECT_EQ(1, fence_status(submit.fence_fd));
	model_transfer(self->model, 2, &transfer);
	EXPECT_EQ(-1, engine_difference(self));
}

TEST_F(engine, a_full_queue_says_so_instead_of_waiting)
{
	struct dray_submit slow = { 0 }, submit;
	struct dray_axis axis;
	struct dray_transfer first = engine_slow(self, &axis);
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
	struct dray_axis axis;
	struct dray_transfer first = engine_slow(self, &axis);
	struct dray_transfer next = engine_copy(self, self->unit);
	uint32_t i;

	ASSERT_EQ(0, engine_submit(self, &first, 1, &slow));
	for (i = 0; i < 2 * self->info.queue_depth; i++) {
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
	(void)number;
}

TEST_F(engine, a_signal_ends_the_wait_for_a_place)
{
	/* again and again: one may come before the call */
	struct itimerval often = { .it_interval = { .tv_usec = 10000 },
				   .it_value = { .tv_usec = 10000 } };
	struct itimerval never = { 0 };
	struct sigaction action = { .sa_handler = no_more };
	struct dray_submit slow = { 0 }, submit = { 0 };
	struct dray_axis axis;
	struct dray_transfer first = engine_slow(self, &axis);
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
	struct dray_axis axis;
	struct dray_transfer transfer = engine_slow(self, &axis);
	int ret;

	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &slow));
	ASSERT_EQ(0, sigaction(SIGALRM, &action, NULL));
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &often, NULL));
	ret = buffer_cpu_access(self->dst.fd,
				DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ);
	setitimer(ITIMER_REAL, &never, NULL);
	EXPECT_EQ(-EINTR, ret);
	EXPECT_EQ(1, fence_wait(slow.fence_fd));
}

static int take_for_the_cpu(void *context)
{
	buffer_cpu_access(*(int *)context,
			  DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ);
	return 0;
}

TEST_F(engine, killing_who_waits_for_the_engine_does_not_wait_for_it)
{
	struct dray_submit slow = { 0 };
	struct dray_axis axis;
	struct dray_transfer transfer = engine_slow(self, &axis);
	pid_t child;

	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &slow));
	child = process_start(take_for_the_cpu, &self->dst.fd);
	ASSERT_LT(0, child);
	ASSERT_EQ(0, kill(child, SIGKILL));
	EXPECT_EQ(-SIGKILL, process_wait(child));
	EXPECT_EQ(0, fence_status(slow.fence_fd));
	ASSERT_EQ(1, fence_wait(slow.fence_fd));
	model_transfer(self->model, 2, &transfer);
	EXPECT_EQ(-1, engine_difference(self));
}

TEST_F(engine, every_opener_has_a_queue_of_its_own)
{
	struct dray_submit slow = { 0 }, submit = { 0 };
	struct dray_axis axis;
	struct dray_transfer first = engine_slow(self, &axis);
	struct dray_transfer next = engine_copy(self, self->unit);
	uint32_t i;
	int other = node_open();
	int ret = 0;

	ASSERT_LE(0, other);
	ASSERT_EQ(0, engine_submit(self, &first, 1, &slow));
	for (i = 0; !ret && i < self->info.queue_depth; i++) {
		submit = (struct dray_submit){ .flags = DRAY_SUBMIT_NONBLOCK };
		ret = engine_submit(self, &next, 1, &submit);
	}
	ASSERT_EQ(-EAGAIN, ret);
	submit = (struct dray_submit){
		.flags = DRAY_SUBMIT_NONBLOCK,
		.transfers = (uintptr_t)&next,
		.count = 1,
	};
	EXPECT_EQ(0, node_call(other, DRAY_IOC_SUBMIT, &submit));
	EXPECT_EQ(1, fence_wait(submit.fence_fd));
}

TEST_F(engine, the_job_runs_on_when_the_reply_cannot_be_written)
{
	struct dray_transfer transfer = engine_copy(self, BUFFER_SIZE);
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY,
				      .transfers = (uintptr_t)&transfer,
				      .count = 1 };
	void *page = mmap(NULL, self->page, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, page);
	memcpy(page, &submit, sizeof(submit));
	ASSERT_EQ(0, mprotect(page, self->page, PROT_READ));
	ASSERT_EQ(-EFAULT, node_call(self->node, DRAY_IOC_SUBMIT, page));
	/* without a fence, the buffer still waits for who writes it */
	ASSERT_EQ(0, buffer_cpu_access(self->dst.fd,
				       DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ));
	model_transfer(self->model, 2, &transfer);
	EXPECT_EQ(-1, engine_difference(self));
}

TEST_HARNESS_MAIN
