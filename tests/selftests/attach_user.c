// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * ATTACH of memory of the process: what is pinned, what an engine then reads
 * and writes in it, and everything that is refused.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/capability.h>

#include "attach.h"
#include "fixture_dray.h"
#include "fixture_engine.h"
#include "fixture_heap.h"

#define USER_SIZE BUFFER_SIZE

static uint8_t *memory(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

TEST_F(dray, the_reply_has_the_size_and_the_segments)
{
	uint8_t *bytes = memory(16 * self->page);
	struct dray_attach attach;

	ASSERT_NE(MAP_FAILED, bytes);
	ASSERT_LE(0, attach_memory(self->node, bytes + 5, 15 * self->page, 0,
				   &attach));
	EXPECT_EQ(15 * self->page, attach.length);
	EXPECT_LE(1, attach.segments);
	EXPECT_GE(16, attach.segments);
	EXPECT_EQ(DRAY_REASON_NONE, attach.reason);
}

TEST_F(dray, an_attachment_is_closed_on_exec)
{
	uint8_t *bytes = memory(self->page);
	struct dray_attach attach;
	int fd = attach_memory(self->node, bytes, self->page, 0, &attach);

	ASSERT_LE(0, fd);
	EXPECT_EQ(FD_CLOEXEC, fcntl(fd, F_GETFD));
}

TEST_F(dray, the_segments_cover_exactly_the_memory)
{
	static struct dray_segment segment[64];
	struct dray_address address = { .segments = (uintptr_t)segment,
					.room = 64 };
	uint8_t *bytes = memory(16 * self->page);
	struct dray_attach attach;
	uint64_t total = 0;
	uint32_t i;

	if (!(self->info.flags & DRAY_NODE_ADDRESS))
		SKIP(return, "this node tells no addresses");
	ASSERT_LE(0, attach_memory(self->node, bytes + 3, 10 * self->page, 0,
				   &attach));
	address.fd = attach.fd;
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_ADDRESS, &address));
	EXPECT_EQ(attach.segments, address.count);
	EXPECT_EQ(3, segment[0].address % self->page);
	for (i = 0; i < address.count; i++)
		total += segment[i].length;
	EXPECT_EQ(10 * self->page, total);
	for (i = 1; i < address.count; i++)
		EXPECT_EQ(0, segment[i].address % self->page);
}

TEST_F(dray, the_segments_of_a_part_are_those_of_the_whole)
{
	static struct dray_segment whole[64], part[64];
	struct dray_address address = { .segments = (uintptr_t)whole,
					.room = 64 };
	uint8_t *bytes = memory(16 * self->page);
	size_t offset = 5 * self->page + 7;
	struct dray_attach attach;
	uint64_t at = 0;
	uint32_t i;

	if (!(self->info.flags & DRAY_NODE_ADDRESS))
		SKIP(return, "this node tells no addresses");
	ASSERT_LE(0, attach_memory(self->node, bytes, 16 * self->page, 0,
				   &attach));
	address.fd = attach.fd;
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_ADDRESS, &address));
	for (i = 0; at + whole[i].length <= offset; i++)
		at += whole[i].length;
	address.segments = (uintptr_t)part;
	address.offset = offset;
	address.length = 1;
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_ADDRESS, &address));
	EXPECT_EQ(1, address.count);
	EXPECT_EQ(1, part[0].length);
	EXPECT_EQ(whole[i].address + (offset - at), part[0].address);
	address.length = self->page;
	address.room = 0;
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_ADDRESS, &address));
	EXPECT_LE(1, address.count);
	EXPECT_GE(2, address.count);
}

TEST_F(dray, the_address_of_a_read_only_attachment_is_not_told)
{
	struct dray_address address = { 0 };
	uint8_t *bytes = memory(self->page);
	struct dray_attach attach;

	ASSERT_LE(0, attach_memory(self->node, bytes, self->page,
				   DRAY_ATTACH_READ_ONLY, &attach));
	address.fd = attach.fd;
	EXPECT_EQ(-EACCES, node_call(self->node, DRAY_IOC_ADDRESS, &address));
	EXPECT_EQ(DRAY_REASON_READ_ONLY, address.reason);
}

