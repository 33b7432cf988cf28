// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Ends of transfers that a stream does not end: CANCEL, deadlines, and the end
 * of the timeline and of the process.
 */
#include <poll.h>

#include "streams.h"

#define WATCHDOG "/sys/module/dray/parameters/watchdog_ms"

TEST_F(stream, one_of_a_queue_is_cancelled)
{
	ASSERT_EQ(0, stream_open(self, 1));
	for (int64_t i = 0; i < 5; i++)
		ASSERT_EQ(i + 1, stream_receive(self, i * 4096, 4096));
	EXPECT_EQ(1, stream_cancel(self, RX0, 4));
	EXPECT_EQ(-ECANCELED, line_status(&self->rx, 4));
	EXPECT_EQ(0, stream_cancel(self, RX0, 4));
	EXPECT_EQ(0, stream_cancel(self, RX0, 99));
	for (int64_t i = 0; i < 4; i++)
		ASSERT_EQ(i + 1, stream_send(self, i * 4096, 1000));
	for (int64_t i = 0; i < 5; i++) {
		uint64_t from = (uint64_t)(i < 3 ? i : i - 1) * 4096;

		if (i == 3)
			continue;
		EXPECT_EQ(1000, line_bytes(&self->rx, i + 1));
		EXPECT_EQ(-1,
			  first_difference(self->src.bytes + from,
					   self->dst.bytes + i * 4096, 1000));
	}
	EXPECT_EQ(5, line_completed(&self->rx));
	EXPECT_EQ(-1, first_other_byte(self->dst.bytes + 3 * 4096, 4096,
				       STREAM_GUARD));
}

TEST_F(stream, one_that_the_engine_has_is_cancelled)
{
	ASSERT_EQ(0, stream_open(self, 1));
	for (int64_t i = 0; i < 3; i++)
		ASSERT_EQ(i + 1, stream_receive(self, i * 4096, 4096));
	ASSERT_TRUE(engine_gets(RX0, 2));
	EXPECT_EQ(1, stream_cancel(self, RX0, 1));
	EXPECT_EQ(-ECANCELED, line_status(&self->rx, 1));
	ASSERT_EQ(1, stream_send(self, 0, 700));
	ASSERT_EQ(2, stream_send(self, 700, 800));
	EXPECT_EQ(700, line_bytes(&self->rx, 2));
	EXPECT_EQ(800, line_bytes(&self->rx, 3));
	EXPECT_EQ(-1, first_difference(self->src.bytes, self->dst.bytes + 4096,
				       700));
	EXPECT_EQ(-1, first_difference(self->src.bytes + 700,
				       self->dst.bytes + 8192, 800));
}

TEST_F(stream, a_cancelled_transfer_says_how_many_bytes_had_come)
{
	struct engine_share moved = { RX0, stream_read("bytes", RX0) + 5000 };
	struct dray_point point;

	NEED_KNOB("join");
	/* packets without an end */
	ASSERT_EQ(0, stream_knob("join", 100));
	ASSERT_EQ(0, stream_open(self, 1));
	ASSERT_EQ(1, stream_receive(self, 0, 8192));
	ASSERT_EQ(1, stream_send(self, 0, 5000));
	ASSERT_TRUE(wait_for(engine_has_moved, &moved));
	EXPECT_EQ(1, stream_cancel(self, RX0, 0));
	ASSERT_EQ(0, line_wait(&self->rx, 1, &point));
	EXPECT_EQ(-ECANCELED, point.status);
	EXPECT_EQ(stream_is_coarse() ? 0 : 5000, point.bytes);
	EXPECT_EQ(-1, first_difference(self->src.bytes, self->dst.bytes, 5000));
	ASSERT_EQ(0, stream_knob("join", 0));
	EXPECT_EQ(0, stream_passes(self));
}

