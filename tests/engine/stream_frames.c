// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Frames of rings that come back otherwise than with data: after reports without a
 * byte, and by CANCEL.
 */
#include "streams.h"

#define FRAME 4096u
#define MOST 1024u

static int ring_call(const struct line *line, struct dray_ring *args)
{
	return ioctl(line->fd, DRAY_IOC_RING, args) < 0 ? -errno : 0;
}

/* Opens the channel with a ring; frames share memory from the 64th on. */
static int ring_open(FIXTURE_DATA(stream) * self, uint32_t channel,
		     uint32_t batch, uint32_t count, uint32_t flags,
		     struct line *line)
{
	static struct dray_transfer frames[MOST];
	struct dray_ring args = { .frames = (uintptr_t)frames,
				  .count = count,
				  .flags = flags };
	int ret = line_open(self->node, channel, batch, line);

	for (uint32_t i = 0; i < count; i++) {
		struct dray_transfer send =
			SEND_OF(self->src.fd, i % 64 * FRAME, FRAME);
		struct dray_transfer receive =
			RECV_OF(self->dst.fd, i % 64 * FRAME, FRAME);

		frames[i] = channel % 2 ? receive : send;
	}
	return ret ? ret : ring_call(line, &args);
}

static int frame_release(const struct line *line, uint32_t frame)
{
	struct dray_release args = { .frames = (uintptr_t)&frame, .count = 1 };

	return ioctl(line->fd, DRAY_IOC_RELEASE, &args) < 0 ? -errno : 0;
}

/* Each report without a byte counts for one flight of the frame, not for all. */
TEST_F(stream, a_frame_flies_for_ever)
{
	struct dray_point point;
	uint64_t sent = 0;

	SKIP_IF(stream_read("batches", 0) != 1,
		"this engine reports what it has done: batches=1");
	ASSERT_EQ(0, line_open(self->node, TX0, 1, &self->tx));
	ASSERT_EQ(0, ring_open(self, RX0, 3, 8, 0, &self->rx));
	ASSERT_EQ(0, stream_knob("unfinished", 1));
	for (uint64_t i = 1; i <= 300; i++) {
		while (sent < i + 6) {
			ASSERT_LT(0, stream_send(self, 0, 500));
			sent++;
		}
		ASSERT_EQ(0, line_wait(&self->rx, i, &point));
		/* Stopped in the middle of a packet, it may lose that. */
		if (point.status != -ECONNRESET)
			ASSERT_EQ(0, point.status);
		ASSERT_EQ(0, frame_release(&self->rx, point.frame));
	}
}

TEST_F(stream, all_frames_are_cancelled_by_one_stop)
{
	struct dray_ring none = { .flags = DRAY_RING_REPLACE };
	long stops;

	NEED_KNOB("stall");
	ASSERT_EQ(0, stream_knob("stall", 1u << TX0));
	ASSERT_EQ(0,
		  ring_open(self, TX0, 1, MOST, DRAY_RING_RELEASED, &self->tx));
	ASSERT_TRUE(engine_gets(TX0, 2));
	stops = stream_read("terminated", TX0);
	ASSERT_EQ((int)MOST, stream_cancel(self, TX0, 0));
	for (uint64_t i = MOST - 127; i <= MOST; i++)
		ASSERT_EQ(-ECANCELED, line_status(&self->tx, i));
	EXPECT_EQ(0, stream_cancel(self, TX0, 0));
	EXPECT_GE(stops + 2, stream_read("terminated", TX0));
	EXPECT_EQ(MOST, line_completed(&self->tx));
	ASSERT_EQ(0, stream_knob("stall", 0));
	/* The ring goes on. */
	ASSERT_EQ(0, frame_release(&self->tx, 5));
	EXPECT_EQ(FRAME, line_bytes(&self->tx, MOST + 1));
	EXPECT_EQ(0, ring_call(&self->tx, &none));
}

/* Its last flight has landed, and the next has not begun. */
TEST_F(stream, a_frame_that_finds_no_room_has_not_landed_again)
{
	struct dray_wait wait = { .number = 0 };
	struct dray_point point;

	NEED_KNOB("slots");
	ASSERT_EQ(0, stream_knob("slots", 1));
	ASSERT_EQ(0, line_open(self->node, TX0, 1, &self->tx));
	ASSERT_EQ(0, ring_open(self, RX0, 1, 2, 0, &self->rx));
	for (uint64_t i = 1; i <= 20; i++) {
		ASSERT_LT(0, stream_send(self, 0, 100 * i));
		ASSERT_EQ(0, line_wait(&self->rx, i, &point));
		EXPECT_EQ(0, point.status);
		EXPECT_EQ(100 * i, point.bytes);
		ASSERT_EQ(0, frame_release(&self->rx, point.frame));
		wait.number = i + 1;
		wait.until_ns = now_ns() + 20 * MILLISECOND;
		EXPECT_EQ(-ETIME, line_call(&self->rx, &wait));
	}
}
