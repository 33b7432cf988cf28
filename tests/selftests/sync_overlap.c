// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * SYNC of ranges that overlap: each is maintained, and counted, by itself, and
 * the result is that of one range over all of their bytes.
 */
#include <errno.h>
#include <stdlib.h>

#include "fixture_heap.h"
#include "sync.h"

#define PAGES 8
#define RANGES 4

/* Lists of ranges in pages; each overlaps another one. */
struct list {
	const char *name;
	struct {
		uint64_t offset, width, pitch, rows; /* pages */
	} range[RANGES];
};

static const struct list lists[] = {
	{ "the same twice", { { 1, 3, 0, 1 }, { 1, 3, 0, 1 } } },
	{ "one in another", { { 1, 5, 0, 1 }, { 2, 2, 0, 1 } } },
	{ "one behind another", { { 1, 3, 0, 1 }, { 2, 4, 0, 1 } } },
	{ "rows and what is between",
	  { { 1, 1, 2, 3 }, { 1, 5, 0, 1 }, { 2, 1, 2, 2 } } },
	{ "rows that interleave", { { 1, 2, 3, 2 }, { 2, 2, 3, 2 } } },
};

/* The ranges of a list; the bytes of all, and how often each page is in one. */
static uint32_t fill_ranges(const struct list *list,
			    const struct buffer *buffer, size_t page,
			    struct dray_range *ranges, uint64_t *bytes,
			    int *times)
{
	uint64_t row, at;
	uint32_t i;

	*bytes = 0;
	memset(times, 0, PAGES * sizeof(*times));
	for (i = 0; i < RANGES && list->range[i].rows; i++) {
		ranges[i] = (struct dray_range){
			.fd = buffer->fd,
			.offset = list->range[i].offset * page,
			.width = list->range[i].width * page,
			.pitch = list->range[i].pitch * page,
			.rows = list->range[i].rows,
		};
		*bytes += ranges[i].width * ranges[i].rows;
		for (row = 0; row < list->range[i].rows; row++)
			for (at = 0; at < list->range[i].width; at++)
				times[list->range[i].offset +
				      row * list->range[i].pitch + at]++;
	}
	return i;
}

static int sync_all(int node, uint32_t owner, struct dray_range *ranges,
		    uint32_t count, struct dray_sync *sync)
{
	*sync = (struct dray_sync){
		.target = DRAY_TARGET_NODE,
		.owner = owner,
		.direction = owner == DRAY_SYNC_FOR_DEVICE ? DRAY_TO_DEVICE
							   : DRAY_FROM_DEVICE,
		.count = count,
		.ranges = (uintptr_t)ranges,
	};
	return node_call(node, DRAY_IOC_SYNC, sync);
}

static uint64_t synced(int node, const struct buffer *buffer)
{
	struct dray_buffer_info info;

	return node_buffer_info(node, buffer->id, &info) ? UINT64_MAX
							 : info.sync_bytes;
}

TEST_F(heap, each_of_them_is_taken_and_counted)
{
	struct dray_range ranges[RANGES];
	struct buffer buffer;
	struct dray_sync sync;
	uint64_t bytes, before;
	int times[PAGES];
	uint32_t count;
	size_t i;

	ASSERT_EQ(0, buffer_allocate(self->node, self->heap.index,
				     PAGES * self->page, &buffer));
	for (i = 0; i < ARRAY_SIZE(lists); i++) {
		count = fill_ranges(&lists[i], &buffer, self->page, ranges,
				    &bytes, times);
		before = synced(self->node, &buffer);
		EXPECT_EQ(0, sync_all(self->node, DRAY_SYNC_FOR_DEVICE, ranges,
				      count, &sync))
		{
			TH_LOG("%s", lists[i].name);
		}
		if (sync.flags & DRAY_SYNC_NOT_NEEDED)
			bytes = 0;
		EXPECT_EQ(before + bytes, synced(self->node, &buffer))
		{
			TH_LOG("%s", lists[i].name);
		}
	}
}

/* The device's side is in step before, so that for the CPU nothing is lost. */
TEST_F(heap, no_byte_is_lost)
{
	uint8_t *copy = malloc(PAGES * self->page);
	struct dray_range ranges[RANGES];
	struct buffer buffer;
	struct dray_sync sync;
	uint64_t bytes;
	int times[PAGES];
	uint32_t count;
	size_t i;

	ASSERT_EQ(0, buffer_open(self->node, self->heap.index,
				 PAGES * self->page, &buffer));
	for (i = 0; i < ARRAY_SIZE(lists); i++) {
		count = fill_ranges(&lists[i], &buffer, self->page, ranges,
				    &bytes, times);
		fill_random(copy, buffer.size, 51 + i);
		memcpy(buffer.bytes, copy, buffer.size);
		ASSERT_EQ(0, buffer_sync(self->node, buffer.fd,
					 DRAY_SYNC_FOR_DEVICE, DRAY_TO_DEVICE,
					 0, buffer.size));
		ASSERT_EQ(0, sync_all(self->node, DRAY_SYNC_FOR_DEVICE, ranges,
				      count, &sync));
		ASSERT_EQ(0, sync_all(self->node, DRAY_SYNC_FOR_CPU, ranges,
				      count, &sync));
		EXPECT_EQ(-1, first_difference(copy, buffer.bytes, buffer.size))
		{
			TH_LOG("%s", lists[i].name);
		}
	}
}

