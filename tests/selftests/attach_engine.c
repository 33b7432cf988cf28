// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Attached memory of a process as the source or destination of an engine.
 */
#include "attach.h"
#include "fixture_engine.h"

#define USER_SIZE BUFFER_SIZE
#define NOBODY 65534
#define NOT_TOLD 255 /* no errno */

/* User memory full of known bytes, and the model's copy of it. */
static int user_open(FIXTURE_DATA(engine) * self, int side, size_t skip,
		     uint8_t **bytes)
{
	struct dray_attach attach;
	uint8_t *all = fresh_memory(USER_SIZE + 2 * self->page);
	int fd;

	if (all == MAP_FAILED)
		return -ENOMEM;
	*bytes = all + skip;
	memcpy(*bytes, self->model[side].bytes, USER_SIZE);
	fd = attach_memory(self->node, *bytes, USER_SIZE, 0, &attach);
	if (fd >= 0)
		self->model[side].fd = fd;
	return fd;
}

/* A transfer in rows that cross the pages, from one side to the other. */
static int run_rows(FIXTURE_DATA(engine) * self)
{
	uint64_t run = self->page + self->unit;
	uint64_t stride = 2 * self->page + 2 * self->unit;
	struct dray_axis axis = {
		.count = (USER_SIZE - 3 * self->unit - run) / stride + 1,
		.dst_stride = (int64_t)stride,
		.src_stride = (int64_t)(self->page + 3 * self->unit),
	};
	struct dray_transfer transfer = engine_copy(self, run);

	transfer.dst_fd = self->model[1].fd;
	transfer.src_fd = self->model[0].fd;
	transfer.dst_offset = 3 * self->unit;
	transfer.src_offset = 5 * self->unit;
	engine_axes(&transfer, &axis, 1);
	return engine_run(self, &transfer, 1);
}

TEST_F(engine, an_engine_reads_user_memory)
{
	uint8_t *bytes;

	ASSERT_LE(0, user_open(self, 0, 13 * self->unit, &bytes));
	ASSERT_EQ(0, run_rows(self));
	EXPECT_EQ(-1, first_difference(self->model[1].bytes, self->dst.bytes,
				       USER_SIZE));
	EXPECT_EQ(-1, first_difference(self->model[0].bytes, bytes, USER_SIZE));
}

TEST_F(engine, an_engine_writes_user_memory)
{
	uint8_t *bytes;

	ASSERT_LE(0, user_open(self, 1, 7 * self->unit, &bytes));
	ASSERT_EQ(0, run_rows(self));
	EXPECT_EQ(-1, first_difference(self->model[1].bytes, bytes, USER_SIZE));
}

TEST_F(engine, an_engine_copies_between_user_memory)
{
	uint8_t *from, *to;

	ASSERT_LE(0, user_open(self, 0, 5 * self->unit, &from));
	ASSERT_LE(0, user_open(self, 1, 3 * self->unit, &to));
	ASSERT_EQ(0, run_rows(self));
	EXPECT_EQ(-1, first_difference(self->model[1].bytes, to, USER_SIZE));
}

TEST_F(engine, the_whole_is_copied_in_one_transfer)
{
	struct dray_transfer transfer = engine_copy(self, USER_SIZE);
	uint8_t *from, *to;

	ASSERT_LE(0, user_open(self, 0, 9 * self->unit, &from));
	ASSERT_LE(0, user_open(self, 1, self->unit, &to));
	transfer.src_fd = self->model[0].fd;
	transfer.dst_fd = self->model[1].fd;
	ASSERT_EQ(0, engine_run(self, &transfer, 1));
	EXPECT_EQ(-1, first_difference(from, to, USER_SIZE));
}

