// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Rows that an engine repeats until others replace them: display0 shows them, tx1
 * sends them.  Each vertical sync is the test's own.
 */
#include <signal.h>

#include "streams.h"

#define ROW 96
#define ROWS 16
#define STRIDE 256
#define PERIOD 4096

#define SHOW_OF(from, at, bytes, ...)                               \
	{                                                           \
		.op = DRAY_OP_SHOW, .dst_fd = -1, .src_fd = (from), \
		.src_offset = (at), .run = (bytes), __VA_ARGS__     \
	}

static int sync_once(void)
{
	return stream_knob("sync", 1);
}

/* The point's number, or a negative errno. */
static int64_t show_for(FIXTURE_DATA(stream) * self, uint64_t at,
			uint64_t deadline_ns, int *fence)
{
	const struct dray_axis axis = { .count = ROWS, .src_stride = STRIDE };
	const struct dray_transfer transfer =
		SHOW_OF(self->src.fd, at, ROW, .axes = (uintptr_t)&axis,
			.axes_count = 1);
	struct dray_submit submit;
	int ret = stream_submit(self, TX0, &transfer, 1, deadline_ns, &submit);

	if (fence)
		*fence = submit.fence_fd;
	return ret ? ret : (int64_t)submit.point;
}

static int64_t show(FIXTURE_DATA(stream) * self, uint64_t at)
{
	return show_for(self, at, 0, NULL);
}

static int64_t send_period(FIXTURE_DATA(stream) * self, uint64_t at)
{
	const struct dray_transfer transfer = SEND_OF(self->src.fd, at, PERIOD);
	struct dray_submit submit;
	int ret = stream_submit(self, TX1, &transfer, 1, 0, &submit);

	return ret ? ret : (int64_t)submit.point;
}

/* Has the engine read these rows at the last sync? */
static bool shows(FIXTURE_DATA(stream) * self, uint64_t at)
{
	uint32_t sum = 0;

	for (uint64_t row = 0; row < ROWS; row++)
		for (uint64_t i = 0; i < ROW; i++)
			sum = sum * 31 + self->src.bytes[at + row * STRIDE + i];
	return (uint32_t)stream_read("shown", TX0) == sum;
}

static int open_display(FIXTURE_DATA(stream) * self)
{
	return line_open(self->node, TX0, 1, &self->tx);
}

TEST_F(stream, rows_stay_until_others_replace_them)
{
	struct dray_point point;

	ASSERT_EQ(0, open_display(self));
	for (uint64_t i = 1; i < 20; i++) {
		ASSERT_EQ((int64_t)i, show(self, i * 64));
		ASSERT_TRUE(engine_gets(TX0, i > 1 ? 2 : 1));
		EXPECT_EQ(-EAGAIN, line_read(&self->tx, i - (i > 1), &point));
		ASSERT_EQ(0, sync_once());
		EXPECT_TRUE(shows(self, i * 64));
		if (i > 1)
			EXPECT_EQ(ROW * ROWS, line_bytes(&self->tx, i - 1));
		ASSERT_EQ(0, stream_knob("sync", i % 3));
		EXPECT_TRUE(shows(self, i * 64));
	}
	EXPECT_EQ(0, self->tx.head->held_back);
	EXPECT_EQ(18, line_completed(&self->tx));
	line_close(&self->tx);
	EXPECT_EQ(0, stream_read("out", TX0));
}

/* The status tells a replacement before its callback comes. */
TEST_F(stream, late_callbacks_harm_nothing)
{
	ASSERT_EQ(0, stream_knob("late_ms", 20));
	ASSERT_EQ(0, open_display(self));
	for (uint64_t i = 1; i < 30; i++) {
		ASSERT_EQ((int64_t)i, show(self, i * 64));
		ASSERT_TRUE(engine_gets(TX0, i > 1 ? 2 : 1));
		ASSERT_EQ(0, stream_knob("sync", 1 + i % 2));
	}
	EXPECT_EQ(0, line_status(&self->tx, 28));
	ASSERT_EQ(30, show(self, 0));
	line_close(&self->tx);
	EXPECT_EQ(0, stream_read("out", TX0));
}

