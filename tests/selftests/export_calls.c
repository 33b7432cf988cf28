// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * EXPORT: a read-only descriptor in the calls that are not about mapping or
 * copying it: none makes more of it than a right to read, and none takes it for
 * something that it is not.
 */
#include "attach.h"
#include "export.h"
#include "fixture_engine.h"
#include "fixture_heap.h"

static int info_of(int node, int fd, struct dray_buffer_info *info)
{
	*info = (struct dray_buffer_info){ .flags = DRAY_BUFFER_BY_FD,
					   .fd = fd };
	return node_call(node, DRAY_IOC_BUFFER_INFO, info);
}

TEST_F(heap, asking_for_its_address_discloses_nothing)
{
	struct dray_segment segment = { 0 };
	struct dray_address address = { .segments = (uintptr_t)&segment };

	OPEN_READ_ONLY(buffer, reader);
	address.fd = reader;
	for (address.room = 0; address.room < 2; address.room++) {
		EXPECT_EQ(-EACCES,
			  node_call(self->node, DRAY_IOC_ADDRESS, &address));
		EXPECT_EQ(0, address.count);
	}
	EXPECT_EQ(0, segment.address);
	EXPECT_EQ(0, segment.length);
	READ_BUFFER(info, buffer.id);
	EXPECT_EQ(0, info.flags & DRAY_BUFFER_DISCLOSED);
}

/* An attachment would have a device write where its flags say so. */
TEST_F(heap, it_is_not_attached_as_the_dma_buf_of_another_driver)
{
	const uint32_t flags[] = { 0, DRAY_ATTACH_READ_ONLY };
	struct dray_attach attach;

	OPEN_READ_ONLY(buffer, reader);
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		EXPECT_EQ(-EINVAL, attach_dma_buf(self->node, reader, flags[i],
						  &attach));
		EXPECT_EQ(DRAY_REASON_OWN, attach.reason);
		EXPECT_EQ(reader, attach.limit);
	}
}

TEST_F(heap, list_has_a_buffer_once_however_many_read_it)
{
	int reader, count;

	OPEN_BUFFER(buffer, self->heap.index, self->page);
	count = node_count(self->node);
	reader = export_fd(self->node, buffer.fd);
	ASSERT_LE(0, reader);
	ASSERT_LE(0, export_fd(self->node, reader));
	EXPECT_EQ(count, node_count(self->node));
}

TEST_F(heap, what_is_read_only_is_the_descriptor_and_not_the_buffer)
{
	int second;

	OPEN_READ_ONLY(buffer, reader);
	second = export_fd(self->node, reader);
	ASSERT_LE(0, second);
	READ_BUFFER(info, buffer.id);
	EXPECT_EQ(0, info.flags & DRAY_BUFFER_READ_ONLY);
	ASSERT_EQ(0, info_of(self->node, second, &info));
	EXPECT_NE(0, info.flags & DRAY_BUFFER_READ_ONLY);
	EXPECT_EQ(buffer.id, info.id);
}

TEST_F(heap, a_name_that_it_is_given_is_not_the_buffers)
{
	OPEN_READ_ONLY(buffer, reader);
	READ_BUFFER(before, buffer.id);
	ASSERT_EQ(0, ioctl(reader, DMA_BUF_SET_NAME_B, "stolen"));
	READ_BUFFER(after, buffer.id);
	EXPECT_STREQ(before.name, after.name);
}

TEST_F(heap, what_it_keeps_is_not_reclaimed)
{
	struct dray_reclaim reclaim = { 0 };

	OPEN_READ_ONLY(buffer, reader);
	MAP_READ_ONLY(bytes, buffer.size, reader);
	reclaim.id = buffer.id;
	buffer_close(&buffer);
	EXPECT_EQ(-ENOENT, node_call(self->node, DRAY_IOC_RECLAIM, &reclaim));
	EXPECT_EQ(0, reclaim.count);
	EXPECT_EQ(-1, first_other_byte(bytes, 4 * self->page, 0x11));
}

