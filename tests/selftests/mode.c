// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Cache modes: every mode on every kind of heap, what is in effect, what a
 * mapping shows, and that what is not cached needs no sync.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <linux/dma-buf.h>

#include "fixture_dray.h"
#include "fence.h"
#include "importer.h"

#define PAGES 5

FIXTURE(mode)
{
	int node;
	size_t page;
	struct dray_info info;
	struct dray_heap_info heap;
	struct ledger before;
	int effect; /* the mode in effect, or a negative errno */
};

FIXTURE_VARIANT(mode)
{
	uint32_t type;
	uint32_t mode;
};

#define MODE(name, heap_type, heap_mode)                                      \
	FIXTURE_VARIANT_ADD(mode, name)                                       \
	{                                                                     \
		.type = DRAY_HEAP_##heap_type, .mode = DRAY_MODE_##heap_mode, \
	}

/* clang-format off */
MODE(reserved_cached, RESERVED, CACHED);
MODE(reserved_write_combined, RESERVED, WRITE_COMBINED);
MODE(reserved_coherent, RESERVED, COHERENT);
MODE(reserved_device, RESERVED, DEVICE);
MODE(cma_cached, CMA, CACHED);
MODE(cma_write_combined, CMA, WRITE_COMBINED);
MODE(cma_coherent, CMA, COHERENT);
MODE(cma_device, CMA, DEVICE);
MODE(pages_cached, PAGES, CACHED);
MODE(pages_write_combined, PAGES, WRITE_COMBINED);
MODE(pages_coherent, PAGES, COHERENT);
MODE(pages_device, PAGES, DEVICE);
MODE(carveout_cached, CARVEOUT, CACHED);
MODE(carveout_write_combined, CARVEOUT, WRITE_COMBINED);
MODE(carveout_coherent, CARVEOUT, COHERENT);
MODE(carveout_device, CARVEOUT, DEVICE);
/* clang-format on */

/* What must be in effect on such a node. */
static int effect_of(bool coherent, uint32_t type, uint32_t mode)
{
	if (type == DRAY_HEAP_CARVEOUT)
		return mode == DRAY_MODE_CACHED ? -EOPNOTSUPP : (int)mode;
	if (mode == DRAY_MODE_DEVICE || mode == DRAY_MODE_CACHED)
		return (int)mode;
	if (coherent)
		return DRAY_MODE_CACHED;
	return type == DRAY_HEAP_CMA ? (int)mode : -EOPNOTSUPP;
}

FIXTURE_SETUP(mode)
{
	SETUP_NODE();
	ASSERT_EQ(0, node_info(self->node, &self->info));
	SETUP_HEAP(variant->type);
	ASSERT_EQ(0, ledger_take(self->node, &self->before));
	self->effect = effect_of(self->info.flags & DRAY_NODE_COHERENT,
				 variant->type, variant->mode);
}

FIXTURE_TEARDOWN_PARENT(mode)
{
	EXPECT_EQ(0, ledger_differences(&self->before));
}

static int allocate(FIXTURE_DATA(mode) * self, uint32_t mode,
		    struct buffer *buffer)
{
	struct dray_alloc alloc = { .size = PAGES * self->page,
				    .heap = self->heap.index,
				    .mode = mode };
	int ret = node_call(self->node, DRAY_IOC_ALLOC, &alloc);

	*buffer = (struct buffer){ .fd = -1 };
	if (ret)
		return ret;
	buffer->fd = alloc.fd;
	buffer->id = alloc.id;
	buffer->size = alloc.size;
	return 0;
}

static int map(struct buffer *buffer)
{
	void *bytes = mmap(NULL, buffer->size, PROT_READ | PROT_WRITE,
			   MAP_SHARED, buffer->fd, 0);

	if (bytes == MAP_FAILED)
		return -errno;
	buffer->bytes = bytes;
	return 0;
}

static struct dray_sync whole(const struct buffer *buffer,
			      struct dray_range *range)
{
	*range = (struct dray_range){ .fd = buffer->fd,
				      .width = buffer->size,
				      .rows = 1 };
	return (struct dray_sync){ .target = DRAY_TARGET_NODE,
				   .owner = DRAY_SYNC_FOR_CPU,
				   .direction = DRAY_FROM_DEVICE,
				   .count = 1,
				   .ranges = (uintptr_t)range };
}

/* All of one buffer into another of its size; nobody syncs. */
static int copy(int node, const struct buffer *dst, const struct buffer *src)
{
	struct dray_transfer transfer = { .op = DRAY_OP_COPY,
					  .dst_fd = dst->fd,
					  .src_fd = src->fd,
					  .run = src->size };
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY,
				      .flags = DRAY_SUBMIT_NO_SYNC,
				      .transfers = (uintptr_t)&transfer,
				      .count = 1 };
	int ret = node_call(node, DRAY_IOC_SUBMIT, &submit);

	if (ret)
		return ret;
	ret = fence_wait(submit.fence_fd);
	close(submit.fence_fd);
	return ret == 1 ? 0 : ret ? ret : -ETIME;
}

