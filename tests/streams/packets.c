// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dray on an AXI DMA with the kernel's own driver, whose stream goes through an IP
 * that inverts each byte: packets of any shape, and an engine that is silent,
 * fails, or loses an interrupt.
 */
#include "axidma.h"

#define ROUNDS 150
#define AXES 5

/* A nest of axes, so that no byte is written twice. */
struct shape {
	struct dray_axis axes[AXES];
	uint32_t rank;
	uint64_t run, count;
};

static unsigned int dice(unsigned int sides)
{
	static uint64_t state = 88172645463325252ull;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned int)(state % sides);
}

static struct shape random_shape(bool sends)
{
	struct shape shape = { .rank = dice(AXES + 1),
			       .run = 4 * (1 + dice(10)),
			       .count = 1 };
	int64_t cover = (int64_t)shape.run;

	for (uint32_t i = shape.rank; i-- > 0;) {
		struct dray_axis *axis = &shape.axes[i];
		int64_t stride = cover + 4 * dice(16);

		axis->count = 1 + dice(3);
		*(sends ? &axis->src_stride : &axis->dst_stride) = stride;
		cover = stride * (int64_t)axis->count;
		shape.count *= axis->count;
	}
	return shape;
}

/* The offset of run @n from the first one. */
static uint64_t run_offset(const struct shape *shape, uint64_t n)
{
	uint64_t offset = 0;

	for (uint32_t i = shape->rank; i-- > 0;) {
		const struct dray_axis *axis = &shape->axes[i];

		offset += n % axis->count *
			  (uint64_t)(axis->src_stride + axis->dst_stride);
		n /= axis->count;
	}
	return offset;
}

/* A place for the same bytes. */
static struct shape mirrored(const struct shape *from)
{
	struct shape to = *from;

	for (uint32_t i = 0; i < AXES; i++) {
		to.axes[i].dst_stride = from->axes[i].src_stride;
		to.axes[i].src_stride = 0;
	}
	return to;
}

/* Packets that fill their view, and shorter ones. */
TEST_F(axidma, views_of_any_shape_pass)
{
	static uint8_t expected[SIZE];

	for (int round = 0; round < ROUNDS; round++) {
		struct shape from = random_shape(true);
		struct shape to =
			round % 2 ? random_shape(false) : mirrored(&from);
		uint64_t bytes = from.run * from.count;
		struct dray_transfer send =
			SEND_OF(self->src.fd, 4 * round, from.run,
				.axes = (uintptr_t)from.axes,
				.axes_count = from.rank);
		struct dray_transfer receive =
			RECV_OF(self->dst.fd, 64, to.run,
				.axes = (uintptr_t)to.axes,
				.axes_count = to.rank);
		int64_t in, out;

		if (bytes > to.run * to.count)
			continue;
		memset(self->dst.bytes, GUARD, SIZE);
		memset(expected, GUARD, SIZE);
		for (uint64_t i = 0; i < bytes; i++)
			expected[64 + run_offset(&to, i / to.run) + i % to.run] =
				~self->src.bytes[4 * round +
						 run_offset(&from, i / from.run) +
						 i % from.run];
		in = submit(self, &receive, 0);
		ASSERT_LT(0, in);
		out = submit(self, &send, 0);
		ASSERT_LT(0, out);
		ASSERT_EQ((int64_t)bytes,
			  line_bytes(&self->received, (uint64_t)in));
		ASSERT_EQ(-1,
			  first_difference(expected, self->dst.bytes, SIZE));
		ASSERT_EQ((int64_t)bytes,
			  line_bytes(&self->sent, (uint64_t)out));
	}
}

/* The core has no realignment engine. */
TEST_F(axidma, an_unaligned_piece_is_refused)
{
	struct dray_transfer transfer = SEND_OF(self->src.fd, 2, 64);
	struct dray_submit args = SUBMIT_OF(self->tx, &transfer, 1,
					    .flags = DRAY_SUBMIT_NO_FENCE);

	EXPECT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_SUBMIT, &args));
	EXPECT_EQ(DRAY_REASON_ALIGNMENT, args.reason);
	EXPECT_EQ(4, args.limit);
}

TEST_F(axidma, packets_in_a_row_are_apart)
{
	for (uint64_t i = 0; i < 12; i++)
		ASSERT_LT(0, receive_bytes(self, i * 4096, 4096, 0));
	for (uint64_t i = 0; i < 12; i++)
		ASSERT_LT(0, send_bytes(self, i * 100, 100 + 4 * i));
	for (uint64_t i = 0; i < 12; i++) {
		EXPECT_EQ((int64_t)(100 + 4 * i),
			  line_bytes(&self->received, i + 1));
		EXPECT_TRUE(inverted(self, i * 100, i * 4096, 100 + 4 * i));
	}
}

