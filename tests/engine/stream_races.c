// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Streams whose node ends beside a call, whose points come out of order, and
 * whose engine is stopped for another reason; the memory that they charge.
 */
#include <pthread.h>
#include <sys/resource.h>

#include "streams.h"

#define POINTS 128 /* the least that a timeline has */
#define DEPTH 64 /* submissions of a stream */

/* Gives the test a fresh node after the end of the old one. */
static bool stream_again(FIXTURE_DATA(stream) * self)
{
	buffer_close(&self->dst);
	buffer_close(&self->src);
	close(self->node);
	if (stream_knobs_reset() || binding_bind(&self->binding) ||
	    !wait_for(node_answers, NULL))
		return false;
	self->node = node_open();
	return self->node >= 0 &&
	       !buffer_open(self->node, DRAY_HEAP_ANY, STREAM_SIZE,
			    &self->src) &&
	       !buffer_open(self->node, DRAY_HEAP_ANY, STREAM_SIZE, &self->dst);
}

static int ring_begin(const struct line *line, struct dray_transfer *frames,
		      uint32_t count, uint32_t flags)
{
	struct dray_ring args = { .frames = (uintptr_t)frames,
				  .count = count,
				  .flags = flags };

	return ioctl(line->fd, DRAY_IOC_RING, &args) < 0 ? -errno : 0;
}

/* No later point may take the place of one that is not there yet. */
TEST_F(stream, a_silent_transfer_keeps_its_place_on_the_timeline)
{
	struct dray_transfer transfer = RECV_OF(self->dst.fd, 8192, 4096);
	struct dray_timeline args = {
		.channel = RX0, .points = POINTS, .batch = 1, .event_fd = -1
	};
	struct dray_submit submit =
		SUBMIT_OF(RX0, &transfer, 1,
			  .flags = DRAY_SUBMIT_NO_FENCE | DRAY_SUBMIT_NONBLOCK);
	uint64_t last = POINTS - DEPTH + 1;

	/* Then a cancel behind it ends it, too. */
	SKIP_IF(stream_read("blind", 0) == 1,
		"this engine tells nothing of its first transfer");
	ASSERT_EQ(0, line_open(self->node, TX0, 1, &self->tx));
	ASSERT_EQ(0, line_open_as(self->node, &args, &self->rx));
	ASSERT_EQ(1, stream_receive(self, 0, 4096));
	for (uint64_t i = 2; i <= last; i++) {
		ASSERT_EQ(0, node_call(self->node, DRAY_IOC_SUBMIT, &submit));
		ASSERT_EQ(1, stream_cancel(self, RX0, i));
		ASSERT_EQ(-ECANCELED, line_status(&self->rx, i));
	}
	EXPECT_EQ(-EAGAIN, node_call(self->node, DRAY_IOC_SUBMIT, &submit));
	EXPECT_EQ(DRAY_REASON_BUSY, submit.reason);
	ASSERT_EQ(1, stream_send(self, 0, 100));
	EXPECT_EQ(100, line_bytes(&self->rx, 1));
	EXPECT_EQ(last, line_completed(&self->rx));
	EXPECT_EQ(0, node_call(self->node, DRAY_IOC_SUBMIT, &submit));
}

TEST_F(stream, a_failed_transfer_that_is_cancelled_is_no_success)
{
	struct dray_point point;

	ASSERT_EQ(0, stream_open(self, 1));
	ASSERT_EQ(0, stream_knob("fail", 1u << RX0));
	/* Its callback comes after the cancellation. */
	ASSERT_EQ(0, stream_knob("late_ms", 3000));
	ASSERT_EQ(1, stream_receive(self, 0, 4096));
	ASSERT_EQ(1, stream_send(self, 0, 100));
	ASSERT_TRUE(engine_gets(RX0, 0));
	stream_cancel(self, RX0, 1);
	ASSERT_EQ(0, line_wait(&self->rx, 1, &point));
	EXPECT_GT(0, point.status);
	EXPECT_GE(100, point.bytes);
}