static int asks_without_the_right(void *context)
{
	struct dray_address address = { .fd = *(int *)context };
	int node, ret;

	if (process_keep(0))
		return 255;
	node = node_open();
	if (node < 0)
		return 255;
	ret = node_call(node, DRAY_IOC_ADDRESS, &address);
	return -ret;
}

TEST_F(dray, addresses_of_user_memory_need_the_right)
{
	uint8_t *bytes = memory(self->page);
	struct dray_attach attach;

	ASSERT_LE(0, attach_memory(self->node, bytes, self->page, 0, &attach));
	EXPECT_EQ(EPERM, process_run(asks_without_the_right, &attach.fd));
}

TEST_F(dray, ranges_of_an_attachment_are_synced)
{
	uint8_t *bytes = memory(16 * self->page);
	struct dray_attach attach;
	struct dray_range range = {
		.offset = 7, .width = 100, .pitch = self->page - 1, .rows = 15
	};
	struct dray_sync sync = { .target = DRAY_TARGET_NODE,
				  .count = 1,
				  .ranges = (uintptr_t)&range };

	ASSERT_LE(0, attach_memory(self->node, bytes + 9, 15 * self->page, 0,
				   &attach));
	range.fd = attach.fd;
	memset(bytes, 0x31, 16 * self->page);
	for (sync.owner = DRAY_SYNC_FOR_DEVICE; sync.owner <= DRAY_SYNC_FOR_CPU;
	     sync.owner++)
		for (sync.direction = DRAY_TO_DEVICE;
		     sync.direction <= DRAY_BIDIRECTIONAL; sync.direction++)
			EXPECT_EQ(0,
				  node_call(self->node, DRAY_IOC_SYNC, &sync));
	EXPECT_EQ(-1, first_other_byte(bytes, 16 * self->page, 0x31));
	sync.owner = DRAY_SYNC_FOR_DEVICE;
	sync.direction = DRAY_TO_DEVICE;
	range.offset = 15 * self->page;
	range.rows = 1;
	range.width = 1;
	EXPECT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_SYNC, &sync));
	EXPECT_EQ(DRAY_REASON_RANGE, sync.reason);
	EXPECT_EQ(15 * self->page, sync.limit);
}

TEST_F(dray, a_read_only_attachment_is_synced)
{
	uint8_t *bytes = memory(4 * self->page);
	struct dray_attach attach;

	ASSERT_LE(0, attach_memory(self->node, bytes, 4 * self->page,
				   DRAY_ATTACH_READ_ONLY, &attach));
	EXPECT_EQ(0, buffer_sync(self->node, attach.fd, DRAY_SYNC_FOR_DEVICE,
				 DRAY_BIDIRECTIONAL, 0, 4 * self->page));
	EXPECT_EQ(0, buffer_sync(self->node, attach.fd, DRAY_SYNC_FOR_CPU,
				 DRAY_FROM_DEVICE, 0, 4 * self->page));
}

TEST_F(dray, no_memory_at_all_is_refused)
{
	struct dray_attach attach;
	uint8_t *bytes = memory(self->page);

	EXPECT_EQ(-EINVAL, attach_memory(self->node, bytes, 0, 0, &attach));
	EXPECT_EQ(DRAY_REASON_SIZE, attach.reason);
	EXPECT_LT(0, attach.limit);
}

TEST_F(dray, more_than_there_is_is_refused)
{
	struct dray_attach attach;
	uint8_t *bytes = memory(self->page);

	EXPECT_EQ(-EINVAL,
		  attach_memory(self->node, bytes, SIZE_MAX / 2, 0, &attach));
	EXPECT_EQ(DRAY_REASON_SIZE, attach.reason);
}

