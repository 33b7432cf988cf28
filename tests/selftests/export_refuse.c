// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * What somebody tries who has a buffer for reading only, with calls that keep
 * hold of its pages, and what he can do to those who have it for writing: a
 * fence that he brings they wait for, as the kernel has them do.
 */
#include "binding.h"
#include "fixture_dray.h"
#include "fixture_heap.h"
#include "importer.h"
#include "loop_device.h"
#include "ring.h"

/* A buffer with 0x11 everywhere, its read-only descriptor, a mapping of that. */
struct lent {
	struct buffer buffer;
	int reader;
	uint8_t *bytes;
};

static int lend(int node, uint32_t heap, size_t size, struct lent *lent)
{
	struct dray_export export = { .flags = DRAY_EXPORT_READ_ONLY };
	int ret = buffer_open(node, heap, size, &lent->buffer);

	if (ret)
		return ret;
	memset(lent->buffer.bytes, 0x11, size);
	export.buffer_fd = lent->buffer.fd;
	ret = node_call(node, DRAY_IOC_EXPORT, &export);
	if (ret)
		return ret;
	lent->reader = export.fd;
	lent->bytes = mmap(NULL, size, PROT_READ, MAP_SHARED, export.fd, 0);
	return lent->bytes == MAP_FAILED ? -errno : 0;
}

TEST_F(heap, io_uring_does_not_register_it)
{
	struct ring ring;
	struct lent lent;

	OPEN_RING(&ring);
	ASSERT_EQ(0, lend(self->node, self->heap.index, self->page, &lent));
	/* before 6.5 it says so of every file's mapping */
	EXPECT_GT(0, ring_register(&ring, lent.bytes, self->page));
	EXPECT_EQ(-1, first_other_byte(lent.buffer.bytes, self->page, 0x11));
	ring_close(&ring);
}

TEST_F(heap, io_uring_does_not_read_into_it)
{
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	struct ring ring;
	struct lent lent;

	ASSERT_LE(0, zero);
	OPEN_RING(&ring);
	ASSERT_EQ(0, lend(self->node, self->heap.index, self->page, &lent));
	EXPECT_EQ(-EFAULT, ring_run(&ring, IORING_OP_READ, zero, lent.bytes,
				    self->page));
	EXPECT_EQ(-1, first_other_byte(lent.buffer.bytes, self->page, 0x11));
	ring_close(&ring);
}

TEST_F(heap, a_disk_is_not_read_into_it)
{
	struct loop_device disk;
	struct lent lent;
	int ret = loop_device_open(&disk, self->page);

	SKIP_IF(ret == -ENODEV, "this kernel has no loop device");
	ASSERT_EQ(0, ret);
	ASSERT_EQ(0, lend(self->node, self->heap.index, self->page, &lent));
	EXPECT_EQ(-1, pread(disk.direct, lent.bytes, self->page, 0));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, first_other_byte(lent.buffer.bytes, self->page, 0x11));
	loop_device_close(&disk);
}

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

TEST_F(heap, its_pages_are_not_made_ready_to_be_written)
{
	struct lent lent;

	ASSERT_EQ(0, lend(self->node, self->heap.index, self->page, &lent));
	EXPECT_EQ(-1, madvise(lent.bytes, self->page, MADV_POPULATE_WRITE));
	EXPECT_TRUE(errno == EINVAL || errno == EFAULT || errno == EPERM)
	{
		TH_LOG("the error is %d", errno);
	}
	EXPECT_EQ(-1, first_other_byte(lent.buffer.bytes, self->page, 0x11));
}

TEST_F(heap, a_pipe_is_not_emptied_into_it)
{
	struct iovec iovec = { .iov_len = self->page };
	struct lent lent;
	int pipes[2];

	ASSERT_EQ(0, lend(self->node, self->heap.index, self->page, &lent));
	ASSERT_EQ(0, pipe(pipes));
	ASSERT_EQ(3, write(pipes[1], "abc", 3));
	iovec.iov_base = lent.bytes;
	EXPECT_EQ(-1, vmsplice(pipes[0], &iovec, 1, 0));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, first_other_byte(lent.buffer.bytes, self->page, 0x11));
}

/* A page in a pipe is the buffer's: what is written next goes elsewhere. */
TEST_F(heap, what_follows_it_in_a_pipe_is_not_written_into_it)
{
	struct iovec iovec = { .iov_len = self->page / 2 };
	uint8_t *seen = malloc(self->page);
	struct lent lent;
	int pipes[2];

	SKIP_IF(!(self->heap.flags & DRAY_HEAP_PINNABLE),
		"this heap's mappings have no pages");
	ASSERT_EQ(0, lend(self->node, self->heap.index, self->page, &lent));
	ASSERT_EQ(0, pipe(pipes));
	iovec.iov_base = lent.bytes;
	ASSERT_EQ(self->page / 2, vmsplice(pipes[1], &iovec, 1, SPLICE_F_GIFT));
	ASSERT_EQ(3, write(pipes[1], "abc", 3));
	EXPECT_EQ(-1, first_other_byte(lent.buffer.bytes, self->page, 0x11));
	ASSERT_EQ(self->page / 2 + 3, read(pipes[0], seen, self->page));
	EXPECT_EQ(-1, first_other_byte(seen, self->page / 2, 0x11));
	EXPECT_EQ(0, memcmp(seen + self->page / 2, "abc", 3));
}