TEST_F(stream, an_overwriting_ring_ends_with_its_node)
{
	enum {
		COUNT = 4
	};
	struct dray_transfer frames[COUNT];

	for (int i = 0; i < 30; i++) {
		ASSERT_EQ(0, stream_knob("frame_bytes", SOURCE_BYTES));
		for (int k = 0; k < COUNT; k++)
			frames[k] = (struct dray_transfer)RECV_OF(
				self->dst.fd, (uint64_t)k * 4096, SOURCE_BYTES);
		ASSERT_EQ(0, line_open(self->node, SOURCE, DEPTH, &self->rx));
		ASSERT_EQ(0, stream_knob("frame_us", 1));
		ASSERT_EQ(0, ring_begin(&self->rx, frames, COUNT,
					DRAY_RING_OVERWRITE));
		ASSERT_EQ(0, line_status(&self->rx, 1 + (uint64_t)i * 7));
		ASSERT_EQ(0, binding_unbind(&self->binding));
		line_close(&self->rx);
		ASSERT_TRUE(stream_again(self));
	}
}

static void *release_both(void *data)
{
	const struct line *line = data;
	uint32_t frames[] = { 0, 1 };
	struct dray_release args = { .frames = (uintptr_t)frames, .count = 2 };

	/* It may come too late. */
	ioctl(line->fd, DRAY_IOC_RELEASE, &args);
	return NULL;
}

/* The frames' caches are maintained while the node is unbound, or not at all. */
TEST_F(stream, frames_are_released_beside_the_end_of_their_node)
{
	struct dray_axis axis = { .count = STREAM_SIZE / 128,
				  .src_stride = 128 };
	struct dray_transfer frames[2];
	pthread_t thread;

	SKIP_IF(stream_read("axidma", 0) == 1, "this engine takes few pieces");
	for (int i = 0; i < 15; i++) {
		for (int k = 0; k < 2; k++)
			frames[k] = (struct dray_transfer)SEND_OF(
				self->src.fd, 0, 1, .axes = (uintptr_t)&axis,
				.axes_count = 1);
		ASSERT_EQ(0, line_open(self->node, TX0, 1, &self->tx));
		ASSERT_EQ(0, stream_knob("stall", 1u << TX0));
		ASSERT_EQ(0, ring_begin(&self->tx, frames, 2, 0));
		ASSERT_EQ(0, pthread_create(&thread, NULL, release_both,
					    &self->tx));
		ASSERT_EQ(0, binding_unbind(&self->binding));
		pthread_join(thread, NULL);
		line_close(&self->tx);
		ASSERT_TRUE(stream_again(self));
	}
}

TEST_F(stream, reopening_a_dead_direction_tells_the_other)
{
	struct dray_transfer transfer = SEND_OF(self->src.fd, 0, 131072);
	struct dray_submit submit;

	SKIP_IF(stream_read("axidma", 0) != 1,
		"this engine stops each direction alone: axidma=1");
	self->loses = true;
	ASSERT_EQ(0, stream_open(self, 1));
	ASSERT_EQ(1, stream_receive(self, 0, 4096));
	ASSERT_TRUE(engine_gets(RX0, 1));
	ASSERT_EQ(0, stream_knob("stubborn", 1u << RX0));
	EXPECT_EQ(1, stream_cancel(self, RX0, 1));
	EXPECT_EQ(-EIO, line_status(&self->rx, 1));
	ASSERT_EQ(0, stream_knob("stubborn", 0));
	ASSERT_EQ(0, stream_submit(self, TX0, &transfer, 1, 0, &submit));
	ASSERT_TRUE(engine_gets(TX0, 1));
	ASSERT_EQ(0, write_text("/sys/class/misc/dray0/reopen", "1"));
	EXPECT_EQ(-ECONNRESET, line_status(&self->tx, submit.point));
}