TEST_F(dray, memory_that_wraps_around_is_refused)
{
	struct dray_attach attach = {
		.dmabuf_fd = -1,
		.flags = DRAY_ATTACH_USER,
		.address = -(uint64_t)self->page,
		.length = 2 * self->page,
	};

	EXPECT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_ATTACH, &attach));
	EXPECT_EQ(DRAY_REASON_SIZE, attach.reason);
}

TEST_F(dray, the_kernels_memory_is_refused)
{
	struct dray_attach attach;

	EXPECT_EQ(-EFAULT, attach_memory(self->node,
					 (void *)-(uintptr_t)(16 * self->page),
					 self->page, 0, &attach));
	EXPECT_EQ(DRAY_REASON_PINNED, attach.reason);
	EXPECT_EQ(0, attach.limit);
}

TEST_F(dray, the_null_page_is_refused)
{
	struct dray_attach attach;

	EXPECT_EQ(-EFAULT,
		  attach_memory(self->node, NULL, self->page, 0, &attach));
	EXPECT_EQ(DRAY_REASON_PINNED, attach.reason);
}

TEST_F(dray, memory_with_a_hole_is_refused_and_the_reply_says_where)
{
	uint8_t *bytes = memory(8 * self->page);
	struct dray_attach attach;

	ASSERT_EQ(0, munmap(bytes + 5 * self->page, self->page));
	EXPECT_EQ(-EFAULT, attach_memory(self->node, bytes + 10, 7 * self->page,
					 0, &attach));
	EXPECT_EQ(DRAY_REASON_PINNED, attach.reason);
	EXPECT_EQ(5 * self->page - 10, attach.limit);
}

TEST_F(dray, memory_without_access_is_refused)
{
	uint8_t *bytes = mmap(NULL, self->page, PROT_NONE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct dray_attach attach;

	EXPECT_EQ(-EFAULT,
		  attach_memory(self->node, bytes, self->page, 0, &attach));
	EXPECT_EQ(-EFAULT, attach_memory(self->node, bytes, self->page,
					 DRAY_ATTACH_READ_ONLY, &attach));
	EXPECT_EQ(DRAY_REASON_PINNED, attach.reason);
}

TEST_F(dray, read_only_memory_is_for_devices_that_read)
{
	uint8_t *bytes = memory(2 * self->page);
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

TEST_F(dray, what_a_call_cannot_mean_is_refused)
{
	uint8_t *bytes = memory(self->page);
	struct dray_attach good = { .dmabuf_fd = -1,
				    .flags = DRAY_ATTACH_USER,
				    .address = (uintptr_t)bytes,
				    .length = self->page };
	struct dray_attach attach;

	attach = good;
	attach.flags |= 4;
	EXPECT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_ATTACH, &attach));
	attach = good;
	attach.reserved = 1;
	EXPECT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_ATTACH, &attach));
	attach = good;
	attach.dmabuf_fd = 0;
	EXPECT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_ATTACH, &attach));
	attach = good;
	attach.flags = 0;
	EXPECT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_ATTACH, &attach));
}

TEST_F(dray, an_attachment_is_no_buffer)
{
	struct dray_export export = { .flags = DRAY_EXPORT_READ_ONLY };
	uint8_t *bytes = memory(self->page);
	struct dray_attach attach;

	ASSERT_LE(0, attach_memory(self->node, bytes, self->page, 0, &attach));
	export.buffer_fd = attach.fd;
	EXPECT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_EXPORT, &export));
	EXPECT_EQ(DRAY_REASON_FOREIGN, export.reason);
	EXPECT_EQ(MAP_FAILED,
		  mmap(NULL, self->page, PROT_READ, MAP_SHARED, attach.fd, 0));
}

struct limited {
	int node;
	size_t page;
	size_t limit;
	size_t length;
};