TEST_F(engine, bytes_at_odd_places_are_copied)
{
	struct dray_transfer transfer = engine_copy(self, USER_SIZE - 3);
	uint8_t *from, *to;

	READ_CHANNEL(channel, 0);
	SKIP_IF(channel.alignment > 1, "the engine needs aligned places");
	ASSERT_LE(0, user_open(self, 0, 4095, &from));
	ASSERT_LE(0, user_open(self, 1, 1, &to));
	transfer.src_fd = self->model[0].fd;
	transfer.dst_fd = self->model[1].fd;
	transfer.src_offset = 1;
	transfer.dst_offset = 2;
	ASSERT_EQ(0, engine_run(self, &transfer, 1));
	EXPECT_EQ(-1, first_difference(self->model[1].bytes, to, USER_SIZE));
	EXPECT_EQ(-1, first_difference(self->model[0].bytes, from, USER_SIZE));
}

TEST_F(engine, a_pattern_goes_on_where_a_page_ends)
{
	struct dray_transfer transfer = {
		.op = DRAY_OP_FILL,
		.src_fd = -1,
		.pattern_size = 16,
	};
	uint8_t *bytes;

	for (int i = 0; i < 16; i++)
		transfer.pattern[i] = (uint8_t)(0x40 + i);
	/* pages end in the middle of a pattern */
	ASSERT_LE(0, user_open(self, 1, self->unit, &bytes));
	transfer.dst_fd = self->model[1].fd;
	transfer.dst_offset = self->unit;
	transfer.run = USER_SIZE - 4096;
	ASSERT_EQ(0, engine_run(self, &transfer, 1));
	EXPECT_EQ(-1, first_difference(self->model[1].bytes, bytes, USER_SIZE));
}

TEST_F(engine, the_descriptors_are_counted_as_they_are_cut)
{
	struct dray_transfer transfer = engine_copy(self, USER_SIZE);
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	uint8_t *bytes, *all = fresh_memory(USER_SIZE);
	struct dray_attach attach;

	ASSERT_LE(0, user_open(self, 0, 0, &bytes));
	/* every second page of its own, so that no two follow each other */
	ASSERT_LE(0, attach_memory(self->node, all, USER_SIZE, 0, &attach));
	transfer.src_fd = self->model[0].fd;
	transfer.dst_fd = attach.fd;
	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit));
	EXPECT_LE(attach.segments, submit.runs);
	EXPECT_GE(USER_SIZE, submit.runs * self->page);
	EXPECT_EQ(1, fence_wait(submit.fence_fd));
	EXPECT_EQ(-1, first_difference(bytes, all, USER_SIZE));
}

struct submitter {
	uint64_t capabilities;
	bool attaches;
};

/* 0 the descriptors are told, or NOT_TOLD, or the errno of what went wrong */
static int submit_and_count(void *context)
{
	/* Linux before 5.16 lets a user lock 64 KiB, and no more */
	const struct rlimit limit = { 2 * USER_SIZE, 2 * USER_SIZE };
	struct submitter *submitter = context;
	struct dray_transfer transfer = { .op = DRAY_OP_FILL,
					  .src_fd = -1,
					  .run = USER_SIZE,
					  .pattern_size = 1 };
	struct dray_submit submit = SUBMIT_OF(DRAY_CHANNEL_ANY, &transfer, 1);
	struct dray_attach attach;
	struct buffer buffer;
	int node, ret;

	if (setrlimit(RLIMIT_MEMLOCK, &limit) ||
	    process_become(NOBODY, submitter->capabilities))
		return ECHILD;
	node = node_open();
	if (node < 0)
		return -node;
	if (submitter->attaches) {
		transfer.dst_fd = attach_memory(node, fresh_memory(USER_SIZE),
						USER_SIZE, 0, &attach);
	} else {
		ret = buffer_allocate(node, DRAY_HEAP_ANY, USER_SIZE, &buffer);
		transfer.dst_fd = ret ? ret : buffer.fd;
	}
	if (transfer.dst_fd < 0)
		return -transfer.dst_fd;
	ret = node_call(node, DRAY_IOC_SUBMIT, &submit);
	if (ret)
		return -ret;
	if (fence_wait(submit.fence_fd) != 1)
		return EIO;
	return submit.runs ? 0 : NOT_TOLD;
}