struct repeated {
	const struct line *line;
	uint64_t count;
};

static bool has_repeated(void *data)
{
	const struct repeated *repeated = data;

	return __atomic_load_n(&repeated->line->head->held_back,
			       __ATOMIC_RELAXED) == repeated->count;
}

TEST_F(stream, repetitions_of_a_period_are_counted_if_the_writer_is_late)
{
	struct repeated repeated = { &self->tx, 3 };

	ASSERT_EQ(0, line_open(self->node, TX1, 1, &self->tx));
	ASSERT_EQ(1, send_period(self, 0));
	ASSERT_TRUE(engine_gets(TX1, 1));
	ASSERT_EQ(0, stream_knob("sync", 4)); /* begins, and repeats */
	ASSERT_TRUE(wait_for(has_repeated, &repeated));
	/* Those in time are no repetitions. */
	for (uint64_t i = 2; i < 20; i++) {
		ASSERT_EQ((int64_t)i, send_period(self, i * PERIOD));
		ASSERT_TRUE(engine_gets(TX1, 2));
		ASSERT_EQ(0, sync_once());
		EXPECT_EQ(PERIOD, line_bytes(&self->tx, i - 1));
	}
	EXPECT_EQ(3, self->tx.head->held_back);
	repeated.count = 8;
	for (int i = 0; i < 5; i++)
		ASSERT_EQ(0, sync_once());
	EXPECT_TRUE(wait_for(has_repeated, &repeated));
	line_close(&self->tx);
}

TEST_F(stream, cancelling_ends_what_is_shown_and_what_waits)
{
	ASSERT_EQ(0, open_display(self));
	for (int i = 1; i < 4; i++)
		ASSERT_EQ(i, show(self, 0));
	ASSERT_TRUE(engine_gets(TX0, 2));
	ASSERT_EQ(0, sync_once());
	EXPECT_EQ(1, stream_cancel(self, TX0, 1));
	EXPECT_EQ(-ECANCELED, line_status(&self->tx, 1));
	/* The others go on. */
	ASSERT_TRUE(engine_gets(TX0, 2));
	ASSERT_EQ(0, stream_knob("sync", 2));
	EXPECT_EQ(0, line_status(&self->tx, 2));
	EXPECT_EQ(1, stream_cancel(self, TX0, 0));
	EXPECT_EQ(-ECANCELED, line_status(&self->tx, 3));
	EXPECT_EQ(0, stream_read("out", TX0));
	line_close(&self->tx);
}

TEST_F(stream, a_fence_of_what_is_shown_ends_by_its_deadline)
{
	int fences[2];

	ASSERT_EQ(0, open_display(self));
	ASSERT_EQ(1, show_for(self, 0, DRAY_MAX_FENCE_DEADLINE, &fences[0]));
	ASSERT_EQ(2, show_for(self, 64, 100 * MILLISECOND, &fences[1]));
	ASSERT_TRUE(engine_gets(TX0, 2));
	ASSERT_EQ(0, stream_knob("sync", 2));
	EXPECT_EQ(1, fence_wait(fences[0]));
	EXPECT_EQ(-ETIMEDOUT, fence_wait(fences[1]));
	EXPECT_EQ(-ETIMEDOUT, line_status(&self->tx, 2));
	close(fences[0]);
	close(fences[1]);
	line_close(&self->tx);
}

static int show_and_die(void *data)
{
	FIXTURE_DATA(stream) self = *(FIXTURE_DATA(stream) *)data;

	self.node = node_open();
	if (self.node < 0 || open_display(&self) || show(&self, 0) != 1 ||
	    show(&self, 64) != 2 || !engine_gets(TX0, 2) || sync_once())
		return 1;
	raise(SIGKILL);
	return 1;
}

