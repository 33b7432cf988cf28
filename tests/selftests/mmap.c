// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Mappings of a buffer: shared, whole or in parts, and what programs do to
 * mappings afterwards.  Each holds on every heap.
 */
#include "fixture_heap.h"

#define PAGES 4

static uint8_t *map(int fd, size_t size, int protection, size_t offset)
{
	return mmap(NULL, size, protection, MAP_SHARED, fd, (off_t)offset);
}

struct touch {
	volatile uint8_t *address;
	bool write;
};

static int touch(void *context)
{
	struct touch *touch = context;

	if (touch->write)
		*touch->address = 0x5a;
	else
		(void)*touch->address;
	return 0;
}

/* The signal that a write ends in, or 0. */
static int write_ends_in(uint8_t *address)
{
	struct touch context = { .address = address, .write = true };

	return -process_run(touch, &context);
}

static int read_ends_in(uint8_t *address)
{
	struct touch context = { .address = address };

	return -process_run(touch, &context);
}

TEST_F(heap, every_byte_is_zero_at_first)
{
	/* the second time the memory may be what the first left behind */
	OPEN_BUFFER(buffer, self->heap.index, PAGES * self->page);
	EXPECT_EQ(-1, first_other_byte(buffer.bytes, buffer.size, 0));
	memset(buffer.bytes, 0xff, buffer.size);
	buffer_close(&buffer);
	ASSERT_EQ(0, buffer_open(self->node, self->heap.index,
				 PAGES * self->page, &buffer));
	EXPECT_EQ(-1, first_other_byte(buffer.bytes, buffer.size, 0));
}

TEST_F(heap, zeros_stay_when_the_cpu_takes_an_unused_buffer)
{
	OPEN_BUFFER(buffer, self->heap.index, PAGES * self->page);
	memset(buffer.bytes, 0xff, buffer.size);
	buffer_close(&buffer);
	ASSERT_EQ(0, buffer_open(self->node, self->heap.index,
				 PAGES * self->page, &buffer));
	ASSERT_EQ(0, buffer_sync(self->node, buffer.fd, DRAY_SYNC_FOR_CPU,
				 DRAY_FROM_DEVICE, 0, buffer.size));
	EXPECT_EQ(-1, first_other_byte(buffer.bytes, buffer.size, 0));
}

TEST_F(heap, what_is_written_is_read_back)
{
	uint8_t *copy = malloc(PAGES * self->page);

	OPEN_BUFFER(buffer, self->heap.index, PAGES * self->page);
	fill_random(copy, buffer.size, 1);
	memcpy(buffer.bytes, copy, buffer.size);
	EXPECT_EQ(-1, first_difference(copy, buffer.bytes, buffer.size));
}

TEST_F(heap, two_mappings_see_one_memory)
{
	uint8_t *second;

	OPEN_BUFFER(buffer, self->heap.index, PAGES * self->page);
	second = map(buffer.fd, buffer.size, PROT_READ | PROT_WRITE, 0);
	ASSERT_NE(MAP_FAILED, second);
	fill_random(buffer.bytes, buffer.size, 2);
	EXPECT_EQ(-1, first_difference(buffer.bytes, second, buffer.size));
	second[self->page + 1] ^= 0xff;
	EXPECT_EQ(second[self->page + 1], buffer.bytes[self->page + 1]);
}

TEST_F(heap, the_first_write_of_a_page_is_no_fault)
{
	struct rusage before, after;

	OPEN_BUFFER(buffer, self->heap.index, 64 * self->page);
	getrusage(RUSAGE_SELF, &before);
	for (size_t i = 0; i < 64; i++)
		buffer.bytes[i * self->page] = 1;
	getrusage(RUSAGE_SELF, &after);
	/* a few are the process's own: its stack, its code */
	EXPECT_GT(8, after.ru_minflt - before.ru_minflt);
	EXPECT_EQ(before.ru_majflt, after.ru_majflt);
}

TEST_F(heap, a_private_mapping_is_refused)
{
	const int protections[] = { PROT_READ, PROT_READ | PROT_WRITE };

	ALLOCATE_BUFFER(buffer, self->heap.index, self->page);
	for (size_t i = 0; i < ARRAY_SIZE(protections); i++) {
		EXPECT_EQ(MAP_FAILED, mmap(NULL, self->page, protections[i],
					   MAP_PRIVATE, buffer.fd, 0));
		EXPECT_EQ(EINVAL, errno);
	}
}

