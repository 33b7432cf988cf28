// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * SYNC: lists and strided pieces of buffers, and what is counted; and
 * DMA_BUF_IOCTL_SYNC on a buffer that nobody is attached to.
 */
#include "fixture_dray.h"
#include "fixture_heap.h"
#include "long_sync.h"
#include "sync.h"

#define PAGES 16

TEST_F(heap, both_owners_and_all_directions_keep_the_bytes)
{
	uint32_t owner, direction;
	uint8_t *copy = malloc(PAGES * self->page);

	OPEN_BUFFER(buffer, self->heap.index, PAGES * self->page);
	for (owner = DRAY_SYNC_FOR_DEVICE; owner <= DRAY_SYNC_FOR_CPU; owner++)
		for (direction = DRAY_TO_DEVICE;
		     direction <= DRAY_BIDIRECTIONAL; direction++) {
			fill_random(buffer.bytes, buffer.size, direction);
			memcpy(copy, buffer.bytes, buffer.size);
			/* what the CPU wrote goes to memory before it is taken */
			ASSERT_EQ(0, buffer_sync(self->node, buffer.fd,
						 DRAY_SYNC_FOR_DEVICE,
						 DRAY_BIDIRECTIONAL, 0,
						 buffer.size));
			EXPECT_EQ(0, buffer_sync(self->node, buffer.fd, owner,
						 direction, 0, buffer.size));
			EXPECT_EQ(-1, first_difference(copy, buffer.bytes,
						       buffer.size));
		}
}

/* The same line twice, a part within another, rows of two lists interleaved. */
TEST_F(heap, ranges_that_overlap_keep_the_bytes)
{
	struct dray_range ranges[] = {
		{ .offset = 0, .width = 3 * self->page, .rows = 1 },
		{ .offset = 0, .width = 3 * self->page, .rows = 1 },
		{ .offset = self->page + 1, .width = 1, .rows = 1 },
		{ .offset = 1, .width = 100, .pitch = 128, .rows = 32 },
		{ .offset = 51, .width = 100, .pitch = 128, .rows = 32 },
		{ .offset = self->page - 1, .width = 2, .rows = 1 },
	};
	struct dray_sync sync = {
		.target = DRAY_TARGET_NODE,
		.direction = DRAY_BIDIRECTIONAL,
		.count = ARRAY_SIZE(ranges),
		.ranges = (uintptr_t)ranges,
	};
	uint8_t *copy = malloc(PAGES * self->page);

	OPEN_BUFFER(buffer, self->heap.index, PAGES * self->page);
	fill_random(buffer.bytes, buffer.size, 23);
	memcpy(copy, buffer.bytes, buffer.size);
	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++)
		ranges[i].fd = buffer.fd;
	sync.owner = DRAY_SYNC_FOR_DEVICE;
	EXPECT_EQ(0, node_call(self->node, DRAY_IOC_SYNC, &sync));
	sync.owner = DRAY_SYNC_FOR_CPU;
	EXPECT_EQ(0, node_call(self->node, DRAY_IOC_SYNC, &sync));
	EXPECT_EQ(-1, first_difference(copy, buffer.bytes, buffer.size));
}

TEST_F(heap, what_was_synced_is_counted)
{
	struct dray_sync ask = { .target = DRAY_TARGET_NODE,
				 .owner = DRAY_SYNC_FOR_DEVICE,
				 .direction = DRAY_TO_DEVICE };
	uint64_t before;

	ALLOCATE_BUFFER(buffer, self->heap.index, PAGES * self->page);
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_SYNC, &ask));
	before = synced(self->node, &buffer);
	ASSERT_EQ(0, buffer_sync(self->node, buffer.fd, DRAY_SYNC_FOR_DEVICE,
				 DRAY_TO_DEVICE, self->page, 2 * self->page));
	if (ask.flags & DRAY_SYNC_NOT_NEEDED) {
		EXPECT_EQ(before, synced(self->node, &buffer));
	} else {
		EXPECT_EQ(before + 2 * self->page, synced(self->node, &buffer));
	}
}

