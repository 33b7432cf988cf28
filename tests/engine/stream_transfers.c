// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Bytes through a stream: lengths, pieces of any shape, packets that are shorter
 * or longer than the transfers that receive them, and frames without a sender.
 */
#include "streams.h"

static const struct {
	uint64_t sent;
	uint64_t room;
} packets[] = {
	{ 1, 1 },	  { 1, 4096 },	    { 4095, 4096 }, { 4096, 4096 },
	{ 65536, 65536 }, { 65537, 65537 }, { 3, 65537 },   { 131073, 200000 },
};

TEST_F(stream, a_packet_arrives_and_no_byte_beside_it_changes)
{
	ASSERT_EQ(0, stream_open(self, 1));
	for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++) {
		int64_t sent = (int64_t)packets[i].sent, in, out;
		uint64_t at = 17 + i;

		memset(self->dst.bytes, STREAM_GUARD, STREAM_SIZE);
		in = stream_receive(self, at, packets[i].room);
		out = stream_send(self, i, packets[i].sent);
		ASSERT_EQ((int64_t)i + 1, in);
		ASSERT_EQ((int64_t)i + 1, out);
		EXPECT_EQ(sent, line_bytes(&self->tx, (uint64_t)out));
		EXPECT_EQ(sent, line_bytes(&self->rx, (uint64_t)in));
		EXPECT_EQ(-1, first_difference(self->src.bytes + i,
					       self->dst.bytes + at,
					       packets[i].sent));
		EXPECT_EQ(-1,
			  first_other_byte(self->dst.bytes, at, STREAM_GUARD));
		at += packets[i].sent;
		EXPECT_EQ(-1, first_other_byte(self->dst.bytes + at,
					       STREAM_SIZE - at, STREAM_GUARD));
	}
}

TEST_F(stream, each_short_packet_has_a_transfer_of_its_own)
{
	const uint64_t room = 4096, count = 12;

	ASSERT_EQ(0, stream_open(self, 4));
	for (uint64_t i = 0; i < count; i++)
		ASSERT_EQ((int64_t)i + 1, stream_receive(self, i * room, room));
	for (uint64_t i = 0; i < count; i++)
		ASSERT_EQ((int64_t)i + 1, stream_send(self, i * room, 100 + i));
	for (uint64_t i = 0; i < count; i++) {
		EXPECT_EQ((int64_t)(100 + i), line_bytes(&self->rx, i + 1));
		EXPECT_EQ(-1, first_difference(self->src.bytes + i * room,
					       self->dst.bytes + i * room,
					       100 + i));
	}
}

TEST_F(stream, a_long_packet_goes_on_in_the_next_transfer)
{
	ASSERT_EQ(0, stream_open(self, 4));
	for (uint64_t i = 0; i < 4; i++)
		ASSERT_EQ((int64_t)i + 1, stream_receive(self, i * 1000, 1000));
	ASSERT_EQ(1, stream_send(self, 0, 3500));
	for (uint64_t i = 0; i < 3; i++)
		EXPECT_EQ(1000, line_bytes(&self->rx, i + 1));
	EXPECT_EQ(500, line_bytes(&self->rx, 4));
	EXPECT_EQ(-1, first_difference(self->src.bytes, self->dst.bytes, 3500));
}

TEST_F(stream, packets_end_as_the_engine_says)
{
	ASSERT_EQ(0, stream_open(self, 1));
	ASSERT_EQ(0, stream_knob("split", 1000));
	for (uint64_t i = 0; i < 3; i++)
		ASSERT_EQ((int64_t)i + 1, stream_receive(self, i * 4096, 4096));
	ASSERT_EQ(1, stream_send(self, 0, 2100));
	EXPECT_EQ(1000, line_bytes(&self->rx, 1));
	EXPECT_EQ(1000, line_bytes(&self->rx, 2));
	EXPECT_EQ(100, line_bytes(&self->rx, 3));
	ASSERT_EQ(0, stream_knob("split", 0));
	ASSERT_EQ(0, stream_knob("join", 3));
	ASSERT_EQ(4, stream_receive(self, 0, 4096));
	for (uint64_t i = 0; i < 3; i++)
		ASSERT_EQ((int64_t)i + 2, stream_send(self, i * 100, 100));
	EXPECT_EQ(300, line_bytes(&self->rx, 4));
	EXPECT_EQ(-1, first_difference(self->src.bytes, self->dst.bytes, 300));
}

