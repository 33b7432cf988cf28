// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Cache modes: devices find what the CPU wrote and the other way round, and what
 * is not cached needs no sync for it.
 */
#include "fixture_mode.h"
#include "importer.h"
#include "transfer.h"

static struct dray_sync whole(const struct buffer *buffer,
			      struct dray_range *range)
{
	*range = (struct dray_range){ .fd = buffer->fd,
				      .width = buffer->size,
				      .rows = 1 };
	return (struct dray_sync)SYNC_OF(DRAY_TARGET_NODE, DRAY_SYNC_FOR_CPU,
					 DRAY_FROM_DEVICE, range, 1);
}

TEST_F(mode, only_a_cached_buffer_ever_needs_a_sync)
{
	bool needed = self->effect == DRAY_MODE_CACHED &&
		      node_is_maintained(&self->info);
	struct dray_range range;
	struct dray_sync sync;

	OPEN_MODE(buffer);
	sync = whole(&buffer, &range);
	for (int round = 0; round < 2; round++) {
		sync.flags = round ? 0 : DRAY_SYNC_ASK;
		ASSERT_EQ(0, node_call(self->node, DRAY_IOC_SYNC, &sync));
		EXPECT_EQ(needed ? 0 : DRAY_SYNC_NOT_NEEDED, sync.flags);
	}
}

/* Of several buffers one that needs a sync is enough, for whatever target. */
TEST_F(mode, asked_for_each_target_one_buffer_that_needs_a_sync_is_enough)
{
	struct dray_range ranges[3];
	struct dray_sync alone, both;

	OPEN_MODE(buffer);
	ALLOCATE_BUFFER(cached, DRAY_HEAP_ANY, self->page);
	/* The node itself, then each of its channels. */
	for (uint32_t i = 0; i <= self->info.channel_count; i++) {
		alone = whole(&cached, &ranges[1]);
		alone.target = i ? i - 1 : DRAY_TARGET_NODE;
		alone.flags = DRAY_SYNC_ASK;
		both = alone;
		ASSERT_EQ(0, node_call(self->node, DRAY_IOC_SYNC, &alone));
		if (!i || node_copies()) {
			EXPECT_EQ(node_is_maintained(&self->info),
				  !alone.flags);
		}
		whole(&buffer, &ranges[0]);
		whole(&buffer, &ranges[2]);
		both.ranges = (uintptr_t)ranges;
		both.count = 3;
		ASSERT_EQ(0, node_call(self->node, DRAY_IOC_SYNC, &both));
		EXPECT_EQ(alone.flags, both.flags);
		/* Alone it answers for itself. */
		both.count = 1;
		both.flags = DRAY_SYNC_ASK;
		ASSERT_EQ(0, node_call(self->node, DRAY_IOC_SYNC, &both));
		EXPECT_EQ(self->effect == DRAY_MODE_CACHED
				  ? alone.flags
				  : DRAY_SYNC_NOT_NEEDED,
			  both.flags);
	}
	READ_BUFFER(info, cached.id);
	EXPECT_EQ(0, info.sync_bytes);
}

TEST_F(mode, maintenance_is_done_for_cached_buffers_only)
{
	bool needed = self->effect == DRAY_MODE_CACHED &&
		      node_is_maintained(&self->info);
	struct dray_range range;
	struct dray_sync sync;

	OPEN_MODE(buffer);
	sync = whole(&buffer, &range);
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_SYNC, &sync));
	ASSERT_EQ(0, cpu_begin(buffer.fd, DMA_BUF_SYNC_RW));
	ASSERT_EQ(0, cpu_end(buffer.fd, DMA_BUF_SYNC_RW));
	READ_BUFFER(info, buffer.id);
	EXPECT_EQ(needed ? 3 * buffer.size : 0, info.sync_bytes);
}

/* All of one buffer into another of its size; nobody syncs. */
static int copy(int node, const struct buffer *dst, const struct buffer *src)
{
	struct dray_transfer transfer = COPY_OF(dst->fd, src->fd, src->size);

	return transfer_run(node, &transfer, DRAY_CHANNEL_ANY,
			    DRAY_SUBMIT_NO_SYNC);
}

TEST_F(mode, what_an_engine_wrote_is_there_without_a_sync)
{
	uint8_t *data = malloc(PAGES * self->page);
	struct buffer src, dst;

	SKIP_IF(!self->info.channel_count, "this node has no DMA channel");
	SKIP_IF(node_copies(), "only a sync brings bytes out of a copy");
	SKIP_IF(self->effect < 0 || self->effect == DRAY_MODE_DEVICE,
		"there is no such mapping");
	SKIP_IF(self->effect == DRAY_MODE_CACHED &&
			!(self->info.flags & DRAY_NODE_COHERENT),
		"this mode needs a sync");
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

	SKIP_IF(!self->info.channel_count, "this node has no DMA channel");
	SKIP_IF(self->effect < 0, "this heap does not have that mode");
	ASSERT_EQ(0, allocate(self, variant->mode, &middle));
	for (int i = 0; i < 2; i++)
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
	struct buffer buffer;
	uint32_t handle;
	int importer;

	SKIP_IF(node_copies(), "the importer would get a copy");
	SKIP_IF(self->effect < 0, "this heap does not have that mode");
	importer = importer_open();
	NEED_VGEM(importer);
	ASSERT_EQ(0, allocate(self, variant->mode, &buffer));
	ASSERT_EQ(0, importer_attach(importer, buffer.fd, &handle));
	READ_BUFFER(info, buffer.id);
	EXPECT_EQ(1, info.attachments);
	EXPECT_EQ(0, cpu_begin(buffer.fd, DMA_BUF_SYNC_RW));
	EXPECT_EQ(0, cpu_end(buffer.fd, DMA_BUF_SYNC_RW));
	EXPECT_EQ(0, importer_detach(importer, handle));
}
