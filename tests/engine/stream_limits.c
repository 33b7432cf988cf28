// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Engines with limits: one that cannot tell a residue or be stopped, that takes
 * no odd places, or few pieces.  Each test needs dray_test_stream.ko with the
 * parameter that its skip names.
 */
#include "streams.h"

#define AXES(list) .axes = (uintptr_t)(list), .axes_count = 1

TEST_F(stream, an_engine_that_cannot_tell_the_bytes_does_not_receive)
{
	struct line line;

	SKIP_IF(stream_read("no_residue", 0) != 1,
		"this engine tells its residue: no_residue=1");
	EXPECT_EQ(-EOPNOTSUPP, line_open(self->node, RX0, 0, &line));
	EXPECT_EQ(DRAY_REASON_RESIDUE, line.reason);
	EXPECT_EQ(RX0, line.limit);
	ASSERT_EQ(0, line_open(self->node, TX0, 0, &self->tx));
	ASSERT_EQ(1, stream_send(self, 0, 4096));
	EXPECT_EQ(4096, line_bytes(&self->tx, 1));
}

/* To stop it would stop a channel that another driver has. */
TEST_F(stream, an_engine_of_two_drivers_that_stops_whole_is_refused)
{
	struct line line;

	SKIP_IF(stream_read("shared", 0) != 1,
		"this engine has one user: axidma=1 shared=1");
	for (uint32_t i = TX0; i <= RX0; i++) {
		EXPECT_EQ(-EBUSY, line_open(self->node, i, 0, &line));
		EXPECT_EQ(DRAY_REASON_CHANNEL, line.reason);
	}
}

TEST_F(stream, odd_places_are_refused)
{
	struct dray_axis axis = { .count = 2, .dst_stride = 20 };
	struct dray_transfer transfers[] = {
		RECV_OF(self->dst.fd, 4, 64),
		RECV_OF(self->dst.fd, 0, 60),
		RECV_OF(self->dst.fd, 0, 16, AXES(&axis)),
	};
	struct dray_submit submit;

	SKIP_IF(stream_read("align_shift", 0) != 3,
		"this engine takes odd places: align_shift=3");
	ASSERT_EQ(0, stream_open(self, 1));
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(-EINVAL, stream_submit(self, RX0, &transfers[i], 1, 0,
						 &submit));
		EXPECT_EQ(DRAY_REASON_ALIGNMENT, submit.reason);
		EXPECT_EQ(8, submit.limit);
	}
	EXPECT_EQ(0, stream_passes(self));
}

TEST_F(stream, more_pieces_than_the_engine_has_are_refused)
{
	struct dray_axis axis = { .count = 256, .src_stride = 512 };
	struct dray_transfer transfer =
		SEND_OF(self->src.fd, 0, 16, AXES(&axis));
	struct dray_submit submit;

	READ_CHANNEL(channel, TX0);
	SKIP_IF(stream_read("axidma", 0) != 1 || stream_read("shared", 0) == 1,
		"this engine takes any number: axidma=1");
	ASSERT_EQ(0, stream_open(self, 1));
	ASSERT_EQ(0, node_channel(self->node, TX0, &channel));
	EXPECT_EQ(255, channel.max_pieces);
	EXPECT_EQ(-EINVAL, stream_submit(self, TX0, &transfer, 1, 0, &submit));
	EXPECT_EQ(DRAY_REASON_PIECES, submit.reason);
	EXPECT_EQ(255, submit.limit);
	axis.count = 255;
	ASSERT_EQ(0, stream_submit(self, TX0, &transfer, 1, 0, &submit));
	EXPECT_EQ(255 * 16, line_bytes(&self->tx, submit.point));
}

TEST_F(stream, an_engine_that_cannot_be_stopped_is_not_used)
{
	struct line line;

	SKIP_IF(stream_read("no_terminate", 0) != 1,
		"this engine can be stopped: no_terminate=1");
	EXPECT_EQ(-EBUSY, line_open(self->node, TX0, 0, &line));
	EXPECT_EQ(DRAY_REASON_CHANNEL, line.reason);
}
