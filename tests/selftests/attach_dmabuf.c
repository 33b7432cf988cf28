// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * ATTACH of the dma-bufs of other drivers: an engine reads and writes them, and
 * everything else is refused.
 */
#include "attach.h"
#include "fixture_dray.h"
#include "foreign.h"
#include "importer.h"
#include "step.h"
#include "transfer.h"

/* A dma-buf of each exporter that the machine has. */
FIXTURE(foreign)
{
	int node;
	size_t page;
	struct dray_info info;
	struct ledger before;
	int fd;
	size_t size;
	uint8_t *bytes;
};

FIXTURE_VARIANT(foreign)
{
	enum foreign_kind kind;
};

FIXTURE_VARIANT_ADD(foreign, vgem){
	.kind = FOREIGN_VGEM,
};

FIXTURE_VARIANT_ADD(foreign, udmabuf){
	.kind = FOREIGN_UDMABUF,
};

FIXTURE_VARIANT_ADD(foreign, system_heap){
	.kind = FOREIGN_SYSTEM_HEAP,
};

FIXTURE_SETUP(foreign)
{
	self->node = node_open();
	ASSERT_LE(0, self->node);
	ASSERT_EQ(0, node_info(self->node, &self->info));
	self->page = (size_t)sysconf(_SC_PAGESIZE);
	self->size = 64 * self->page;
	self->fd = foreign_open(variant->kind, self->size);
	SKIP_IF(self->fd == -ENODEV, "this machine has no such exporter");
	ASSERT_LE(0, self->fd);
	self->bytes = mmap(NULL, self->size, PROT_READ | PROT_WRITE, MAP_SHARED,
			   self->fd, 0);
	ASSERT_NE(MAP_FAILED, self->bytes);
	ASSERT_EQ(0, ledger_take(self->node, &self->before));
}

FIXTURE_TEARDOWN_PARENT(foreign)
{
	if (self->fd >= 0) {
		EXPECT_EQ(0, ledger_reclaimed_differences(&self->before));
	}
}

/* A copy of all bytes between a dma-buf and a buffer, and its fence's word. */
static int copy(int node, int to, int from, size_t size)
{
	struct dray_transfer transfer = COPY_OF(to, from, size);

	return transfer_run(node, &transfer, DRAY_CHANNEL_ANY, 0);
}

/* A buffer of dray's of the same size, where there is an engine to copy. */
#define OPEN_OTHER_SIDE(buffer)                                       \
	do {                                                          \
		if (!self->info.channel_count)                        \
			SKIP(return, "this node has no DMA channel"); \
		ASSERT_EQ(0, buffer_open(self->node, DRAY_HEAP_ANY,   \
					 self->size, buffer));        \
	} while (0)

TEST_F(foreign, it_is_attached_with_its_size)
{
	ATTACH_DMA_BUF(attach, self->fd, 0);
	EXPECT_EQ(self->size, attach.length);
	EXPECT_LE(1, attach.segments);
	EXPECT_GE(self->size / self->page, attach.segments);
}

TEST_F(foreign, its_segments_cover_it)
{
	static struct dray_segment segment[64];
	struct dray_address address = { .segments = (uintptr_t)segment,
					.room = 64 };
	uint64_t total = 0;
	uint32_t i;

	NEED_ADDRESSES();
	ATTACH_DMA_BUF(attach, self->fd, 0);
	address.fd = attach.fd;
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_ADDRESS, &address));
	EXPECT_EQ(attach.segments, address.count);
	for (i = 0; i < address.count; i++)
		total += segment[i].length;
	EXPECT_EQ(self->size, total);
}

