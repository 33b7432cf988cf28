// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * ATTACH of memory of the process: what is pinned, whose it is, and when it is
 * let go of.
 */
#include "attach.h"
#include "fixture_dray.h"
#include "fixture_heap.h"
#include "step.h"
#include "transfer.h"

TEST_F(dray, the_reply_has_the_size_and_the_segments)
{
	uint8_t *bytes = fresh_memory(16 * self->page);

	ASSERT_NE(MAP_FAILED, bytes);
	ATTACH_MEMORY(attach, bytes + 5, 15 * self->page, 0);
	EXPECT_EQ(15 * self->page, attach.length);
	EXPECT_LE(1, attach.segments);
	EXPECT_GE(16, attach.segments);
	EXPECT_EQ(DRAY_REASON_NONE, attach.reason);
}

TEST_F(dray, an_attachment_is_closed_on_exec)
{
	uint8_t *bytes = fresh_memory(self->page);
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
	uint8_t *bytes = fresh_memory(16 * self->page);
	uint64_t total = 0;
	uint32_t i;

	NEED_ADDRESSES();
	ATTACH_MEMORY(attach, bytes + 3, 10 * self->page, 0);
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
	uint8_t *bytes = fresh_memory(16 * self->page);
	size_t offset = 5 * self->page + 7;
	uint64_t at = 0;
	uint32_t i;

	NEED_ADDRESSES();
	ATTACH_MEMORY(attach, bytes, 16 * self->page, 0);
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

static int asks_without_the_right(void *context)
{
	struct dray_address address = { .fd = *(int *)context };
	int node;

	STEP_EQ(0, process_keep(0));
	node = node_open();
	STEP_LE(0, node);
	return -node_call(node, DRAY_IOC_ADDRESS, &address);
}

TEST_F(dray, addresses_of_user_memory_need_the_right)
{
	uint8_t *bytes = fresh_memory(self->page);

	ATTACH_MEMORY(attach, bytes, self->page, 0);
	EXPECT_EQ(EPERM, process_run(asks_without_the_right, &attach.fd));
}

TEST_F(dray, no_sync_of_an_attachment_changes_its_bytes)
{
	uint8_t *bytes = fresh_memory(16 * self->page);
	struct dray_range range = {
		.offset = 7, .width = 100, .pitch = self->page - 1, .rows = 15
	};
	struct dray_sync sync = { .target = DRAY_TARGET_NODE,
				  .count = 1,
				  .ranges = (uintptr_t)&range };

	ATTACH_MEMORY(attach, bytes + 9, 15 * self->page, 0);
	range.fd = attach.fd;
	memset(bytes, 0x31, 16 * self->page);
	for (sync.owner = DRAY_SYNC_FOR_DEVICE; sync.owner <= DRAY_SYNC_FOR_CPU;
	     sync.owner++)
		for (sync.direction = DRAY_TO_DEVICE;
		     sync.direction <= DRAY_BIDIRECTIONAL; sync.direction++)
			EXPECT_EQ(0,
				  node_call(self->node, DRAY_IOC_SYNC, &sync));
	EXPECT_EQ(-1, first_other_byte(bytes, 16 * self->page, 0x31));
}

TEST_F(dray, a_sync_beyond_the_end_of_an_attachment_is_refused)
{
	uint8_t *bytes = fresh_memory(16 * self->page);
	struct dray_range range = { .offset = 15 * self->page,
				    .width = 1,
				    .rows = 1 };
	struct dray_sync sync = SYNC_OF(DRAY_TARGET_NODE, DRAY_SYNC_FOR_DEVICE,
					DRAY_TO_DEVICE, &range, 1);

	ATTACH_MEMORY(attach, bytes + 9, 15 * self->page, 0);
	range.fd = attach.fd;
	EXPECT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_SYNC, &sync));
	EXPECT_EQ(DRAY_REASON_RANGE, sync.reason);
	EXPECT_EQ(15 * self->page, sync.limit);
}

/* Was the kernel told at its start to have huge pages? */
static bool huge_pages_are_promised(void)
{
	FILE *file = fopen("/proc/cmdline", "r");
	char line[4096] = "";

	if (file && !fgets(line, sizeof(line), file))
		line[0] = 0;
	if (file)
		fclose(file);
	return strstr(line, "hugepages=");
}

/* The descriptor of a file of so many huge pages, or a negative errno. */
static int huge_file(size_t size)
{
	int file = memfd_create("huge", MFD_HUGETLB | (21 << 26));

	if (file < 0 || ftruncate(file, (off_t)size))
		return -errno;
	return file;
}

