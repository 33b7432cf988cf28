// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * EXPORT, transfers: through a read-only descriptor an engine reads a buffer and
 * does not write it, and who reads sees what an engine wrote by another way.
 */
#include "attach.h"
#include "export.h"
#include "fixture_engine.h"

TEST_F(engine, a_read_only_buffer_is_a_source)
{
	struct dray_transfer transfer = engine_copy(self, BUFFER_SIZE);

	self->model[0].fd = export_fd(self->node, self->src.fd);
	ASSERT_LE(0, self->model[0].fd);
	transfer.src_fd = self->model[0].fd;
	EXPECT_MODEL(&transfer, 1);
}

TEST_F(engine, a_read_only_buffer_is_no_destination)
{
	struct dray_transfer transfer = engine_copy(self, self->page);
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };

	transfer.dst_fd = export_fd(self->node, self->dst.fd);
	ASSERT_LE(0, transfer.dst_fd);
	EXPECT_EQ(-EACCES, engine_submit(self, &transfer, 1, &submit));
	EXPECT_EQ(DRAY_REASON_READ_ONLY, submit.reason);
	EXPECT_EQ(transfer.dst_fd, submit.limit);
	EXPECT_EQ(-1, engine_difference(self));
}

TEST_F(engine, a_read_only_buffer_is_not_filled)
{
	struct dray_transfer transfer = {
		.op = DRAY_OP_FILL,
		.dst_fd = export_fd(self->node, self->dst.fd),
		.src_fd = -1,
		.run = self->page,
		.pattern_size = 1,
	};
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };

	ASSERT_LE(0, transfer.dst_fd);
	EXPECT_EQ(-EACCES, engine_submit(self, &transfer, 1, &submit));
	EXPECT_EQ(DRAY_REASON_READ_ONLY, submit.reason);
	EXPECT_EQ(-1, engine_difference(self));
}

/* Its mapping is memory of the process, which the device may only read. */
TEST_F(engine, what_is_mapped_read_only_and_attached_is_no_destination)
{
	struct dray_transfer transfer = engine_copy(self, self->page);
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	int reader = export_fd(self->node, self->dst.fd), ret;
	struct dray_attach attach;

	ASSERT_LE(0, reader);
	MAP_READ_ONLY(bytes, BUFFER_SIZE, reader);
	ret = attach_memory(self->node, bytes, BUFFER_SIZE,
			    DRAY_ATTACH_READ_ONLY, &attach);
	SKIP_IF(ret < 0, "this memory is not pinned");
	transfer.dst_fd = attach.fd;
	EXPECT_EQ(-EACCES, engine_submit(self, &transfer, 1, &submit));
	EXPECT_EQ(DRAY_REASON_READ_ONLY, submit.reason);
	EXPECT_EQ(-1, engine_difference(self));
}

TEST_F(engine, source_and_destination_in_one_buffer_overlap_through_it_too)
{
	struct dray_transfer transfer = engine_copy(self, self->page);
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };

	transfer.src_fd = export_fd(self->node, self->dst.fd);
	ASSERT_LE(0, transfer.src_fd);
	EXPECT_EQ(-EINVAL, engine_submit(self, &transfer, 1, &submit));
	EXPECT_EQ(DRAY_REASON_OVERLAP, submit.reason);
}

TEST_F(engine, poll_on_it_waits_for_a_transfer)
{
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	struct pollfd reader = { .events = POLLIN };
	struct dray_transfer transfer = engine_slow(self);

	reader.fd = export_fd(self->node, self->dst.fd);
	ASSERT_LE(0, reader.fd);
	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit));
	ASSERT_EQ(1, poll(&reader, 1, DEADLINE_MS));
	EXPECT_EQ(1, fence_status(submit.fence_fd));
}

/* Does a sync for the CPU through the reader, in one of three ways. */
static int take_by_reader(FIXTURE_DATA(engine) * self, int reader, int way)
{
	struct dray_range rows = {
		.fd = reader,
		.width = self->page,
		.pitch = 2 * self->page,
		.rows = BUFFER_SIZE / (2 * self->page),
	};
	struct dray_sync sync = SYNC_OF(DRAY_TARGET_NODE, DRAY_SYNC_FOR_CPU,
					DRAY_FROM_DEVICE, &rows, 1);
	int ret;

	if (way == 0)
		return buffer_sync(self->node, reader, DRAY_SYNC_FOR_CPU,
				   DRAY_FROM_DEVICE, 0, BUFFER_SIZE);
	if (way == 1)
		return cpu_begin(reader, DMA_BUF_SYNC_READ);
	ret = node_call(self->node, DRAY_IOC_SYNC, &sync);
	if (ret)
		return ret;
	rows.offset = self->page;
	return node_call(self->node, DRAY_IOC_SYNC, &sync);
}

TEST_F(engine, a_sync_for_the_cpu_through_it_brings_what_was_written)
{
	struct dray_transfer transfer = engine_copy(self, BUFFER_SIZE);
	struct dray_segment segment;
	struct dray_address address = { .fd = self->dst.fd,
					.segments = (uintptr_t)&segment,
					.room = 1 };
	int reader, way;

	/* with caches, what the CPU wrote last would stay */
	SKIP_IF(!node_copies(), "the device has no copy to bring it from");
	reader = export_fd(self->node, self->dst.fd);
	ASSERT_LE(0, reader);
	/* Nothing is brought where only channels can have written. */
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_ADDRESS, &address));
	ASSERT_EQ(0, engine_run(self, &transfer, 1));
	for (way = 0; way < 3; way++) {
		memset(self->dst.bytes, way, BUFFER_SIZE);
		ASSERT_EQ(0, take_by_reader(self, reader, way));
		EXPECT_EQ(-1, engine_difference(self))
		{
			TH_LOG("way %d", way);
		}
	}
}

TEST_F(engine, a_sync_for_the_device_through_it_takes_what_was_written)
{
	struct dray_transfer transfer = engine_copy(self, BUFFER_SIZE);
	int reader;

	SKIP_IF(!node_copies(), "the device has no copy to look at");
	reader = export_fd(self->node, self->dst.fd);
	ASSERT_LE(0, reader);
	ASSERT_EQ(0, engine_run(self, &transfer, 1));
	fill_random(self->dst.bytes, BUFFER_SIZE, 3);
	memcpy(self->model[1].bytes, self->dst.bytes, BUFFER_SIZE);
	ASSERT_EQ(0, buffer_sync(self->node, reader, DRAY_SYNC_FOR_DEVICE,
				 DRAY_TO_DEVICE, 0, BUFFER_SIZE));
	memset(self->dst.bytes, 0, BUFFER_SIZE);
	ASSERT_EQ(0, buffer_sync(self->node, self->dst.fd, DRAY_SYNC_FOR_CPU,
				 DRAY_FROM_DEVICE, 0, BUFFER_SIZE));
	EXPECT_EQ(-1, engine_difference(self));
}
