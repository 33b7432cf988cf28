// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * SYNC: what is refused; and what DMA_BUF_IOCTL_SYNC refuses.
 */
#include "fixture_dray.h"
#include "sync.h"

TEST_F(dray, a_list_that_is_too_long_is_refused)
{
	struct call call = { .sync = { .target = DRAY_TARGET_NODE,
				       .owner = DRAY_SYNC_FOR_DEVICE,
				       .direction = DRAY_TO_DEVICE,
				       .count = DRAY_MAX_RANGES + 1 } };

	EXPECT_EQ(-EINVAL, run(self->node, &call));
	call.sync.count = UINT32_MAX;
	EXPECT_EQ(-EINVAL, run(self->node, &call));
}

TEST_F(dray, a_list_that_leaves_readable_memory_is_refused)
{
	struct dray_range *last;
	struct call call;
	uint8_t *pages = mmap(NULL, 2 * self->page, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, pages);
	ASSERT_EQ(0, munmap(pages + self->page, self->page));
	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, self->page);
	call = good_call(&buffer);
	last = (struct dray_range *)(pages + self->page) - 1;
	*last = call.range;
	call.sync.ranges = (uintptr_t)last;
	EXPECT_EQ(0, node_call(self->node, DRAY_IOC_SYNC, &call.sync));
	call.sync.count = 2;
	EXPECT_EQ(-EFAULT, node_call(self->node, DRAY_IOC_SYNC, &call.sync));
	call.sync.ranges = 0;
	EXPECT_EQ(-EFAULT, node_call(self->node, DRAY_IOC_SYNC, &call.sync));
}

TEST_F(dray, the_wrong_range_of_a_list_is_named)
{
	struct dray_range ranges[5] = { 0 };
	struct dray_sync sync = SYNC_OF(DRAY_TARGET_NODE, DRAY_SYNC_FOR_DEVICE,
					DRAY_TO_DEVICE, ranges, 5);

	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, self->page);
	for (int i = 0; i < 5; i++) {
		ranges[i].fd = buffer.fd;
		ranges[i].width = self->page;
		ranges[i].rows = 1;
	}
	ranges[3].offset = 1;
	EXPECT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_SYNC, &sync));
	EXPECT_EQ(3, sync.failed);
	EXPECT_EQ(DRAY_REASON_RANGE, sync.reason);
	EXPECT_EQ(buffer.size, sync.limit);
}

TEST_F(dray, an_unknown_target_is_refused)
{
	struct call call;

	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, 1);
	call = good_call(&buffer);
	call.sync.target = self->info.channel_count;
	EXPECT_EQ(-EINVAL, run(self->node, &call));
	EXPECT_EQ(DRAY_REASON_CHANNEL, call.sync.reason);
	EXPECT_EQ(self->info.channel_count, call.sync.limit);
}

TEST_F(dray, an_unknown_owner_is_refused)
{
	const uint32_t owners[] = { 0, 3, UINT32_MAX };

	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, 1);
	for (size_t i = 0; i < ARRAY_SIZE(owners); i++) {
		struct call call = good_call(&buffer);

		call.sync.owner = owners[i];
		EXPECT_EQ(-EINVAL, run(self->node, &call));
	}
}

TEST_F(dray, an_unknown_direction_is_refused)
{
	const uint32_t directions[] = { 0, 4, UINT32_MAX };

	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, 1);
	for (size_t i = 0; i < ARRAY_SIZE(directions); i++) {
		struct call call = good_call(&buffer);

		call.sync.direction = directions[i];
		EXPECT_EQ(-EINVAL, run(self->node, &call));
	}
}

TEST_F(dray, non_zero_padding_and_range_flags_are_refused)
{
	struct call call;

	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, 1);
	call = good_call(&buffer);
	call.sync.reserved = 1;
	EXPECT_EQ(-EINVAL, run(self->node, &call));
	call = good_call(&buffer);
	call.range.flags = 1;
	EXPECT_EQ(-EINVAL, run(self->node, &call));
}

