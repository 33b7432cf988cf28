// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Pages whose memory broke.  Each stays broken, and lost to its heap, until the
 * machine starts again: so this is not run with the others, but at their end.
 */
#include "frames.h"
#include "ledger.h"
#include "map.h"
#include "process.h"
#include "setup.h"

#define PAGES 4
#define TRIES 16

#ifndef MADV_HWPOISON
#define MADV_HWPOISON 100
#endif

FIXTURE(poison)
{
	int node;
	size_t page;
	struct dray_heap_info heap;
};

FIXTURE_VARIANT(poison)
{
	uint32_t type;
};

FIXTURE_VARIANT_ADD(poison, reserved){
	.type = DRAY_HEAP_RESERVED,
};

FIXTURE_VARIANT_ADD(poison, pages){
	.type = DRAY_HEAP_PAGES,
};

FIXTURE_SETUP(poison)
{
	SETUP_NODE();
	SETUP_HEAP(variant->type);
}

FIXTURE_TEARDOWN(poison)
{
}

/* As the hardware tells the kernel: the page gets a mark, and no reference. */
static int frame_break(uint64_t frame)
{
	char number[32];
	int file = open("/sys/kernel/debug/hwpoison/corrupt-pfn", O_WRONLY);
	int length = snprintf(number, sizeof(number), "%#llx",
			      (unsigned long long)frame);

	if (file < 0)
		return -errno;
	/* That nothing could be done about it is no reason to fail. */
	(void)!write(file, number, (size_t)length);
	close(file);
	return 0;
}

#define KPF_HWPOISON 19

static bool frame_is_broken(uint64_t frame)
{
	return frame_flags(frame) >> KPF_HWPOISON & 1;
}

/* The frame of @buffer's second page, which breaks; ends the test or skips. */
#define BREAK(frame)                                                  \
	do {                                                          \
		int error;                                            \
		ASSERT_NE(0, (frame));                                \
		error = frame_break(frame);                           \
		if (error == -ENOENT)                                 \
			SKIP(return, "hwpoison-inject is not there"); \
		ASSERT_EQ(0, error);                                  \
		ASSERT_TRUE(frame_is_broken(frame));                  \
	} while (0)

/* Is the frame in any of some buffers that are had at once? */
static bool frame_is_given(int node, uint32_t heap, size_t size, size_t page,
			   uint64_t frame)
{
	struct buffer buffer[TRIES];
	unsigned int count = 0;
	bool given = false;
	size_t i;

	while (count < TRIES && !buffer_open(node, heap, size, &buffer[count]))
		count++;
	given = !count;
	while (count--) {
		for (i = 0; i < size; i += page)
			given |= frame_of(buffer[count].bytes + i) == frame;
		buffer_close(&buffer[count]);
	}
	return given;
}

struct expected {
	uint32_t index;
	uint64_t used;
	uint64_t user_used;
	uint64_t quarantined;
};

static bool is_as_expected(void *context)
{
	struct expected *expected = context;
	struct dray_heap_info heap;
	int node = node_open();
	int ret = node_heap(node, expected->index, &heap);

	close(node);
	return !ret && heap.used == expected->used &&
	       heap.user_used == expected->user_used &&
	       heap.quarantined == expected->quarantined;
}

static struct expected expect(const struct dray_heap_info *heap, uint64_t lost)
{
	return (struct expected){
		.index = heap->index,
		.used = heap->used,
		.user_used = heap->user_used,
		.quarantined = heap->quarantined + lost,
	};
}

/* Three pages: `pages` has them by themselves.  Four are a compound page. */
static void broken_while_used(struct __test_metadata *_metadata, int node,
			      const struct dray_heap_info *heap, size_t page,
			      size_t size)
{
	bool reserved = heap->type == DRAY_HEAP_RESERVED;
	struct expected expected = expect(heap, reserved ? page : 0);
	struct buffer buffer;
	uint64_t frame;

	ASSERT_EQ(0, buffer_open(node, heap->index, size, &buffer));
	frame = frame_of(buffer.bytes + page);
	BREAK(frame);
	buffer_close(&buffer);
	EXPECT_TRUE(wait_for(is_as_expected, &expected));
	EXPECT_FALSE(frame_is_given(node, heap->index, size, page, frame));
	EXPECT_TRUE(frame_is_broken(frame));
}