/* The core reports nothing then. */
TEST_F(axidma, a_longer_packet_ends_by_the_deadline)
{
	ASSERT_EQ(1, receive_bytes(self, 0, 1000, SECOND));
	ASSERT_EQ(1, send_bytes(self, 0, 3000));
	EXPECT_EQ(1000, line_bytes(&self->received, 1));
	EXPECT_TRUE(inverted(self, 0, 0, 1000));
	EXPECT_EQ(GUARD, self->dst.bytes[1000]);
	/* Stopping the core has dropped the rest. */
	EXPECT_TRUE(passes(self));
}

/* The core must not write the next packet to pieces that were not used. */
TEST_F(axidma, a_short_packet_leaves_no_piece_behind)
{
	struct dray_axis axis = { .count = 4, .dst_stride = 2048 };
	struct dray_transfer pieces =
		RECV_OF(self->dst.fd, 0, 1024, .axes = (uintptr_t)&axis,
			.axes_count = 1);

	ASSERT_EQ(1, submit(self, &pieces, 0));
	ASSERT_EQ(2, receive_bytes(self, 65536, 4096, 0));
	ASSERT_EQ(1, send_bytes(self, 0, 1500));
	EXPECT_EQ(1500, line_bytes(&self->received, 1));
	EXPECT_TRUE(inverted(self, 0, 0, 1024));
	EXPECT_TRUE(inverted(self, 1024, 2048, 476));
	ASSERT_EQ(2, send_bytes(self, 0, 4096));
	EXPECT_EQ(4096, line_bytes(&self->received, 2));
	EXPECT_TRUE(inverted(self, 0, 65536, 4096));
	for (size_t i = 2048 + 476; i < 65536; i++)
		ASSERT_EQ(GUARD, self->dst.bytes[i]);
}

TEST_F(axidma, a_deadline_ends_a_silent_receive)
{
	ASSERT_LT(0, receive_bytes(self, 0, 4096, 50 * MILLISECOND));
	EXPECT_EQ(-ETIMEDOUT, line_status(&self->received, 1));
	EXPECT_TRUE(passes(self));
}

TEST_F(axidma, a_stalled_stream_is_cancelled)
{
	struct dray_cancel cancel = { .fence_fd = -1, .channel = self->tx };

	self->model->mm2s.stall = 1;
	ASSERT_EQ(1, send_bytes(self, 0, 4096));
	ASSERT_EQ(2, send_bytes(self, 0, 4096));
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_CANCEL, &cancel));
	EXPECT_EQ(2, cancel.count);
	EXPECT_EQ(-ECANCELED, line_status(&self->sent, 1));
	EXPECT_EQ(-ECANCELED, line_status(&self->sent, 2));
	self->model->mm2s.stall = 0;
	EXPECT_TRUE(passes(self));
}

/* The core resets both directions. */
TEST_F(axidma, cancelling_one_direction_ends_the_other)
{
	struct dray_cancel cancel = { .fence_fd = -1, .channel = self->tx };

	self->model->mm2s.stall = 1;
	ASSERT_EQ(1, receive_bytes(self, 0, 4096, 0));
	ASSERT_EQ(1, send_bytes(self, 0, 4096));
	/* Both are with the engine once the sender has moved on. */
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_CANCEL, &cancel));
	EXPECT_EQ(-ECANCELED, line_status(&self->sent, 1));
	self->model->mm2s.stall = 0;
	ASSERT_EQ(2, send_bytes(self, 0, 4096));
	if (line_status(&self->received, 1) == -ECONNRESET)
		ASSERT_EQ(2, receive_bytes(self, 0, 4096, 0));
	EXPECT_EQ(4096, line_bytes(&self->sent, 2));
	EXPECT_EQ(4096,
		  line_bytes(&self->received, line_completed(&self->received)));
}

TEST_F(axidma, a_lost_interrupt_ends_by_the_deadline)
{
	struct dray_point point;

	self->model->s2mm.lose_interrupts = 1;
	ASSERT_EQ(1, receive_bytes(self, 0, 4096, SECOND));
	ASSERT_EQ(1, send_bytes(self, 0, 4096));
	ASSERT_EQ(0, line_wait(&self->received, 1, &point));
	/* All bytes came, which the engine's memory says. */
	EXPECT_EQ(0, point.status);
	EXPECT_EQ(4096, point.bytes);
	EXPECT_TRUE(passes(self));
}

TEST_F(axidma, an_error_of_the_bus_ends_by_the_deadline)
{
	self->model->s2mm.error = 0x10;
	ASSERT_EQ(1, receive_bytes(self, 0, 4096, SECOND));
	ASSERT_EQ(1, send_bytes(self, 0, 4096));
	EXPECT_EQ(-ETIMEDOUT, line_status(&self->received, 1));
	/* The packet, or what is left of it, goes to the next receive. */
	ASSERT_EQ(2, receive_bytes(self, 0, 4096, SECOND));
	line_status(&self->received, 2);
	EXPECT_TRUE(passes(self));
}
