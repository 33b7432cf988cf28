// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * EXPORT: a read-only descriptor of a buffer shows what is in it, and neither
 * importers nor syncs write through it.
 */
#include "export.h"
#include "fixture_dray.h"
#include "fixture_heap.h"
#include "importer.h"

TEST_F(heap, the_reader_sees_what_is_written)
{
	OPEN_READ_ONLY(buffer, reader);
	MAP_READ_ONLY(bytes, buffer.size, reader);
	EXPECT_EQ(-1, first_other_byte(bytes, buffer.size, 0x11));
	buffer.bytes[3] = 0x22;
	EXPECT_EQ(0x22, bytes[3]);
}

TEST_F(heap, reopening_through_proc_gives_nothing)
{
	char path[64];

	OPEN_READ_ONLY(buffer, reader);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", reader);
	EXPECT_EQ(-1, open(path, O_RDWR));
	EXPECT_EQ(-1, open(path, O_RDONLY));
}

TEST_F(heap, the_file_does_not_become_writable)
{
	OPEN_READ_ONLY(buffer, reader);
	fcntl(reader, F_SETFL, O_RDWR);
	EXPECT_EQ(O_RDONLY, fcntl(reader, F_GETFL) & O_ACCMODE);
	EXPECT_EQ(-EACCES, map_error(buffer.size, PROT_READ | PROT_WRITE,
				     MAP_SHARED, reader));
}

TEST_F(heap, an_importer_that_writes_is_refused)
{
	uint32_t handle;
	int importer = importer_open();

	NEED_VGEM(importer);
	OPEN_READ_ONLY(buffer, reader);
	if (importer_maps()) {
		/* for both directions */
		EXPECT_EQ(-EACCES, importer_attach(importer, reader, &handle));
		READ_BUFFER(info, buffer.id);
		EXPECT_EQ(0, info.attachments);
	} else {
		/* tests/engine/importers.c maps for each direction. */
		ASSERT_EQ(0, importer_attach(importer, reader, &handle));
		EXPECT_EQ(0, importer_detach(importer, handle));
	}
}

TEST_F(heap, a_cpu_access_through_it_is_taken_and_loses_nothing)
{
	OPEN_READ_ONLY(buffer, reader);
	MAP_READ_ONLY(bytes, buffer.size, reader);
	memset(buffer.bytes, 0x44, buffer.size);
	ASSERT_EQ(0, hand_to_copy(self->node, &buffer));
	EXPECT_EQ(0, cpu_begin(reader, DMA_BUF_SYNC_READ));
	EXPECT_EQ(-1, first_other_byte(buffer.bytes, buffer.size, 0x44));
	EXPECT_EQ(-1, first_other_byte(bytes, buffer.size, 0x44));
	EXPECT_EQ(0, cpu_end(reader, DMA_BUF_SYNC_READ));
}

TEST_F(heap, a_sync_for_the_cpu_through_it_is_taken_and_loses_nothing)
{
	OPEN_READ_ONLY(buffer, reader);
	for (uint32_t direction = DRAY_TO_DEVICE;
	     direction <= DRAY_BIDIRECTIONAL; direction++) {
		memset(buffer.bytes, (int)direction, buffer.size);
		ASSERT_EQ(0, hand_to_copy(self->node, &buffer));
		EXPECT_EQ(0, buffer_sync(self->node, reader, DRAY_SYNC_FOR_CPU,
					 direction, 1, buffer.size - 2));
		EXPECT_EQ(0,
			  buffer_sync(self->node, reader, DRAY_SYNC_FOR_DEVICE,
				      direction, 1, buffer.size - 2));
		EXPECT_EQ(-1, first_other_byte(buffer.bytes, buffer.size,
					       (uint8_t)direction));
	}
}

TEST_F(heap, its_address_is_not_told)
{
	struct dray_address address = { 0 };

	OPEN_READ_ONLY(buffer, reader);
	address.fd = reader;
	EXPECT_EQ(-EACCES, node_call(self->node, DRAY_IOC_ADDRESS, &address));
	EXPECT_EQ(DRAY_REASON_READ_ONLY, address.reason);
	EXPECT_EQ(reader, address.limit);
}

TEST_F(heap, buffer_info_tells_that_it_is_read_only)
{
	struct dray_buffer_info info = { .flags = DRAY_BUFFER_BY_FD };

	OPEN_READ_ONLY(buffer, reader);
	info.fd = reader;
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_BUFFER_INFO, &info));
	EXPECT_EQ(buffer.id, info.id);
	EXPECT_TRUE(info.flags & DRAY_BUFFER_READ_ONLY);
	info = (struct dray_buffer_info){ .flags = DRAY_BUFFER_BY_FD,
					  .fd = buffer.fd };
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_BUFFER_INFO, &info));
	EXPECT_FALSE(info.flags & DRAY_BUFFER_READ_ONLY);
}

TEST_F(heap, an_export_of_an_export_is_read_only_too)
{
	int second;

	OPEN_READ_ONLY(buffer, reader);
	second = export_fd(self->node, reader);
	ASSERT_LE(0, second);
	EXPECT_EQ(-EACCES, map_error(buffer.size, PROT_READ | PROT_WRITE,
				     MAP_SHARED, second));
	EXPECT_EQ(0, map_error(buffer.size, PROT_READ, MAP_SHARED, second));
}

TEST_F(heap, it_keeps_the_buffer)
{
	OPEN_READ_ONLY(buffer, reader);
	buffer_close(&buffer);
	EXPECT_EQ(1, node_lists(self->node, buffer.id));
	EXPECT_EQ(0, map_error(buffer.size, PROT_READ, MAP_SHARED, reader));
	close(reader);
	EXPECT_EQ(0, ledger_differences(&self->before));
}

TEST_F(heap, it_is_closed_on_exec)
{
	OPEN_READ_ONLY(buffer, reader);
	EXPECT_EQ(FD_CLOEXEC, fcntl(reader, F_GETFD));
}

TEST_F(dray, without_the_flag_or_with_others_it_is_refused)
{
	struct dray_export export = { 0 };

	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, self->page);
	export.buffer_fd = buffer.fd;
	EXPECT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_EXPORT, &export));
	export.flags = DRAY_EXPORT_READ_ONLY | 2;
	EXPECT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_EXPORT, &export));
}

TEST_F(dray, what_is_no_buffer_is_not_exported)
{
	struct dray_export export = { .buffer_fd = self->node,
				      .flags = DRAY_EXPORT_READ_ONLY };

	EXPECT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_EXPORT, &export));
	EXPECT_EQ(DRAY_REASON_FOREIGN, export.reason);
	EXPECT_EQ(self->node, export.limit);
	export.buffer_fd = -1;
	EXPECT_EQ(-EBADF, node_call(self->node, DRAY_IOC_EXPORT, &export));
	EXPECT_EQ(DRAY_REASON_FOREIGN, export.reason);
}