/* All of @dst from there; 0 or a negative errno. */
static int copy_from(int node, const struct buffer *dst, int fd,
		     uint64_t offset)
{
	struct dray_transfer transfer =
		COPY_OF(dst->fd, fd, dst->size, .src_offset = offset);

	return transfer_run(node, &transfer, DRAY_CHANNEL_ANY, 0);
}

TEST_F(dray, huge_pages_are_one_segment_each_or_fewer)
{
	const size_t huge = 2 << 20;
	uint8_t *bytes;
	int file;

	SKIP_IF(write_text("/proc/sys/vm/nr_hugepages", "8"),
		"this kernel has no huge pages");
	file = huge_file(4 * huge);
	bytes = mmap(NULL, 4 * huge, PROT_READ | PROT_WRITE, MAP_SHARED, file,
		     0);
	SKIP_IF(bytes == MAP_FAILED && !huge_pages_are_promised(),
		"no huge pages of 2 MiB are free");
	ASSERT_NE(MAP_FAILED, bytes);
	ATTACH_MEMORY(attach, bytes, 4 * huge, 0);
	EXPECT_LE(1, attach.segments);
	EXPECT_GE(4, attach.segments);
	close(attach.fd);
	ASSERT_LE(0, attach_memory(self->node, bytes + 1, 4 * huge - 2, 0,
				   &attach));
	EXPECT_LE(1, attach.segments);
	EXPECT_GE(4, attach.segments);
	close(attach.fd);
	if (!self->info.channel_count)
		return;
	/* From the middle of one into the middle of the next. */
	fill_random(bytes, 4 * huge, 15);
	ASSERT_LE(0, attach_memory(self->node, bytes, 4 * huge, 0, &attach));
	OPEN_BUFFER(buffer, DRAY_HEAP_ANY, huge);
	ASSERT_EQ(0,
		  copy_from(self->node, &buffer, attach.fd, huge + huge / 2));
	EXPECT_EQ(-1, first_difference(bytes + huge + huge / 2, buffer.bytes,
				       huge));
}

TEST_F(heap, a_mapped_buffer_is_attached_or_cleanly_refused)
{
	struct dray_attach attach;
	int ret;

	OPEN_BUFFER(buffer, self->heap.index, 4 * self->page);
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
	int ret;

	SKIP_IF(!(self->heap.flags & DRAY_HEAP_PINNABLE),
		"this memory is not pinned");
	OPEN_BUFFER(buffer, self->heap.index, 4 * self->page);
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
	uint8_t *bytes = fresh_memory(self->page);
	struct dray_address address = { 0 };
	int other = second_node();

	SKIP_IF(other < 0, "there is one node only");
	ATTACH_MEMORY(attach, bytes, self->page, 0);
	address.fd = attach.fd;
	EXPECT_EQ(-EINVAL, node_call(other, DRAY_IOC_ADDRESS, &address));
	EXPECT_EQ(DRAY_REASON_FOREIGN, address.reason);
	EXPECT_EQ(attach.fd, address.limit);
	EXPECT_EQ(-EINVAL, buffer_sync(other, attach.fd, DRAY_SYNC_FOR_DEVICE,
				       DRAY_TO_DEVICE, 0, 1));
}

TEST_F(dray, a_second_opener_takes_it)
{
	uint8_t *bytes = fresh_memory(self->page);

	OPEN_NODE(other);
	ATTACH_MEMORY(attach, bytes, self->page, 0);
	close(self->node);
	EXPECT_EQ(0, buffer_sync(other, attach.fd, DRAY_SYNC_FOR_DEVICE,
				 DRAY_TO_DEVICE, 0, self->page));
	self->node = other;
}

static int attaches_and_dies(void *context)
{
	const size_t size = 64 * 4096;
	struct dray_attach attach;
	uint8_t *bytes = fresh_memory(8 * size);

	for (int i = 0; i < 8; i++)
		STEP_LE(0, attach_memory(*(int *)context, bytes + i * size,
					 size, 0, &attach));
	return raise(SIGKILL);
}

TEST_F(dray, killing_who_attached_leaves_nothing)
{
	EXPECT_EQ(-SIGKILL, process_run(attaches_and_dies, &self->node));
	EXPECT_EQ(0, ledger_differences(&self->before));
}

TEST_F(dray, an_attachment_is_passed_over_a_socket)
{
	uint8_t *bytes = fresh_memory(self->page);
	int sockets[2], fd;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	ATTACH_MEMORY(attach, bytes, self->page, 0);
	ASSERT_EQ(0, send_descriptor(sockets[0], attach.fd));
	close(attach.fd);
	fd = receive_descriptor(sockets[1]);
	ASSERT_LE(0, fd);
	EXPECT_EQ(0, buffer_sync(self->node, fd, DRAY_SYNC_FOR_DEVICE,
				 DRAY_TO_DEVICE, 0, self->page));
}