TEST_F(mode, the_reply_says_which_is_in_effect)
{
	struct dray_alloc alloc = { .size = 1,
				    .heap = self->heap.index,
				    .mode = variant->mode };
	int ret = node_call(self->node, DRAY_IOC_ALLOC, &alloc);

	if (self->effect < 0) {
		EXPECT_EQ(self->effect, ret);
		EXPECT_EQ(DRAY_REASON_MODE, alloc.reason);
		EXPECT_NE(0, self->heap.modes & 1u << alloc.limit);
	} else {
		ASSERT_EQ(0, ret);
		EXPECT_EQ(self->effect, alloc.mode);
	}
}

TEST_F(mode, heap_info_tells_whether_it_can_be_in_effect)
{
	EXPECT_EQ(self->effect == (int)variant->mode,
		  self->heap.modes >> variant->mode & 1);
	EXPECT_EQ(0, self->heap.modes >> (DRAY_MODE_DEVICE + 1));
}

TEST_F(mode, buffer_info_says_which_is_in_effect)
{
	struct dray_buffer_info info;
	struct buffer buffer;

	if (self->effect < 0)
		SKIP(return, "this heap does not have that mode");
	ASSERT_EQ(0, allocate(self, variant->mode, &buffer));
	ASSERT_EQ(0, node_buffer_info(self->node, buffer.id, &info));
	EXPECT_EQ(self->effect, info.mode);
	EXPECT_EQ(self->heap.index, info.heap);
}

TEST_F(mode, it_is_mapped_unless_it_is_for_devices_only)
{
	struct buffer buffer;

	if (self->effect < 0)
		SKIP(return, "this heap does not have that mode");
	ASSERT_EQ(0, allocate(self, variant->mode, &buffer));
	EXPECT_EQ(self->effect == DRAY_MODE_DEVICE ? -EACCES : 0, map(&buffer));
}

TEST_F(mode, every_byte_is_zero_at_first)
{
	struct buffer buffer;
	int i;

	if (self->effect < 0 || self->effect == DRAY_MODE_DEVICE)
		SKIP(return, "there is no such mapping");
	/* the second time the memory may be what the first left behind */
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, allocate(self, variant->mode, &buffer));
		ASSERT_EQ(0, map(&buffer));
		EXPECT_EQ(-1, first_other_byte(buffer.bytes, buffer.size, 0));
		memset(buffer.bytes, 0xff, buffer.size);
		buffer_close(&buffer);
	}
}

TEST_F(mode, what_is_written_is_there_in_a_later_mapping)
{
	uint8_t *data = malloc(PAGES * self->page), *part;
	struct buffer buffer;

	if (self->effect < 0 || self->effect == DRAY_MODE_DEVICE)
		SKIP(return, "there is no such mapping");
	ASSERT_EQ(0, allocate(self, variant->mode, &buffer));
	ASSERT_EQ(0, map(&buffer));
	fill_random(data, buffer.size, 3);
	memcpy(buffer.bytes, data, buffer.size);
	ASSERT_EQ(0, munmap(buffer.bytes, buffer.size));
	ASSERT_EQ(0, map(&buffer));
	EXPECT_EQ(-1, first_difference(data, buffer.bytes, buffer.size));
	part = mmap(NULL, self->page, PROT_READ, MAP_SHARED, buffer.fd,
		    (off_t)(2 * self->page));
	ASSERT_NE(MAP_FAILED, part);
	EXPECT_EQ(-1,
		  first_difference(data + 2 * self->page, part, self->page));
}

TEST_F(mode, protection_can_be_taken_and_given_back)
{
	struct buffer buffer;

	if (self->effect < 0 || self->effect == DRAY_MODE_DEVICE)
		SKIP(return, "there is no such mapping");
	ASSERT_EQ(0, allocate(self, variant->mode, &buffer));
	ASSERT_EQ(0, map(&buffer));
	memset(buffer.bytes, 0x11, buffer.size);
	ASSERT_EQ(0, mprotect(buffer.bytes, buffer.size, PROT_READ));
	EXPECT_EQ(-1, first_other_byte(buffer.bytes, buffer.size, 0x11));
	ASSERT_EQ(0,
		  mprotect(buffer.bytes, buffer.size, PROT_READ | PROT_WRITE));
	memset(buffer.bytes, 0x22, buffer.size);
	EXPECT_EQ(-1, first_other_byte(buffer.bytes, buffer.size, 0x22));
}