TEST_F(stream, a_killed_program_leaves_the_display_to_others)
{
	for (int i = 0; i < 10; i++)
		ASSERT_EQ(-SIGKILL, process_run(show_and_die, self));
	EXPECT_EQ(0, stream_read("out", TX0));
	ASSERT_EQ(0, open_display(self));
	ASSERT_EQ(1, show(self, 0));
	ASSERT_TRUE(engine_gets(TX0, 1));
	ASSERT_EQ(0, sync_once());
	EXPECT_TRUE(shows(self, 0));
	line_close(&self->tx);
}

TEST_F(stream, the_end_of_the_node_or_engine_ends_what_is_shown)
{
	const char *const ends[][2] = {
		{ self->binding.driver, self->binding.device },
		{ STREAM_DRIVER, STREAM_ENGINE },
	};

	for (size_t i = 0; i < 2; i++) {
		ASSERT_EQ(0, open_display(self));
		ASSERT_EQ(1, show(self, 0));
		ASSERT_EQ(2, show(self, 64));
		ASSERT_TRUE(engine_gets(TX0, 2));
		ASSERT_EQ(0, sync_once());
		ASSERT_EQ(0, write_name(ends[i][0], "unbind", ends[i][1]));
		EXPECT_TRUE(node_is_gone(NULL));
		EXPECT_EQ(-ENODEV, line_status(&self->tx, 1));
		EXPECT_EQ(-ENODEV, line_status(&self->tx, 2));
		line_close(&self->tx);
		close(self->node);
		if (i == 1)
			ASSERT_EQ(0,
				  write_name(ends[1][0], "bind", ends[1][1]));
		ASSERT_EQ(0, write_name(ends[0][0], "bind", ends[0][1]));
		ASSERT_TRUE(wait_for(node_answers, NULL));
		self->node = node_open();
		ASSERT_LE(0, self->node);
	}
}

TEST_F(stream, what_is_shown_comes_back_after_sleep)
{
	ASSERT_EQ(0, open_display(self));
	ASSERT_EQ(1, show(self, 0));
	ASSERT_TRUE(engine_gets(TX0, 1));
	ASSERT_EQ(0, sync_once());
	ASSERT_EQ(0, write_text(STREAM_ASLEEP, "1"));
	EXPECT_EQ(0, stream_read("out", TX0));
	EXPECT_EQ(0, line_completed(&self->tx));
	ASSERT_EQ(0, write_text(STREAM_ASLEEP, "0"));
	ASSERT_TRUE(engine_gets(TX0, 1));
	ASSERT_EQ(2, show(self, 64));
	ASSERT_TRUE(engine_gets(TX0, 2));
	ASSERT_EQ(0, stream_knob("sync", 2));
	EXPECT_EQ(0, line_status(&self->tx, 1));
	EXPECT_TRUE(shows(self, 64));
	line_close(&self->tx);
}

TEST_F(stream, an_engine_that_shows_on_keeps_its_memory)
{
	struct dray_channel_info channel;

	self->loses = true;
	ASSERT_EQ(0, open_display(self));
	ASSERT_EQ(1, show(self, 0));
	ASSERT_TRUE(engine_gets(TX0, 1));
	ASSERT_EQ(0, sync_once());
	ASSERT_EQ(0, stream_knob("stubborn", 1u << TX0));
	EXPECT_EQ(1, stream_cancel(self, TX0, 1));
	EXPECT_EQ(-EIO, line_status(&self->tx, 1));
	ASSERT_EQ(0, node_channel(self->node, TX0, &channel));
	EXPECT_TRUE(channel.flags & DRAY_CHANNEL_DEAD);
	EXPECT_EQ(-EIO, show(self, 0));
	ASSERT_EQ(0, stream_knob("stubborn", 0));
	line_close(&self->tx);
}

TEST_F(stream, a_receiver_that_cannot_receive_is_no_channel)
{
	struct line line;

	EXPECT_EQ(-EBUSY, line_open(self->node, RX0, 1, &line));
	EXPECT_EQ(DRAY_REASON_CHANNEL, line.reason);
}
