// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * SUBMIT, refusals: every argument that may be wrong, each with its errno, its
 * reason and its limit; where bytes lie is in submit_bounds.c.  Nothing is moved
 * and nothing is held afterwards.
 */
#include "fixture_dray.h"
#include "submit_refusal.h"

TEST_F(dray, a_node_without_channels_says_so)
{
	struct dray_transfer transfer = { .op = DRAY_OP_COPY };
	struct dray_submit submit = SUBMIT_OF(DRAY_CHANNEL_ANY, &transfer, 1);
	int ret;

	SKIP_IF(self->info.channel_count, "this node has DMA channels");
	ret = node_call(self->node, DRAY_IOC_SUBMIT, &submit);
	if (!(self->info.flags & DRAY_NODE_SUBMIT)) {
		EXPECT_EQ(-EOPNOTSUPP, ret);
		return;
	}
	EXPECT_EQ(-EOPNOTSUPP, ret);
	EXPECT_EQ(DRAY_REASON_CHANNEL, submit.reason);
	EXPECT_EQ(0, submit.limit);
}

TEST_F(engine, no_transfer_or_too_many_are_refused)
{
	static struct dray_transfer transfers[DRAY_MAX_TRANSFERS + 1];
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	int i;

	for (i = 0; i <= DRAY_MAX_TRANSFERS; i++)
		transfers[i] = engine_copy(self, self->unit);
	EXPECT_EQ(-EINVAL, engine_submit(self, transfers, 0, &submit));
	EXPECT_EQ(-EINVAL, engine_submit(self, transfers,
					 DRAY_MAX_TRANSFERS + 1, &submit));
	EXPECT_EQ(-EINVAL, engine_submit(self, transfers, UINT32_MAX, &submit));
}

TEST_F(engine, transfers_and_axes_that_cannot_be_read_are_refused)
{
	struct dray_transfer transfer = engine_copy(self, self->unit);
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };

	EXPECT_EQ(-EFAULT, engine_submit(self, NULL, 1, &submit));
	transfer.axes_count = 1;
	transfer.axes = 8;
	EXPECT_EQ(-EFAULT, engine_submit(self, &transfer, 1, &submit));
}

TEST_F(engine, an_unknown_channel_is_refused)
{
	struct dray_transfer transfer = engine_copy(self, self->unit);
	struct dray_submit submit = { .channel = self->info.channel_count };

	EXPECT_EQ(-EINVAL, engine_submit(self, &transfer, 1, &submit));
	EXPECT_EQ(DRAY_REASON_CHANNEL, submit.reason);
	EXPECT_EQ(self->info.channel_count, submit.limit);
}

TEST_F(engine, unknown_flags_are_refused)
{
	struct dray_transfer transfer = engine_copy(self, self->unit);

	for (uint32_t bit = 3; bit < 32; bit++) {
		struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY,
					      .flags = 1u << bit };

		EXPECT_EQ(-EINVAL, engine_submit(self, &transfer, 1, &submit));
	}
	transfer.flags = 1;
	EXPECT_EQ(-EINVAL, refuse(self, &transfer).error);
}

TEST_F(engine, non_zero_padding_is_refused)
{
	struct dray_transfer transfer = engine_copy(self, self->unit);
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY,
				      .reserved = 1 };

	EXPECT_EQ(-EINVAL, engine_submit(self, &transfer, 1, &submit));
}

TEST_F(engine, an_unknown_operation_is_refused)
{
	const uint32_t ops[] = { 0, 3, UINT32_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		struct dray_transfer transfer = engine_copy(self, self->unit);

		transfer.op = ops[i];
		EXPECT_EQ(-EINVAL, refuse(self, &transfer).error);
	}
}

TEST_F(engine, an_empty_run_and_an_empty_axis_are_refused)
{
	struct dray_transfer transfer = engine_copy(self, 0);
	struct dray_axis axis = { .count = 0,
				  .dst_stride = 64,
				  .src_stride = 64 };

	EXPECT_EQ(-EINVAL, refuse(self, &transfer).error);
	transfer = engine_copy(self, self->unit);
	engine_axes(&transfer, &axis, 1);
	EXPECT_EQ(-EINVAL, refuse(self, &transfer).error);
}

TEST_F(engine, too_many_axes_are_refused)
{
	struct dray_transfer transfer = engine_copy(self, self->unit);
	struct dray_axis axes[DRAY_MAX_AXES + 1];
	struct refusal refusal;
	int i;

	for (i = 0; i <= DRAY_MAX_AXES; i++)
		axes[i] = (struct dray_axis){ .count = 1 };
	engine_axes(&transfer, axes, DRAY_MAX_AXES + 1);
	refusal = refuse(self, &transfer);
	EXPECT_EQ(-EINVAL, refusal.error);
	EXPECT_EQ(DRAY_REASON_AXES, refusal.reason);
	EXPECT_EQ(DRAY_MAX_AXES, refusal.limit);
}

TEST_F(engine, more_descriptors_than_one_call_takes_are_refused)
{
	struct dray_transfer transfer = engine_copy(self, self->unit);
	/* repeated sources: no buffer is large enough for so many rows */
	struct dray_axis axis = {
		.count = self->info.max_runs + 1,
		.dst_stride = 2 * (int64_t)self->unit,
	};
	struct refusal refusal;
	struct buffer large;
	int ret;

	ret = buffer_allocate(self->node, DRAY_HEAP_ANY,
			      axis.count * 2 * self->unit, &large);
	if (ret)
		SKIP(return, "no heap holds %llu rows",
			   (unsigned long long)axis.count);
	transfer.dst_fd = large.fd;
	engine_axes(&transfer, &axis, 1);
	refusal = refuse(self, &transfer);
	EXPECT_EQ(-EINVAL, refusal.error);
	EXPECT_EQ(DRAY_REASON_RUNS, refusal.reason);
	EXPECT_EQ(self->info.max_runs, refusal.limit);
}