#ifndef DMA_BUF_IOCTL_IMPORT_SYNC_FILE
struct dma_buf_import_sync_file {
	__u32 flags;
	__s32 fd;
};

#define DMA_BUF_IOCTL_IMPORT_SYNC_FILE \
	_IOW(DMA_BUF_BASE, 3, struct dma_buf_import_sync_file)
#endif

/* A fence of vgem that signals when it is told to, as a sync_file. */
struct stranger {
	int importer;
	uint32_t fence;
	int sync_file;
};

static int stranger_open(size_t size, struct stranger *stranger)
{
	uint32_t handle;
	int ret, fd;

	stranger->importer = importer_open();
	if (stranger->importer < 0)
		return stranger->importer;
	ret = importer_create(stranger->importer, size, &handle);
	if (ret)
		return ret;
	fd = importer_export(stranger->importer, handle);
	if (fd < 0)
		return fd;
	ret = importer_fence(stranger->importer, handle, &stranger->fence);
	if (ret)
		return ret;
	stranger->sync_file = buffer_fences(fd);
	return stranger->sync_file < 0 ? stranger->sync_file : 0;
}

static int import_fence(int fd, int sync_file, uint32_t flags)
{
	struct dma_buf_import_sync_file import = {
		.flags = flags,
		.fd = sync_file,
	};

	return ioctl(fd, DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &import) ? -errno : 0;
}

/* Does poll() say that nobody need be waited for any more, now? */
static bool is_ready(int fd, short events)
{
	struct pollfd poll_fd = { .fd = fd, .events = events };

	return poll(&poll_fd, 1, 0) == 1;
}

static int begin_to_read(void *context)
{
	return -buffer_cpu_access(*(int *)context,
				  DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ);
}

#define BRING_FENCE(lent, stranger, flags)                                     \
	do {                                                                   \
		int _ret = stranger_open(self->page, stranger);                \
		if (_ret == -ENODEV)                                           \
			SKIP(return,                                           \
				   "vgem, an outside importer, is not there"); \
		if (_ret == -ENOTTY)                                           \
			SKIP(return, "this kernel exports no fences");         \
		ASSERT_EQ(0, _ret);                                            \
		ASSERT_EQ(0,                                                   \
			  lend(self->node, DRAY_HEAP_ANY, self->page, lent));  \
		ASSERT_EQ(0, import_fence((lent)->reader,                      \
					  (stranger)->sync_file, flags));      \
	} while (0)

TEST_F(dray,
       a_writers_fence_that_a_reader_brings_is_waited_for_until_it_signals)
{
	struct stranger stranger;
	struct lent lent;
	pid_t child;

	BRING_FENCE(&lent, &stranger, DMA_BUF_SYNC_WRITE);
	EXPECT_FALSE(is_ready(lent.buffer.fd, POLLIN));
	child = process_start(begin_to_read, &lent.buffer.fd);
	ASSERT_LT(0, child);
	EXPECT_TRUE(wait_for(process_sleeps, &child));
	EXPECT_EQ(0, importer_signal(stranger.importer, stranger.fence));
	EXPECT_EQ(0, process_wait(child));
	EXPECT_TRUE(is_ready(lent.buffer.fd, POLLIN));
}

TEST_F(dray, a_readers_fence_that_a_reader_brings_is_waited_for_by_writers_only)
{
	struct stranger stranger;
	struct lent lent;

	BRING_FENCE(&lent, &stranger, DMA_BUF_SYNC_READ);
	EXPECT_TRUE(is_ready(lent.buffer.fd, POLLIN));
	EXPECT_EQ(0, process_run(begin_to_read, &lent.buffer.fd));
	EXPECT_FALSE(is_ready(lent.buffer.fd, POLLOUT));
	EXPECT_EQ(0, importer_signal(stranger.importer, stranger.fence));
	EXPECT_TRUE(is_ready(lent.buffer.fd, POLLOUT));
}

TEST_F(dray, a_fence_of_a_buffer_is_found_through_its_reader_too)
{
	struct stranger stranger;
	struct lent lent;

	BRING_FENCE(&lent, &stranger, DMA_BUF_SYNC_READ);
	ASSERT_EQ(0, import_fence(lent.buffer.fd, stranger.sync_file,
				  DMA_BUF_SYNC_WRITE));
	EXPECT_FALSE(is_ready(lent.reader, POLLIN));
	EXPECT_EQ(0, importer_signal(stranger.importer, stranger.fence));
	EXPECT_TRUE(is_ready(lent.reader, POLLIN));
}
