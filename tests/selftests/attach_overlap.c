// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * SUBMIT where source and destination are the same memory, one of them as a
 * dma-buf of another driver: udmabuf's lies on memory that a process has too.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attach.h"
#include "fixture_engine.h"
#include "foreign.h"

#define PAGES 16

/* A part of the file, in pages, as a dma-buf; an attachment or an errno. */
static int attach_part(FIXTURE_DATA(engine) * self, int memory, size_t first,
		       size_t count)
{
	struct dray_attach attach;
	int fd = foreign_of_memory(memory, first * self->page,
				   count * self->page);

	return fd < 0 ? fd : attach_dma_buf(self->node, fd, 0, &attach);
}

/* The same as memory of this process. */
static int attach_mapped(FIXTURE_DATA(engine) * self, int memory, size_t first,
			 size_t count)
{
	struct dray_attach attach;
	void *bytes = mmap(NULL, count * self->page, PROT_READ | PROT_WRITE,
			   MAP_SHARED, memory, (off_t)(first * self->page));

	if (bytes == MAP_FAILED)
		return -errno;
	return attach_memory(self->node, bytes, count * self->page, 0, &attach);
}

#define OPEN_PART(fd, memory, first, count)                          \
	do {                                                         \
		(fd) = attach_part(self, memory, first, count);      \
		if ((fd) == -ENODEV)                                 \
			SKIP(return, "this machine has no udmabuf"); \
		ASSERT_LE(0, fd);                                    \
	} while (0)

TEST_F(engine, a_dma_buf_overlaps_with_its_memory_that_is_pinned)
{
	int memory = foreign_memory(PAGES * self->page), whole, half;
	size_t page = self->page, unit = self->unit;

	ASSERT_LE(0, memory);
	OPEN_PART(whole, memory, 0, PAGES);
	mapped_twice_begin();
	half = attach_mapped(self, memory, PAGES / 2, PAGES / 2);
	ASSERT_LE(0, half);
	/* the same page, then the last unit of one and the first of the other */
	EXPECT_EQ(DRAY_REASON_OVERLAP,
		  engine_refusal(self, whole, PAGES / 2 * page, half, 0, page));
	EXPECT_EQ(DRAY_REASON_OVERLAP,
		  engine_refusal(self, half, 0, whole, unit, PAGES / 2 * page));
	EXPECT_EQ(DRAY_REASON_OVERLAP,
		  engine_refusal(self, whole, PAGES / 2 * page - unit, half, 0,
				 2 * unit));
	/* in the same page, and next to each other in memory */
	EXPECT_EQ(0, engine_refusal(self, whole, PAGES / 2 * page, half, unit,
				    unit));
	EXPECT_EQ(0, engine_refusal(self, half, 0, whole, 0, PAGES / 2 * page));
	EXPECT_EQ(0, engine_refusal(self, whole, 0, half, 0, PAGES / 2 * page));
	mapped_twice_end();
}

TEST_F(engine, two_dma_bufs_of_one_memory_overlap_where_it_is_the_same)
{
	int memory = foreign_memory(PAGES * self->page), a, b;
	size_t page = self->page, unit = self->unit;

	ASSERT_LE(0, memory);
	OPEN_PART(a, memory, 0, 12);
	mapped_twice_begin();
	OPEN_PART(b, memory, 4, 12);
	EXPECT_EQ(DRAY_REASON_OVERLAP,
		  engine_refusal(self, a, 4 * page, b, 0, unit));
	EXPECT_EQ(DRAY_REASON_OVERLAP,
		  engine_refusal(self, b, 0, a, 4 * page, unit));
	EXPECT_EQ(DRAY_REASON_OVERLAP,
		  engine_refusal(self, b, 0, a, unit, 4 * page));
	EXPECT_EQ(0, engine_refusal(self, b, 0, a, 0, 4 * page));
	EXPECT_EQ(0, engine_refusal(self, a, 4 * page, b, page, page));
	EXPECT_EQ(0, engine_refusal(self, a, 0, b, 8 * page, 4 * page));
	mapped_twice_end();
}

TEST_F(engine, memory_that_is_in_a_dma_buf_twice_is_found_in_both_places)
{
	int memory = foreign_memory(PAGES * self->page), all, part;
	struct dray_attach attach;
	size_t page = self->page;
	uint8_t *bytes;
	int i;

	ASSERT_LE(0, memory);
	OPEN_PART(part, memory, 1, 1);
	/* pages 0 1 0 1, as this process sees them */
	bytes = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, bytes);
	for (i = 0; i < 4; i++)
		ASSERT_NE(MAP_FAILED,
			  mmap(bytes + (size_t)i * page, page,
			       PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			       memory, (off_t)((size_t)(i % 2) * page)));
	mapped_twice_begin();
	all = attach_memory(self->node, bytes, 4 * page, 0, &attach);
	ASSERT_LE(0, all);
	EXPECT_EQ(0, engine_refusal(self, part, 0, all, 0, page));
	EXPECT_EQ(DRAY_REASON_OVERLAP,
		  engine_refusal(self, part, 0, all, page, page));
	EXPECT_EQ(0, engine_refusal(self, part, 0, all, 2 * page, page));
	EXPECT_EQ(DRAY_REASON_OVERLAP,
		  engine_refusal(self, part, 0, all, 3 * page, page));
	mapped_twice_end();
}

TEST_F(engine, a_dma_buf_and_a_buffer_do_not_overlap)
{
	int memory = foreign_memory(PAGES * self->page), part;

	ASSERT_LE(0, memory);
	OPEN_PART(part, memory, 0, PAGES);
	EXPECT_EQ(0, engine_refusal(self, part, 0, self->src.fd, 0,
				    PAGES * self->page));
	EXPECT_EQ(0, engine_refusal(self, self->dst.fd, 0, part, 0,
				    PAGES * self->page));
}

TEST_HARNESS_MAIN
