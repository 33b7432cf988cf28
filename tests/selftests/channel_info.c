// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * CHANNEL_INFO: which engines a node has, and what they have done.
 */
#include "fixture_dray.h"
#include "fence.h"

TEST_F(dray, an_index_past_the_end_is_refused)
{
	struct dray_channel_info channel;

	EXPECT_EQ(-EINVAL,
		  node_channel(self->node, self->info.channel_count, &channel));
	EXPECT_EQ(-EINVAL, node_channel(self->node, UINT32_MAX, &channel));
}

TEST_F(dray, non_zero_padding_is_refused)
{
	struct dray_channel_info channel = { .reserved = 1 };

	EXPECT_EQ(-EINVAL,
		  node_call(self->node, DRAY_IOC_CHANNEL_INFO, &channel));
}

TEST_F(dray, every_channel_copies_and_has_a_name)
{
	struct dray_channel_info channel;

	SKIP_IF(!self->info.channel_count, "this node has no DMA channel");
	for (uint32_t i = 0; i < self->info.channel_count; i++) {
		ASSERT_EQ(0, node_channel(self->node, i, &channel));
		EXPECT_EQ(i, channel.index);
		EXPECT_EQ(DRAY_CHANNEL_COPY, channel.flags & DRAY_CHANNEL_COPY);
		EXPECT_EQ(0, channel.flags & DRAY_CHANNEL_DEAD);
		ASSERT_NE(NULL, memchr(channel.name, 0, DRAY_NAME_LEN));
		EXPECT_NE(0, channel.name[0]);
		EXPECT_EQ(0, channel.failed);
	}
}

TEST_F(dray, an_open_channel_tells_its_alignment_and_its_longest_descriptor)
{
	struct dray_channel_info channel;
	struct dray_sync sync = { .owner = DRAY_SYNC_FOR_DEVICE,
				  .direction = DRAY_TO_DEVICE };

	SKIP_IF(!self->info.channel_count, "this node has no DMA channel");
	for (uint32_t i = 0; i < self->info.channel_count; i++) {
		/* the first use opens it, and so does this question */
		sync.target = i;
		ASSERT_EQ(0, node_call(self->node, DRAY_IOC_SYNC, &sync));
		ASSERT_EQ(0, node_channel(self->node, i, &channel));
		EXPECT_EQ(DRAY_CHANNEL_OPEN, channel.flags & DRAY_CHANNEL_OPEN);
		EXPECT_LT(0, channel.alignment);
		EXPECT_EQ(0, channel.alignment & (channel.alignment - 1));
		EXPECT_LT(0, channel.max_segment);
	}
}

TEST_F(dray, what_a_channel_moved_is_counted)
{
	struct dray_channel_info before, after;

	SKIP_IF(!self->info.channel_count, "this node has no DMA channel");
	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, 2 * self->page);
	for (uint32_t i = 0; i < self->info.channel_count; i++) {
		struct dray_transfer transfer =
			COPY_OF(buffer.fd, buffer.fd, self->page,
				.dst_offset = self->page);
		struct dray_submit submit = SUBMIT_OF(i, &transfer, 1);

		ASSERT_EQ(0, node_channel(self->node, i, &before));
		ASSERT_EQ(0, node_call(self->node, DRAY_IOC_SUBMIT, &submit));
		ASSERT_EQ(1, fence_wait(submit.fence_fd));
		ASSERT_EQ(0, node_channel(self->node, i, &after));
		EXPECT_EQ(before.submitted + 1, after.submitted);
		EXPECT_EQ(before.bytes + self->page, after.bytes);
		EXPECT_EQ(DRAY_CHANNEL_OPEN, after.flags & DRAY_CHANNEL_OPEN);
		ASSERT_NE(NULL, memchr(after.device, 0, DRAY_NAME_LEN));
		EXPECT_NE(0, after.device[0]);
	}
}
