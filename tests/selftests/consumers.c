// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Parts of the kernel that take a mapping as they take any memory: direct I/O,
 * pipes, other processes.  Where a heap's mappings have no pages (cma) they
 * are refused, at once.
 */
#include "fixture_heap.h"
#include "fixture_reserved.h"
#include "frames.h"
#include "loop_device.h"

#define SIZE (64 * 1024)

static bool pinnable(const struct dray_heap_info *heap)
{
	return heap->flags & DRAY_HEAP_PINNABLE;
}

TEST_F(heap, direct_io_reads_into_a_buffer)
{
	struct loop_device disk;
	uint8_t *expected = malloc(SIZE);
	ssize_t count;
	int ret = loop_device_open(&disk, SIZE);

	SKIP_IF(ret == -ENODEV, "this kernel has no loop device");
	ASSERT_EQ(0, ret);
	fill_random(expected, SIZE, 5);
	ASSERT_EQ(SIZE, pwrite(disk.memory, expected, SIZE, 0));
	OPEN_BUFFER(buffer, self->heap.index, SIZE);
	count = pread(disk.direct, buffer.bytes, SIZE, 0);
	if (pinnable(&self->heap)) {
		EXPECT_EQ(SIZE, count)
		{
			TH_LOG("%s", strerror(errno));
		}
		EXPECT_EQ(-1, first_difference(expected, buffer.bytes, SIZE));
	} else {
		EXPECT_EQ(-1, count);
		EXPECT_EQ(EFAULT, errno);
	}
}

TEST_F(heap, direct_io_writes_from_a_buffer)
{
	struct loop_device disk;
	uint8_t *seen = malloc(SIZE);
	ssize_t count;
	int ret = loop_device_open(&disk, SIZE);

	SKIP_IF(ret == -ENODEV, "this kernel has no loop device");
	ASSERT_EQ(0, ret);
	OPEN_BUFFER(buffer, self->heap.index, SIZE);
	fill_random(buffer.bytes, SIZE, 6);
	count = pwrite(disk.direct, buffer.bytes, SIZE, 0);
	if (pinnable(&self->heap)) {
		EXPECT_EQ(SIZE, count)
		{
			TH_LOG("%s", strerror(errno));
		}
		ASSERT_EQ(SIZE, pread(disk.memory, seen, SIZE, 0));
		EXPECT_EQ(-1, first_difference(buffer.bytes, seen, SIZE));
	} else {
		EXPECT_EQ(-1, count);
		EXPECT_EQ(EFAULT, errno);
	}
}

TEST_F(heap, ordinary_io_goes_through_every_mapping)
{
	uint8_t *seen = malloc(SIZE);
	int file = memfd_create("file", 0);

	ASSERT_LE(0, file);
	OPEN_BUFFER(buffer, self->heap.index, SIZE);
	fill_random(buffer.bytes, SIZE, 7);
	EXPECT_EQ(SIZE, pwrite(file, buffer.bytes, SIZE, 0));
	ASSERT_EQ(SIZE, pread(file, seen, SIZE, 0));
	EXPECT_EQ(-1, first_difference(buffer.bytes, seen, SIZE));
	memset(buffer.bytes, 0, SIZE);
	EXPECT_EQ(SIZE, pread(file, buffer.bytes, SIZE, 0));
	EXPECT_EQ(-1, first_difference(buffer.bytes, seen, SIZE));
}

TEST_F(heap, vmsplice_lends_pages_to_a_pipe)
{
	struct iovec iovec = { .iov_len = 4 * self->page };
	uint8_t *seen = malloc(4 * self->page);
	ssize_t count;
	int pipes[2];

	ASSERT_EQ(0, pipe(pipes));
	OPEN_BUFFER(buffer, self->heap.index, 4 * self->page);
	fill_random(buffer.bytes, buffer.size, 8);
	iovec.iov_base = buffer.bytes;
	count = vmsplice(pipes[1], &iovec, 1, 0);
	if (!pinnable(&self->heap)) {
		EXPECT_EQ(-1, count);
		EXPECT_EQ(EFAULT, errno);
		return;
	}
	ASSERT_EQ(4 * self->page, count);
	ASSERT_EQ(count, read(pipes[0], seen, (size_t)count));
	EXPECT_EQ(-1, first_difference(buffer.bytes, seen, (size_t)count));
}

static bool is_quarantined(void *context)
{
	struct dray_heap_info *heap = context;
	int node = node_open();
	int ret = node_heap(node, heap->index, heap);

	close(node);
	return !ret && heap->quarantined;
}

