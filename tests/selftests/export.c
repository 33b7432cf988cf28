// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * EXPORT: a read-only descriptor of a buffer shows what is in it, and by no
 * way can it be written through.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <linux/dma-buf.h>

#include "attach.h"
#include "fixture_dray.h"
#include "fixture_engine.h"
#include "fixture_heap.h"
#include "importer.h"

static int export_fd(int node, int fd)
{
	struct dray_export export = {
		.buffer_fd = fd,
		.flags = DRAY_EXPORT_READ_ONLY,
	};
	int ret = node_call(node, DRAY_IOC_EXPORT, &export);

	return ret ? ret : export.fd;
}

static int map_error(size_t size, int protection, int flags, int fd)
{
	void *bytes = mmap(NULL, size, protection, flags, fd, 0);

	if (bytes == MAP_FAILED)
		return -errno;
	munmap(bytes, size);
	return 0;
}

/* A buffer of a heap with 0x11 everywhere, and its read-only descriptor. */
#define OPEN_READ_ONLY(buffer, reader)                                 \
	do {                                                           \
		ASSERT_EQ(0, buffer_open(self->node, self->heap.index, \
					 4 * self->page, &(buffer)));  \
		memset((buffer).bytes, 0x11, (buffer).size);           \
		(reader) = export_fd(self->node, (buffer).fd);         \
		ASSERT_LE(0, (reader));                                \
	} while (0)

#define MAP_READ_ONLY(bytes, size, reader)                                    \
	do {                                                                  \
		(bytes) = mmap(NULL, (size), PROT_READ, MAP_SHARED, (reader), \
			       0);                                            \
		ASSERT_NE(MAP_FAILED, (void *)(bytes));                       \
	} while (0)

TEST_F(heap, the_reader_sees_what_is_written)
{
	struct buffer buffer;
	const uint8_t *bytes;
	int reader;

	OPEN_READ_ONLY(buffer, reader);
	MAP_READ_ONLY(bytes, buffer.size, reader);
	EXPECT_EQ(-1, first_other_byte(bytes, buffer.size, 0x11));
	buffer.bytes[3] = 0x22;
	EXPECT_EQ(0x22, bytes[3]);
}

TEST_F(heap, a_writable_mapping_is_refused)
{
	struct buffer buffer;
	int reader;

	OPEN_READ_ONLY(buffer, reader);
	EXPECT_EQ(-EACCES, map_error(buffer.size, PROT_READ | PROT_WRITE,
				     MAP_SHARED, reader));
	EXPECT_EQ(-EACCES,
		  map_error(buffer.size, PROT_WRITE, MAP_SHARED, reader));
}

TEST_F(heap, a_private_mapping_is_refused)
{
	struct buffer buffer;
	int reader;

	OPEN_READ_ONLY(buffer, reader);
	EXPECT_EQ(-EINVAL,
		  map_error(buffer.size, PROT_READ, MAP_PRIVATE, reader));
	EXPECT_EQ(-EACCES, map_error(buffer.size, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE, reader));
}