/* 0 taken; else the errno, with 100 added where the reply says why. */
static int attaches_as_user(void *context)
{
	const struct limited *limited = context;
	struct rlimit limit = { limited->limit, limited->limit };
	uint8_t *bytes = memory(limited->length);
	struct dray_attach attach;
	int ret;

	if (setrlimit(RLIMIT_MEMLOCK, &limit) || process_become(65533, 0))
		return 255;
	ret = attach_memory(limited->node, bytes, limited->length, 0, &attach);
	if (ret >= 0)
		return 0;
	if (attach.reason == DRAY_REASON_MEMLOCK &&
	    attach.limit == limited->limit)
		return 100 - ret;
	return -ret;
}

TEST_F(dray, the_limit_of_locked_memory_is_kept)
{
	struct limited limited = { .node = self->node,
				   .page = self->page,
				   .limit = 8 * self->page };

	limited.length = 8 * self->page;
	EXPECT_EQ(0, process_run(attaches_as_user, &limited));
	limited.length = 8 * self->page + 1;
	EXPECT_EQ(100 + ENOMEM, process_run(attaches_as_user, &limited));
}

/* As often as fits, again after all were closed. */
static int attaches_twice_the_limit(void *context)
{
	const struct limited *limited = context;
	struct rlimit limit = { limited->limit, limited->limit };
	uint8_t *bytes = memory(limited->length);
	struct dray_attach attach;
	int i, first, second;

	if (setrlimit(RLIMIT_MEMLOCK, &limit) || process_become(65532, 0))
		return 255;
	for (i = 0; i < 20; i++) {
		first = attach_memory(limited->node, bytes, limited->length, 0,
				      &attach);
		if (first < 0)
			return 1;
		second = attach_memory(limited->node, bytes, limited->length, 0,
				       &attach);
		if (second != -ENOMEM)
			return 2;
		close(first);
	}
	return 0;
}

TEST_F(dray, closing_an_attachment_gives_back_its_charge)
{
	struct limited limited = { .node = self->node,
				   .page = self->page,
				   .limit = 8 * self->page,
				   .length = 5 * self->page };

	EXPECT_EQ(0, process_run(attaches_twice_the_limit, &limited));
}

TEST_F(dray, huge_pages_are_one_segment_each_or_fewer)
{
	const size_t huge = 2 << 20;
	struct dray_attach attach;
	uint8_t *bytes;
	int file, pages;

	pages = open("/proc/sys/vm/nr_hugepages", O_WRONLY | O_CLOEXEC);
	if (pages < 0 || write(pages, "8", 1) != 1)
		SKIP(return, "this kernel has no huge pages");
	file = memfd_create("huge", MFD_HUGETLB | (21 << 26));
	if (file < 0 || ftruncate(file, (off_t)(4 * huge)))
		SKIP(return, "there are no huge pages of 2 MiB");
	bytes = mmap(NULL, 4 * huge, PROT_READ | PROT_WRITE, MAP_SHARED, file,
		     0);
	if (bytes == MAP_FAILED)
		SKIP(return, "no huge pages are free");
	ASSERT_LE(0, attach_memory(self->node, bytes, 4 * huge, 0, &attach));
	EXPECT_GE(4, attach.segments);
	close(attach.fd);
	ASSERT_LE(0, attach_memory(self->node, bytes + 1, 4 * huge - 2, 0,
				   &attach));
	EXPECT_GE(4, attach.segments);
}

TEST_F(heap, a_mapped_buffer_is_attached_or_cleanly_refused)
{
	struct dray_attach attach;
	struct buffer buffer;
	int ret;

	ASSERT_EQ(0, buffer_open(self->node, self->heap.index, 4 * self->page,
				 &buffer));
	mapped_twice_begin();
	ret = attach_memory(self->node, buffer.bytes, buffer.size, 0, &attach);
	mapped_twice_end();
	if (self->heap.flags & DRAY_HEAP_PINNABLE) {
		EXPECT_LE(0, ret);
		EXPECT_EQ(1, attach.segments);
		close(ret);
	} else {
		EXPECT_EQ(-EFAULT, ret);
		EXPECT_EQ(DRAY_REASON_PINNED, attach.reason);
	}
}

