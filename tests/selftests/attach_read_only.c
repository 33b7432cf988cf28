// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * ATTACH for devices that only read: of memory that nobody may write, and what
 * they see of memory that is written later.
 */
#include "attach.h"
#include "fixture_dray.h"
#include "fixture_engine.h"

TEST_F(dray, the_address_of_a_read_only_attachment_is_not_told)
{
	struct dray_address address = { 0 };
	uint8_t *bytes = fresh_memory(self->page);

	ATTACH_MEMORY(attach, bytes, self->page, DRAY_ATTACH_READ_ONLY);
	address.fd = attach.fd;
	EXPECT_EQ(-EACCES, node_call(self->node, DRAY_IOC_ADDRESS, &address));
	EXPECT_EQ(DRAY_REASON_READ_ONLY, address.reason);
}

TEST_F(dray, a_read_only_attachment_is_synced)
{
	uint8_t *bytes = fresh_memory(4 * self->page);

	ATTACH_MEMORY(attach, bytes, 4 * self->page, DRAY_ATTACH_READ_ONLY);
	EXPECT_EQ(0, buffer_sync(self->node, attach.fd, DRAY_SYNC_FOR_DEVICE,
				 DRAY_BIDIRECTIONAL, 0, 4 * self->page));
	EXPECT_EQ(0, buffer_sync(self->node, attach.fd, DRAY_SYNC_FOR_CPU,
				 DRAY_FROM_DEVICE, 0, 4 * self->page));
}

TEST_F(dray, read_only_memory_is_for_devices_that_read)
{
	uint8_t *bytes = fresh_memory(2 * self->page);
	struct dray_attach attach;

	memset(bytes, 7, 2 * self->page);
	ASSERT_EQ(0, mprotect(bytes, 2 * self->page, PROT_READ));
	EXPECT_EQ(-EFAULT,
		  attach_memory(self->node, bytes, 2 * self->page, 0, &attach));
	EXPECT_EQ(DRAY_REASON_PINNED, attach.reason);
	EXPECT_LE(0, attach_memory(self->node, bytes, 2 * self->page,
				   DRAY_ATTACH_READ_ONLY, &attach));
}

TEST_F(dray, a_read_only_mapping_of_a_file_is_for_devices_that_read)
{
	int file = memfd_create("file", MFD_CLOEXEC);
	struct dray_attach attach;
	uint8_t *bytes;

	ASSERT_LE(0, file);
	ASSERT_EQ(0, ftruncate(file, (off_t)self->page));
	bytes = mmap(NULL, self->page, PROT_READ, MAP_SHARED, file, 0);
	ASSERT_NE(MAP_FAILED, bytes);
	EXPECT_EQ(-EFAULT,
		  attach_memory(self->node, bytes, self->page, 0, &attach));
	EXPECT_LE(0, attach_memory(self->node, bytes, self->page,
				   DRAY_ATTACH_READ_ONLY, &attach));
}

TEST_F(engine, a_read_only_attachment_is_a_source_only)
{
	struct dray_transfer transfer = engine_copy(self, self->page);
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	uint8_t *bytes = fresh_memory(self->page);

	memset(bytes, 0x5c, self->page);
	ASSERT_EQ(0, mprotect(bytes, self->page, PROT_READ));
	ATTACH_MEMORY(attach, bytes, self->page, DRAY_ATTACH_READ_ONLY);
	transfer.dst_fd = attach.fd;
	EXPECT_EQ(-EACCES, engine_submit(self, &transfer, 1, &submit));
	EXPECT_EQ(DRAY_REASON_READ_ONLY, submit.reason);
	EXPECT_EQ(attach.fd, submit.limit);
	transfer.dst_fd = self->dst.fd;
	transfer.src_fd = attach.fd;
	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit));
	EXPECT_EQ(1, fence_wait(submit.fence_fd));
	EXPECT_EQ(-1, first_other_byte(self->dst.bytes, self->page, 0x5c));
}

TEST_F(engine, what_the_process_writes_later_the_device_reads)
{
	struct dray_transfer transfer = engine_copy(self, self->page);
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	uint8_t *bytes = fresh_memory(self->page);

	/* never touched before, and attached for reading only */
	ATTACH_MEMORY(attach, bytes, self->page, DRAY_ATTACH_READ_ONLY);
	memset(bytes, 0x6d, self->page);
	transfer.src_fd = attach.fd;
	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit));
	EXPECT_EQ(1, fence_wait(submit.fence_fd));
	EXPECT_EQ(-1, first_other_byte(self->dst.bytes, self->page, 0x6d));
}

/*
 * Where it may be written it is: else the process's next write would go to a
 * page that the device does not have.
 */
TEST_F(engine, what_is_written_behind_a_read_only_page_the_device_reads)
{
	uint8_t *bytes = fresh_memory(3 * self->page);

	ASSERT_NE(MAP_FAILED, bytes);
	ASSERT_EQ(0, mprotect(bytes, self->page, PROT_READ));
	ATTACH_MEMORY(attach, bytes, 3 * self->page, DRAY_ATTACH_READ_ONLY);
	memset(bytes + self->page, 0x77, 2 * self->page);
	ASSERT_EQ(0, engine_refusal(self, self->dst.fd, 0, attach.fd,
				    self->page, 2 * self->page));
	EXPECT_EQ(-1, first_other_byte(self->dst.bytes, 2 * self->page, 0x77));
}