TEST_F(mode, a_debugger_sees_what_a_mapping_shows)
{
	char path[] = "/proc/self/mem";
	uint8_t byte = 0x77;
	struct buffer buffer;
	off_t at;
	int fd;

	if (self->effect < 0 || self->effect == DRAY_MODE_DEVICE)
		SKIP(return, "there is no such mapping");
	if (!process_debugs_frames())
		SKIP(return, "this kernel does not ask drivers for a debugger");
	ASSERT_EQ(0, allocate(self, variant->mode, &buffer));
	ASSERT_EQ(0, map(&buffer));
	fd = open(path, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, fd);
	at = (off_t)(uintptr_t)buffer.bytes + (off_t)(3 * self->page) + 5;
	ASSERT_EQ(1, pwrite(fd, &byte, 1, at));
	EXPECT_EQ(0x77, buffer.bytes[3 * self->page + 5]);
	buffer.bytes[3 * self->page + 5] = 0x66;
	ASSERT_EQ(1, pread(fd, &byte, 1, at));
	EXPECT_EQ(0x66, byte);
}

TEST_F(mode, only_a_cached_buffer_ever_needs_a_sync)
{
	bool needed = self->effect == DRAY_MODE_CACHED &&
		      node_is_maintained(&self->info);
	struct dray_range range;
	struct dray_sync sync;
	struct buffer buffer;
	int round;

	if (self->effect < 0)
		SKIP(return, "this heap does not have that mode");
	ASSERT_EQ(0, allocate(self, variant->mode, &buffer));
	sync = whole(&buffer, &range);
	for (round = 0; round < 2; round++) {
		sync.flags = round ? 0 : DRAY_SYNC_ASK;
		ASSERT_EQ(0, node_call(self->node, DRAY_IOC_SYNC, &sync));
		EXPECT_EQ(needed ? 0 : DRAY_SYNC_NOT_NEEDED, sync.flags);
	}
}

TEST_F(mode, maintenance_is_done_for_cached_buffers_only)
{
	bool needed = self->effect == DRAY_MODE_CACHED &&
		      node_is_maintained(&self->info);
	struct dray_buffer_info info;
	struct dray_range range;
	struct dray_sync sync;
	struct buffer buffer;

	if (self->effect < 0)
		SKIP(return, "this heap does not have that mode");
	ASSERT_EQ(0, allocate(self, variant->mode, &buffer));
	sync = whole(&buffer, &range);
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_SYNC, &sync));
	ASSERT_EQ(0, buffer_cpu_access(buffer.fd,
				       DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW));
	ASSERT_EQ(0, buffer_cpu_access(buffer.fd,
				       DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW));
	ASSERT_EQ(0, node_buffer_info(self->node, buffer.id, &info));
	EXPECT_EQ(needed ? 3 * buffer.size : 0, info.sync_bytes);
}

TEST_F(mode, what_an_engine_wrote_is_there_without_a_sync)
{
	uint8_t *data = malloc(PAGES * self->page);
	struct buffer src, dst;

	if (!self->info.channel_count)
		SKIP(return, "this node has no DMA channel");
	if (node_copies())
		SKIP(return, "only a sync brings bytes out of a copy");
	if (self->effect < 0 || self->effect == DRAY_MODE_DEVICE)
		SKIP(return, "there is no such mapping");
	if (self->effect == DRAY_MODE_CACHED &&
	    !(self->info.flags & DRAY_NODE_COHERENT))
		SKIP(return, "this mode needs a sync");
	ASSERT_EQ(0, allocate(self, variant->mode, &src));
	ASSERT_EQ(0, allocate(self, variant->mode, &dst));
	ASSERT_EQ(0, map(&src));
	ASSERT_EQ(0, map(&dst));
	fill_random(data, src.size, 4);
	memcpy(src.bytes, data, src.size);
	ASSERT_EQ(0, copy(self->node, &dst, &src));
	EXPECT_EQ(-1, first_difference(data, dst.bytes, dst.size));
}

