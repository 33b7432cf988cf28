// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * SUBMIT where source and destination are the same memory: attached twice, or
 * once by a dma-buf of another driver, as udmabuf's lies on what a process has.
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
	size_t all = PAGES * self->page;
	size_t size = all < BUFFER_SIZE ? all : BUFFER_SIZE;
	int memory = foreign_memory(all), part;

	ASSERT_LE(0, memory);
	OPEN_PART(part, memory, 0, PAGES);
	EXPECT_EQ(0, engine_refusal(self, part, 0, self->src.fd, 0, size));
	EXPECT_EQ(0, engine_refusal(self, self->dst.fd, 0, part, 0, size));
}

TEST_F(engine, source_and_destination_in_one_attachment_overlap)
{
	struct dray_transfer transfer = engine_copy(self, 2 * self->unit);
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	uint8_t *bytes = fresh_memory(self->page);
	struct dray_attach attach;

	ASSERT_LE(0, attach_memory(self->node, bytes, self->page, 0, &attach));
	transfer.dst_fd = attach.fd;
	transfer.src_fd = attach.fd;
	transfer.dst_offset = self->unit;
	EXPECT_EQ(-EINVAL, engine_submit(self, &transfer, 1, &submit));
	EXPECT_EQ(DRAY_REASON_OVERLAP, submit.reason);
}

TEST_F(engine, memory_that_is_attached_twice_overlaps_where_it_is_the_same)
{
	size_t page = self->page, unit = self->unit;
	uint8_t *bytes = fresh_memory(16 * page);
	struct dray_attach a, b;

	mapped_twice_begin();
	ASSERT_LE(0, attach_memory(self->node, bytes, 8 * page, 0, &a));
	ASSERT_LE(0, attach_memory(self->node, bytes + 4 * page - unit,
				   8 * page, 0, &b));
	EXPECT_EQ(DRAY_REASON_OVERLAP,
		  engine_refusal(self, a.fd, 0, b.fd, 0, 8 * page));
	/* the last byte of one is the first of the other */
	EXPECT_EQ(DRAY_REASON_OVERLAP,
		  engine_refusal(self, a.fd, 0, b.fd, 0, 4 * page));
	EXPECT_EQ(0, engine_refusal(self, a.fd, 0, b.fd, 0, 4 * page - unit));
	EXPECT_EQ(DRAY_REASON_OVERLAP,
		  engine_refusal(self, b.fd, unit, a.fd, 4 * page, unit));
	EXPECT_EQ(0, engine_refusal(self, b.fd, 0, a.fd, 4 * page, unit));
	EXPECT_EQ(0, engine_refusal(self, b.fd, unit, a.fd, 0, 4 * page));
	mapped_twice_end();
}

TEST_F(engine, memory_that_is_mapped_twice_overlaps_in_two_attachments)
{
	int fd = memfd_create("twice", MFD_CLOEXEC);
	struct dray_attach a, b;
	uint8_t *bytes[2];
	int i;

	ASSERT_EQ(0, ftruncate(fd, (off_t)(4 * self->page)));
	for (i = 0; i < 2; i++) {
		bytes[i] = mmap(NULL, 4 * self->page, PROT_READ | PROT_WRITE,
				MAP_SHARED, fd, 0);
		ASSERT_NE(MAP_FAILED, bytes[i]);
	}
	mapped_twice_begin();
	ASSERT_LE(0,
		  attach_memory(self->node, bytes[0], 4 * self->page, 0, &a));
	ASSERT_LE(0, attach_memory(self->node, bytes[1] + self->page,
				   3 * self->page, 0, &b));
	EXPECT_EQ(DRAY_REASON_OVERLAP,
		  engine_refusal(self, a.fd, self->page, b.fd, 0, self->page));
	EXPECT_EQ(DRAY_REASON_OVERLAP,
		  engine_refusal(self, b.fd, 0, a.fd, 0, 3 * self->page));
	EXPECT_EQ(0, engine_refusal(self, b.fd, 0, a.fd, 0, self->page));
	mapped_twice_end();
}

#define COMPARISONS 15

/* So many pages, each of them so many times; an attachment or an errno. */
static int attach_again_and_again(FIXTURE_DATA(engine) * self, size_t count,
				  size_t times)
{
	int memory = memfd_create("again", MFD_CLOEXEC);
	size_t size = count / times * self->page, at;
	struct dray_attach attach;
	uint8_t *bytes;

	bytes = mmap(NULL, count * self->page, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (ftruncate(memory, (off_t)size) || bytes == MAP_FAILED)
		return -errno;
	for (at = 0; at < count * self->page; at += size)
		if (mmap(bytes + at, size, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED, memory, 0) == MAP_FAILED)
			return -errno;
	return attach_memory(self->node, bytes, count * self->page, 0, &attach);
}

/*
 * Nobody looks at a clock: one by one these would be 30 thousand million
 * comparisons, for which no test has the time.  The last transfer is wrong, so
 * that nothing moves.  For each page that is mapped twice a kernel with checkers
 * may write a page of text, and it stands no more than seven mappings.
 */
TEST_F(engine, pages_that_are_attached_many_times_are_not_compared_one_by_one)
{
	size_t times = machine_slowness() == 1 ? 64 : 3;
	size_t count = times == 3 ? 192 : (256 << 20) / self->page;
	/* What a narrow device behind an IOMMU has addresses for, twice */
	uint64_t most = self->info.dma_mask / 8 / self->page + 1;
	struct dray_transfer transfers[COMPARISONS + 1] = { 0 };
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	int from, to, i;

	if (count > most)
		count = (size_t)most;
	count -= count % times;
	mapped_twice_begin();
	from = attach_again_and_again(self, count, times);
	ASSERT_LE(0, from);
	to = attach_again_and_again(self, count, times);
	ASSERT_LE(0, to);
	for (i = 0; i < COMPARISONS; i++)
		transfers[i] = (struct dray_transfer){
			.op = DRAY_OP_COPY,
			.dst_fd = to,
			.src_fd = from,
			.run = count * self->page / 4,
		};
	transfers[COMPARISONS].op = UINT32_MAX;
	for (i = 0; i < 8; i++) {
		EXPECT_EQ(-EINVAL, engine_submit(self, transfers,
						 COMPARISONS + 1, &submit));
		EXPECT_EQ(COMPARISONS, submit.failed);
		EXPECT_EQ(DRAY_REASON_NONE, submit.reason);
	}
	mapped_twice_end();
}

TEST_F(engine, a_buffer_overlaps_with_itself_attached_where_it_is_mapped)
{
	size_t page = self->page, unit = self->unit;
	struct dray_attach attach;
	int ret;

	mapped_twice_begin();
	/* its second page, and a bit of the third */
	ret = attach_memory(self->node, self->dst.bytes + page, page + unit, 0,
			    &attach);
	if (ret < 0 && attach.reason == DRAY_REASON_PINNED) {
		mapped_twice_end();
		SKIP(return, "memory of this heap cannot be pinned");
	}
	ASSERT_LE(0, ret);
	EXPECT_EQ(DRAY_REASON_OVERLAP,
		  engine_refusal(self, attach.fd, 0, self->dst.fd, 0,
				 page + unit));
	EXPECT_EQ(DRAY_REASON_OVERLAP,
		  engine_refusal(self, self->dst.fd, 2 * page, attach.fd, page,
				 unit));
	EXPECT_EQ(0, engine_refusal(self, attach.fd, 0, self->dst.fd, 0, page));
	EXPECT_EQ(0, engine_refusal(self, self->dst.fd, 2 * page, attach.fd, 0,
				    page));
	mapped_twice_end();
}