TEST_F(heap, mprotect_does_not_make_it_writable)
{
	struct buffer buffer;
	uint8_t *bytes;
	int reader;

	OPEN_READ_ONLY(buffer, reader);
	MAP_READ_ONLY(bytes, buffer.size, reader);
	EXPECT_EQ(-1, mprotect(bytes, buffer.size, PROT_READ | PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
}

TEST_F(heap, proc_self_mem_does_not_write_it)
{
	struct buffer buffer;
	uint8_t *bytes, value = 0x33;
	int reader, memory;

	OPEN_READ_ONLY(buffer, reader);
	MAP_READ_ONLY(bytes, buffer.size, reader);
	memory = open("/proc/self/mem", O_RDWR);
	ASSERT_LE(0, memory);
	EXPECT_EQ(-1, pwrite(memory, &value, 1, (off_t)(uintptr_t)bytes));
	EXPECT_EQ(0x11, buffer.bytes[0]);
	/* reading is another matter */
	if (!(self->heap.flags & DRAY_HEAP_PINNABLE) &&
	    !process_debugs_frames())
		return;
	EXPECT_EQ(1, pread(memory, &value, 1, (off_t)(uintptr_t)bytes));
	EXPECT_EQ(0x11, value);
}

TEST_F(heap, process_vm_writev_does_not_write_it)
{
	struct buffer buffer;
	uint8_t *bytes, value = 0x33;
	struct iovec from = { &value, 1 }, to;
	int reader;

	OPEN_READ_ONLY(buffer, reader);
	MAP_READ_ONLY(bytes, buffer.size, reader);
	to = (struct iovec){ bytes, 1 };
	EXPECT_EQ(-1, process_vm_writev(getpid(), &from, 1, &to, 1, 0));
	EXPECT_EQ(0x11, buffer.bytes[0]);
}

TEST_F(heap, a_read_into_it_fails)
{
	struct buffer buffer;
	uint8_t *bytes;
	int reader, zero;

	OPEN_READ_ONLY(buffer, reader);
	MAP_READ_ONLY(bytes, buffer.size, reader);
	zero = open("/dev/zero", O_RDONLY);
	ASSERT_LE(0, zero);
	EXPECT_EQ(-1, read(zero, bytes, 1));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(0x11, buffer.bytes[0]);
}

TEST_F(heap, its_mapping_is_not_attached_for_a_device_that_writes)
{
	struct dray_attach attach;
	struct buffer buffer;
	uint8_t *bytes;
	int reader;

	OPEN_READ_ONLY(buffer, reader);
	MAP_READ_ONLY(bytes, buffer.size, reader);
	EXPECT_GT(0, attach_memory(self->node, bytes, buffer.size, 0, &attach));
	EXPECT_EQ(-1, first_other_byte(buffer.bytes, buffer.size, 0x11));
}

TEST_F(heap, reopening_through_proc_gives_nothing)
{
	struct buffer buffer;
	char path[64];
	int reader;

	OPEN_READ_ONLY(buffer, reader);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", reader);
	EXPECT_EQ(-1, open(path, O_RDWR));
	EXPECT_EQ(-1, open(path, O_RDONLY));
}

TEST_F(heap, the_file_does_not_become_writable)
{
	struct buffer buffer;
	int reader;

	OPEN_READ_ONLY(buffer, reader);
	fcntl(reader, F_SETFL, O_RDWR);
	EXPECT_EQ(O_RDONLY, fcntl(reader, F_GETFL) & O_ACCMODE);
	EXPECT_EQ(-EACCES, map_error(buffer.size, PROT_READ | PROT_WRITE,
				     MAP_SHARED, reader));
}

TEST_F(heap, an_importer_that_writes_is_refused)
{
	struct dray_buffer_info info;
	struct buffer buffer;
	uint32_t handle;
	int reader, importer = importer_open();

	if (importer == -ENODEV)
		SKIP(return, "vgem, an outside importer, is not loaded");
	OPEN_READ_ONLY(buffer, reader);
	/* vgem maps what it imports for both directions */
	EXPECT_EQ(-EACCES, importer_attach(importer, reader, &handle));
	ASSERT_EQ(0, node_buffer_info(self->node, buffer.id, &info));
	EXPECT_EQ(0, info.attachments);
}

/*
 * A cache keeps what the CPU wrote until it is written back; a device's copy
 * replaces it, unless it was handed over before.
 */
static int hand_to_copy(int node, const struct buffer *buffer)
{
	if (!node_copies())
		return 0;
	return buffer_sync(node, buffer->fd, DRAY_SYNC_FOR_DEVICE,
			   DRAY_TO_DEVICE, 0, buffer->size);
}

TEST_F(heap, a_cpu_access_through_it_is_taken_and_loses_nothing)
{
	struct buffer buffer;
	uint8_t *bytes;
	int reader;

	OPEN_READ_ONLY(buffer, reader);
	MAP_READ_ONLY(bytes, buffer.size, reader);
	memset(buffer.bytes, 0x44, buffer.size);
	ASSERT_EQ(0, hand_to_copy(self->node, &buffer));
	EXPECT_EQ(0, buffer_cpu_access(reader,
				       DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ));
	EXPECT_EQ(-1, first_other_byte(buffer.bytes, buffer.size, 0x44));
	EXPECT_EQ(-1, first_other_byte(bytes, buffer.size, 0x44));
	EXPECT_EQ(0, buffer_cpu_access(reader,
				       DMA_BUF_SYNC_END | DMA_BUF_SYNC_READ));
}

TEST_F(heap, a_sync_for_the_cpu_through_it_is_taken_and_loses_nothing)
{
	struct buffer buffer;
	uint32_t direction;
	int reader;

	OPEN_READ_ONLY(buffer, reader);
	for (direction = DRAY_TO_DEVICE; direction <= DRAY_BIDIRECTIONAL;
	     direction++) {
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
	struct buffer buffer;
	int reader;

	OPEN_READ_ONLY(buffer, reader);
	address.fd = reader;
	EXPECT_EQ(-EACCES, node_call(self->node, DRAY_IOC_ADDRESS, &address));
	EXPECT_EQ(DRAY_REASON_READ_ONLY, address.reason);
	EXPECT_EQ(reader, address.limit);
}

TEST_F(heap, buffer_info_tells_that_it_is_read_only)
{
	struct dray_buffer_info info = { .flags = DRAY_BUFFER_BY_FD };
	struct buffer buffer;
	int reader;

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
	struct buffer buffer;
	int reader, second;

	OPEN_READ_ONLY(buffer, reader);
	second = export_fd(self->node, reader);
	ASSERT_LE(0, second);
	EXPECT_EQ(-EACCES, map_error(buffer.size, PROT_READ | PROT_WRITE,
				     MAP_SHARED, second));
	EXPECT_EQ(0, map_error(buffer.size, PROT_READ, MAP_SHARED, second));
}

TEST_F(heap, it_keeps_the_buffer)
{
	struct buffer buffer;
	int reader;

	OPEN_READ_ONLY(buffer, reader);
	buffer_close(&buffer);
	EXPECT_EQ(1, node_lists(self->node, buffer.id));
	EXPECT_EQ(0, map_error(buffer.size, PROT_READ, MAP_SHARED, reader));
	close(reader);
	EXPECT_EQ(0, ledger_differences(&self->before));
}

TEST_F(heap, it_is_closed_on_exec)
{
	struct buffer buffer;
	int reader;

	OPEN_READ_ONLY(buffer, reader);
	EXPECT_EQ(FD_CLOEXEC, fcntl(reader, F_GETFD));
}

TEST_F(dray, without_the_flag_or_with_others_it_is_refused)
{
	struct dray_export export = { 0 };
	struct buffer buffer;

	ASSERT_EQ(0, buffer_allocate(self->node, DRAY_HEAP_ANY, self->page,
				     &buffer));
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

TEST_F(engine, a_read_only_buffer_is_a_source)
{
	struct dray_transfer transfer = engine_copy(self, BUFFER_SIZE);

	self->model[0].fd = export_fd(self->node, self->src.fd);
	ASSERT_LE(0, self->model[0].fd);
	transfer.src_fd = self->model[0].fd;
	ASSERT_EQ(0, engine_run(self, &transfer, 1));
	EXPECT_EQ(-1, engine_difference(self));
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
	struct dray_sync sync = {
		.target = DRAY_TARGET_NODE,
		.owner = DRAY_SYNC_FOR_CPU,
		.direction = DRAY_FROM_DEVICE,
		.count = 1,
		.ranges = (uintptr_t)&rows,
	};
	int ret;

	if (way == 0)
		return buffer_sync(self->node, reader, DRAY_SYNC_FOR_CPU,
				   DRAY_FROM_DEVICE, 0, BUFFER_SIZE);
	if (way == 1)
		return buffer_cpu_access(reader, DMA_BUF_SYNC_START |
							 DMA_BUF_SYNC_READ);
	ret = node_call(self->node, DRAY_IOC_SYNC, &sync);
	if (ret)
		return ret;
	rows.offset = self->page;
	return node_call(self->node, DRAY_IOC_SYNC, &sync);
}

TEST_F(engine, a_sync_for_the_cpu_through_it_brings_what_was_written)
{
	struct dray_transfer transfer = engine_copy(self, BUFFER_SIZE);
	int reader, way;

	/* with caches, what the CPU wrote last would stay */
	if (!node_copies())
		SKIP(return, "the device has no copy to bring it from");
	reader = export_fd(self->node, self->dst.fd);
	ASSERT_LE(0, reader);
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

	if (!node_copies())
		SKIP(return, "the device has no copy to look at");
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
	uint8_t *bytes;

	ASSERT_LE(0, reader);
	MAP_READ_ONLY(bytes, BUFFER_SIZE, reader);
	ret = attach_memory(self->node, bytes, BUFFER_SIZE,
			    DRAY_ATTACH_READ_ONLY, &attach);
	if (ret < 0)
		SKIP(return, "this memory is not pinned");
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
	struct dray_transfer transfer;
	struct dray_axis axis;

	transfer = engine_slow(self, &axis);
	reader.fd = export_fd(self->node, self->dst.fd);
	ASSERT_LE(0, reader.fd);
	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit));
	ASSERT_EQ(1, poll(&reader, 1, FENCE_DEADLINE));
	EXPECT_EQ(1, fence_status(submit.fence_fd));
}

TEST_HARNESS_MAIN
