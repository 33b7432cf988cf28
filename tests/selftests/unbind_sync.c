// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * What a device wrote without anybody's maintenance is seen when the device is
 * gone, for which nobody could maintain it any more: unbinding writes back and
 * drops the lines of it, and those of nothing else.
 */
#include "attach.h"
#include "fence.h"
#include "fixture_bound.h"
#include "frames.h"
#include "importer.h"
#include "maintenance.h"

#define PAGES 4
#define MOST 4096

static struct maintenance list[MOST];

#define NEED_PROBES()                                               \
	do {                                                        \
		if (self->info.flags & DRAY_NODE_COHERENT)          \
			SKIP(return, "this node is coherent");      \
		if (node_copies())                                  \
			SKIP(return, "a copy is maintained by the " \
				     "kernel's own means");         \
	} while (0)

struct memory {
	struct buffer buffer;
	struct dray_segment segment[PAGES];
};

/* A buffer whose place in the machine's memory is known. */
static int memory_open(FIXTURE_DATA(bound) * self, struct memory *memory)
{
	struct buffer *buffer = &memory->buffer;
	int ret = buffer_open(self->node, DRAY_HEAP_ANY, PAGES * self->page,
			      buffer);

	if (ret)
		return ret;
	memset(buffer->bytes, 0x21, buffer->size);
	ret = frames_of(buffer->bytes, buffer->size, memory->segment, PAGES);
	return ret < 0 ? ret : 0;
}

static int tell_address(int node, int fd)
{
	struct dray_segment segment[PAGES];
	struct dray_address address = {
		.fd = fd,
		.segments = (uintptr_t)segment,
		.room = PAGES,
	};

	return node_call(node, DRAY_IOC_ADDRESS, &address);
}

/* The first page to the last, by any channel; 0 when it is done. */
static int copy_page(FIXTURE_DATA(bound) * self, int fd, uint32_t flags)
{
	struct dray_transfer transfer = COPY_OF(
		fd, fd, self->page, .dst_offset = (PAGES - 1) * self->page);
	struct dray_submit submit =
		SUBMIT_OF(DRAY_CHANNEL_ANY, &transfer, 1, .flags = flags);
	int ret = node_call(self->node, DRAY_IOC_SUBMIT, &submit);

	if (ret)
		return ret;
	ret = fence_wait(submit.fence_fd);
	close(submit.fence_fd);
	return ret == 1 ? 0 : ret ? ret : -ETIME;
}

/* Bytes that were dropped, each after it was written back; or a negative errno. */
static int64_t dropped(const struct dray_segment *segment)
{
	int count = maintenance_read(list, MOST), i, page;
	uint64_t written_back[PAGES] = { 0 }, bytes = 0;

	for (i = 0; i < count; i++)
		for (page = 0; page < PAGES; page++) {
			if (list[i].whole ||
			    list[i].address != segment[page].address)
				continue;
			if (!list[i].for_cpu)
				written_back[page] = list[i].bytes;
			else if (list[i].direction != MAINTAIN_TO_DEVICE &&
				 written_back[page] >= list[i].bytes)
				bytes += list[i].bytes;
		}
	return count < 0 ? count : (int64_t)bytes;
}

/* The same while the node is unbound. */
static int64_t dropped_by_unbind(FIXTURE_DATA(bound) * self,
				 const struct dray_segment *segment)
{
	int64_t bytes;
	int ret;

	close(self->node);
	ret = binding_unbind(&self->binding);
	bytes = dropped(segment);
	maintenance_end();
	return ret ? ret : bytes;
}

TEST_F(bound, unbind_drops_lines_of_a_buffer_whose_address_was_told)
{
	struct memory memory;

	NEED_PROBES();
	NEED_ADDRESSES();
	ASSERT_EQ(0, memory_open(self, &memory));
	ASSERT_EQ(0, tell_address(self->node, memory.buffer.fd));
	WATCH_MAINTENANCE();
	EXPECT_EQ((int64_t)memory.buffer.size,
		  dropped_by_unbind(self, memory.segment));
	EXPECT_EQ(-1, first_other_byte(memory.buffer.bytes, memory.buffer.size,
				       0x21));
}

TEST_F(bound, unbind_drops_lines_of_what_a_channel_wrote_without_sync)
{
	struct memory memory;

	NEED_PROBES();
	SKIP_IF(!self->info.channel_count, "this node has no DMA channel");
	ASSERT_EQ(0, memory_open(self, &memory));
	ASSERT_EQ(0, copy_page(self, memory.buffer.fd, DRAY_SUBMIT_NO_SYNC));
	WATCH_MAINTENANCE();
	EXPECT_EQ((int64_t)memory.buffer.size,
		  dropped_by_unbind(self, memory.segment));
}

