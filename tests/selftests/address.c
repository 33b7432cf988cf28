// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * ADDRESS: where a buffer lies for the node, and who may know it.
 */
#include "fixture_dray.h"
#include "fixture_heap.h"
#include "step.h"

#define PAGES 4
#define ROOM 64

struct reply {
	struct dray_address call;
	struct dray_segment segment[ROOM];
};

static int address(int node, int fd, uint64_t offset, uint64_t length,
		   struct reply *reply)
{
	memset(reply, 0, sizeof(*reply));
	reply->call.fd = fd;
	reply->call.offset = offset;
	reply->call.length = length;
	reply->call.segments = (uintptr_t)reply->segment;
	reply->call.room = ROOM;
	return node_call(node, DRAY_IOC_ADDRESS, &reply->call);
}

static uint64_t total(const struct reply *reply)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < reply->call.count && i < ROOM; i++)
		sum += reply->segment[i].length;
	return sum;
}

#define ONLY_WHERE_MEMORY_LIES_THERE()                                         \
	do {                                                                   \
		struct dray_info info;                                         \
		ASSERT_EQ(0, node_info(self->node, &info));                    \
		if (info.flags & DRAY_NODE_IOMMU)                              \
			SKIP(return, "an IOMMU chooses the addresses of this " \
				     "node");                                  \
		if (node_copies())                                             \
			SKIP(return, "the addresses are those of copies");     \
	} while (0)

TEST_F(heap, the_segments_cover_the_buffer)
{
	struct reply reply;

	ALLOCATE_BUFFER(buffer, self->heap.index, PAGES * self->page);
	ASSERT_EQ(0, address(self->node, buffer.fd, 0, 0, &reply));
	EXPECT_LE(1, reply.call.count);
	EXPECT_EQ(buffer.size, total(&reply));
}

TEST_F(heap, the_segments_follow_each_other)
{
	struct reply reply;

	ALLOCATE_BUFFER(buffer, self->heap.index, 64 * self->page);
	ASSERT_EQ(0, address(self->node, buffer.fd, 0, 0, &reply));
	ASSERT_GE(ROOM, reply.call.count);
	for (uint32_t i = 1; i < reply.call.count; i++)
		EXPECT_EQ(reply.segment[i - 1].address +
				  reply.segment[i - 1].length,
			  reply.segment[i].address);
}

TEST_F(heap, the_buffer_lies_below_the_mask)
{
	struct reply reply;

	READ_NODE(info);
	ALLOCATE_BUFFER(buffer, self->heap.index, PAGES * self->page);
	ASSERT_EQ(0, address(self->node, buffer.fd, 0, 0, &reply));
	EXPECT_LE(reply.segment[0].address + buffer.size - 1, info.dma_mask);
}

TEST_F(heap, the_alignment_asked_for_is_kept)
{
	struct reply reply;

	ONLY_WHERE_MEMORY_LIES_THERE();
	for (uint64_t alignment = self->page; alignment <= 256 * self->page;
	     alignment *= 4) {
		struct dray_alloc alloc = { .size = self->page,
					    .alignment = alignment,
					    .heap = self->heap.index };

		ASSERT_EQ(0, node_call(self->node, DRAY_IOC_ALLOC, &alloc));
		ASSERT_EQ(0, address(self->node, alloc.fd, 0, 0, &reply));
		EXPECT_EQ(0, reply.segment[0].address % alignment);
	}
}

TEST_F(heap, the_address_limit_asked_for_is_kept)
{
	struct dray_alloc alloc = { .size = self->page,
				    .heap = self->heap.index };
	uint64_t lowest = UINT64_MAX;
	struct buffer buffer;
	struct reply reply;

	ONLY_WHERE_MEMORY_LIES_THERE();
	for (int i = 0; i < 8; i++) {
		ASSERT_EQ(0, buffer_allocate(self->node, self->heap.index,
					     self->page, &buffer));
		ASSERT_EQ(0, address(self->node, buffer.fd, 0, 0, &reply));
		if (reply.segment[0].address < lowest)
			lowest = reply.segment[0].address;
	}
	/* of what comes next most, or all, lies above these */
	alloc.address_limit = lowest + self->page - 1;
	if (node_call(self->node, DRAY_IOC_ALLOC, &alloc)) {
		EXPECT_EQ(DRAY_REASON_MASK, alloc.reason);
		EXPECT_EQ(alloc.address_limit, alloc.limit);
		return;
	}
	ASSERT_EQ(0, address(self->node, alloc.fd, 0, 0, &reply));
	EXPECT_GT(lowest, reply.segment[0].address);
}

TEST_F(heap, from_the_top_the_last_page_below_a_limit_is_taken)
{
	struct dray_alloc alloc = { .size = self->page,
				    .heap = self->heap.index,
				    .flags = DRAY_ALLOC_TOP };
	struct reply reply;

	SKIP_IF(variant->type != DRAY_HEAP_RESERVED, "other heaps have no top");
	ONLY_WHERE_MEMORY_LIES_THERE();
	ALLOCATE_BUFFER(first, self->heap.index, self->page);
	ASSERT_EQ(0, address(self->node, first.fd, 0, 0, &reply));
	alloc.address_limit =
		reply.segment[0].address + self->heap.total / 2 - 1;
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_ALLOC, &alloc));
	ASSERT_EQ(0, address(self->node, alloc.fd, 0, 0, &reply));
	EXPECT_EQ(alloc.address_limit + 1 - self->page,
		  reply.segment[0].address);
}