TEST_F(heap, what_is_attached_outlives_its_buffer)
{
	struct dray_attach attach;
	struct buffer buffer;
	int ret;

	if (!(self->heap.flags & DRAY_HEAP_PINNABLE))
		SKIP(return, "this memory is not pinned");
	ASSERT_EQ(0, buffer_open(self->node, self->heap.index, 4 * self->page,
				 &buffer));
	mapped_twice_begin();
	ret = attach_memory(self->node, buffer.bytes, buffer.size, 0, &attach);
	mapped_twice_end();
	ASSERT_LE(0, ret);
	buffer_close(&buffer);
	EXPECT_EQ(0, buffer_sync(self->node, ret, DRAY_SYNC_FOR_DEVICE,
				 DRAY_TO_DEVICE, 0, 4 * self->page));
	close(ret);
}

/* A second node, or a negative errno. */
static int second_node(void)
{
	char path[PATH_MAX];
	int i, fd;

	for (i = 0; i < 16; i++) {
		snprintf(path, sizeof(path), "/dev/dray%d", i);
		if (!strcmp(path, node_path()))
			continue;
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd >= 0)
			return fd;
	}
	return -ENODEV;
}

TEST_F(dray, an_attachment_is_of_its_node_alone)
{
	uint8_t *bytes = memory(self->page);
	struct dray_address address = { 0 };
	struct dray_attach attach;
	int other = second_node();

	if (other < 0)
		SKIP(return, "there is one node only");
	ASSERT_LE(0, attach_memory(self->node, bytes, self->page, 0, &attach));
	address.fd = attach.fd;
	EXPECT_EQ(-EINVAL, node_call(other, DRAY_IOC_ADDRESS, &address));
	EXPECT_EQ(DRAY_REASON_FOREIGN, address.reason);
	EXPECT_EQ(attach.fd, address.limit);
	EXPECT_EQ(-EINVAL, buffer_sync(other, attach.fd, DRAY_SYNC_FOR_DEVICE,
				       DRAY_TO_DEVICE, 0, 1));
}

TEST_F(dray, a_second_opener_takes_it)
{
	uint8_t *bytes = memory(self->page);
	struct dray_attach attach;
	int other = node_open();

	ASSERT_LE(0, other);
	ASSERT_LE(0, attach_memory(self->node, bytes, self->page, 0, &attach));
	close(self->node);
	EXPECT_EQ(0, buffer_sync(other, attach.fd, DRAY_SYNC_FOR_DEVICE,
				 DRAY_TO_DEVICE, 0, self->page));
	self->node = other;
}

static int attaches_and_dies(void *context)
{
	const size_t size = 64 * 4096;
	struct dray_attach attach;
	uint8_t *bytes = memory(8 * size);
	int i;

	for (i = 0; i < 8; i++)
		if (attach_memory(*(int *)context, bytes + i * size, size, 0,
				  &attach) < 0)
			return 1;
	raise(SIGKILL);
	return 2;
}

TEST_F(dray, killing_who_attached_leaves_nothing)
{
	EXPECT_EQ(-SIGKILL, process_run(attaches_and_dies, &self->node));
	EXPECT_EQ(0, ledger_differences(&self->before));
}

TEST_F(dray, an_attachment_is_passed_over_a_socket)
{
	uint8_t *bytes = memory(self->page);
	struct dray_attach attach;
	int sockets[2], fd;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	ASSERT_LE(0, attach_memory(self->node, bytes, self->page, 0, &attach));
	ASSERT_EQ(0, send_descriptor(sockets[0], attach.fd));
	close(attach.fd);
	fd = receive_descriptor(sockets[1]);
	ASSERT_LE(0, fd);
	EXPECT_EQ(0, buffer_sync(self->node, fd, DRAY_SYNC_FOR_DEVICE,
				 DRAY_TO_DEVICE, 0, self->page));
}