/* One call's list, where each transfer alone would be taken. */
TEST_F(engine, a_million_runs_are_refused_and_nothing_moves)
{
	const uint64_t million = 1000000, rows = self->info.max_runs / 2;
	struct dray_transfer transfers[DRAY_MAX_TRANSFERS];
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	struct dray_axis axis = { .dst_stride = 2 * (int64_t)self->unit };
	struct buffer large;
	uint32_t count = 0, i;
	uint64_t runs;

	/* repeated sources: no buffer is large enough for so many rows */
	if (buffer_open(self->node, DRAY_HEAP_ANY, rows * 2 * self->unit,
			&large))
		SKIP(return, "no heap holds %llu rows",
			   (unsigned long long)rows);
	axis.count = rows;
	for (runs = 0; runs < million && count < DRAY_MAX_TRANSFERS;
	     runs += rows, count++) {
		transfers[count] = engine_copy(self, self->unit);
		transfers[count].dst_fd = large.fd;
		engine_axes(&transfers[count], &axis, 1);
	}
	ASSERT_LE(million, runs);
	EXPECT_EQ(-EINVAL, engine_submit(self, transfers, count, &submit));
	EXPECT_EQ(DRAY_REASON_RUNS, submit.reason);
	EXPECT_EQ(self->info.max_runs, submit.limit);
	EXPECT_EQ(2, submit.failed);
	EXPECT_EQ(-1, first_other_byte(large.bytes, large.size, 0));
	/* an axis of a million, of repeated sources to repeated destinations */
	axis = (struct dray_axis){ .count = million };
	for (i = 0; i < 2; i++) {
		axis.dst_stride = i ? 2 * (int64_t)self->unit : 0;
		EXPECT_EQ(-EINVAL, engine_submit(self, transfers, 1, &submit));
		EXPECT_EQ(i ? DRAY_REASON_RANGE : DRAY_REASON_OVERLAP,
			  submit.reason);
	}
}

TEST_F(engine, more_bytes_than_one_call_moves_are_refused)
{
	struct dray_transfer transfers[DRAY_MAX_TRANSFERS];
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	struct buffer large[2];
	uint64_t part = self->info.max_bytes / DRAY_MAX_TRANSFERS + self->page;

	part = part / self->page * self->page;
	/* one buffer that is read and one that is written again and again */
	for (int i = 0; i < 2; i++)
		if (buffer_allocate(self->node, DRAY_HEAP_ANY, part, &large[i]))
			SKIP(return, "no heap holds %llu bytes twice",
				   (unsigned long long)part);
	for (int i = 0; i < DRAY_MAX_TRANSFERS; i++) {
		transfers[i] = engine_copy(self, part);
		transfers[i].src_fd = large[0].fd;
		transfers[i].dst_fd = large[1].fd;
	}
	EXPECT_EQ(-EINVAL,
		  engine_submit(self, transfers, DRAY_MAX_TRANSFERS, &submit));
	EXPECT_EQ(DRAY_REASON_BYTES, submit.reason);
	EXPECT_EQ(self->info.max_bytes, submit.limit);
}

TEST_F(engine, a_closed_fd_is_refused)
{
	struct dray_transfer transfer = engine_copy(self, self->unit);
	int closed = dup(0);

	close(closed);
	transfer.dst_fd = closed;
	EXPECT_EQ(-EBADF, refuse(self, &transfer).error);
	transfer = engine_copy(self, self->unit);
	transfer.src_fd = -1;
	EXPECT_EQ(-EBADF, refuse(self, &transfer).error);
}

TEST_F(engine, an_fd_that_is_no_dma_buf_is_refused)
{
	struct dray_transfer transfer = engine_copy(self, self->unit);
	struct refusal refusal;
	int memory = memfd_create("memory", 0);

	ASSERT_LE(0, memory);
	ASSERT_EQ(0, ftruncate(memory, BUFFER_SIZE));
	transfer.src_fd = memory;
	refusal = refuse(self, &transfer);
	EXPECT_EQ(-EINVAL, refusal.error);
	EXPECT_EQ(DRAY_REASON_FOREIGN, refusal.reason);
	EXPECT_EQ(memory, refusal.limit);
	transfer = engine_copy(self, self->unit);
	transfer.dst_fd = self->node;
	EXPECT_EQ(-EINVAL, refuse(self, &transfer).error);
}

TEST_F(engine, no_fd_is_left_when_the_reply_cannot_be_written)
{
	struct dray_transfer transfer = engine_copy(self, self->unit);
	struct dray_submit submit = SUBMIT_OF(DRAY_CHANNEL_ANY, &transfer, 1);
	void *page = mmap(NULL, self->page, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int lowest;

	ASSERT_NE(MAP_FAILED, page);
	memcpy(page, &submit, sizeof(submit));
	ASSERT_EQ(0, mprotect(page, self->page, PROT_READ));
	lowest = dup(0);
	close(lowest);
	EXPECT_EQ(-EFAULT, node_call(self->node, DRAY_IOC_SUBMIT, page));
	EXPECT_EQ(lowest, dup(0));
}