/* Of several that the engine has: those before it got packets, maybe unreported. */
TEST_F(stream, one_in_the_middle_of_its_packet_does_not_start_again)
{
	static const struct {
		uint32_t batch;
		int whole; /* packets before */
	} cases[] = { { 1, 0 }, { 3, 0 }, { 3, 1 }, { 3, 2 } };
	struct dray_point point;

	NEED_KNOB("join");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct engine_share moved = { RX0, stream_read("bytes", RX0) };
		int whole = cases[i].whole;
		int64_t number = 0, sent;

		ASSERT_EQ(0, stream_open(self, cases[i].batch));
		for (int j = 0; j < whole + 2; j++)
			number = stream_receive(self, j * 8192, 8192);
		ASSERT_LT(whole + 1, number);
		ASSERT_TRUE(engine_gets(RX0, whole + 2));
		for (int j = 0; j < whole; j++)
			ASSERT_LT(0, stream_send(self, 0, 1000));
		moved.count += whole * 1000;
		ASSERT_TRUE(wait_for(engine_has_moved, &moved));
		ASSERT_EQ(0, stream_knob("join", 100));
		ASSERT_LT(0, stream_send(self, 0, 3000));
		moved.count += 3000;
		ASSERT_TRUE(wait_for(engine_has_moved, &moved));
		EXPECT_EQ(1, stream_cancel(self, RX0, number));
		EXPECT_EQ(-ECANCELED, line_status(&self->rx, number));
		/* the packet's end, to nobody */
		ASSERT_EQ(0, stream_knob("join", 0));
		sent = stream_send(self, 3000, 2000);
		ASSERT_EQ(2000, line_bytes(&self->tx, sent));
		ASSERT_EQ(0, line_wait(&self->rx, number - 1, &point));
		EXPECT_EQ(-ECONNRESET, point.status);
		EXPECT_GE(3000, point.bytes);
		ASSERT_EQ(0, stream_empty(self));
		EXPECT_EQ(0, stream_passes(self));
		line_close(&self->rx);
		line_close(&self->tx);
	}
}

/* The engine is asked how far it is, and then stopped. */
TEST_F(stream, a_packet_that_comes_before_a_stop_is_not_lost)
{
	struct engine_share asked = { RX0, stream_read("asked", RX0) };

	NEED_KNOB("ask");
	SKIP_IF(stream_read("axidma", 0) == 1, "this engine cannot pause");
	ASSERT_EQ(0, stream_open(self, 2));
	ASSERT_EQ(1, stream_receive(self, 0, 4096));
	ASSERT_EQ(2, stream_receive(self, 4096, 4096));
	ASSERT_TRUE(engine_gets(RX0, 2));
	ASSERT_EQ(0, stream_knob("ask", 1u << RX0));
	ASSERT_EQ(1, stream_cancel(self, RX0, 2));
	ASSERT_TRUE(wait_for(engine_was_asked, &asked));
	/* a packet without an end yet */
	ASSERT_EQ(0, stream_knob("join", 100));
	ASSERT_EQ(1, stream_send(self, 0, 100));
	ASSERT_EQ(100, line_bytes(&self->tx, 1));
	ASSERT_EQ(0, stream_knob("ask", 0));
	ASSERT_EQ(-ECANCELED, line_status(&self->rx, 2));
	ASSERT_EQ(0, stream_knob("join", 0));
	ASSERT_EQ(2, stream_send(self, 100, 200));
	EXPECT_EQ(300, line_bytes(&self->rx, 1));
	EXPECT_EQ(-1, first_difference(self->src.bytes, self->dst.bytes, 300));
}