/* User memory full of known bytes, and the model's copy of it. */
static int user_open(FIXTURE_DATA(engine) * self, int side, size_t skip,
		     uint8_t **bytes)
{
	struct dray_attach attach;
	uint8_t *all = memory(USER_SIZE + 2 * self->page);
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
	struct dray_channel_info channel;
	uint8_t *from, *to;

	ASSERT_EQ(0, node_channel(self->node, 0, &channel));
	if (channel.alignment > 1)
		SKIP(return, "the engine needs aligned places");
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
	int i;

	for (i = 0; i < 16; i++)
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
	uint8_t *bytes, *all = memory(USER_SIZE);
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

TEST_F(engine, an_engine_writes_memory_that_was_unmapped)
{
	struct dray_transfer transfer = engine_copy(self, USER_SIZE);
	struct dray_transfer back = engine_copy(self, USER_SIZE);
	struct dray_submit submit = { .channel = 0 };
	struct dray_attach attach;
	uint8_t *bytes = memory(USER_SIZE);

	ASSERT_LE(0, attach_memory(self->node, bytes, USER_SIZE, 0, &attach));
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
	struct dray_transfer transfer;
	struct dray_axis axis;
	uint8_t *bytes;
	int fd;

	transfer = engine_slow(self, &axis);
	fd = user_open(self, 1, 0, &bytes);
	ASSERT_LE(0, fd);
	transfer.dst_fd = fd;
	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit));
	close(fd);
	EXPECT_EQ(1, fence_wait(submit.fence_fd));
	self->model[0].fd = transfer.src_fd;
	model_transfer(self->model, 2, &transfer);
	EXPECT_EQ(-1, first_difference(self->model[1].bytes, bytes, USER_SIZE));
}

TEST_F(engine, a_read_only_attachment_is_a_source_only)
{
	struct dray_transfer transfer = engine_copy(self, self->page);
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	uint8_t *bytes = memory(self->page);
	struct dray_attach attach;

	memset(bytes, 0x5c, self->page);
	ASSERT_EQ(0, mprotect(bytes, self->page, PROT_READ));
	ASSERT_LE(0, attach_memory(self->node, bytes, self->page,
				   DRAY_ATTACH_READ_ONLY, &attach));
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
	uint8_t *bytes = memory(self->page);
	struct dray_attach attach;

	/* never touched before, and attached for reading only */
	ASSERT_LE(0, attach_memory(self->node, bytes, self->page,
				   DRAY_ATTACH_READ_ONLY, &attach));
	memset(bytes, 0x6d, self->page);
	transfer.src_fd = attach.fd;
	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit));
	EXPECT_EQ(1, fence_wait(submit.fence_fd));
	EXPECT_EQ(-1, first_other_byte(self->dst.bytes, self->page, 0x6d));
}

TEST_F(engine, what_leaves_an_attachment_is_refused)
{
	struct dray_transfer transfer = engine_copy(self, self->page + 1);
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	uint8_t *bytes = memory(2 * self->page);
	struct dray_attach attach;

	ASSERT_LE(0, attach_memory(self->node, bytes, self->page, 0, &attach));
	transfer.dst_fd = attach.fd;
	EXPECT_EQ(-EINVAL, engine_submit(self, &transfer, 1, &submit));
	EXPECT_EQ(DRAY_REASON_RANGE, submit.reason);
	EXPECT_EQ(self->page, submit.limit);
}

TEST_F(engine, source_and_destination_in_one_attachment_overlap)
{
	struct dray_transfer transfer = engine_copy(self, 2 * self->unit);
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	uint8_t *bytes = memory(self->page);
	struct dray_attach attach;

	ASSERT_LE(0, attach_memory(self->node, bytes, self->page, 0, &attach));
	transfer.dst_fd = attach.fd;
	transfer.src_fd = attach.fd;
	transfer.dst_offset = self->unit;
	EXPECT_EQ(-EINVAL, engine_submit(self, &transfer, 1, &submit));
	EXPECT_EQ(DRAY_REASON_OVERLAP, submit.reason);
}

