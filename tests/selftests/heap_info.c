// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * HEAP_INFO: the numbers add up, and they follow what is allocated and freed.
 */
#include "fixture_dray.h"
#include "fixture_heap.h"
#include "fixture_reserved.h"

TEST_F(dray, an_index_past_the_end_is_refused)
{
	struct dray_heap_info heap;

	EXPECT_EQ(-EINVAL, node_heap(self->node, self->info.heap_count, &heap));
	EXPECT_EQ(-EINVAL, node_heap(self->node, UINT32_MAX, &heap));
}

TEST_F(dray, every_index_below_the_count_answers)
{
	struct dray_heap_info heap;

	for (uint32_t i = 0; i < self->info.heap_count; i++) {
		EXPECT_EQ(0, node_heap(self->node, i, &heap));
		EXPECT_EQ(i, heap.index);
	}
}

TEST_F(dray, exactly_one_heap_is_the_default)
{
	struct dray_heap_info heap;
	uint32_t i, defaults = 0;

	for (i = 0; i < self->info.heap_count; i++) {
		ASSERT_EQ(0, node_heap(self->node, i, &heap));
		defaults += !!(heap.flags & DRAY_HEAP_DEFAULT);
	}
	EXPECT_EQ(1, defaults);
}

TEST_F(dray, any_heap_takes_the_default_first)
{
	struct dray_alloc alloc = { .size = 1, .heap = DRAY_HEAP_ANY };

	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_ALLOC, &alloc));
	READ_HEAP(heap, alloc.heap);
	EXPECT_EQ(DRAY_HEAP_DEFAULT, heap.flags & DRAY_HEAP_DEFAULT);
}

TEST_F(dray, heaps_have_different_names)
{
	struct dray_heap_info a, b;
	uint32_t i, j;

	for (i = 0; i < self->info.heap_count; i++) {
		ASSERT_EQ(0, node_heap(self->node, i, &a));
		ASSERT_NE(NULL, memchr(a.name, 0, DRAY_NAME_LEN));
		EXPECT_NE(0, a.name[0]);
		for (j = 0; j < i; j++) {
			ASSERT_EQ(0, node_heap(self->node, j, &b));
			EXPECT_STRNE(a.name, b.name);
		}
	}
}

TEST_F(dray, types_and_flags_are_known)
{
	struct dray_heap_info heap;

	for (uint32_t i = 0; i < self->info.heap_count; i++) {
		ASSERT_EQ(0, node_heap(self->node, i, &heap));
		EXPECT_STRNE("unknown", heap_type_name(heap.type));
		EXPECT_EQ(0,
			  heap.flags & ~(DRAY_HEAP_SHARED | DRAY_HEAP_PINNABLE |
					 DRAY_HEAP_DEFAULT));
	}
}

TEST_F(dray, a_reply_into_read_only_memory_is_refused)
{
	void *page = mmap(NULL, self->page, PROT_READ,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, page);
	EXPECT_EQ(-EFAULT, node_call(self->node, DRAY_IOC_HEAP_INFO, page));
}

TEST_F(heap, only_reserved_memory_is_its_own)
{
	EXPECT_EQ(variant->type == DRAY_HEAP_RESERVED ? 0 : DRAY_HEAP_SHARED,
		  self->heap.flags & DRAY_HEAP_SHARED);
}

TEST_F(heap, all_but_cma_can_be_pinned)
{
	EXPECT_EQ(variant->type == DRAY_HEAP_CMA ? 0 : DRAY_HEAP_PINNABLE,
		  self->heap.flags & DRAY_HEAP_PINNABLE);
}

TEST_F(heap, free_bytes_lie_within_the_total)
{
	EXPECT_LT(0, self->heap.total);
	EXPECT_LE(self->heap.free, self->heap.total);
	EXPECT_LE(self->heap.largest_free, self->heap.free);
	EXPECT_LE(self->heap.largest_request, self->heap.total);
	EXPECT_LT(0, self->heap.largest_request);
}

TEST_F(reserved, free_used_and_quarantined_are_the_total)
{
	EXPECT_EQ(self->heap.total,
		  self->heap.free + self->heap.used + self->heap.quarantined);
}

TEST_F(heap, a_buffer_is_counted_and_its_bytes_are_used)
{
	ALLOCATE_BUFFER(buffer, self->heap.index, 3 * self->page);
	READ_HEAP(now, self->heap.index);
	EXPECT_EQ(self->heap.buffers + 1, now.buffers);
	EXPECT_EQ(self->heap.used + buffer.size, now.used);
	if (!(now.flags & DRAY_HEAP_SHARED)) {
		EXPECT_EQ(self->heap.free - buffer.size, now.free);
	}
}

TEST_F(heap, a_freed_buffer_gives_its_bytes_back)
{
	OPEN_BUFFER(buffer, self->heap.index, 3 * self->page);
	memset(buffer.bytes, 1, buffer.size);
	buffer_close(&buffer);
	EXPECT_EQ(0, ledger_differences(&self->before));
}