/* It would get what comes later than the packet of the other one. */
TEST_F(stream, one_that_another_has_overtaken_does_not_start_again)
{
	struct engine_share moved = { RX0, stream_read("bytes", RX0) + 180 };

	SKIP_IF(stream_read("batches", 0) != 1 || stream_read("axidma", 0) == 1,
		"this engine reports each that it has done: batches=1");
	ASSERT_EQ(0, stream_open(self, 2));
	/* The first is a batch of its own. */
	ASSERT_EQ(1, stream_receive(self, 0, 4096));
	ASSERT_TRUE(engine_gets(RX0, 1));
	for (int64_t i = 1; i < 3; i++)
		ASSERT_EQ(i + 1, stream_receive(self, i * 4096, 4096));
	ASSERT_TRUE(engine_gets(RX0, 3));
	ASSERT_EQ(1, stream_send(self, 0, 50));
	ASSERT_EQ(50, line_bytes(&self->rx, 1));
	for (int64_t i = 3; i < 5; i++)
		ASSERT_EQ(i + 1, stream_receive(self, i * 4096, 4096));
	ASSERT_TRUE(engine_gets(RX0, 4));
	/* The third is reported with the second, and the fifth with the fourth. */
	ASSERT_EQ(0, stream_knob("unfinished", 1));
	ASSERT_EQ(0, stream_knob("late_ms", 1000));
	ASSERT_EQ(2, stream_send(self, 0, 60));
	ASSERT_TRUE(engine_gets(RX0, 2));
	ASSERT_EQ(3, stream_send(self, 60, 70));
	ASSERT_TRUE(wait_for(engine_has_moved, &moved));
	EXPECT_EQ(60, line_bytes(&self->rx, 2));
	EXPECT_EQ(70, line_bytes(&self->rx, 4));
	ASSERT_EQ(4, stream_send(self, 130, 80));
	EXPECT_EQ(-ECONNRESET, line_status(&self->rx, 3));
	ASSERT_EQ(80, line_bytes(&self->rx, 5));
	EXPECT_EQ(-1, first_difference(self->src.bytes + 130,
				       self->dst.bytes + 4 * 4096, 80));
}

TEST_F(stream, room_for_one_that_waited_behind_a_silent_one_is_asked_for_anew)
{
	struct dray_wait wait = { .number = 1 };

	NEED_KNOB("slots");
	ASSERT_EQ(0, write_text(WATCHDOG, "200"));
	ASSERT_EQ(0, line_open(self->node, RX0, 1, &self->rx));
	ASSERT_EQ(0, stream_knob("slots", 1));
	ASSERT_EQ(1, stream_receive(self, 0, 4096));
	ASSERT_EQ(2, stream_receive(self, 4096, 4096));
	ASSERT_TRUE(engine_gets(RX0, 1));
	wait.until_ns = now_ns() + 500 * MILLISECOND;
	ASSERT_EQ(-ETIME, line_call(&self->rx, &wait));
	ASSERT_EQ(0, stream_knob("slots", 0));
	ASSERT_EQ(0, stream_text("inject", "0 64"));
	EXPECT_EQ(64, line_bytes(&self->rx, 1));
	wait.number = 2;
	wait.until_ns = now_ns() + 50 * MILLISECOND;
	EXPECT_EQ(-ETIME, line_call(&self->rx, &wait));
	ASSERT_EQ(0, stream_knob("slots", 64));
	ASSERT_EQ(0, stream_text("inject", "0 64"));
	EXPECT_EQ(64, line_bytes(&self->rx, 2));
	ASSERT_EQ(0, write_text(WATCHDOG, "10000"));
}

TEST_F(stream, all_are_cancelled_by_their_opener_alone)
{
	struct line other_line;
	int mine = self->node;
	int64_t i;

	SKIP_IF(stream_read("axidma", 0) == 1,
		"this engine stops all of its channels together");
	OPEN_NODE(other);
	ASSERT_EQ(0, stream_open(self, 8));
	ASSERT_EQ(0, line_open(other, RX1, 1, &other_line));
	self->node = other;
	{
		struct dray_transfer transfer = RECV_OF(self->dst.fd, 0, 100);
		struct dray_submit submit;

		ASSERT_EQ(0,
			  stream_submit(self, RX1, &transfer, 1, 0, &submit));
	}
	self->node = mine;
	for (i = 0; i < 20; i++)
		ASSERT_EQ(i + 1, stream_receive(self, i * 100, 100));
	EXPECT_EQ(20, stream_cancel(self, DRAY_CHANNEL_ANY, 0));
	for (i = 0; i < 20; i++)
		EXPECT_EQ(-ECANCELED, line_status(&self->rx, i + 1));
	EXPECT_EQ(0, other_line.head->published);
	ASSERT_EQ(0, stream_text("inject", "1 64"));
	EXPECT_EQ(64, line_bytes(&other_line, 1));
	EXPECT_EQ(0, stream_passes(self));
	line_close(&other_line);
	close(other);
}