/* A byte of a frame, as the engine makes it. */
static uint8_t frame_byte(uint64_t number, size_t index)
{
	return (uint8_t)(index < 8 ? number >> (8 * index) : number + index);
}

static int64_t first_wrong_byte(const uint8_t *bytes, uint64_t number,
				size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i] != frame_byte(number, i))
			return (int64_t)i;
	return -1;
}

TEST_F(stream, a_packet_without_a_sender_arrives)
{
	ASSERT_EQ(0, stream_open(self, 1));
	ASSERT_EQ(0, stream_text("inject", "0 50000"));
	ASSERT_EQ(1, stream_receive(self, 0, 60000));
	EXPECT_EQ(50000, line_bytes(&self->rx, 1));
	EXPECT_EQ(-1, first_wrong_byte(self->dst.bytes, 0, 50000));
}

#define FRAMES 200
#define FRAME_BYTES 1024
#define FRAME_SLOTS 8

static int64_t receive_frame(FIXTURE_DATA(stream) * self, uint64_t index)
{
	struct dray_transfer transfer = RECV_OF(
		self->dst.fd, index % FRAME_SLOTS * FRAME_BYTES, FRAME_BYTES);
	struct dray_submit submit;
	int ret = stream_submit(self, RX1, &transfer, 1, 0, &submit);

	return ret ? ret : (int64_t)submit.point;
}

TEST_F(stream, frames_arrive_without_a_gap)
{
	uint64_t first = 0, number, i;
	struct line line;

	ASSERT_EQ(0, line_open(self->node, RX1, 4, &line));
	for (i = 0; i < FRAME_SLOTS; i++)
		ASSERT_EQ((int64_t)i + 1, receive_frame(self, i));
	ASSERT_EQ(0, stream_knob("frame_bytes", FRAME_BYTES));
	ASSERT_EQ(0, stream_knob("frame_us", 2000));
	for (i = 0; i < FRAMES; i++) {
		const uint8_t *at =
			self->dst.bytes + i % FRAME_SLOTS * FRAME_BYTES;

		ASSERT_EQ(FRAME_BYTES, line_bytes(&line, i + 1));
		memcpy(&number, at, sizeof(number));
		first = i ? first : number;
		ASSERT_EQ(first + i, number);
		ASSERT_EQ(-1, first_wrong_byte(at, number, FRAME_BYTES));
		ASSERT_EQ((int64_t)(i + FRAME_SLOTS + 1),
			  receive_frame(self, i));
	}
	EXPECT_EQ(0, stream_knob("frame_us", 0));
}

#define PIECES 4
#define REGION (STREAM_SIZE / PIECES)
#define RANKS 5

struct shape {
	struct dray_transfer transfer;
	struct dray_axis axes[RANKS];
};

static uint64_t below(uint64_t *state, uint64_t limit)
{
	return next_random(state) % limit;
}