TEST_F(heap, a_mapping_may_start_inside)
{
	uint8_t *inside;

	OPEN_BUFFER(buffer, self->heap.index, PAGES * self->page);
	fill_random(buffer.bytes, buffer.size, 3);
	inside = map(buffer.fd, self->page, PROT_READ, 2 * self->page);
	ASSERT_NE(MAP_FAILED, inside);
	EXPECT_EQ(-1, first_difference(buffer.bytes + 2 * self->page, inside,
				       self->page));
}

TEST_F(heap, a_mapping_past_the_end_is_refused)
{
	const size_t cases[][2] = {
		{ PAGES + 1, 0 },
		{ 1, PAGES },
		{ 2, PAGES - 1 },
		{ PAGES, 1 },
	};

	ALLOCATE_BUFFER(buffer, self->heap.index, PAGES * self->page);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		EXPECT_EQ(MAP_FAILED, map(buffer.fd, cases[i][0] * self->page,
					  PROT_READ, cases[i][1] * self->page));
		EXPECT_EQ(EINVAL, errno);
	}
}

TEST_F(heap, an_offset_that_overflows_is_refused)
{
	off_t last = (off_t)(INT64_MAX & ~(self->page - 1));

	ALLOCATE_BUFFER(buffer, self->heap.index, PAGES * self->page);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 2 * self->page, PROT_READ, MAP_SHARED,
				   buffer.fd, last));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 2 * self->page, PROT_READ, MAP_SHARED,
				   buffer.fd, (off_t)-self->page));
}

