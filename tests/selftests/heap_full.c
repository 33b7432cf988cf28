// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Heaps that are full, or in pieces: the refusal names why and the limit that
 * was met, and afterwards everything can be had again.
 */
#include <glob.h>

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

#define REGIONS "/proc/device-tree/reserved-memory/"

/* The cells of a property, or none. */
static int cells_read(const char *path, uint32_t cell[4])
{
	uint8_t bytes[16];
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = file < 0 ? 0 : read(file, bytes, sizeof(bytes)), i;

	close(file);
	for (i = 0; i < length / 4; i++)
		cell[i] = (uint32_t)bytes[4 * i] << 24 |
			  (uint32_t)bytes[4 * i + 1] << 16 |
			  (uint32_t)bytes[4 * i + 2] << 8 | bytes[4 * i + 3];
	return (int)(length / 4);
}

/* Of the one region of the device tree that has the property. */
static int region_find(const char *property, uint64_t *base, uint64_t *size)
{
	char path[PATH_MAX];
	uint32_t cell[4];
	glob_t names;
	int count = 0;

	snprintf(path, sizeof(path), REGIONS "*/%s", property);
	if (!glob(path, 0, NULL, &names) && names.gl_pathc == 1) {
		snprintf(path, sizeof(path), "%.*s/reg",
			 (int)(strrchr(names.gl_pathv[0], '/') -
			       names.gl_pathv[0]),
			 names.gl_pathv[0]);
		count = cells_read(path, cell);
	}
	globfree(&names);
	/* An address and a size, of a cell each or of two. */
	*base = count == 4 ? (uint64_t)cell[0] << 32 | cell[1] : cell[0];
	*size = count == 4 ? (uint64_t)cell[2] << 32 | cell[3] : cell[1];
	return count == 4 || count == 2 ? 0 : -ENOENT;
}

TEST_F(reserved, more_than_is_free_is_refused_with_the_free_bytes)
{
	struct dray_alloc first, second;

	ASSERT_EQ(0,
		  allocate(self->node, self->heap.index, self->page, &first));
	READ_HEAP(now, self->heap.index);
	EXPECT_EQ(-ENOMEM, allocate(self->node, self->heap.index,
				    self->heap.total, &second));
	EXPECT_EQ(DRAY_REASON_FULL, second.reason);
	EXPECT_EQ(now.free, second.limit);
}

TEST_F(reserved, all_of_it_in_one_piece_is_granted)
{
	struct dray_alloc alloc;

	SKIP_IF(node_copies(), "no device gets a copy that is so large");
	ASSERT_EQ(0, allocate(self->node, self->heap.index,
			      self->heap.largest_free, &alloc));
	READ_HEAP(now, self->heap.index);
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
	unsigned int i, count = 0;

	SKIP_IF(node_copies(), "no device gets a copy that is so large");
	while (count < 9 &&
	       !allocate(self->node, self->heap.index, piece, &alloc[count]))
		count++;
	ASSERT_LE(6, count);
	for (i = 0; i < count; i += 2)
		close(alloc[i].fd);
	READ_HEAP(now, self->heap.index);
	ASSERT_LE(2 * piece, now.free);
	ASSERT_GT(2 * piece, now.largest_free);
	EXPECT_EQ(-ENOMEM,
		  allocate(self->node, self->heap.index, 2 * piece, &large));
	EXPECT_EQ(DRAY_REASON_FRAGMENTED, large.reason);
	EXPECT_EQ(now.largest_free, large.limit);
	EXPECT_EQ(0, allocate(self->node, self->heap.index, now.largest_free,
			      &large));
}

TEST_F(reserved, no_run_so_aligned_is_refused_with_an_alignment_that_is_granted)
{
	uint64_t alignment = self->page, named;
	struct dray_alloc alloc;
	int ret;

	while (alignment * 8 <= self->heap.total)
		alignment *= 2;
	do {
		alloc = (struct dray_alloc){ .size = self->page,
					     .alignment = alignment,
					     .heap = self->heap.index };
		ret = node_call(self->node, DRAY_IOC_ALLOC, &alloc);
	} while (!ret);
	ASSERT_EQ(-ENOMEM, ret);
	EXPECT_EQ(DRAY_REASON_ALIGNMENT, alloc.reason);
	named = alloc.limit;
	EXPECT_LE(self->page, named);
	EXPECT_GT(alignment, named);
	alloc = (struct dray_alloc){ .size = self->page,
				     .alignment = named,
				     .heap = self->heap.index };
	EXPECT_EQ(0, node_call(self->node, DRAY_IOC_ALLOC, &alloc));
	alloc = (struct dray_alloc){ .size = self->page,
				     .alignment = 2 * named,
				     .heap = self->heap.index };
	EXPECT_EQ(-ENOMEM, node_call(self->node, DRAY_IOC_ALLOC, &alloc));
	EXPECT_EQ(DRAY_REASON_ALIGNMENT, alloc.reason);
}