/* A random piece in its region; runs of a sender may repeat. */
static void shape_choose(struct shape *shape, uint64_t *state, bool sends,
			 int fd, uint64_t region)
{
	uint64_t run = 1 + below(state, 96), span, at = region * REGION;
	uint32_t rank = (uint32_t)below(state, RANKS + 1);

	span = run;
	for (uint32_t i = rank; i-- > 0;) {
		uint64_t count = 1 + below(state, 4);
		int64_t stride = (int64_t)(span + below(state, 9));

		span += (count - 1) * (uint64_t)stride;
		if (sends && !below(state, 6))
			stride = 0;
		if (below(state, 2)) {
			at += (count - 1) * (uint64_t)stride;
			stride = -stride;
		}
		shape->axes[i] = (struct dray_axis){
			.count = count,
			.dst_stride = sends ? 0 : stride,
			.src_stride = sends ? stride : 0,
		};
	}
	if (sends)
		shape->transfer = (struct dray_transfer)SEND_OF(fd, at, run);
	else
		shape->transfer = (struct dray_transfer)RECV_OF(fd, at, run);
	shape->transfer.axes = (uintptr_t)shape->axes;
	shape->transfer.axes_count = rank;
}

/* Visits the bytes in the order of the stream. */
static uint64_t shape_walk(const struct shape *shape, bool sends,
			   uint8_t *memory, uint8_t *stream, uint64_t most)
{
	uint64_t index[RANKS] = { 0 }, moved = 0;
	uint32_t rank = shape->transfer.axes_count, i;

	for (;;) {
		uint64_t at = sends ? shape->transfer.src_offset
				    : shape->transfer.dst_offset;

		for (i = 0; i < rank; i++)
			at += index[i] *
			      (uint64_t)(sends ? shape->axes[i].src_stride
					       : shape->axes[i].dst_stride);
		for (uint64_t j = 0; j < shape->transfer.run; j++) {
			if (moved == most)
				return moved;
			if (sends)
				stream[moved++] = memory[at + j];
			else
				memory[at + j] = stream[moved++];
		}
		for (i = rank; i > 0; i--) {
			if (++index[i - 1] < shape->axes[i - 1].count)
				break;
			index[i - 1] = 0;
		}
		if (!i)
			return moved;
	}
}

static uint64_t shape_bytes(const struct shape *shape)
{
	uint64_t bytes = shape->transfer.run;

	for (uint32_t i = 0; i < shape->transfer.axes_count; i++)
		bytes *= shape->axes[i].count;
	return bytes;
}

/* Passes one packet of random pieces to random pieces with room for it. */
static const char *pass_random(FIXTURE_DATA(stream) * self, uint64_t seed,
			       uint8_t *model, uint8_t *stream)
{
	struct dray_transfer send[PIECES], receive[PIECES];
	struct shape from[PIECES], to[PIECES];
	uint64_t state = seed, sent = 0, room = 0, got;
	struct dray_submit out, in;
	uint32_t i, sends, receives;

	sends = 1 + (uint32_t)below(&state, PIECES);
	receives = 1 + (uint32_t)below(&state, PIECES);
	for (i = 0; i < receives; i++) {
		shape_choose(&to[i], &state, false, self->dst.fd, i);
		room += shape_bytes(&to[i]);
	}
	for (i = 0; i < sends; i++) {
		shape_choose(&from[i], &state, true, self->src.fd, i);
		if (i && sent + shape_bytes(&from[i]) > room)
			break;
		if (!i && shape_bytes(&from[0]) > room) {
			from[0].transfer.axes_count = 0;
			if (from[0].transfer.run > room)
				from[0].transfer.run = room;
		}
		sent += shape_walk(&from[i], true, self->src.bytes,
				   stream + sent, UINT64_MAX);
	}
	sends = i;
	memset(model, STREAM_GUARD, STREAM_SIZE);
	memset(self->dst.bytes, STREAM_GUARD, STREAM_SIZE);
	for (i = 0, got = 0; i < receives; i++)
		got += shape_walk(&to[i], false, model, stream + got,
				  sent - got);
	for (i = 0; i < receives; i++)
		receive[i] = to[i].transfer;
	for (i = 0; i < sends; i++)
		send[i] = from[i].transfer;
	if (stream_submit(self, RX0, receive, receives, 0, &in))
		return "RECV is refused";
	if (stream_submit(self, TX0, send, sends, 0, &out))
		return "SEND is refused";
	if (in.bytes != room || out.bytes != sent)
		return "SUBMIT counts wrong";
	if (line_bytes(&self->tx, out.point) != (int64_t)sent)
		return "not all was sent";
	if (line_bytes(&self->rx, in.point) != (int64_t)sent)
		return "not all has come";
	if (first_difference(model, self->dst.bytes, STREAM_SIZE) != -1)
		return "bytes differ";
	return NULL;
}