TEST_F(bound, unbind_maintains_nothing_that_is_not_owed)
{
	struct memory memory;

	NEED_PROBES();
	ASSERT_EQ(0, memory_open(self, &memory));
	if (self->info.channel_count) {
		ASSERT_EQ(0, copy_page(self, memory.buffer.fd, 0));
	} else {
		ASSERT_EQ(0, buffer_sync(self->node, memory.buffer.fd,
					 DRAY_SYNC_FOR_DEVICE,
					 DRAY_BIDIRECTIONAL, 0, self->page));
	}
	WATCH_MAINTENANCE();
	EXPECT_EQ(0, dropped_by_unbind(self, memory.segment));
}

TEST_F(bound, unbind_drops_lines_of_attached_memory_too)
{
	uint8_t *bytes = fresh_memory(PAGES * self->page);
	struct dray_segment segment[PAGES];

	NEED_PROBES();
	SKIP_IF(!self->info.channel_count, "this node has no DMA channel");
	ASSERT_NE(MAP_FAILED, bytes);
	memset(bytes, 0x21, PAGES * self->page);
	ATTACH_MEMORY(attach, bytes, PAGES * self->page, 0);
	ASSERT_EQ(PAGES, frames_of(bytes, PAGES * self->page, segment, PAGES));
	ASSERT_EQ(0, copy_page(self, attach.fd, DRAY_SUBMIT_NO_SYNC));
	WATCH_MAINTENANCE();
	EXPECT_EQ((int64_t)(PAGES * self->page),
		  dropped_by_unbind(self, segment));
}

/* Nobody else has the buffer when the other driver lets go of it. */
TEST_F(bound, another_driver_drops_lines_when_the_node_is_gone)
{
	int importer = importer_open();
	struct memory memory;
	uint32_t handle;

	NEED_PROBES();
	NEED_VGEM(importer);
	ASSERT_EQ(0, memory_open(self, &memory));
	ASSERT_EQ(0, importer_attach(importer, memory.buffer.fd, &handle));
	close(self->node);
	ASSERT_EQ(0, binding_unbind(&self->binding));
	WATCH_MAINTENANCE();
	EXPECT_EQ(0, importer_detach(importer, handle));
	EXPECT_EQ((int64_t)memory.buffer.size, dropped(memory.segment));
	maintenance_end();
	EXPECT_EQ(-1, first_other_byte(memory.buffer.bytes, memory.buffer.size,
				       0x21));
}

/* The node's device stands for it: the next CPU access does what is needed. */
TEST_F(bound, another_driver_drops_nothing_while_the_node_is_there)
{
	int importer = importer_open();
	struct memory memory;
	uint32_t handle;

	NEED_PROBES();
	NEED_VGEM(importer);
	ASSERT_EQ(0, memory_open(self, &memory));
	ASSERT_EQ(0, importer_attach(importer, memory.buffer.fd, &handle));
	WATCH_MAINTENANCE();
	EXPECT_EQ(0, importer_detach(importer, handle));
	EXPECT_EQ(0, dropped(memory.segment));
	maintenance_end();
	WATCH_MAINTENANCE();
	EXPECT_EQ((int64_t)memory.buffer.size,
		  dropped_by_unbind(self, memory.segment));
}

/* Where devices get copies this shows in the bytes. */
TEST_F(bound, what_a_channel_wrote_without_sync_is_seen_after_unbind)
{
	SKIP_IF(!self->info.channel_count, "this node has no DMA channel");
	OPEN_BUFFER(buffer, DRAY_HEAP_ANY, PAGES * self->page);
	fill_random(buffer.bytes, self->page, 3);
	ASSERT_EQ(0, buffer_sync(self->node, buffer.fd, DRAY_SYNC_FOR_DEVICE,
				 DRAY_TO_DEVICE, 0, buffer.size));
	ASSERT_EQ(0, copy_page(self, buffer.fd, DRAY_SUBMIT_NO_SYNC));
	close(self->node);
	ASSERT_EQ(0, binding_unbind(&self->binding));
	EXPECT_EQ(0, cpu_begin(buffer.fd, DMA_BUF_SYNC_READ));
	EXPECT_EQ(-1, first_difference(buffer.bytes,
				       buffer.bytes + (PAGES - 1) * self->page,
				       self->page));
}
