// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * An engine with limits: it reaches 24 bits of address, wants addresses and
 * lengths in multiples of eight, and fills by itself.  Needs
 * dray_test_engine.ko with mask_bits=24 align_shift=3 fill=1, then dray.ko
 * with nodes=1 channels=2.
 */
#include "../selftests/fixture_engine.h"

#define REACH 0xffffffull
#define SIZE 65536

FIXTURE(limit)
{
	int node;
	struct ledger before;
	struct buffer near[2]; /* below the reach */
	struct buffer far;
};

/* A mapped buffer whose last byte is at most at @limit; 0: anywhere. */
static int buffer_below(int node, uint64_t limit, struct buffer *buffer)
{
	struct dray_alloc alloc = { .size = SIZE, .address_limit = limit };
	int ret = node_call(node, DRAY_IOC_ALLOC, &alloc);

	if (ret)
		return ret;
	buffer->fd = alloc.fd;
	buffer->id = alloc.id;
	buffer->size = alloc.size;
	buffer->bytes = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
			     alloc.fd, 0);
	return buffer->bytes == MAP_FAILED ? -errno : 0;
}

FIXTURE_SETUP(limit)
{
	self->node = node_open();
	ASSERT_LE(0, self->node);
	ASSERT_EQ(0, ledger_take(self->node, &self->before));
	ASSERT_EQ(0, buffer_below(self->node, REACH, &self->near[0]));
	ASSERT_EQ(0, buffer_below(self->node, REACH, &self->near[1]));
	ASSERT_EQ(0, buffer_below(self->node, 0, &self->far));
	fill_random(self->near[0].bytes, SIZE, 5);
}

FIXTURE_TEARDOWN(limit)
{
	buffer_close(&self->near[0]);
	buffer_close(&self->near[1]);
	buffer_close(&self->far);
	EXPECT_EQ(0, ledger_differences(&self->before));
	close(self->node);
}

static int submit(int node, struct dray_transfer *transfer,
		  struct dray_submit *submit)
{
	*submit = (struct dray_submit)SUBMIT_OF(0, transfer, 1, .fence_fd = -1);
	return node_call(node, DRAY_IOC_SUBMIT, submit);
}

TEST_F(limit, memory_below_a_limit_lies_below_it)
{
	struct dray_segment segment;
	struct dray_address address = {
		.fd = self->near[0].fd,
		.segments = (uintptr_t)&segment,
		.room = 1,
	};

	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_ADDRESS, &address));
	EXPECT_GE(REACH, segment.address + segment.length - 1);
}

TEST_F(limit, memory_beyond_the_engines_reach_is_refused_not_bounced)
{
	struct dray_transfer transfer =
		COPY_OF(self->near[0].fd, self->far.fd, SIZE);
	struct dray_submit reply;

	EXPECT_EQ(-ENOMEM, submit(self->node, &transfer, &reply));
	EXPECT_EQ(DRAY_REASON_BOUNCE, reply.reason);
	EXPECT_EQ(REACH, reply.limit);
}

TEST_F(limit, memory_within_reach_is_copied)
{
	struct dray_transfer transfer =
		COPY_OF(self->near[1].fd, self->near[0].fd, SIZE);
	struct dray_submit reply;

	ASSERT_EQ(0, submit(self->node, &transfer, &reply));
	EXPECT_EQ(1, fence_wait(reply.fence_fd));
	EXPECT_EQ(-1, first_difference(self->near[0].bytes, self->near[1].bytes,
				       SIZE));
}

TEST_F(limit, what_the_engine_cannot_address_is_refused)
{
	struct dray_axis axis = { .count = 4,
				  .dst_stride = 64,
				  .src_stride = 64 };
	struct dray_transfer transfer =
		COPY_OF(self->near[1].fd, self->near[0].fd, 16, .axes_count = 1,
			.axes = (uintptr_t)&axis);
	struct dray_submit reply;
	struct dray_transfer wrong = transfer;

	wrong.run = 12;
	EXPECT_EQ(-EINVAL, submit(self->node, &wrong, &reply));
	EXPECT_EQ(DRAY_REASON_ALIGNMENT, reply.reason);
	EXPECT_EQ(8, reply.limit);
	wrong = transfer;
	wrong.src_offset = 4;
	EXPECT_EQ(-EINVAL, submit(self->node, &wrong, &reply));
	wrong = transfer;
	wrong.dst_offset = 4;
	EXPECT_EQ(-EINVAL, submit(self->node, &wrong, &reply));
	axis.src_stride = 60;
	EXPECT_EQ(-EINVAL, submit(self->node, &transfer, &reply));
	axis.src_stride = 64;
	ASSERT_EQ(0, submit(self->node, &transfer, &reply));
	EXPECT_EQ(1, fence_wait(reply.fence_fd));
}

/* Fills; returns the fence's status or why there is none. */
static int fill(FIXTURE_DATA(limit) * self, const char *pattern, uint32_t size,
		struct dray_submit *reply)
{
	struct dray_transfer transfer = {
		.op = DRAY_OP_FILL,
		.src_fd = -1,
		.dst_fd = self->near[1].fd,
		.run = SIZE,
		.pattern_size = size,
	};
	int ret;

	memcpy(transfer.pattern, pattern, size);
	ret = submit(self->node, &transfer, reply);
	return ret ? ret : fence_wait(reply->fence_fd);
}

TEST_F(limit, a_byte_and_a_longer_pattern_are_filled)
{
	struct dray_submit reply;

	ASSERT_EQ(1, fill(self, "\xa5", 1, &reply));
	EXPECT_EQ(-1, first_other_byte(self->near[1].bytes, SIZE, 0xa5));
	ASSERT_EQ(1, fill(self, "\x11\x22\x33\x44", 4, &reply));
	for (size_t i = 0; i < SIZE; i++)
		ASSERT_EQ(0x11 * (1 + i % 4), self->near[1].bytes[i]);
	READ_CHANNEL(channel, 0);
	EXPECT_NE(0, channel.flags & DRAY_CHANNEL_FILL);
	EXPECT_EQ(8, channel.alignment);
}