/* A driver may wait long for its engine, which serves another user. */
TEST_F(stream, a_stop_that_lasts_holds_up_no_other_stream)
{
	struct dray_transfer frames[2], sends = SEND_OF(self->src.fd, 0, 4096);
	struct dray_transfer receives = RECV_OF(self->dst.fd, 65536, 4096);
	long stops = stream_read("terminated", RX0);
	struct dray_submit submit;
	struct dray_point point;
	struct line tx, rx;

	NEED_KNOB("hold");
	SKIP_IF(stream_read("siblings", 0) == 1,
		"this engine stops all of its channels together");
	for (int i = 0; i < 2; i++)
		frames[i] = (struct dray_transfer)RECV_OF(
			self->dst.fd, 32768 + (uint64_t)i * 4096, 4096);
	ASSERT_EQ(0, line_open(self->node, RX0, 1, &self->rx));
	ASSERT_EQ(0, line_open(self->node, TX1, 1, &tx));
	ASSERT_EQ(0, line_open(self->node, RX1, 1, &rx));
	ASSERT_EQ(1, stream_receive(self, 0, 4096));
	ASSERT_TRUE(engine_gets(RX0, 1));
	ASSERT_EQ(0, stream_knob("hold", 1u << RX0));
	ASSERT_EQ(1, stream_cancel(self, RX0, 1));
	while (stream_read("terminated", RX0) == stops)
		usleep(1000);
	for (uint64_t i = 1; i <= 20; i++) {
		ASSERT_EQ(0,
			  stream_submit(self, RX1, &receives, 1, 0, &submit));
		ASSERT_EQ(0, stream_submit(self, TX1, &sends, 1, 0, &submit));
		ASSERT_EQ(0, line_wait(&rx, i, &point));
		EXPECT_EQ(4096, point.bytes);
	}
	/* A ring and the end of a stream do not wait either. */
	ASSERT_EQ(0, ring_begin(&rx, frames, 2, 0));
	line_close(&rx);
	line_close(&tx);
	EXPECT_EQ(0, line_completed(&self->rx));
	ASSERT_EQ(0, stream_knob("hold", 0));
	EXPECT_EQ(-ECANCELED, line_status(&self->rx, 1));
}

/* Whoever may lock no memory gets no large table of pieces in the kernel. */
TEST_F(stream, pieces_are_locked_memory)
{
	struct dray_axis axis = { .count = 65536, .src_stride = 2 };
	struct dray_transfer frames[2];
	struct dray_submit submit =
		SUBMIT_OF(TX0, frames, 1,
			  .flags = DRAY_SUBMIT_NO_FENCE | DRAY_SUBMIT_NONBLOCK);
	struct rlimit none = { 0, 0 };

	SKIP_IF(stream_read("axidma", 0) == 1, "this engine takes few pieces");
	for (int i = 0; i < 2; i++)
		frames[i] =
			(struct dray_transfer)SEND_OF(self->src.fd, 0, 1,
						      .axes = (uintptr_t)&axis,
						      .axes_count = 1);
	ASSERT_EQ(0, stream_open(self, 1));
	ASSERT_EQ(0, stream_knob("stall", 1u << TX0));
	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &none));
	ASSERT_EQ(0, setresuid(1000, 1000, 1000));
	EXPECT_EQ(-ENOMEM, node_call(self->node, DRAY_IOC_SUBMIT, &submit));
	EXPECT_EQ(DRAY_REASON_MEMLOCK, submit.reason);
	axis.dst_stride = axis.src_stride;
	axis.src_stride = 0;
	for (int i = 0; i < 2; i++)
		frames[i] = (struct dray_transfer)RECV_OF(
			self->dst.fd, (uint64_t)i * 131072, 1,
			.axes = (uintptr_t)&axis, .axes_count = 1);
	EXPECT_EQ(-ENOMEM, ring_begin(&self->rx, frames, 2, 0));
}

/* Each frame is small, but a thousand of them are not. */
TEST_F(stream, all_memory_of_a_ring_is_locked_memory)
{
	static struct dray_transfer frames[DRAY_MAX_FRAMES];
	static struct dray_axis axes[30];
	struct dray_ring args = { .frames = (uintptr_t)frames,
				  .count = DRAY_MAX_FRAMES };
	struct rlimit limit = { 4 << 20, 4 << 20 };

	for (size_t i = 0; i < ARRAY_SIZE(axes); i++)
		axes[i] = (struct dray_axis){ .count = 1 };
	axes[0] = (struct dray_axis){ .count = 110, .src_stride = 64 };
	for (uint64_t i = 0; i < DRAY_MAX_FRAMES; i++)
		frames[i] = (struct dray_transfer)SEND_OF(
			self->src.fd, i * 64, 16, .axes = (uintptr_t)axes,
			.axes_count = ARRAY_SIZE(axes));
	ASSERT_EQ(0, line_open(self->node, TX0, 1, &self->tx));
	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &limit));
	ASSERT_EQ(0, setresuid(1000, 1000, 1000));
	EXPECT_GT(0, ioctl(self->tx.fd, DRAY_IOC_RING, &args));
	EXPECT_EQ(DRAY_REASON_MEMLOCK, args.reason);
	EXPECT_EQ(limit.rlim_cur, args.limit);
	args.count = 64;
	EXPECT_EQ(0, ioctl(self->tx.fd, DRAY_IOC_RING, &args));
}