TEST_F(engine, how_many_descriptors_attached_memory_takes_is_for_who_may_know)
{
	struct submitter submitter = { .capabilities = OPENER };
	struct ledger before;

	ASSERT_EQ(0, ledger_take(self->node, &before));
	EXPECT_EQ(0, process_run(submit_and_count, &submitter));
	/* what the user may lock is free again a moment later */
	EXPECT_EQ(0, ledger_differences(&before));
	submitter.attaches = true;
	/* behind an IOMMU it tells nothing of memory */
	EXPECT_EQ(self->info.flags & DRAY_NODE_IOMMU ? 0 : NOT_TOLD,
		  process_run(submit_and_count, &submitter));
	EXPECT_EQ(0, ledger_differences(&before));
	submitter.capabilities |= CAPABILITY(CAP_SYS_RAWIO);
	EXPECT_EQ(0, process_run(submit_and_count, &submitter));
}

TEST_F(engine, an_engine_writes_memory_that_was_unmapped)
{
	struct dray_transfer transfer = engine_copy(self, USER_SIZE);
	struct dray_transfer back = engine_copy(self, USER_SIZE);
	struct dray_submit submit = { .channel = 0 };
	uint8_t *bytes = fresh_memory(USER_SIZE);

	ATTACH_MEMORY(attach, bytes, USER_SIZE, 0);
	ASSERT_EQ(0, munmap(bytes, USER_SIZE));
	transfer.dst_fd = attach.fd;
	back.src_fd = attach.fd;
	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit));
	ASSERT_EQ(0, engine_submit(self, &back, 1, &submit));
	EXPECT_EQ(1, fence_wait(submit.fence_fd));
	EXPECT_EQ(-1, first_difference(self->src.bytes, self->dst.bytes,
				       USER_SIZE));
}

TEST_F(engine, closing_the_attachment_does_not_stop_its_transfer)
{
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	uint8_t *bytes;
	struct dray_transfer transfer = engine_slow(self);
	int fd = user_open(self, 1, 0, &bytes);

	ASSERT_LE(0, fd);
	transfer.dst_fd = fd;
	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit));
	close(fd);
	EXPECT_EQ(1, fence_wait(submit.fence_fd));
	self->model[0].fd = transfer.src_fd;
	model_transfer(self->model, 2, &transfer);
	EXPECT_EQ(-1, first_difference(self->model[1].bytes, bytes, USER_SIZE));
}

TEST_F(engine, what_leaves_an_attachment_is_refused)
{
	struct dray_transfer transfer = engine_copy(self, self->page + 1);
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	uint8_t *bytes = fresh_memory(2 * self->page);

	ATTACH_MEMORY(attach, bytes, self->page, 0);
	transfer.dst_fd = attach.fd;
	EXPECT_EQ(-EINVAL, engine_submit(self, &transfer, 1, &submit));
	EXPECT_EQ(DRAY_REASON_RANGE, submit.reason);
	EXPECT_EQ(self->page, submit.limit);
}

TEST_F(engine, source_and_destination_in_one_attachment_overlap)
{
	struct dray_transfer transfer = engine_copy(self, 2 * self->unit);
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	uint8_t *bytes = fresh_memory(self->page);
	struct dray_attach attach;

	ASSERT_LE(0, attach_memory(self->node, bytes, self->page, 0, &attach));
	transfer.dst_fd = attach.fd;
	transfer.src_fd = attach.fd;
	transfer.dst_offset = self->unit;
	EXPECT_EQ(-EINVAL, engine_submit(self, &transfer, 1, &submit));
	EXPECT_EQ(DRAY_REASON_OVERLAP, submit.reason);
}