TEST_F(heap, an_offset_moves_the_address)
{
	struct reply whole, part;

	ALLOCATE_BUFFER(buffer, self->heap.index, PAGES * self->page);
	ASSERT_EQ(0, address(self->node, buffer.fd, 0, 0, &whole));
	ASSERT_EQ(0, address(self->node, buffer.fd, self->page + 3, 17, &part));
	EXPECT_EQ(whole.segment[0].address + self->page + 3,
		  part.segment[0].address);
	EXPECT_EQ(17, total(&part));
	ASSERT_EQ(0, address(self->node, buffer.fd, self->page, 0, &part));
	EXPECT_EQ(buffer.size - self->page, total(&part));
}

TEST_F(heap, two_buffers_do_not_share_addresses)
{
	struct reply of_a, of_b;

	ALLOCATE_BUFFER(a, self->heap.index, PAGES * self->page);
	ALLOCATE_BUFFER(b, self->heap.index, PAGES * self->page);
	ASSERT_EQ(0, address(self->node, a.fd, 0, 0, &of_a));
	ASSERT_EQ(0, address(self->node, b.fd, 0, 0, &of_b));
	if (of_a.segment[0].address < of_b.segment[0].address) {
		EXPECT_LE(of_a.segment[0].address + a.size,
			  of_b.segment[0].address);
	} else {
		EXPECT_LE(of_b.segment[0].address + b.size,
			  of_a.segment[0].address);
	}
}

TEST_F(heap, the_address_stays_the_same)
{
	struct reply first, second;

	ALLOCATE_BUFFER(buffer, self->heap.index, self->page);
	ASSERT_EQ(0, address(self->node, buffer.fd, 0, 0, &first));
	ASSERT_EQ(0, address(self->node, buffer.fd, 0, 0, &second));
	EXPECT_EQ(first.segment[0].address, second.segment[0].address);
}

TEST_F(dray, without_room_the_segments_are_counted)
{
	struct dray_address call = { 0 };

	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, self->page);
	call.fd = buffer.fd;
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_ADDRESS, &call));
	EXPECT_LE(1, call.count);
}

TEST_F(dray, offsets_past_the_end_are_refused)
{
	struct reply reply;

	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, PAGES * self->page);

	const uint64_t cases[][2] = {
		{ buffer.size, 0 },	{ buffer.size, 1 },
		{ buffer.size - 1, 2 }, { 0, buffer.size + 1 },
		{ UINT64_MAX, 0 },	{ UINT64_MAX, 2 },
		{ 1, UINT64_MAX },	{ buffer.size - 1, UINT64_MAX },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		EXPECT_EQ(-EINVAL, address(self->node, buffer.fd, cases[i][0],
					   cases[i][1], &reply))
		{
			TH_LOG("case %zu", i);
		}
		EXPECT_EQ(DRAY_REASON_RANGE, reply.call.reason);
		EXPECT_EQ(buffer.size, reply.call.limit);
	}
}

TEST_F(dray, unknown_flags_and_padding_are_refused)
{
	struct dray_address call = { 0 };

	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, 1);
	call.fd = buffer.fd;
	call.flags = 1;
	EXPECT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_ADDRESS, &call));
	call.flags = 0;
	call.reserved = 1;
	EXPECT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_ADDRESS, &call));
}

TEST_F(dray, segments_that_cannot_be_written_are_refused)
{
	struct dray_address call = { .room = 1, .segments = 8 };

	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, 1);
	call.fd = buffer.fd;
	EXPECT_EQ(-EFAULT, node_call(self->node, DRAY_IOC_ADDRESS, &call));
}

TEST_F(dray, a_closed_fd_is_refused)
{
	struct reply reply;
	int closed = dup(0);

	close(closed);
	EXPECT_EQ(-EBADF, address(self->node, closed, 0, 0, &reply));
	EXPECT_EQ(-EBADF, address(self->node, -1, 0, 0, &reply));
}

TEST_F(dray, an_fd_that_is_no_dma_buf_is_refused)
{
	struct reply reply;
	int memory = memfd_create("memory", 0);

	ASSERT_LE(0, memory);
	EXPECT_EQ(-EINVAL, address(self->node, memory, 0, 0, &reply));
	EXPECT_EQ(DRAY_REASON_FOREIGN, reply.call.reason);
	EXPECT_EQ(memory, reply.call.limit);
}

struct asker {
	uid_t uid;
	uint64_t capabilities;
	uint32_t heap;
};

/* 0 granted, 1 refused with the right reason, else something went wrong */
static int ask(void *context)
{
	struct asker *asker = context;
	struct buffer buffer;
	struct reply reply;
	int ret;

	STEP_OPEN_AS(node, asker->uid, asker->capabilities);
	STEP_EQ(0, buffer_allocate(node, asker->heap, 1, &buffer));
	ret = address(node, buffer.fd, 0, 0, &reply);
	if (ret == -EPERM && reply.call.reason == DRAY_REASON_PERMISSION &&
	    !reply.call.count && !reply.segment[0].address)
		return 1;
	STEP_EQ(0, ret);
	return 0;
}

TEST_F(heap, another_user_without_rawio_is_refused)
{
	/* opening is not the question here */
	struct asker asker = { .uid = 65534,
			       .capabilities = OPENER,
			       .heap = self->heap.index };

	EXPECT_EQ(1, process_run(ask, &asker));
}

TEST_F(heap, root_without_rawio_is_refused)
{
	struct asker asker = { .heap = self->heap.index };

	EXPECT_EQ(1, process_run(ask, &asker));
}

TEST_F(heap, another_user_with_rawio_is_told)
{
	struct asker asker = { .uid = 65534,
			       .capabilities =
				       OPENER | CAPABILITY(CAP_SYS_RAWIO),
			       .heap = self->heap.index };

	EXPECT_EQ(0, process_run(ask, &asker));
}