TEST_F(stream, a_fence_names_what_is_cancelled)
{
	struct dray_transfer transfer = RECV_OF(self->dst.fd, 0, 100);
	struct dray_cancel cancel = { 0 };
	struct dray_submit submit;

	ASSERT_EQ(0, stream_open(self, 1));
	ASSERT_EQ(0, stream_submit(self, RX0, &transfer, 1,
				   DRAY_MAX_FENCE_DEADLINE, &submit));
	EXPECT_EQ(0, fence_status(submit.fence_fd));
	cancel.fence_fd = submit.fence_fd;
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_CANCEL, &cancel));
	EXPECT_EQ(1, cancel.count);
	EXPECT_EQ(-ECANCELED, fence_wait(submit.fence_fd));
	EXPECT_EQ(-ECANCELED, line_status(&self->rx, 1));
	EXPECT_EQ(0, stream_passes(self));
}

/* Does no fence of a writer keep others from reading the buffer? */
static bool buffer_is_free(const struct buffer *buffer, int milliseconds)
{
	struct pollfd poller = { .fd = buffer->fd, .events = POLLIN };

	return poll(&poller, 1, milliseconds) == 1 && poller.revents == POLLIN;
}

/* They have no limit of their own. */
TEST_F(stream, other_drivers_wait_only_for_a_near_deadline)
{
	static const struct {
		uint64_t deadline_ns;
		bool waits;
	} cases[] = { { 0, false },
		      { DRAY_MAX_FENCE_DEADLINE, true },
		      { DRAY_MAX_FENCE_DEADLINE + 1, false },
		      { DRAY_MAX_DEADLINE, false } };
	struct dray_transfer transfer = RECV_OF(self->dst.fd, 0, 100);

	ASSERT_EQ(0, line_open(self->node, RX0, 1, &self->rx));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct dray_submit submit =
			SUBMIT_OF(RX0, &transfer, 1, .fence_fd = -1,
				  .flags = DRAY_SUBMIT_NO_FENCE,
				  .deadline_ns = cases[i].deadline_ns);

		ASSERT_EQ(0, node_call(self->node, DRAY_IOC_SUBMIT, &submit));
		EXPECT_EQ(!cases[i].waits, buffer_is_free(&self->dst, 0));
		EXPECT_EQ(1, stream_cancel(self, RX0, submit.point));
		EXPECT_EQ(-ECANCELED, line_status(&self->rx, submit.point));
		EXPECT_TRUE(buffer_is_free(&self->dst, DEADLINE_MS));
	}
}

TEST_F(stream, a_deadline_stops_the_engine_and_later_ones_go_on)
{
	struct dray_transfer transfer = RECV_OF(self->dst.fd, 0, 4096);
	struct dray_submit submit;
	uint64_t before = now_ns();
	struct dray_point point;

	ASSERT_EQ(0, stream_open(self, 1));
	ASSERT_EQ(0, stream_submit(self, RX0, &transfer, 1, 100 * MILLISECOND,
				   &submit));
	ASSERT_EQ(2, stream_receive(self, 8192, 4096));
	ASSERT_EQ(0, line_wait(&self->rx, 1, &point));
	EXPECT_EQ(-ETIMEDOUT, point.status);
	EXPECT_EQ(0, point.bytes);
	EXPECT_LE(before + 100 * MILLISECOND, point.time_ns);
	EXPECT_EQ(-ETIMEDOUT, fence_wait(submit.fence_fd));
	ASSERT_EQ(1, stream_send(self, 0, 4096));
	EXPECT_EQ(4096, line_bytes(&self->rx, 2));
	EXPECT_EQ(-1, first_difference(self->src.bytes, self->dst.bytes + 8192,
				       4096));
	EXPECT_EQ(-1, first_other_byte(self->dst.bytes, 4096, STREAM_GUARD));
}