TEST_F(heap, a_misaligned_offset_is_refused)
{
	ALLOCATE_BUFFER(buffer, self->heap.index, PAGES * self->page);
	EXPECT_EQ(MAP_FAILED, map(buffer.fd, self->page, PROT_READ, 1));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(heap, memory_is_still_there_after_dontneed)
{
	struct dray_heap_info heap = self->heap;
	uint8_t *copy = malloc(PAGES * self->page);
	int ret;

	OPEN_BUFFER(buffer, self->heap.index, PAGES * self->page);
	fill_random(copy, buffer.size, 4);
	memcpy(buffer.bytes, copy, buffer.size);
	ret = madvise(buffer.bytes, buffer.size, MADV_DONTNEED);
	if (heap.flags & DRAY_HEAP_PINNABLE) {
		EXPECT_EQ(0, ret);
	}
	EXPECT_EQ(0, read_ends_in(buffer.bytes));
	EXPECT_EQ(0, write_ends_in(buffer.bytes));
	copy[0] = 0x5a;
	EXPECT_EQ(-1, first_difference(copy, buffer.bytes, buffer.size));
}

TEST_F(heap, dontneed_of_one_page_then_a_write_reaches_the_memory)
{
	uint8_t *second;

	OPEN_BUFFER(buffer, self->heap.index, PAGES * self->page);
	second = map(buffer.fd, buffer.size, PROT_READ, 0);
	ASSERT_NE(MAP_FAILED, second);
	madvise(buffer.bytes + self->page, self->page, MADV_DONTNEED);
	buffer.bytes[self->page + 7] = 7;
	EXPECT_EQ(7, second[self->page + 7]);
}

TEST_F(heap, a_moved_mapping_keeps_its_bytes)
{
	uint8_t *place, *moved;

	OPEN_BUFFER(buffer, self->heap.index, PAGES * self->page);
	fill_random(buffer.bytes, buffer.size, 5);
	place = mmap(NULL, buffer.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		     -1, 0);
	ASSERT_NE(MAP_FAILED, place);
	moved = mremap(buffer.bytes, buffer.size, buffer.size,
		       MREMAP_MAYMOVE | MREMAP_FIXED, place);
	ASSERT_EQ(place, moved);
	buffer.bytes = map(buffer.fd, buffer.size, PROT_READ | PROT_WRITE, 0);
	ASSERT_NE(MAP_FAILED, buffer.bytes);
	EXPECT_EQ(-1, first_difference(buffer.bytes, moved, buffer.size));
	moved[0] ^= 0xff;
	EXPECT_EQ(moved[0], buffer.bytes[0]);
}

TEST_F(heap, a_mapping_that_grows_ends_with_the_buffer)
{
	size_t size = PAGES * self->page;
	uint8_t *part, *grown;

	OPEN_BUFFER(buffer, self->heap.index, size);
	fill_random(buffer.bytes, size, 6);
	part = map(buffer.fd, self->page, PROT_READ | PROT_WRITE, 0);
	ASSERT_NE(MAP_FAILED, part);
	grown = mremap(part, self->page, 2 * size, MREMAP_MAYMOVE);
	if (grown == MAP_FAILED) {
		EXPECT_EQ(EFAULT, errno);
		return;
	}
	/* growing is no way around the check of the size */
	EXPECT_EQ(-1, first_difference(buffer.bytes, grown, size));
	EXPECT_EQ(SIGBUS, read_ends_in(grown + size));
	EXPECT_EQ(SIGBUS, write_ends_in(grown + 2 * size - 1));
}

TEST_F(heap, a_shrunk_mapping_keeps_its_head)
{
	OPEN_BUFFER(buffer, self->heap.index, PAGES * self->page);
	buffer.bytes[0] = 9;
	ASSERT_EQ(buffer.bytes,
		  mremap(buffer.bytes, buffer.size, self->page, 0));
	EXPECT_EQ(9, buffer.bytes[0]);
	EXPECT_EQ(SIGSEGV, read_ends_in(buffer.bytes + self->page));
}

TEST_F(heap, a_hole_leaves_both_sides_mapped)
{
	OPEN_BUFFER(buffer, self->heap.index, PAGES * self->page);
	buffer.bytes[0] = 1;
	buffer.bytes[3 * self->page] = 3;
	ASSERT_EQ(0, munmap(buffer.bytes + self->page, 2 * self->page));
	EXPECT_EQ(SIGSEGV, read_ends_in(buffer.bytes + self->page));
	EXPECT_EQ(1, buffer.bytes[0]);
	EXPECT_EQ(3, buffer.bytes[3 * self->page]);
	buffer.bytes[3 * self->page + 1] = 4;
}

TEST_F(heap, a_read_only_mapping_is_not_written)
{
	uint8_t *reading;

	ALLOCATE_BUFFER(buffer, self->heap.index, self->page);
	reading = map(buffer.fd, self->page, PROT_READ, 0);
	ASSERT_NE(MAP_FAILED, reading);
	EXPECT_EQ(0, read_ends_in(reading));
	EXPECT_EQ(SIGSEGV, write_ends_in(reading));
}

TEST_F(heap, a_mapping_made_read_only_is_not_written)
{
	OPEN_BUFFER(buffer, self->heap.index, self->page);
	buffer.bytes[0] = 6;
	ASSERT_EQ(0, mprotect(buffer.bytes, self->page, PROT_READ));
	EXPECT_EQ(SIGSEGV, write_ends_in(buffer.bytes));
	EXPECT_EQ(6, buffer.bytes[0]);
}

TEST_F(heap, a_mapping_made_writable_is_written)
{
	uint8_t *late;

	OPEN_BUFFER(buffer, self->heap.index, self->page);
	late = map(buffer.fd, self->page, PROT_READ, 0);
	ASSERT_NE(MAP_FAILED, late);
	ASSERT_EQ(0, mprotect(late, self->page, PROT_READ | PROT_WRITE));
	EXPECT_EQ(0, write_ends_in(late));
	EXPECT_EQ(0x5a, buffer.bytes[0]);
}

TEST_F(heap, a_mapping_without_access_can_be_opened_again)
{
	OPEN_BUFFER(buffer, self->heap.index, self->page);
	buffer.bytes[1] = 8;
	ASSERT_EQ(0, mprotect(buffer.bytes, self->page, PROT_NONE));
	EXPECT_EQ(SIGSEGV, read_ends_in(buffer.bytes));
	ASSERT_EQ(0,
		  mprotect(buffer.bytes, self->page, PROT_READ | PROT_WRITE));
	EXPECT_EQ(8, buffer.bytes[1]);
}

TEST_F(heap, a_child_writes_into_its_parents_memory)
{
	OPEN_BUFFER(buffer, self->heap.index, self->page);
	EXPECT_EQ(0, write_ends_in(buffer.bytes + 5));
	EXPECT_EQ(0x5a, buffer.bytes[5]);
}

TEST_F(heap, locked_and_populated_mappings_work)
{
	uint8_t *populated;

	OPEN_BUFFER(buffer, self->heap.index, PAGES * self->page);
	buffer.bytes[0] = 2;
	populated = mmap(NULL, buffer.size, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_POPULATE | MAP_LOCKED, buffer.fd, 0);
	ASSERT_NE(MAP_FAILED, populated);
	EXPECT_EQ(2, populated[0]);
}

static int read_in(void *context)
{
	struct buffer *buffer = context;
	uint8_t *bytes = map(buffer->fd, buffer->size, PROT_READ, 0);

	return bytes == MAP_FAILED ? 255 : bytes[buffer->size - 1];
}

TEST_F(heap, a_child_maps_the_fd_it_inherited)
{
	OPEN_BUFFER(buffer, self->heap.index, PAGES * self->page);
	buffer.bytes[buffer.size - 1] = 77;
	EXPECT_EQ(77, process_run(read_in, &buffer));
}