TEST_F(foreign, only_the_whole_is_synced)
{
	ATTACH_DMA_BUF(attach, self->fd, 0);
	EXPECT_EQ(-EINVAL, buffer_sync(self->node, attach.fd, DRAY_SYNC_FOR_CPU,
				       DRAY_FROM_DEVICE, 0, self->size - 1));
	EXPECT_EQ(-EINVAL, buffer_sync(self->node, attach.fd, DRAY_SYNC_FOR_CPU,
				       DRAY_FROM_DEVICE, 1, self->size - 1));
	EXPECT_EQ(0, buffer_sync(self->node, attach.fd, DRAY_SYNC_FOR_CPU,
				 DRAY_FROM_DEVICE, 0, self->size));
	/* an access ends in the direction in which it began */
	EXPECT_EQ(0, buffer_sync(self->node, attach.fd, DRAY_SYNC_FOR_DEVICE,
				 DRAY_FROM_DEVICE, 0, self->size));
}

TEST_F(foreign, a_part_that_is_to_be_synced_is_told_the_whole)
{
	struct dray_range range = { .width = 1, .rows = 1 };
	struct dray_sync sync = SYNC_OF(DRAY_TARGET_NODE, DRAY_SYNC_FOR_CPU,
					DRAY_FROM_DEVICE, &range, 1);

	ATTACH_DMA_BUF(attach, self->fd, 0);
	range.fd = attach.fd;
	EXPECT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_SYNC, &sync));
	EXPECT_EQ(DRAY_REASON_RANGE, sync.reason);
	EXPECT_EQ(self->size, sync.limit);
}

TEST_F(foreign, an_engine_reads_it)
{
	struct buffer buffer;

	OPEN_OTHER_SIDE(&buffer);
	fill_random(self->bytes, self->size, 11);
	ATTACH_DMA_BUF(attach, self->fd, DRAY_ATTACH_READ_ONLY);
	ASSERT_EQ(0, copy(self->node, buffer.fd, attach.fd, self->size));
	EXPECT_EQ(-1, first_difference(self->bytes, buffer.bytes, self->size));
}

TEST_F(foreign, an_engine_writes_it)
{
	struct buffer buffer;

	OPEN_OTHER_SIDE(&buffer);
	fill_random(buffer.bytes, self->size, 12);
	ATTACH_DMA_BUF(attach, self->fd, 0);
	ASSERT_EQ(0, copy(self->node, attach.fd, buffer.fd, self->size));
	ASSERT_EQ(0, buffer_sync(self->node, attach.fd, DRAY_SYNC_FOR_CPU,
				 DRAY_FROM_DEVICE, 0, self->size));
	EXPECT_EQ(-1, first_difference(self->bytes, buffer.bytes, self->size));
}

TEST_F(foreign, the_attachment_keeps_it)
{
	struct buffer buffer;

	OPEN_OTHER_SIDE(&buffer);
	memset(self->bytes, 0x29, self->size);
	ATTACH_DMA_BUF(attach, self->fd, 0);
	munmap(self->bytes, self->size);
	close(self->fd);
	ASSERT_EQ(0, copy(self->node, buffer.fd, attach.fd, self->size));
	EXPECT_EQ(-1, first_other_byte(buffer.bytes, self->size, 0x29));
}

TEST_F(foreign, a_read_only_attachment_is_no_destination)
{
	struct buffer buffer;

	OPEN_OTHER_SIDE(&buffer);
	ATTACH_DMA_BUF(attach, self->fd, DRAY_ATTACH_READ_ONLY);
	EXPECT_EQ(-EACCES, copy(self->node, attach.fd, buffer.fd, self->size));
}

TEST_F(foreign, two_attachments_of_it_are_the_same_memory)
{
	SKIP_IF(!self->info.channel_count, "this node has no DMA channel");
	ATTACH_DMA_BUF(one, self->fd, 0);
	ATTACH_DMA_BUF(two, self->fd, 0);
	EXPECT_EQ(-EINVAL, copy(self->node, one.fd, two.fd, self->page));
}

TEST_F(foreign, an_address_or_a_length_with_it_is_refused)
{
	struct dray_attach attach = { .dmabuf_fd = self->fd, .address = 1 };

	EXPECT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_ATTACH, &attach));
	attach = (struct dray_attach){ .dmabuf_fd = self->fd, .length = 1 };
	EXPECT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_ATTACH, &attach));
}

struct limited {
	int node;
	int fd;
	size_t limit;
};