TEST_F(stream, a_stalled_sender_meets_its_deadline)
{
	struct dray_transfer transfer = SEND_OF(self->src.fd, 0, 100000);
	struct dray_submit submit;
	struct dray_point point;

	NEED_KNOB("fifo");
	ASSERT_EQ(0, stream_open(self, 1));
	ASSERT_EQ(0, stream_submit(self, TX0, &transfer, 1, 100 * MILLISECOND,
				   &submit));
	ASSERT_EQ(0, line_wait(&self->tx, 1, &point));
	EXPECT_EQ(-ETIMEDOUT, point.status);
	/* as much as there is room for on the way */
	EXPECT_EQ(stream_is_coarse() ? 0 : 16384, point.bytes);
	EXPECT_EQ(-ETIMEDOUT, fence_wait(submit.fence_fd));
	ASSERT_EQ(0, stream_knob("empty", 1));
	EXPECT_EQ(0, stream_passes(self));
}

TEST_F(stream, a_deadline_of_one_that_is_done_does_nothing)
{
	struct dray_transfer transfer = RECV_OF(self->dst.fd, 0, 100);
	struct dray_submit submit;

	ASSERT_EQ(0, stream_open(self, 1));
	ASSERT_EQ(0, stream_submit(self, RX0, &transfer, 1, 200 * MILLISECOND,
				   &submit));
	ASSERT_EQ(1, stream_send(self, 0, 100));
	EXPECT_EQ(1, fence_wait(submit.fence_fd));
	ASSERT_EQ(2, stream_receive(self, 0, 100));
	usleep(300000);
	EXPECT_EQ(1, line_completed(&self->rx));
	ASSERT_EQ(2, stream_send(self, 0, 100));
	EXPECT_EQ(100, line_bytes(&self->rx, 2));
}

TEST_F(stream, a_callback_that_is_late_or_lost_hangs_nobody)
{
	struct dray_transfer transfer = RECV_OF(self->dst.fd, 0, 4096);
	struct dray_submit submit;
	struct dray_point point;

	NEED_KNOB("late_ms");
	ASSERT_EQ(0, stream_open(self, 1));
	ASSERT_EQ(0, stream_knob("late_ms", 100));
	EXPECT_EQ(0, stream_passes(self));
	ASSERT_EQ(0, stream_knob("late_ms", 0));
	ASSERT_EQ(0, stream_knob("lose", 1u << RX0));
	ASSERT_EQ(0, stream_submit(self, RX0, &transfer, 1, 200 * MILLISECOND,
				   &submit));
	ASSERT_EQ(2, stream_send(self, 0, 100));
	ASSERT_EQ(0, line_wait(&self->rx, 2, &point));
	/* nobody knows how much has come */
	EXPECT_EQ(-ETIMEDOUT, point.status);
	EXPECT_GE(100, point.bytes);
	EXPECT_EQ(-ETIMEDOUT, fence_wait(submit.fence_fd));
	ASSERT_EQ(0, stream_knob("lose", 0));
	EXPECT_EQ(0, stream_passes(self));
}

TEST_F(stream, close_ends_all_and_waits_for_the_engine)
{
	struct dray_transfer transfer = RECV_OF(self->dst.fd, 0, 4096);
	struct dray_submit submit;
	int64_t i;

	ASSERT_EQ(0, stream_open(self, 4));
	ASSERT_EQ(0, stream_submit(self, RX0, &transfer, 1,
				   DRAY_MAX_FENCE_DEADLINE, &submit));
	for (i = 1; i < 20; i++)
		ASSERT_EQ(i + 1, stream_receive(self, i * 100, 100));
	/* one that started, and a batch for it to go on with */
	ASSERT_TRUE(engine_gets(RX0, 5));
	close(self->rx.fd);
	EXPECT_EQ(0, stream_read("out", RX0));
	EXPECT_EQ(-ECANCELED, fence_status(submit.fence_fd));
	EXPECT_EQ(20, line_completed(&self->rx));
	EXPECT_EQ(-ENOTCONN, stream_receive(self, 0, 100));
	ASSERT_EQ(0, line_open(self->node, RX0, 1, &self->rx));
	EXPECT_EQ(0, stream_passes(self));
}

TEST_F(stream, the_nodes_file_may_be_closed_before_the_timeline)
{
	struct dray_point point;

	ASSERT_EQ(0, stream_open(self, 1));
	ASSERT_EQ(1, stream_receive(self, 0, 4096));
	close(self->node);
	ASSERT_EQ(0, line_wait(&self->rx, 1, &point));
	EXPECT_EQ(-ECANCELED, point.status);
	self->node = node_open();
	ASSERT_LE(0, self->node);
	line_close(&self->rx);
	line_close(&self->tx);
	ASSERT_EQ(0, stream_open(self, 1));
	EXPECT_EQ(0, stream_passes(self));
}