TEST_F(stream, random_pieces_are_gathered_and_scattered)
{
	uint8_t *model = malloc(STREAM_SIZE), *stream = malloc(STREAM_SIZE);
	const char *wrong = NULL;
	uint64_t seed;

	SKIP_IF(stream_read("axidma", 0) == 1, "this engine takes few pieces");
	ASSERT_EQ(0, stream_open(self, 1));
	for (seed = 1; seed <= 300 && !wrong; seed++)
		wrong = pass_random(self, seed, model, stream);
	EXPECT_EQ(NULL, wrong)
	{
		TH_LOG("seed %" PRIu64 ": %s", seed - 1, wrong);
	}
	free(model);
	free(stream);
}

/* Sends packet @i; waits until the receiver's engine has moved it. */
static int64_t send_through(FIXTURE_DATA(stream) * self, uint64_t i,
			    uint64_t room)
{
	struct engine_share moved = { RX0, stream_read("bytes", RX0) + 500 };
	int64_t ret = stream_send(self, i * room, 500);

	if (ret > 0)
		ret = line_bytes(&self->tx, (uint64_t)ret);
	if (ret != 500)
		return ret;
	return wait_for(engine_has_moved, &moved) ? 500 : -ETIME;
}

/*
 * A batch is reported before its last one has begun.  The packets go one by one,
 * since stopping an AXI DMA drops those on the way.  There the last one may have begun.
 */
TEST_F(stream, a_report_without_any_byte_ends_no_transfer)
{
	const uint64_t room = 4096, count = 4;
	const uint64_t whole = stream_is_coarse() ? count - 1 : count;

	SKIP_IF(stream_read("batches", 0) != 1,
		"this engine reports one by one: batches=1");
	ASSERT_EQ(0, stream_open(self, 4));
	ASSERT_EQ(0, stream_knob("unfinished", 1));
	for (uint64_t i = 0; i < count; i++)
		ASSERT_EQ((int64_t)i + 1, stream_receive(self, i * room, room));
	ASSERT_TRUE(engine_gets(RX0, count));
	for (uint64_t i = 0; i < whole; i++) {
		/* The engine was stopped, and has the last one anew. */
		if (i == count - 1)
			ASSERT_TRUE(engine_gets(RX0, 1));
		ASSERT_EQ(500, send_through(self, i, room));
	}
	if (whole < count)
		EXPECT_EQ(-ECONNRESET, line_status(&self->rx, count));
	for (uint64_t i = 0; i < whole; i++) {
		EXPECT_EQ(500, line_bytes(&self->rx, i + 1));
		EXPECT_EQ(-1,
			  first_difference(self->src.bytes + i * room,
					   self->dst.bytes + i * room, 500));
	}
}

TEST_F(stream, a_transfer_that_fails_says_so_and_later_ones_go_on)
{
	ASSERT_EQ(0, stream_open(self, 1));
	ASSERT_EQ(0, stream_knob("fail", 1u << RX0));
	ASSERT_EQ(1, stream_receive(self, 0, 100));
	EXPECT_EQ(-EIO, line_status(&self->rx, 1));
	ASSERT_EQ(0, stream_knob("fail", 1u << TX0));
	ASSERT_EQ(1, stream_send(self, 0, 100));
	EXPECT_EQ(-EIO, line_status(&self->tx, 1));
	ASSERT_EQ(0, stream_knob("fail", 0));
	EXPECT_EQ(0, stream_passes(self));
}
