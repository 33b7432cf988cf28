// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * SUBMIT, fences: what a submission's fence says and when, what waits for it,
 * and the fences that a submission itself waits for.
 */
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
	SUBMIT_SLOW(submit, transfer);
	EXPECT_EQ(0, fence_status(submit.fence_fd));
	EXPECT_FALSE(fence_is_readable(submit.fence_fd));
	EXPECT_EQ(1, fence_wait(submit.fence_fd));
	model_transfer(self->model, 2, &transfer);
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

TEST_F(engine, an_in_fence_orders_two_channels)
{
	struct dray_submit slow = { .channel = 0 }, after = { .channel = 1 };
	struct dray_transfer first = engine_slow(self);
	struct dray_transfer second = engine_copy(self, BUFFER_SIZE / 2);
	struct buffer copy;

	SKIP_IF(self->info.channel_count < 2, "this node has one DMA channel");
	SKIP_IF(node_copies(), "the engine's copy is overwritten at SUBMIT");
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

	SKIP_IF(node_copies(), "the engine's copy is overwritten at SUBMIT");
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

TEST_F(engine, polling_the_buffer_waits_for_the_engine)
{
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	struct pollfd poll_fd = { .fd = self->dst.fd, .events = POLLIN };
	struct dray_transfer transfer = engine_slow(self);

	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit));
	ASSERT_EQ(1, poll(&poll_fd, 1, DEADLINE_MS));
	EXPECT_EQ(1, fence_status(submit.fence_fd));
}

TEST_F(engine, the_cpus_access_waits_for_the_engine)
{
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	struct dray_transfer transfer = engine_slow(self);

	/* what the CPU wrote beside the rows must not be lost either */
	ASSERT_EQ(0, cpu_end(self->dst.fd, DMA_BUF_SYNC_WRITE));
	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit));
	ASSERT_EQ(0, cpu_begin(self->dst.fd, DMA_BUF_SYNC_READ));
	EXPECT_EQ(1, fence_status(submit.fence_fd));
	model_transfer(self->model, 2, &transfer);
	EXPECT_EQ(-1, engine_difference(self));
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
	struct dray_transfer transfer = engine_slow(self);
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