TEST_F(dray, empty_ranges_and_narrow_pitches_are_refused)
{
	struct call call;

	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, 4 * self->page);
	call = good_call(&buffer);
	call.range.width = 0;
	EXPECT_EQ(-EINVAL, run(self->node, &call));
	call = good_call(&buffer);
	call.range.rows = 0;
	EXPECT_EQ(-EINVAL, run(self->node, &call));
	call = good_call(&buffer);
	call.range.width = 64;
	call.range.pitch = 63;
	call.range.rows = 2;
	EXPECT_EQ(-EINVAL, run(self->node, &call));
	/* one row has no pitch */
	call.range.rows = 1;
	EXPECT_EQ(0, run(self->node, &call));
}

TEST_F(dray, ranges_that_leave_the_buffer_are_refused)
{
	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, 4 * self->page);

	const uint64_t size = buffer.size;
	const struct dray_range cases[] = {
		/* past the end */
		{ .offset = size, .width = 1, .rows = 1 },
		{ .offset = 0, .width = size + 1, .rows = 1 },
		{ .offset = size - 1, .width = 2, .rows = 1 },
		{ .width = 1, .pitch = size, .rows = 2 },
		{ .width = size / 2, .pitch = size / 2, .rows = 3 },
		{ .offset = 1, .width = size / 2, .pitch = size / 2, .rows = 2 },
		/* each term overflows */
		{ .offset = UINT64_MAX, .width = 1, .rows = 1 },
		{ .offset = UINT64_MAX, .width = 2, .rows = 1 },
		{ .offset = 1, .width = UINT64_MAX, .rows = 1 },
		{ .width = 1, .pitch = 1ull << 63, .rows = 3 },
		{ .width = 2, .pitch = 1ull << 32, .rows = (1ull << 32) + 1 },
		{ .width = 1, .pitch = 1, .rows = UINT64_MAX },
		{ .width = 1, .pitch = UINT64_MAX, .rows = UINT64_MAX },
		{ .offset = UINT64_MAX,
		  .width = UINT64_MAX,
		  .pitch = UINT64_MAX,
		  .rows = UINT64_MAX },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct call call = good_call(&buffer);

		call.range = cases[i];
		call.range.fd = buffer.fd;
		EXPECT_EQ(-EINVAL, run(self->node, &call))
		{
			TH_LOG("case %zu", i);
		}
		EXPECT_EQ(DRAY_REASON_RANGE, call.sync.reason);
		EXPECT_EQ(size, call.sync.limit);
	}
}

TEST_F(dray, a_closed_fd_is_refused)
{
	struct call call;

	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, 1);
	call = good_call(&buffer);
	buffer_close(&buffer);
	EXPECT_EQ(-EBADF, run(self->node, &call));
	call.range.fd = -1;
	EXPECT_EQ(-EBADF, run(self->node, &call));
}

TEST_F(dray, an_fd_that_is_no_dma_buf_is_refused)
{
	struct call call;
	int memory = memfd_create("memory", 0);

	ASSERT_LE(0, memory);
	ASSERT_EQ(0, ftruncate(memory, (off_t)self->page));
	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, 1);
	call = good_call(&buffer);
	call.range.fd = memory;
	EXPECT_EQ(-EINVAL, run(self->node, &call));
	EXPECT_EQ(DRAY_REASON_FOREIGN, call.sync.reason);
	EXPECT_EQ(memory, call.sync.limit);
}

TEST_F(dray, dma_bufs_own_sync_refuses_unknown_flags)
{
	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, 1);
	EXPECT_EQ(-EINVAL, buffer_cpu_access(buffer.fd, 0));
	EXPECT_EQ(-EINVAL, buffer_cpu_access(buffer.fd, 1ull << 40));
}