TEST_F(engine, memory_that_is_attached_twice_overlaps_where_it_is_the_same)
{
	size_t page = self->page, unit = self->unit;
	uint8_t *bytes = memory(16 * page);
	struct dray_attach a, b;

	mapped_twice_begin();
	ASSERT_LE(0, attach_memory(self->node, bytes, 8 * page, 0, &a));
	ASSERT_LE(0, attach_memory(self->node, bytes + 4 * page - unit,
				   8 * page, 0, &b));
	EXPECT_EQ(DRAY_REASON_OVERLAP,
		  engine_refusal(self, a.fd, 0, b.fd, 0, 8 * page));
	/* the last byte of one is the first of the other */
	EXPECT_EQ(DRAY_REASON_OVERLAP,
		  engine_refusal(self, a.fd, 0, b.fd, 0, 4 * page));
	EXPECT_EQ(0, engine_refusal(self, a.fd, 0, b.fd, 0, 4 * page - unit));
	EXPECT_EQ(DRAY_REASON_OVERLAP,
		  engine_refusal(self, b.fd, unit, a.fd, 4 * page, unit));
	EXPECT_EQ(0, engine_refusal(self, b.fd, 0, a.fd, 4 * page, unit));
	EXPECT_EQ(0, engine_refusal(self, b.fd, unit, a.fd, 0, 4 * page));
	mapped_twice_end();
}

TEST_F(engine, memory_that_is_mapped_twice_overlaps_in_two_attachments)
{
	int fd = memfd_create("twice", MFD_CLOEXEC);
	struct dray_attach a, b;
	uint8_t *bytes[2];
	int i;

	ASSERT_EQ(0, ftruncate(fd, (off_t)(4 * self->page)));
	for (i = 0; i < 2; i++) {
		bytes[i] = mmap(NULL, 4 * self->page, PROT_READ | PROT_WRITE,
				MAP_SHARED, fd, 0);
		ASSERT_NE(MAP_FAILED, bytes[i]);
	}
	mapped_twice_begin();
	ASSERT_LE(0,
		  attach_memory(self->node, bytes[0], 4 * self->page, 0, &a));
	ASSERT_LE(0, attach_memory(self->node, bytes[1] + self->page,
				   3 * self->page, 0, &b));
	EXPECT_EQ(DRAY_REASON_OVERLAP,
		  engine_refusal(self, a.fd, self->page, b.fd, 0, self->page));
	EXPECT_EQ(DRAY_REASON_OVERLAP,
		  engine_refusal(self, b.fd, 0, a.fd, 0, 3 * self->page));
	EXPECT_EQ(0, engine_refusal(self, b.fd, 0, a.fd, 0, self->page));
	mapped_twice_end();
}

TEST_F(engine, a_buffer_overlaps_with_itself_attached_where_it_is_mapped)
{
	size_t page = self->page, unit = self->unit;
	struct dray_attach attach;
	int ret;

	mapped_twice_begin();
	/* its second page, and a bit of the third */
	ret = attach_memory(self->node, self->dst.bytes + page, page + unit, 0,
			    &attach);
	if (ret < 0 && attach.reason == DRAY_REASON_PINNED) {
		mapped_twice_end();
		SKIP(return, "memory of this heap cannot be pinned");
	}
	ASSERT_LE(0, ret);
	EXPECT_EQ(DRAY_REASON_OVERLAP,
		  engine_refusal(self, attach.fd, 0, self->dst.fd, 0,
				 page + unit));
	EXPECT_EQ(DRAY_REASON_OVERLAP,
		  engine_refusal(self, self->dst.fd, 2 * page, attach.fd, page,
				 unit));
	EXPECT_EQ(0, engine_refusal(self, attach.fd, 0, self->dst.fd, 0, page));
	EXPECT_EQ(0, engine_refusal(self, self->dst.fd, 2 * page, attach.fd, 0,
				    page));
	mapped_twice_end();
}

TEST_HARNESS_MAIN
