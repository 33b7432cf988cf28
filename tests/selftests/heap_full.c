// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Heaps that are full, or in pieces: the refusal names why and the limit that
 * was met, and afterwards everything can be had again.
 */
#include <errno.h>

#include "fixture_dray.h"
#include "fixture_heap.h"
#include "fixture_reserved.h"

#define MOST 4096

static int allocate(int node, uint32_t heap, uint64_t size,
		    struct dray_alloc *alloc)
{
	*alloc = (struct dray_alloc){ .size = size, .heap = heap };
	return node_call(node, DRAY_IOC_ALLOC, alloc);
}

TEST_F(reserved, more_than_is_free_is_refused_with_the_free_bytes)
{
	struct dray_alloc first, second;
	struct dray_heap_info now;

	ASSERT_EQ(0,
		  allocate(self->node, self->heap.index, self->page, &first));
	ASSERT_EQ(0, node_heap(self->node, self->heap.index, &now));
	EXPECT_EQ(-ENOMEM, allocate(self->node, self->heap.index,
				    self->heap.total, &second));
	EXPECT_EQ(DRAY_REASON_FULL, second.reason);
	EXPECT_EQ(now.free, second.limit);
}

TEST_F(reserved, all_of_it_in_one_piece_is_granted)
{
	struct dray_alloc alloc;
	struct dray_heap_info now;

	if (node_copies())
		SKIP(return, "no device gets a copy that is so large");
	ASSERT_EQ(0, allocate(self->node, self->heap.index,
			      self->heap.largest_free, &alloc));
	ASSERT_EQ(0, node_heap(self->node, self->heap.index, &now));
	EXPECT_EQ(0, now.free);
	EXPECT_EQ(0, now.largest_free);
	EXPECT_EQ(-ENOMEM, allocate(self->node, self->heap.index, 1, &alloc));
	EXPECT_EQ(DRAY_REASON_FULL, alloc.reason);
	EXPECT_EQ(0, alloc.limit);
}

TEST_F(reserved, enough_in_pieces_is_refused_with_the_longest_piece)
{
	uint64_t piece = self->heap.total / 8 / self->page * self->page;
	struct dray_alloc alloc[9], large;
	struct dray_heap_info now;
	unsigned int i, count = 0;

	if (node_copies())
		SKIP(return, "no device gets a copy that is so large");
	while (count < 9 &&
	       !allocate(self->node, self->heap.index, piece, &alloc[count]))
		count++;
	ASSERT_LE(6, count);
	for (i = 0; i < count; i += 2)
		close(alloc[i].fd);
	ASSERT_EQ(0, node_heap(self->node, self->heap.index, &now));
	ASSERT_LE(2 * piece, now.free);
	ASSERT_GT(2 * piece, now.largest_free);
	EXPECT_EQ(-ENOMEM,
		  allocate(self->node, self->heap.index, 2 * piece, &large));
	EXPECT_EQ(DRAY_REASON_FRAGMENTED, large.reason);
	EXPECT_EQ(now.largest_free, large.limit);
	EXPECT_EQ(0, allocate(self->node, self->heap.index, now.largest_free,
			      &large));
}

TEST_F(reserved, small_pieces_fill_it_to_the_last_page_and_come_back)
{
	static struct buffer buffers[MOST];
	uint64_t piece =
		self->heap.total / (MOST / 4) / self->page * self->page;
	struct dray_heap_info now;
	unsigned int count = 0, i;
	int ret;

	if (node_copies())
		SKIP(return, "no device gets a copy that is so large");
	if (piece < self->page)
		piece = self->page;
	/* every piece is told from every other, so that none is given twice */
	while (count < MOST && !(ret = buffer_open(self->node, self->heap.index,
						   piece, &buffers[count]))) {
		memcpy(buffers[count].bytes, &count, sizeof(count));
		memcpy(buffers[count].bytes + piece - sizeof(count), &count,
		       sizeof(count));
		close(buffers[count].fd);
		buffers[count].fd = -1;
		count++;
	}
	EXPECT_EQ(-ENOMEM, ret);
	ASSERT_EQ(0, node_heap(self->node, self->heap.index, &now));
	EXPECT_GT(piece, now.largest_free);
	EXPECT_EQ(self->heap.free, now.free + count * piece);
	for (i = 0; i < count; i++) {
		EXPECT_EQ(0, memcmp(buffers[i].bytes, &i, sizeof(i)));
		EXPECT_EQ(0, memcmp(buffers[i].bytes + piece - sizeof(i), &i,
				    sizeof(i)));
		buffer_close(&buffers[i]);
	}
	ASSERT_EQ(0, ledger_differences(&self->before));
	EXPECT_EQ(0, buffer_allocate(self->node, self->heap.index,
				     self->heap.largest_free, &buffers[0]));
}

TEST_F(reserved, the_upper_end_and_the_lower_end_meet_in_the_middle)
{
	uint64_t half = self->heap.total / 2 / self->page * self->page;
	struct dray_alloc low = { .size = half, .heap = self->heap.index };
	struct dray_alloc high = { .size = half,
				   .heap = self->heap.index,
				   .flags = DRAY_ALLOC_TOP };

	if (node_copies())
		SKIP(return, "no device gets a copy that is so large");
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_ALLOC, &high));
	EXPECT_EQ(0, node_call(self->node, DRAY_IOC_ALLOC, &low));
}

TEST_F(dray, cma_gives_what_it_says_or_tells_why_not)
{
	struct dray_alloc alloc[64];
	struct dray_heap_info heap;
	unsigned int count = 0;
	uint64_t piece;
	int ret = node_find_heap(self->node, DRAY_HEAP_CMA, &heap);

	if (node_copies())
		SKIP(return, "no device gets a copy that is so large");
	if (ret == -ENOENT)
		SKIP(return, "this node has no cma heap");
	ASSERT_EQ(0, ret);
	piece = heap.total / 16 / self->page * self->page;
	while (count < 64 && !ret)
		ret = allocate(self->node, heap.index, piece, &alloc[count++]);
	ASSERT_EQ(-ENOMEM, ret);
	EXPECT_LE(2, count);
	EXPECT_TRUE(alloc[count - 1].reason == DRAY_REASON_FULL ||
		    alloc[count - 1].reason == DRAY_REASON_FRAGMENTED)
	{
		TH_LOG("the reason is %u", alloc[count - 1].reason);
	}
	EXPECT_GT(piece * 16, alloc[count - 1].limit);
}

TEST_F(heap, a_refusal_takes_nothing)
{
	struct dray_alloc alloc;
	int i;

	for (i = 0; i < 100; i++) {
		alloc = (struct dray_alloc){ .size = self->page,
					     .heap = self->heap.index,
					     .address_limit = self->page - 1 };
		ASSERT_EQ(-ENOMEM,
			  node_call(self->node, DRAY_IOC_ALLOC, &alloc));
	}
	EXPECT_EQ(0, ledger_differences(&self->before));
}

TEST_HARNESS_MAIN