TEST_F(heap, a_strided_piece_counts_its_rows_only)
{
	struct call call;
	uint64_t before, line;

	READ_NODE(info);
	ALLOCATE_BUFFER(buffer, self->heap.index, PAGES * self->page);
	line = info.cache_line;
	call = good_call(&buffer);
	call.range.offset = line;
	call.range.width = 2 * line;
	call.range.pitch = 8 * line;
	call.range.rows = 10;
	before = synced(self->node, &buffer);
	ASSERT_EQ(0, run(self->node, &call));
	if (call.sync.flags & DRAY_SYNC_NOT_NEEDED) {
		EXPECT_EQ(before, synced(self->node, &buffer));
	} else {
		EXPECT_EQ(before + 20 * line, synced(self->node, &buffer));
	}
}

TEST_F(heap, the_cpu_may_take_a_buffer_that_nobody_is_attached_to)
{
	const uint64_t directions[] = { DMA_BUF_SYNC_READ, DMA_BUF_SYNC_WRITE,
					DMA_BUF_SYNC_RW };
	uint8_t *copy = malloc(PAGES * self->page);

	OPEN_BUFFER(buffer, self->heap.index, PAGES * self->page);
	fill_random(copy, buffer.size, 11);
	memcpy(buffer.bytes, copy, buffer.size);
	ASSERT_EQ(0, cpu_end(buffer.fd, DMA_BUF_SYNC_RW));
	for (size_t i = 0; i < ARRAY_SIZE(directions); i++) {
		EXPECT_EQ(0,
			  buffer_cpu_access(buffer.fd, DMA_BUF_SYNC_START |
							       directions[i]));
		EXPECT_EQ(-1,
			  first_difference(copy, buffer.bytes, buffer.size));
		EXPECT_EQ(0,
			  buffer_cpu_access(buffer.fd,
					    DMA_BUF_SYNC_END | directions[i]));
	}
	EXPECT_EQ(-1, first_difference(copy, buffer.bytes, buffer.size));
}

TEST_F(heap, the_cpus_access_does_maintenance_when_nobody_is_attached)
{
	struct dray_sync ask = { .target = DRAY_TARGET_NODE,
				 .owner = DRAY_SYNC_FOR_CPU,
				 .direction = DRAY_FROM_DEVICE };
	uint64_t before;

	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_SYNC, &ask));
	ALLOCATE_BUFFER(buffer, self->heap.index, PAGES * self->page);
	READ_BUFFER(info, buffer.id);
	EXPECT_EQ(0, info.attachments);
	before = info.sync_bytes;
	ASSERT_EQ(0, cpu_begin(buffer.fd, DMA_BUF_SYNC_READ));
	ASSERT_EQ(0, cpu_end(buffer.fd, DMA_BUF_SYNC_READ));
	if (ask.flags & DRAY_SYNC_NOT_NEEDED) {
		EXPECT_EQ(before, synced(self->node, &buffer));
	} else {
		EXPECT_LE(before + buffer.size, synced(self->node, &buffer));
	}
}

/* Nanoseconds that the range takes, or a negative errno. */
static int64_t time_of(int node, struct call *call)
{
	struct timespec begin, end;
	int ret;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	ret = run(node, call);
	clock_gettime(CLOCK_MONOTONIC, &end);
	if (ret)
		return ret;
	return (end.tv_sec - begin.tv_sec) * INT64_C(1000000000) + end.tv_nsec -
	       begin.tv_nsec;
}

struct timed {
	int node;
	struct call *call;
	int64_t limit; /* nanoseconds */
	int64_t time; /* that it took last */
	unsigned int calls;
};

/* Measures again, since others run on this machine, until it fails. */
static bool takes_less(void *context)
{
	struct timed *timed = context;

	timed->calls++;
	timed->time = time_of(timed->node, timed->call);
	return timed->time < timed->limit;
}