static int attaches_as_user(void *context)
{
	const struct limited *limited = context;
	struct rlimit limit = { limited->limit, limited->limit };
	struct dray_attach attach;
	int ret;

	STEP_EQ(0, setrlimit(RLIMIT_MEMLOCK, &limit));
	STEP_EQ(0, process_become(65531, 0));
	ret = attach_dma_buf(limited->node, limited->fd, 0, &attach);
	if (ret >= 0)
		return 0;
	STEP_EQ(DRAY_REASON_MEMLOCK, attach.reason);
	return -ret;
}

TEST_F(foreign, it_counts_as_locked_memory)
{
	struct limited limited = { .node = self->node, .fd = self->fd };

	limited.limit = self->size;
	EXPECT_EQ(0, process_run(attaches_as_user, &limited));
	limited.limit = self->size - self->page;
	EXPECT_EQ(ENOMEM, process_run(attaches_as_user, &limited));
}

TEST_F(dray, a_buffer_of_dray_needs_no_attachment)
{
	struct dray_export export = { .flags = DRAY_EXPORT_READ_ONLY };
	struct dray_attach attach;

	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, self->page);
	EXPECT_EQ(-EINVAL, attach_dma_buf(self->node, buffer.fd, 0, &attach));
	EXPECT_EQ(DRAY_REASON_OWN, attach.reason);
	EXPECT_EQ(buffer.fd, attach.limit);
	export.buffer_fd = buffer.fd;
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_EXPORT, &export));
	EXPECT_EQ(-EINVAL, attach_dma_buf(self->node, export.fd,
					  DRAY_ATTACH_READ_ONLY, &attach));
	EXPECT_EQ(DRAY_REASON_OWN, attach.reason);
}

TEST_F(dray, what_is_no_dma_buf_is_refused)
{
	struct dray_attach attach;
	int pipes[2], closed, folder;

	ASSERT_EQ(0, pipe(pipes));
	EXPECT_EQ(-EINVAL, attach_dma_buf(self->node, pipes[0], 0, &attach));
	EXPECT_EQ(DRAY_REASON_FOREIGN, attach.reason);
	EXPECT_EQ(pipes[0], attach.limit);
	EXPECT_EQ(-EINVAL, attach_dma_buf(self->node, self->node, 0, &attach));
	folder = open("/", O_RDONLY | O_DIRECTORY);
	ASSERT_LE(0, folder);
	EXPECT_EQ(-EINVAL, attach_dma_buf(self->node, folder, 0, &attach));
	closed = dup(folder);
	close(closed);
	EXPECT_EQ(-EBADF, attach_dma_buf(self->node, closed, 0, &attach));
	EXPECT_EQ(DRAY_REASON_FOREIGN, attach.reason);
	EXPECT_EQ(closed, attach.limit);
	EXPECT_EQ(-EBADF, attach_dma_buf(self->node, -1, 0, &attach));
}

TEST_F(dray, an_attachment_is_not_attached_again)
{
	struct dray_attach again;
	uint8_t *bytes = mmap(NULL, self->page, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ATTACH_MEMORY(attach, bytes, self->page, 0);
	EXPECT_EQ(-EINVAL, attach_dma_buf(self->node, attach.fd, 0, &again));
	EXPECT_EQ(DRAY_REASON_FOREIGN, again.reason);
}

TEST_F(dray, a_read_only_dma_buf_is_for_devices_that_read)
{
	int importer = importer_open(), fd;
	struct dray_attach attach;
	uint32_t handle;

	NEED_VGEM(importer);
	ASSERT_EQ(0, importer_create(importer, self->page, &handle));
	fd = importer_export_read_only(importer, handle);
	ASSERT_LE(0, fd);
	EXPECT_EQ(-EACCES, attach_dma_buf(self->node, fd, 0, &attach));
	EXPECT_EQ(DRAY_REASON_READ_ONLY, attach.reason);
	EXPECT_EQ(fd, attach.limit);
	EXPECT_LE(0, attach_dma_buf(self->node, fd, DRAY_ATTACH_READ_ONLY,
				    &attach));
}
