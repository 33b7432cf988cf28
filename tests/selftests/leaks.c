// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Run last, when nobody uses the node any more: nothing may be left over from
 * whatever ran before.
 */
#include "fixture_dray.h"

static bool nothing_is_left(void *context)
{
	struct ledger *ledger = context;
	int node = node_open();
	int ret = ledger_take(node, ledger);

	close(node);
	if (ret || ledger->buffers)
		return false;
	for (uint32_t i = 0; i < ledger->heap_count; i++)
		if (ledger->heap[i].buffers || ledger->heap[i].used ||
		    ledger->heap[i].quarantined)
			return false;
	return true;
}

TEST(no_buffer_is_listed)
{
	struct ledger ledger = { .buffers = -1 };

	wait_for(nothing_is_left, &ledger);
	EXPECT_EQ(0, ledger.buffers);
}

TEST(no_heap_has_a_used_byte)
{
	struct ledger ledger;

	wait_for(nothing_is_left, &ledger);
	ASSERT_LT(0, ledger.heap_count);
	for (uint32_t i = 0; i < ledger.heap_count; i++) {
		EXPECT_EQ(0, ledger.heap[i].buffers);
		EXPECT_EQ(0, ledger.heap[i].used);
	}
}

TEST(no_heap_has_a_byte_in_quarantine)
{
	struct ledger ledger;

	wait_for(nothing_is_left, &ledger);
	ASSERT_LT(0, ledger.heap_count);
	for (uint32_t i = 0; i < ledger.heap_count; i++)
		EXPECT_EQ(0, ledger.heap[i].quarantined);
}

TEST(dedicated_memory_is_free_in_one_piece)
{
	struct dray_heap_info heap;
	struct ledger ledger;
	int ret;

	wait_for(nothing_is_left, &ledger);
	OPEN_NODE(node);
	ret = node_find_heap(node, DRAY_HEAP_RESERVED, &heap);
	SKIP_IF(ret == -ENOENT, "this node has no reserved heap");
	ASSERT_EQ(0, ret);
	EXPECT_EQ(heap.total, heap.free);
	EXPECT_EQ(heap.total, heap.largest_free);
}

TEST(no_channel_is_dead)
{
	struct dray_channel_info channel;
	struct dray_info info;

	OPEN_NODE(node);
	ASSERT_EQ(0, node_info(node, &info));
	for (uint32_t i = 0; i < info.channel_count; i++) {
		ASSERT_EQ(0, node_channel(node, i, &channel));
		EXPECT_EQ(0, channel.flags & DRAY_CHANNEL_DEAD);
	}
}