TEST_F(heap, the_files_own_calls_write_nothing)
{
	OPEN_READ_ONLY(buffer, reader);
	EXPECT_EQ(-1, write(reader, "x", 1));
	EXPECT_EQ(-1, pwrite(reader, "x", 1, 0));
	EXPECT_EQ(-1, ftruncate(reader, 0));
	EXPECT_EQ(-1,
		  fallocate(reader, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			    0, (off_t)self->page));
	EXPECT_EQ(buffer.size, lseek(reader, 0, SEEK_END));
	EXPECT_EQ(-1, first_other_byte(buffer.bytes, buffer.size, 0x11));
}

TEST_F(heap, what_is_taken_out_of_its_mapping_is_not_taken_out_of_the_buffer)
{
	OPEN_READ_ONLY(buffer, reader);
	MAP_READ_ONLY(bytes, buffer.size, reader);
	EXPECT_EQ(-1, madvise(bytes, buffer.size, MADV_REMOVE));
	/* a mapping without pages is not taken out */
	madvise(bytes, buffer.size, MADV_DONTNEED);
	EXPECT_EQ(-1, first_other_byte(buffer.bytes, buffer.size, 0x11));
	EXPECT_EQ(-1, first_other_byte(bytes, buffer.size, 0x11));
}

TEST_F(heap, a_cpu_access_for_writing_through_it_writes_nothing)
{
	OPEN_READ_ONLY(buffer, reader);
	ASSERT_EQ(0, hand_to_copy(self->node, &buffer));
	EXPECT_EQ(0, cpu_begin(reader, DMA_BUF_SYNC_RW));
	EXPECT_EQ(0, cpu_end(reader, DMA_BUF_SYNC_RW));
	EXPECT_EQ(-1, first_other_byte(buffer.bytes, buffer.size, 0x11));
}

/* SYNC that only asks whether anything is needed, through a descriptor. */
static uint32_t sync_answer(int node, int fd)
{
	struct dray_range range = { .fd = fd, .width = 1, .rows = 1 };
	struct dray_sync sync =
		SYNC_OF(DRAY_TARGET_NODE, DRAY_SYNC_FOR_CPU, DRAY_FROM_DEVICE,
			&range, 1, .flags = DRAY_SYNC_ASK);

	return node_call(node, DRAY_IOC_SYNC, &sync) ? UINT32_MAX : sync.flags;
}

TEST_F(heap, whether_a_sync_is_needed_is_told_as_of_the_buffer)
{
	OPEN_READ_ONLY(buffer, reader);
	EXPECT_NE(UINT32_MAX, sync_answer(self->node, reader));
	EXPECT_EQ(sync_answer(self->node, buffer.fd),
		  sync_answer(self->node, reader));
}

TEST_F(engine, an_export_of_an_export_is_a_source_and_no_destination)
{
	struct dray_transfer transfer = engine_copy(self, self->page);
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	int reader, second;

	reader = export_fd(self->node, self->src.fd);
	second = export_fd(self->node, reader);
	ASSERT_LE(0, second);
	transfer.src_fd = second;
	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit));
	EXPECT_EQ(1, fence_wait(submit.fence_fd));
	EXPECT_EQ(-1, first_difference(self->src.bytes, self->dst.bytes,
				       self->page));
	transfer.src_fd = self->dst.fd;
	transfer.dst_fd = second;
	EXPECT_EQ(-EACCES, engine_submit(self, &transfer, 1, &submit));
	EXPECT_EQ(DRAY_REASON_READ_ONLY, submit.reason);
	EXPECT_EQ(second, submit.limit);
}

TEST_F(engine, it_is_no_fence)
{
	struct dray_transfer transfer = engine_copy(self, self->page);
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY,
				      .in_fence_count = 1 };
	struct dray_cancel cancel = { .channel = DRAY_CHANNEL_ANY };
	int32_t reader = export_fd(self->node, self->src.fd);

	ASSERT_LE(0, reader);
	submit.in_fences = (uintptr_t)&reader;
	EXPECT_EQ(-EINVAL, engine_submit(self, &transfer, 1, &submit));
	EXPECT_EQ(DRAY_REASON_FOREIGN, submit.reason);
	EXPECT_EQ(reader, submit.limit);
	cancel.fence_fd = reader;
	EXPECT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_CANCEL, &cancel));
	EXPECT_EQ(DRAY_REASON_FOREIGN, cancel.reason);
	EXPECT_EQ(reader, cancel.limit);
}