/*
 * Hands pages full of 1 to the device, fills them with 2, and syncs each list for
 * @owner.  A device with a copy of its own shows which pages went: in each that is
 * in one of the ranges, or in several, the owner finds @given, elsewhere @kept.
 */
static void check_pages(struct __test_metadata *_metadata,
			FIXTURE_DATA(heap) * self, uint32_t owner,
			uint8_t given, uint8_t kept)
{
	struct dray_range ranges[RANGES];
	struct buffer buffer;
	struct dray_sync sync;
	uint64_t bytes;
	int times[PAGES];
	uint32_t count;
	size_t i, page;

	ASSERT_EQ(0, buffer_open(self->node, self->heap.index,
				 PAGES * self->page, &buffer));
	for (i = 0; i < ARRAY_SIZE(lists); i++) {
		count = fill_ranges(&lists[i], &buffer, self->page, ranges,
				    &bytes, times);
		memset(buffer.bytes, 1, buffer.size);
		ASSERT_EQ(0, buffer_sync(self->node, buffer.fd,
					 DRAY_SYNC_FOR_DEVICE, DRAY_TO_DEVICE,
					 0, buffer.size));
		memset(buffer.bytes, 2, buffer.size);
		ASSERT_EQ(0, sync_all(self->node, owner, ranges, count, &sync));
		/* The device's copy is seen when all of it comes back. */
		if (owner == DRAY_SYNC_FOR_DEVICE) {
			memset(buffer.bytes, 3, buffer.size);
			ASSERT_EQ(0, buffer_sync(self->node, buffer.fd,
						 DRAY_SYNC_FOR_CPU,
						 DRAY_FROM_DEVICE, 0,
						 buffer.size));
		}
		for (page = 0; page < PAGES; page++)
			EXPECT_EQ(-1, first_other_byte(
					      buffer.bytes + page * self->page,
					      self->page,
					      times[page] ? given : kept))
			{
				TH_LOG("%s, page %zu", lists[i].name, page);
			}
	}
}

TEST_F(heap, the_device_gets_the_bytes_of_all_and_no_others)
{
	if (!node_copies())
		SKIP(return, "the device has no copy to look at");
	check_pages(_metadata, self, DRAY_SYNC_FOR_DEVICE, 2, 1);
}

TEST_F(heap, the_cpu_gets_the_bytes_of_all_and_no_others)
{
	if (!node_copies())
		SKIP(return, "the device has no copy to bring it from");
	check_pages(_metadata, self, DRAY_SYNC_FOR_CPU, 1, 2);
}

TEST_F(heap, a_wrong_one_that_overlaps_leaves_the_one_before_it_done)
{
	struct buffer buffer;
	struct dray_range ranges[2];
	struct dray_sync sync;
	uint64_t before;

	ASSERT_EQ(0, buffer_allocate(self->node, self->heap.index,
				     PAGES * self->page, &buffer));
	ranges[0] = (struct dray_range){ .fd = buffer.fd,
					 .width = 2 * self->page,
					 .rows = 1 };
	ranges[1] = (struct dray_range){ .fd = buffer.fd,
					 .offset = self->page,
					 .width = buffer.size,
					 .rows = 1 };
	ASSERT_EQ(0,
		  sync_all(self->node, DRAY_SYNC_FOR_DEVICE, ranges, 1, &sync));
	before = synced(self->node, &buffer);
	EXPECT_EQ(-EINVAL,
		  sync_all(self->node, DRAY_SYNC_FOR_DEVICE, ranges, 2, &sync));
	EXPECT_EQ(1, sync.failed);
	EXPECT_EQ(DRAY_REASON_RANGE, sync.reason);
	/* which only tells whether anything is needed */
	ASSERT_EQ(0,
		  sync_all(self->node, DRAY_SYNC_FOR_DEVICE, NULL, 0, &sync));
	EXPECT_EQ(sync.flags & DRAY_SYNC_NOT_NEEDED ? before
						    : before + 2 * self->page,
		  synced(self->node, &buffer));
}