TEST_F(reserved, small_pieces_fill_it_to_the_last_page_and_come_back)
{
	static struct buffer buffers[MOST];
	uint64_t piece =
		self->heap.total / (MOST / 4) / self->page * self->page;
	unsigned int count = 0, i;
	int ret;

	SKIP_IF(node_copies(), "no device gets a copy that is so large");
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
	READ_HEAP(now, self->heap.index);
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

	SKIP_IF(node_copies(), "no device gets a copy that is so large");
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_ALLOC, &high));
	EXPECT_EQ(0, node_call(self->node, DRAY_IOC_ALLOC, &low));
}

/* Takes pieces until the heap refuses; how many there were, or -ENOSPC. */
static int take_all(int node, const struct dray_heap_info *heap, uint64_t piece,
		    struct dray_alloc *alloc, int most)
{
	int count = 0;

	while (count < most &&
	       !allocate(node, heap->index, piece, &alloc[count]))
		count++;
	return count < most ? count : -ENOSPC;
}

#define CMA_PIECES 16

/* A part of the heap; skips the test where there is none to fill. */
#define CMA_TO_FILL(heap, piece)                                               \
	do {                                                                   \
		int found =                                                    \
			node_find_heap(self->node, DRAY_HEAP_CMA, &(heap));    \
		if (node_copies())                                             \
			SKIP(return,                                           \
				   "no device gets a copy that is so large");  \
		if (found == -ENOENT)                                          \
			SKIP(return, "this node has no cma heap");             \
		ASSERT_EQ(0, found);                                           \
		(piece) = (heap).total / CMA_PIECES / self->page * self->page; \
	} while (0)

TEST_F(dray, cma_gives_what_it_says_or_tells_why_not)
{
	struct dray_alloc alloc[64], *last;
	struct dray_heap_info heap;
	uint64_t piece;
	int count;

	CMA_TO_FILL(heap, piece);
	count = take_all(self->node, &heap, piece, alloc, 64);
	EXPECT_LE(1, count);
	EXPECT_GE((int)(heap.total / piece), count);
	last = &alloc[count < 0 ? 0 : count];
	EXPECT_TRUE(last->reason == DRAY_REASON_FULL ||
		    last->reason == DRAY_REASON_FRAGMENTED)
	{
		TH_LOG("the reason is %u", last->reason);
	}
	EXPECT_GT(piece, last->limit);
}

TEST_F(dray, all_that_cma_gives_lies_in_its_region)
{
	struct dray_segment segment;
	struct dray_address address = { .segments = (uintptr_t)&segment,
					.room = 1 };
	struct dray_alloc alloc[64];
	struct dray_heap_info heap;
	uint64_t piece, base, size;
	int count, i;

	SKIP_IF(!(self->info.flags & DRAY_NODE_ADDRESS) ||
			self->info.flags & DRAY_NODE_IOMMU,
		"this node tells no physical addresses");
	CMA_TO_FILL(heap, piece);
	SKIP_IF(region_find("reusable", &base, &size),
		"this machine's tree has no CMA area");
	ASSERT_EQ(size, heap.total);
	count = take_all(self->node, &heap, piece, alloc, 64);
	ASSERT_LE(1, count);
	for (i = 0; i < count; i++) {
		address.fd = alloc[i].fd;
		ASSERT_EQ(0, node_call(self->node, DRAY_IOC_ADDRESS, &address));
		EXPECT_EQ(piece, segment.length);
		EXPECT_LE(base, segment.address);
		EXPECT_GE(base + size, segment.address + segment.length);
	}
}

TEST_F(heap, a_refusal_takes_nothing)
{
	struct dray_alloc alloc;

	for (int i = 0; i < 100; i++) {
		alloc = (struct dray_alloc){ .size = self->page,
					     .heap = self->heap.index,
					     .address_limit = self->page - 1 };
		ASSERT_EQ(-ENOMEM,
			  node_call(self->node, DRAY_IOC_ALLOC, &alloc));
	}
	EXPECT_EQ(0, ledger_differences(&self->before));
}
