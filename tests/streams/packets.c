// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dray on an AXI DMA with the kernel's own driver and an IP that inverts each byte:
 * packets, and an engine that is silent, fails, or loses an interrupt.
 */
#include "axidma.h"

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
	/* Stopping the core has dropped the rest. */
	EXPECT_TRUE(passes(self));
}

/*
 * The core must not write the next packet to pieces that were not used.  A receive that
 * it has may be in the middle of that packet when it is stopped.
 */
TEST_F(axidma, a_short_packet_leaves_no_piece_behind)
{
	struct dray_axis axis = { .count = 4, .dst_stride = 2048 };
	struct dray_transfer pieces =
		RECV_OF(self->dst.fd, 0, 1024, .axes = (uintptr_t)&axis,
			.axes_count = 1);

	SKIP_IF(engine_merges(), "this driver ends no such receive");
	ASSERT_EQ(1, submit(self, &pieces, 0));
	ASSERT_EQ(2, receive_bytes(self, 65536, 4096, 0));
	ASSERT_EQ(1, send_bytes(self, 0, 1500));
	EXPECT_EQ(1500, line_bytes(&self->received, 1));
	EXPECT_TRUE(inverted(self, 0, 0, 1024));
	EXPECT_TRUE(inverted(self, 1024, 2048, 476));
	EXPECT_EQ(-ECONNRESET, line_status(&self->received, 2));
	ASSERT_EQ(3, receive_bytes(self, 65536, 4096, 0));
	ASSERT_EQ(2, send_bytes(self, 0, 4096));
	EXPECT_EQ(4096, line_bytes(&self->received, 3));
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

/* For wait_for(): has the core written a packet's first bytes? */
static bool bytes_have_come(void *context)
{
	const uint8_t *bytes = context;

	return first_other_byte(bytes, 1000, GUARD) != -1;
}

/* Likewise: does the engine have the packet to send? */
static bool sender_is_busy(void *context)
{
	const FIXTURE_DATA(axidma) *self = context;

	return engine_out(self->tx) > 0;
}

/* The core resets both directions. */
TEST_F(axidma, cancelling_one_direction_ends_the_other)
{
	struct dray_cancel cancel = { .fence_fd = -1, .channel = self->tx };

	/* The receive has begun, so that the core has it. */
	self->model->s2mm.end_late = 1;
	ASSERT_EQ(1, receive_bytes(self, 0, 4096, 0));
	ASSERT_EQ(1, send_bytes(self, 0, 1000));
	ASSERT_TRUE(wait_for(bytes_have_come, self->dst.bytes));
	/* The engine has nothing to send then, until it is busy again. */
	ASSERT_EQ(1000, line_bytes(&self->sent, 1));
	self->model->mm2s.stall = 1;
	ASSERT_EQ(2, send_bytes(self, 0, 4096));
	ASSERT_TRUE(wait_for(sender_is_busy, self));
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_CANCEL, &cancel));
	EXPECT_EQ(-ECANCELED, line_status(&self->sent, 2));
	EXPECT_EQ(-ECONNRESET, line_status(&self->received, 1));
	self->model->mm2s.stall = 0;
	EXPECT_TRUE(passes(self));
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