/* Runs until it is killed. */
static int stream_on(void *context)
{
	FIXTURE_DATA(stream) own = *(FIXTURE_DATA(stream) *)context;
	FIXTURE_DATA(stream) *self = &own;
	int64_t point = 0;

	self->node = node_open();
	if (self->node < 0 || stream_open(self, 4))
		return 1;
	for (uint64_t i = 0; point >= 0; i++) {
		if (i % 7 < 5)
			point = stream_send(self, i % 64 * 1024,
					    940 + i % 21 * 4);
		if (point >= 0)
			point = stream_receive(self, i % 64 * 1024, 1024);
	}
	return 2;
}

TEST_F(stream, a_killed_process_leaves_the_stream_to_others)
{
	for (int i = 0; i < 10; i++) {
		pid_t child = process_start(stream_on, self);

		ASSERT_LT(0, child);
		usleep(20000 + i * 5000);
		kill(child, SIGKILL);
		ASSERT_EQ(-SIGKILL, process_wait(child));
		ASSERT_EQ(0, stream_open(self, 1));
		EXPECT_EQ(0, stream_read("out", RX0));
		ASSERT_EQ(0, stream_empty(self));
		EXPECT_EQ(0, stream_passes(self));
		line_close(&self->rx);
		line_close(&self->tx);
	}
}

/* The AXI DMA's driver of later kernels does not tell where the first packet ended. */
TEST_F(stream, packets_that_join_in_one_receive_are_no_success)
{
	bool joins = stream_read("merges", 0) == 1;
	struct dray_axis axis = { .count = 2, .dst_stride = 2048 };
	struct dray_transfer pieces =
		RECV_OF(self->dst.fd, 0, 1024, .axes = (uintptr_t)&axis,
			.axes_count = 1);
	struct dray_submit submit;
	struct dray_point point;

	ASSERT_EQ(0, stream_open(self, 1));
	ASSERT_EQ(0, stream_submit(self, RX0, &pieces, 1, 0, &submit));
	ASSERT_EQ(1, stream_send(self, 0, 512));
	if (joins)
		ASSERT_EQ(2, stream_send(self, 512, 1024));
	ASSERT_EQ(0, line_wait(&self->rx, 1, &point));
	EXPECT_EQ(joins ? -EBADMSG : 0, point.status);
	EXPECT_EQ(joins ? 1536 : 512, point.bytes);
	EXPECT_EQ(-1, first_difference(self->src.bytes, self->dst.bytes, 512));
	EXPECT_EQ(-1, first_other_byte(self->dst.bytes + 512, 2048 - 512,
				       STREAM_GUARD));
	if (joins)
		EXPECT_EQ(-1, first_difference(self->src.bytes + 512,
					       self->dst.bytes + 2048, 1024));
	EXPECT_EQ(0, stream_passes(self));
}

TEST_F(stream, the_other_direction_is_reset_too)
{
	struct dray_point point;

	SKIP_IF(stream_read("axidma", 0) != 1,
		"this engine stops each direction alone: axidma=1");
	ASSERT_EQ(0, stream_open(self, 1));
	ASSERT_EQ(0, stream_knob("stall", 1u << TX0));
	ASSERT_EQ(1, stream_send(self, 0, 4096));
	ASSERT_EQ(1, stream_receive(self, 0, 4096));
	ASSERT_TRUE(engine_gets(TX0, 1) && engine_gets(RX0, 1));
	EXPECT_EQ(1, stream_cancel(self, RX0, 1));
	EXPECT_EQ(-ECANCELED, line_status(&self->rx, 1));
	ASSERT_EQ(0, line_wait(&self->tx, 1, &point));
	EXPECT_EQ(-ECONNRESET, point.status);
	EXPECT_EQ(0, point.bytes);
	ASSERT_EQ(0, stream_knob("stall", 0));
	EXPECT_EQ(0, stream_passes(self));
}