TEST_F(heap, pages_that_a_pipe_holds_are_not_given_to_others)
{
	struct iovec iovec = { .iov_len = self->page };
	uint8_t *seen = malloc(self->page), *kept = malloc(self->page);
	static struct buffer others[4096];
	struct dray_heap_info heap = self->heap;
	unsigned int count = 0;
	int pipes[2];

	SKIP_IF(!pinnable(&self->heap), "this heap's mappings have no pages");
	ASSERT_EQ(0, pipe(pipes));
	OPEN_BUFFER(buffer, self->heap.index, self->page);
	fill_random(buffer.bytes, self->page, 9);
	memcpy(kept, buffer.bytes, self->page);
	iovec.iov_base = buffer.bytes;
	ASSERT_EQ(self->page, vmsplice(pipes[1], &iovec, 1, 0));
	buffer_close(&buffer);
	if (variant->type == DRAY_HEAP_RESERVED) {
		EXPECT_TRUE(wait_for(is_quarantined, &heap));
		EXPECT_EQ(self->page, heap.quarantined);
	}
	/* whoever got the page would overwrite what lies in the pipe */
	while (count < 256 && !buffer_open(self->node, self->heap.index,
					   self->page, &others[count])) {
		memset(others[count].bytes, 0xee, self->page);
		count++;
	}
	EXPECT_LT(0, count);
	ASSERT_EQ(self->page, read(pipes[0], seen, self->page));
	EXPECT_EQ(-1, first_difference(kept, seen, self->page));
	while (count)
		buffer_close(&others[--count]);
	EXPECT_EQ(0, ledger_differences(&self->before));
}

TEST_F(reserved, a_full_heap_waits_for_quarantine_before_it_refuses)
{
	struct iovec iovec = { .iov_len = self->page };
	uint8_t *seen = malloc(self->page);
	int pipes[2];

	SKIP_IF(node_copies(), "no device gets a copy that is so large");
	ASSERT_EQ(0, pipe(pipes));
	OPEN_BUFFER(buffer, self->heap.index, self->heap.largest_free);
	iovec.iov_base = buffer.bytes;
	ASSERT_EQ(self->page, vmsplice(pipes[1], &iovec, 1, 0));
	buffer_close(&buffer);
	EXPECT_EQ(-ENOMEM, buffer_allocate(self->node, self->heap.index,
					   self->heap.largest_free, &buffer));
	ASSERT_EQ(self->page, read(pipes[0], seen, self->page));
	EXPECT_EQ(0, buffer_allocate(self->node, self->heap.index,
				     self->heap.largest_free, &buffer));
}

#define KPF_RESERVED 32

static bool is_marked(uint64_t frame)
{
	return frame_flags(frame) & 1ull << KPF_RESERVED;
}

static bool is_marked_again(void *context)
{
	return is_marked(*(uint64_t *)context);
}

/* VFIO and KVM never let go of pages that are marked as reserved. */
TEST_F(reserved, pages_are_marked_as_reserved_only_while_nobody_has_them)
{
	uint64_t frame;

	SKIP_IF(access("/proc/kpageflags", R_OK),
		"this kernel does not tell the flags of pages");
	OPEN_BUFFER(buffer, self->heap.index, 4 * self->page);
	frame = frame_of(buffer.bytes + 3 * self->page);
	ASSERT_NE(0, frame);
	EXPECT_FALSE(is_marked(frame));
	buffer_close(&buffer);
	EXPECT_TRUE(wait_for(is_marked_again, &frame));
}

TEST_F(heap, another_process_reads_and_writes_a_mapping)
{
	uint8_t *seen = malloc(4 * self->page);
	struct iovec local = { .iov_base = seen, .iov_len = 4 * self->page };
	struct iovec remote = { .iov_len = 4 * self->page };
	ssize_t count;

	OPEN_BUFFER(buffer, self->heap.index, 4 * self->page);
	fill_random(buffer.bytes, buffer.size, 10);
	remote.iov_base = buffer.bytes;
	count = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
	if (!pinnable(&self->heap)) {
		EXPECT_EQ(-1, count);
		EXPECT_EQ(EFAULT, errno);
		return;
	}
	ASSERT_EQ(4 * self->page, count);
	EXPECT_EQ(-1, first_difference(buffer.bytes, seen, buffer.size));
	memset(seen, 0x33, buffer.size);
	ASSERT_EQ(4 * self->page,
		  process_vm_writev(getpid(), &local, 1, &remote, 1, 0));
	EXPECT_EQ(-1, first_other_byte(buffer.bytes, buffer.size, 0x33));
}

TEST_F(heap, its_own_memory_file_reads_and_writes_a_mapping)
{
	char path[] = "/proc/self/mem";
	uint8_t *seen = malloc(2 * self->page);
	int memory = open(path, O_RDWR);

	SKIP_IF(!(self->heap.flags & DRAY_HEAP_PINNABLE) &&
			!process_debugs_frames(),
		"this kernel does not ask drivers for a debugger");
	ASSERT_LE(0, memory);
	OPEN_BUFFER(buffer, self->heap.index, 2 * self->page);
	fill_random(buffer.bytes, buffer.size, 12);
	ASSERT_EQ(2 * self->page, pread(memory, seen, 2 * self->page,
					(off_t)(uintptr_t)buffer.bytes));
	EXPECT_EQ(-1, first_difference(buffer.bytes, seen, buffer.size));
	seen[self->page] ^= 0xff;
	ASSERT_EQ(1,
		  pwrite(memory, seen + self->page, 1,
			 (off_t)(uintptr_t)buffer.bytes + (off_t)self->page));
	EXPECT_EQ(seen[self->page], buffer.bytes[self->page]);
}