TEST_F(mode, an_engine_reads_and_writes_it)
{
	uint8_t *data = malloc(PAGES * self->page);
	struct buffer middle, ends[2];
	int i;

	if (!self->info.channel_count)
		SKIP(return, "this node has no DMA channel");
	if (self->effect < 0)
		SKIP(return, "this heap does not have that mode");
	ASSERT_EQ(0, allocate(self, variant->mode, &middle));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, buffer_open(self->node, DRAY_HEAP_ANY,
					 PAGES * self->page, &ends[i]));
	/* from new memory zeros come, also where no CPU can look */
	memset(ends[1].bytes, 0xff, ends[1].size);
	ASSERT_EQ(0, buffer_sync(self->node, ends[1].fd, DRAY_SYNC_FOR_DEVICE,
				 DRAY_BIDIRECTIONAL, 0, ends[1].size));
	ASSERT_EQ(0, copy(self->node, &ends[1], &middle));
	ASSERT_EQ(0, buffer_sync(self->node, ends[1].fd, DRAY_SYNC_FOR_CPU,
				 DRAY_FROM_DEVICE, 0, ends[1].size));
	EXPECT_EQ(-1, first_other_byte(ends[1].bytes, ends[1].size, 0));

	fill_random(data, ends[0].size, 5);
	memcpy(ends[0].bytes, data, ends[0].size);
	ASSERT_EQ(0, buffer_sync(self->node, ends[0].fd, DRAY_SYNC_FOR_DEVICE,
				 DRAY_TO_DEVICE, 0, ends[0].size));
	ASSERT_EQ(0, copy(self->node, &middle, &ends[0]));
	ASSERT_EQ(0, copy(self->node, &ends[1], &middle));
	ASSERT_EQ(0, buffer_sync(self->node, ends[1].fd, DRAY_SYNC_FOR_CPU,
				 DRAY_FROM_DEVICE, 0, ends[1].size));
	EXPECT_EQ(-1, first_difference(data, ends[1].bytes, ends[1].size));
}

TEST_F(mode, another_driver_attaches)
{
	struct dray_buffer_info info;
	struct buffer buffer;
	uint32_t handle;
	int importer;

	if (node_copies())
		SKIP(return, "the importer would get a copy");
	if (self->effect < 0)
		SKIP(return, "this heap does not have that mode");
	importer = importer_open();
	if (importer == -ENODEV)
		SKIP(return, "vgem, an outside importer, is not loaded");
	ASSERT_LE(0, importer);
	ASSERT_EQ(0, allocate(self, variant->mode, &buffer));
	ASSERT_EQ(0, importer_attach(importer, buffer.fd, &handle));
	ASSERT_EQ(0, node_buffer_info(self->node, buffer.id, &info));
	EXPECT_EQ(1, info.attachments);
	EXPECT_EQ(0, buffer_cpu_access(buffer.fd,
				       DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW));
	EXPECT_EQ(0, buffer_cpu_access(buffer.fd,
				       DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW));
	EXPECT_EQ(0, importer_detach(importer, handle));
}

/* From any heap: the reply, and the heap that was taken. */
static int allocate_any(FIXTURE_DATA(dray) * self, uint32_t mode,
			struct dray_alloc *alloc, struct dray_heap_info *heap)
{
	int ret;

	*alloc = (struct dray_alloc){ .size = 1,
				      .heap = DRAY_HEAP_ANY,
				      .mode = mode };
	ret = node_call(self->node, DRAY_IOC_ALLOC, alloc);
	return ret ? ret : node_heap(self->node, alloc->heap, heap);
}

TEST_F(dray, any_heap_is_one_that_has_the_mode)
{
	struct dray_heap_info heap;
	struct dray_alloc alloc;
	uint32_t mode;
	int ret;

	for (mode = 0; mode <= DRAY_MODE_DEVICE; mode++) {
		ret = allocate_any(self, mode, &alloc, &heap);
		if (ret == -EOPNOTSUPP) {
			EXPECT_EQ(DRAY_REASON_MODE, alloc.reason);
			continue;
		}
		ASSERT_EQ(0, ret);
		EXPECT_NE(0, heap.modes & 1u << alloc.mode);
		close(alloc.fd);
	}
}

TEST_F(dray, any_heap_is_no_carveout_where_another_has_the_mode)
{
	struct dray_heap_info heap, other;
	struct dray_alloc alloc;
	uint32_t mode, i, offering;

	for (mode = 0; mode < DRAY_MODE_DEVICE; mode++) {
		offering = 0;
		for (i = 0; i < self->info.heap_count; i++) {
			ASSERT_EQ(0, node_heap(self->node, i, &other));
			if (other.type != DRAY_HEAP_CARVEOUT)
				offering |= other.modes;
		}
		if (!(offering & 1u << mode))
			continue;
		ASSERT_EQ(0, allocate_any(self, mode, &alloc, &heap));
		EXPECT_NE(DRAY_HEAP_CARVEOUT, heap.type);
		close(alloc.fd);
	}
}

TEST_F(dray, memory_for_devices_only_comes_from_the_first_heap)
{
	struct dray_heap_info heap;
	struct dray_alloc alloc;

	ASSERT_EQ(0, allocate_any(self, DRAY_MODE_DEVICE, &alloc, &heap));
	EXPECT_EQ(0, alloc.heap);
	EXPECT_EQ(DRAY_MODE_DEVICE, alloc.mode);
}

TEST_HARNESS_MAIN