TEST_F(poison, what_broke_in_use_is_not_given_again)
{
	broken_while_used(_metadata, self->node, &self->heap, self->page,
			  PAGES * self->page);
}

TEST_F(poison, what_broke_by_itself_is_not_given_again)
{
	broken_while_used(_metadata, self->node, &self->heap, self->page,
			  (PAGES - 1) * self->page);
}

TEST_F(poison, what_broke_while_it_was_free_is_not_given)
{
	struct expected expected = expect(&self->heap, 0);
	uint64_t frame;

	SKIP_IF(variant->type != DRAY_HEAP_RESERVED,
		"what is free is the kernel's");
	OPEN_BUFFER(buffer, self->heap.index, PAGES * self->page);
	frame = frame_of(buffer.bytes + self->page);
	buffer_close(&buffer);
	EXPECT_TRUE(wait_for(is_as_expected, &expected));
	BREAK(frame);
	EXPECT_FALSE(frame_is_given(self->node, self->heap.index,
				    PAGES * self->page, self->page, frame));
	expected.quarantined += self->page;
	EXPECT_TRUE(wait_for(is_as_expected, &expected));
}

TEST_F(poison, what_broke_is_a_part_out_of_use)
{
	struct expected expected = expect(&self->heap, self->page);
	struct map *map = malloc(sizeof(*map));
	const struct dray_part *part;
	uint64_t frame, offset;

	SKIP_IF(variant->type != DRAY_HEAP_RESERVED,
		"this heap has no range of its own");
	ASSERT_NE(NULL, map);
	OPEN_BUFFER(buffer, self->heap.index, PAGES * self->page);
	ASSERT_EQ(0, map_read(self->node, self->heap.index, map));
	part = map_find(map, buffer.id);
	ASSERT_NE(NULL, part);
	offset = part->offset;
	frame = frame_of(buffer.bytes + self->page);
	BREAK(frame);
	buffer_close(&buffer);
	EXPECT_TRUE(wait_for(is_as_expected, &expected));
	ASSERT_EQ(0, map_read(self->node, self->heap.index, map));
	EXPECT_EQ(-1, map_wrong_part(map, self->page));
	part = map_at(map, offset + self->page);
	EXPECT_EQ(DRAY_PART_CONDEMNED, part->state);
	EXPECT_EQ(offset + self->page, part->offset);
	EXPECT_EQ(self->page, part->length);
	EXPECT_EQ(DRAY_PART_FREE, map_at(map, offset)->state);
	EXPECT_EQ(DRAY_PART_FREE, map_at(map, offset + 2 * self->page)->state);
}

static int touch(void *context)
{
	(void)*(volatile uint8_t *)context;
	return 0;
}

TEST_F(poison, a_fault_does_not_map_what_broke)
{
	uint64_t frame;

	OPEN_BUFFER(buffer, self->heap.index, PAGES * self->page);
	frame = frame_of(buffer.bytes + self->page);
	BREAK(frame);
	ASSERT_EQ(0, madvise(buffer.bytes, buffer.size, MADV_DONTNEED));
	EXPECT_EQ(-SIGBUS, process_run(touch, buffer.bytes + self->page));
	EXPECT_EQ(0, process_run(touch, buffer.bytes));
}

/* Told by a program, the kernel takes a reference as well, for good. */
TEST_F(poison, nobody_pays_for_what_broke)
{
	struct expected expected = expect(&self->heap, self->page);
	uint64_t frame;

	SKIP_IF(variant->type != DRAY_HEAP_RESERVED,
		"what the kernel keeps is its own");
	OPEN_BUFFER(buffer, self->heap.index, PAGES * self->page);
	frame = frame_of(buffer.bytes + self->page);
	SKIP_IF(madvise(buffer.bytes + self->page, self->page, MADV_HWPOISON) &&
			errno == EINVAL,
		"this kernel knows no broken memory");
	ASSERT_TRUE(frame_is_broken(frame));
	buffer_close(&buffer);
	EXPECT_TRUE(wait_for(is_as_expected, &expected));
	EXPECT_FALSE(frame_is_given(self->node, self->heap.index,
				    PAGES * self->page, self->page, frame));
}