/* Also through a descriptor that only reads, where a page goes by itself. */
TEST_F(dray, rows_without_gaps_take_as_long_as_one_row)
{
	struct dray_export export = { .flags = DRAY_EXPORT_READ_ONLY };
	struct dray_segment segment;
	struct dray_address address = { .segments = (uintptr_t)&segment,
					.room = 1 };
	struct buffer buffer;
	struct call call;
	struct timed rows = { .node = self->node, .call = &call };
	uint64_t before;

	SKIP_IF(!node_is_maintained(&self->info),
		"this node needs no maintenance");
	NEED_ADDRESSES();
	SKIP_IF(node_copies(), "no device gets a copy that is so large");
	ASSERT_EQ(0,
		  buffer_allocate(self->node, DRAY_HEAP_ANY, 4 << 20, &buffer));
	/* For a reader nothing is dropped that no stranger can have written. */
	address.fd = buffer.fd;
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_ADDRESS, &address));
	export.buffer_fd = buffer.fd;
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_EXPORT, &export));
	call = good_call(&buffer);
	call.sync.owner = DRAY_SYNC_FOR_CPU;
	call.sync.direction = DRAY_FROM_DEVICE;
	call.range.fd = export.fd;
	rows.limit = 10 * time_of(self->node, &call);
	ASSERT_LT(0, rows.limit);
	call.range.width = 1;
	call.range.pitch = 1;
	call.range.rows = buffer.size;
	before = synced(self->node, &buffer);
	EXPECT_TRUE(wait_for(takes_less, &rows))
	{
		TH_LOG("%lld ns, and 10 times one row are %lld",
		       (long long)rows.time, (long long)rows.limit);
	}
	EXPECT_LT(0, rows.time);
	EXPECT_EQ(before + rows.calls * buffer.size,
		  synced(self->node, &buffer));
}

TEST_F(dray, without_ranges_it_only_tells_whether_sync_is_needed)
{
	struct dray_sync sync = { .target = DRAY_TARGET_NODE,
				  .owner = DRAY_SYNC_FOR_DEVICE,
				  .direction = DRAY_TO_DEVICE };

	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_SYNC, &sync));
	EXPECT_EQ(node_is_maintained(&self->info) ? 0 : DRAY_SYNC_NOT_NEEDED,
		  sync.flags);
}

TEST_F(dray, every_channel_is_a_target)
{
	struct call call;

	SKIP_IF(!self->info.channel_count, "this node has no DMA channel");
	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, PAGES * self->page);
	for (uint32_t i = 0; i < self->info.channel_count; i++) {
		call = good_call(&buffer);
		call.sync.target = i;
		EXPECT_EQ(0, run(self->node, &call));
	}
}

TEST_F(dray, a_list_of_the_longest_length_is_taken_whole)
{
	struct dray_range *ranges =
		calloc(DRAY_MAX_RANGES, sizeof(struct dray_range));
	struct dray_sync sync =
		SYNC_OF(DRAY_TARGET_NODE, DRAY_SYNC_FOR_DEVICE, DRAY_TO_DEVICE,
			ranges, DRAY_MAX_RANGES);
	uint32_t line = self->info.cache_line, i;
	uint64_t before;

	SKIP_IF(node_copies(), "no device gets a copy that is so large");
	ASSERT_NE(NULL, ranges);
	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, (size_t)DRAY_MAX_RANGES * line);
	for (i = 0; i < DRAY_MAX_RANGES; i++) {
		ranges[i].fd = buffer.fd;
		ranges[i].offset = (uint64_t)i * line;
		ranges[i].width = line;
		ranges[i].rows = 1;
	}
	before = synced(self->node, &buffer);
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_SYNC, &sync));
	if (sync.flags & DRAY_SYNC_NOT_NEEDED) {
		EXPECT_EQ(before, synced(self->node, &buffer));
	} else {
		EXPECT_EQ(before + (uint64_t)DRAY_MAX_RANGES * line,
			  synced(self->node, &buffer));
	}
}

/* Each list that ends by itself adds as many bytes as all its ranges have. */
TEST_F(dray, a_process_killed_in_a_long_list_does_not_come_to_its_end)
{
	struct dray_sync ask = { .target = DRAY_TARGET_NODE,
				 .owner = DRAY_SYNC_FOR_DEVICE,
				 .direction = DRAY_TO_DEVICE };
	struct long_sync work;
	uint64_t bytes;

	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_SYNC, &ask));
	SKIP_IF(ask.flags & DRAY_SYNC_NOT_NEEDED,
		"this node needs no maintenance");
	SKIP_IF(node_copies(), "no device gets a copy that is so large");
	ASSERT_EQ(0, long_sync_start(&work, self->node, 16 << 20));
	EXPECT_EQ(-SIGKILL, long_sync_end(&work, &bytes));
	EXPECT_NE(0, bytes % ((uint64_t)DRAY_MAX_RANGES * work.buffer.size));
}
