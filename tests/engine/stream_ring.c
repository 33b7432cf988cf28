// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Rings: frames of a numbered source that never stops, read in time and late,
 * held back and overwritten; rings that send; and each argument that may be
 * wrong.
 */
#include <pthread.h>

#include "../selftests/attach.h"
#include "../selftests/fdinfo.h"
#include "../selftests/foreign.h"
#include "../selftests/maintenance.h"
#include "../selftests/tracing.h"
#include "streams.h"

#define FRAME 4096u
#define FRAMES 8u
#define FRAME_US "20"

/* Stands for the file descriptor of the buffer in a table. */
#define DST (-101)

struct ring {
	struct line line;
	uint8_t *bytes; /* of the frames, one behind the other */
	uint64_t lost; /* frames, before the reader is late */
};

static int ring_call(const struct line *line, struct dray_ring *args)
{
	return ioctl(line->fd, DRAY_IOC_RING, args) < 0 ? -errno : 0;
}

/* Opens the channel with frames one behind the other in @buffer. */
static int ring_open(int node, uint32_t channel, uint32_t flags,
		     const struct buffer *buffer, struct ring *ring)
{
	struct dray_transfer frames[FRAMES];
	struct dray_ring args = { .frames = (uintptr_t)frames,
				  .count = FRAMES,
				  .flags = flags };
	int ret;

	for (uint32_t i = 0; i < FRAMES; i++) {
		struct dray_transfer send =
			SEND_OF(buffer->fd, (uint64_t)i * FRAME, FRAME);
		struct dray_transfer receive =
			RECV_OF(buffer->fd, (uint64_t)i * FRAME, FRAME);

		frames[i] = channel % 2 ? receive : send;
	}
	ring->bytes = buffer->bytes;
	ret = line_open(node, channel, 2, &ring->line);
	return ret ? ret : ring_call(&ring->line, &args);
}

static int ring_pass(const struct ring *ring, struct dray_release *args)
{
	return ioctl(ring->line.fd, DRAY_IOC_RELEASE, args) < 0 ? -errno : 0;
}

static int ring_release(const struct ring *ring, uint32_t frame)
{
	struct dray_release args = { .frames = (uintptr_t)&frame, .count = 1 };

	return ring_pass(ring, &args);
}

/* The number that the source gave the frame, -1 if the frame is torn. */
static int64_t frame_number(const struct ring *ring, uint32_t frame)
{
	const uint8_t *bytes = ring->bytes + (size_t)frame * FRAME;
	uint64_t number;

	memcpy(&number, bytes, sizeof(number));
	for (size_t i = sizeof(number); i < FRAME; i++)
		if (bytes[i] != (uint8_t)(number + i))
			return -1;
	return (int64_t)number;
}

static int source_begins(void)
{
	char bytes[16];
	int ret;

	snprintf(bytes, sizeof(bytes), "%u", FRAME);
	ret = stream_text("frame_bytes", bytes);
	return ret ? ret : stream_text("frame_us", FRAME_US);
}

/* For wait_for(): does the ring hold its stream back? */
static bool ring_is_full(void *context)
{
	const struct ring *ring = context;

	return __atomic_load_n(&ring->line.head->held_back, __ATOMIC_RELAXED) >
	       0;
}

/* DRAY_TEST_FRAMES of the environment, or 1000. */
static uint64_t frames_to_see(void)
{
	const char *text = getenv("DRAY_TEST_FRAMES");

	return text ? strtoull(text, NULL, 10) : 1000;
}

/* For wait_for(): have frames been overwritten? */
static bool ring_loses(void *context)
{
	const struct ring *ring = context;

	return __atomic_load_n(&ring->line.head->lost, __ATOMIC_RELAXED) >
	       ring->lost + 3;
}

/* Compares a key of the stream in fdinfo with what the channel tells. */
static bool ring_is_told(int node, const struct dray_channel_info *channel,
			 const struct ring *ring)
{
	const struct dray_timeline_head *head = ring->line.head;
	char key[64], told[256], expected[256];

	snprintf(key, sizeof(key), "dray-stream-%s", channel->name);
	snprintf(
		expected, sizeof(expected),
		"packets %llu bytes %llu lost %llu held-back %llu ready %u frames %u",
		(unsigned long long)head->published,
		(unsigned long long)head->published * FRAME,
		(unsigned long long)head->lost,
		(unsigned long long)head->held_back, channel->ring_ready,
		channel->ring_frames);
	if (!fdinfo_text(node, key, told, sizeof(told)))
		return false;
	if (strcmp(expected, told))
		fprintf(stderr, "# %s, not %s\n", told, expected);
	return !strcmp(expected, told);
}

TEST_F(stream, a_ring_that_is_full_is_told)
{
	struct dray_channel_info before, info;
	struct dray_point point;
	struct ring ring;

	ASSERT_EQ(0, node_channel(self->node, RX1, &before));
	EXPECT_EQ(0, before.ring_frames);
	ASSERT_EQ(0, ring_open(self->node, RX1, 0, &self->dst, &ring));
	ASSERT_EQ(0, node_channel(self->node, RX1, &info));
	EXPECT_EQ(FRAMES, info.ring_frames);
	EXPECT_EQ(0, info.ring_ready);
	ASSERT_EQ(0, source_begins());
	ASSERT_TRUE(wait_for(ring_is_full, &ring));
	ASSERT_EQ(0, node_channel(self->node, RX1, &info));
	EXPECT_EQ(FRAMES, info.ring_ready);
	EXPECT_EQ(before.packets + FRAMES, info.packets);
	EXPECT_EQ(before.held_back + 1, info.held_back);
	EXPECT_EQ(before.lost, info.lost);
	EXPECT_TRUE(ring_is_told(self->node, &info, &ring));
	ASSERT_EQ(0, stream_knob("frame_us", 0));
	for (uint64_t i = 1; i < FRAMES; i++) {
		ASSERT_EQ(0, line_wait(&ring.line, i, &point));
		ASSERT_EQ(0, ring_release(&ring, point.frame));
	}
	line_close(&ring.line);
	ASSERT_EQ(0, node_channel(self->node, RX1, &info));
	EXPECT_EQ(0, info.ring_frames);
	EXPECT_EQ(0, info.ring_ready);
	EXPECT_LE(before.packets + FRAMES, info.packets);
}

TEST_F(stream, frames_of_a_ring_come_whole_and_in_order)
{
	struct dray_point point;
	struct ring ring;
	int64_t first = 0;

	ASSERT_EQ(0, ring_open(self->node, RX1, 0, &self->dst, &ring));
	ASSERT_EQ(0, source_begins());
	for (uint64_t i = 1; i <= 2 * frames_to_see(); i++) {
		if (i % 400 == 0)
			ASSERT_TRUE(wait_for(ring_is_full, &ring));
		ASSERT_EQ(0, line_wait(&ring.line, i, &point));
		ASSERT_EQ(0, point.status);
		ASSERT_EQ(FRAME, point.bytes);
		ASSERT_GT(FRAMES, point.frame);
		if (i == 1)
			first = frame_number(&ring, point.frame);
		ASSERT_LE(0, first);
		ASSERT_EQ(first + (int64_t)i - 1,
			  frame_number(&ring, point.frame));
		ASSERT_EQ(0, ring_release(&ring, point.frame));
	}
	EXPECT_EQ(0, ring.line.head->lost);
	line_close(&ring.line);
}

/* None is torn or comes twice, and as many are missing as were counted. */
TEST_F(stream, a_late_reader_loses_the_oldest_frames)
{
	struct dray_point points[FRAMES / 2];
	uint32_t frames[FRAMES / 2];
	struct dray_release args = { .room = FRAMES / 2,
				     .points = (uintptr_t)points };
	int64_t last = stream_read("frames", 0) - 1, number;
	struct dray_channel_info before, info;
	uint64_t seen = 0, missing = 0, most = frames_to_see(), late = 0;
	/* An engine that makes batches reports the last of them only if it is full. */
	int64_t silent = stream_read("batches", 0) == 1 ? FRAMES / 2 : 0;
	bool stopped = false;
	struct ring ring;

	ASSERT_EQ(0, node_channel(self->node, RX1, &before));
	ASSERT_EQ(0, ring_open(self->node, RX1, DRAY_RING_OVERWRITE, &self->dst,
			       &ring));
	ASSERT_EQ(0, source_begins());
	/* Until the source has stopped, and all that is reported is seen. */
	while (!stopped || last + 1 + silent < stream_read("frames", 0)) {
		stopped = seen >= most;
		if (stopped)
			ASSERT_EQ(0, stream_knob("frame_us", 0));
		if (seen >= late && seen < most) {
			ring.lost = ring.line.head->lost;
			ASSERT_TRUE(wait_for(ring_loses, &ring));
			late = seen + 500;
		}
		args.frames = (uintptr_t)frames;
		ASSERT_EQ(0, ring_pass(&ring, &args));
		ASSERT_EQ(args.count, args.released);
		for (uint32_t i = 0; i < args.acquired; i++) {
			ASSERT_EQ(0, points[i].status);
			number = frame_number(&ring, points[i].frame);
			ASSERT_LT(last, number);
			missing += (uint64_t)(number - last - 1);
			last = number;
			frames[i] = points[i].frame;
		}
		seen += args.acquired;
		args.count = args.acquired;
	}
	EXPECT_EQ(missing, ring.line.head->lost);
	EXPECT_LE(4, missing);
	ASSERT_EQ(0, node_channel(self->node, RX1, &info));
	EXPECT_EQ(before.lost + missing, info.lost);
	line_close(&ring.line);
}

/* Its exporter may wait for fences, among them those that the stream signals. */
TEST_F(stream, memory_of_another_driver_is_overwritten_without_its_exporter)
{
	struct maintenance list[1];
	int fd = foreign_open(FOREIGN_VGEM, FRAMES * FRAME), watch;
	struct buffer memory = { .size = FRAMES * FRAME };
	struct ring ring;

	NEED_VGEM(fd);
	ATTACH_DMA_BUF(attach, fd, 0);
	memory.fd = attach.fd;
	ASSERT_EQ(0, ring_open(self->node, RX1, DRAY_RING_OVERWRITE, &memory,
			       &ring));
	ring.lost = 0;
	watch = maintenance_watch();
	ASSERT_EQ(0, source_begins());
	ASSERT_TRUE(wait_for(ring_loses, &ring));
	/* Without probes, the validator of locks tells. */
	if (!watch)
		EXPECT_EQ(0, maintenance_read(list, 1));
	maintenance_end();
	line_close(&ring.line);
}

TEST_F(stream, a_frame_is_two_events_of_one_queue)
{
	unsigned long long queue[2] = { 0, 1 };
	struct dray_point point;
	struct ring ring;
	char *trace, *line;

	ASSERT_EQ(0, ring_open(self->node, TX0, 0, &self->src, &ring));
	ASSERT_EQ(0, line_open(self->node, RX0, 1, &self->rx));
	TRACE_BEGIN();
	ASSERT_EQ(1, stream_receive(self, 0, FRAME));
	ASSERT_EQ(0, ring_release(&ring, 3));
	ASSERT_EQ(0, line_wait(&ring.line, 1, &point));
	tracing_stop();
	trace = trace_read();
	ASSERT_NE(NULL, trace);
	line = strstr(trace, "dray_frame_submit: ");
	ASSERT_NE(NULL, line);
	EXPECT_EQ(1, sscanf(line, "dray_frame_submit: queue=%llu frame=3 ",
			    &queue[0]));
	line = strstr(line, "dray_frame_complete: ");
	ASSERT_NE(NULL, line);
	EXPECT_EQ(1, sscanf(line,
			    "dray_frame_complete: queue=%llu frame=3 point=1 ",
			    &queue[1]));
	EXPECT_EQ(queue[0], queue[1]);
	free(trace);
	EXPECT_TRUE(trace_has("dray_frame_complete:", "bytes=4096 error=0"));
	line_close(&ring.line);
	line_close(&self->rx);
}

TEST_F(stream, released_frames_are_sent_in_that_order)
{
	static const uint32_t order[] = { 3, 0, 7, 1, 2, 6, 5, 4, 3, 3 };
	struct ring ring;

	ASSERT_EQ(0, ring_open(self->node, TX0, 0, &self->src, &ring));
	ASSERT_EQ(0, line_open(self->node, RX0, 1, &self->rx));
	for (uint64_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		struct dray_point point;

		ASSERT_EQ((int64_t)i + 1, stream_receive(self, 0, FRAME));
		ASSERT_EQ(0, ring_release(&ring, order[i]));
		ASSERT_EQ(0, line_wait(&ring.line, i + 1, &point));
		EXPECT_EQ(order[i], point.frame);
		EXPECT_EQ(FRAME, point.bytes);
		EXPECT_EQ(FRAME, line_bytes(&self->rx, i + 1));
		EXPECT_EQ(-1,
			  first_difference(self->src.bytes + order[i] * FRAME,
					   self->dst.bytes, FRAME));
	}
	line_close(&ring.line);
	line_close(&self->rx);
}

TEST_F(stream, only_the_readers_frames_are_released)
{
	struct dray_release args = { .count = 1 };
	struct dray_point point;
	struct ring ring;
	uint32_t frame;

	ASSERT_EQ(0, ring_open(self->node, RX1, 0, &self->dst, &ring));
	for (frame = 0; frame < FRAMES; frame++)
		EXPECT_EQ(-EINVAL, ring_release(&ring, frame));
	ASSERT_EQ(0, source_begins());
	ASSERT_EQ(0, line_wait(&ring.line, 2, &point));
	ASSERT_EQ(0, ring_release(&ring, point.frame));
	ASSERT_EQ(0, line_wait(&ring.line, 1, &point));
	ASSERT_EQ(0, ring_release(&ring, point.frame));
	ASSERT_EQ(0, stream_knob("frame_us", 0));
	for (frame = FRAMES; frame; frame <<= 1) {
		args.frames = (uintptr_t)&frame;
		EXPECT_EQ(-EINVAL, ring_pass(&ring, &args));
		EXPECT_EQ(DRAY_REASON_FRAME, args.reason);
		EXPECT_EQ(frame, args.limit);
		EXPECT_EQ(0, args.released);
	}
	args.count = 0;
	args.room = 1;
	EXPECT_EQ(-EINVAL, ring_pass(&ring, &args));
	EXPECT_EQ(DRAY_REASON_FRAMES, args.reason);
	args.room = 0;
	args.count = DRAY_MAX_FRAMES + 1;
	EXPECT_EQ(-EINVAL, ring_pass(&ring, &args));
	EXPECT_EQ(DRAY_REASON_FRAMES, args.reason);
	line_close(&ring.line);
}

TEST_F(stream, a_ring_is_the_only_user_of_its_stream)
{
	struct dray_transfer transfer = RECV_OF(self->dst.fd, 0, FRAME);
	struct dray_transfer frames[] = { transfer, transfer };
	struct dray_ring args = { .frames = (uintptr_t)frames, .count = 2 };
	struct dray_release nothing = {};
	struct dray_submit submit;
	struct ring ring;

	frames[1].dst_offset = FRAME;
	ASSERT_EQ(0, line_open(self->node, RX0, 1, &self->rx));
	ring.line = self->rx;
	EXPECT_EQ(-EINVAL, ring_pass(&ring, &nothing));
	EXPECT_EQ(DRAY_REASON_FRAMES, nothing.reason);
	ASSERT_EQ(0, stream_submit(self, RX0, &transfer, 1, 0, &submit));
	EXPECT_EQ(-EBUSY, ring_call(&self->rx, &args));
	ASSERT_EQ(1, stream_cancel(self, RX0, 0));
	EXPECT_EQ(-ECANCELED, line_status(&self->rx, 1));
	ASSERT_EQ(0, ring_call(&self->rx, &args));
	EXPECT_EQ(-EBUSY, ring_call(&self->rx, &args));
	EXPECT_EQ(-EBUSY, stream_submit(self, RX0, &transfer, 1, 0, &submit));
	line_close(&self->rx);
}

TEST_F(stream, a_cancelled_frame_comes_back)
{
	struct dray_point point;
	struct ring ring;

	ASSERT_EQ(0, ring_open(self->node, RX0, 0, &self->dst, &ring));
	ASSERT_TRUE(engine_gets(RX0, 3));
	EXPECT_LE(1, stream_cancel(self, RX0, 0));
	ASSERT_EQ(0, line_wait(&ring.line, 1, &point));
	EXPECT_EQ(-ECANCELED, point.status);
	EXPECT_EQ(0, point.bytes);
	EXPECT_EQ(0, ring_release(&ring, point.frame));
	line_close(&ring.line);
}

/* A submission that is shown to have ended is none. */
TEST_F(stream, a_ring_follows_the_last_submission_at_once)
{
	struct dray_transfer transfer = RECV_OF(self->dst.fd, 0, FRAME);
	struct dray_transfer frames[] = { transfer, transfer };
	struct dray_ring args = { .frames = (uintptr_t)frames, .count = 2 };
	struct dray_point point;
	struct dray_submit submit;

	frames[1].dst_offset = FRAME;
	for (int i = 0; i < 200; i++) {
		ASSERT_EQ(0, line_open(self->node, RX0, 1, &self->rx));
		ASSERT_EQ(0,
			  stream_submit(self, RX0, &transfer, 1, 0, &submit));
		ASSERT_EQ(1, stream_cancel(self, RX0, 0));
		ASSERT_EQ(0, line_wait(&self->rx, submit.point, &point));
		ASSERT_EQ(0, ring_call(&self->rx, &args));
		line_close(&self->rx);
	}
}

/* A program that is faster than its stream makes one call for each frame. */
TEST_F(stream, a_release_waits_for_the_next_frame)
{
	struct dray_release args;
	struct dray_point point, acquired;
	struct ring ring;
	uint32_t frame;

	for (uint32_t flags = 0; flags <= DRAY_RING_OVERWRITE; flags++) {
		ASSERT_EQ(0,
			  ring_open(self->node, RX1, flags, &self->dst, &ring));
		args = (struct dray_release){
			.number = line_completed(&ring.line) + 1,
			.until_ns = now_ns() + MILLISECOND,
		};
		/* The source leaves bytes on the way when it ends. */
		if (!flags)
			EXPECT_EQ(-ETIME, ring_pass(&ring, &args));
		ASSERT_EQ(0, source_begins());
		args.until_ns = ~0ull;
		args.frames = (uintptr_t)&frame;
		if (flags) {
			args.room = 1;
			args.points = (uintptr_t)&acquired;
		}
		for (int i = 0; i < 100; i++) {
			ASSERT_EQ(0, ring_pass(&ring, &args));
			ASSERT_EQ(args.count, args.released);
			ASSERT_EQ(args.room, args.acquired);
			if (flags)
				point = acquired;
			else
				ASSERT_EQ(0, line_read(&ring.line, args.number,
						       &point));
			frame = point.frame;
			args.count = 1;
			args.number = point.number + 1;
		}
		ASSERT_EQ(0, stream_knob("frame_us", 0));
		line_close(&ring.line);
	}
}

struct waiter {
	const struct ring *ring;
	int ret;
};

static void *wait_for_ever(void *data)
{
	struct waiter *waiter = data;
	struct dray_point point;

	waiter->ret = line_wait(&waiter->ring->line, 1, &point);
	return NULL;
}

/* As a program does before it closes its timeline: a wait keeps the file. */
TEST_F(stream, a_call_without_frames_ends_the_ring_and_its_waits)
{
	struct dray_ring none = {};
	struct waiter waiter;
	struct ring ring;
	pthread_t thread;

	for (uint32_t channel = TX0; channel <= RX0; channel++) {
		ASSERT_EQ(0,
			  ring_open(self->node, channel, 0, &self->dst, &ring));
		waiter.ring = &ring;
		ASSERT_EQ(0, pthread_create(&thread, NULL, wait_for_ever,
					    &waiter));
		ASSERT_EQ(0, ring_call(&ring.line, &none));
		ASSERT_EQ(0, pthread_join(thread, NULL));
		EXPECT_EQ(-ENODEV, waiter.ret);
		EXPECT_EQ(-ENODEV, ring_release(&ring, 0));
		/* and once more */
		EXPECT_EQ(0, ring_call(&ring.line, &none));
		line_close(&ring.line);
	}
}

TEST_F(stream, the_end_of_a_ring_leaves_nothing_behind)
{
	struct dray_buffer_info info;
	struct ring ring;

	for (int i = 0; i < 20; i++) {
		ASSERT_EQ(0,
			  ring_open(self->node, RX1, i % 2, &self->dst, &ring));
		ASSERT_EQ(0, source_begins());
		if (i % 3)
			ASSERT_LE(0, line_status(&ring.line, 20 / FRAMES));
		ASSERT_EQ(0, node_buffer_info(self->node, self->dst.id, &info));
		EXPECT_EQ(FRAMES, info.transfers);
		line_close(&ring.line);
		ASSERT_EQ(0, node_buffer_info(self->node, self->dst.id, &info));
		EXPECT_EQ(0, info.transfers);
		memset(self->dst.bytes, STREAM_GUARD, STREAM_SIZE);
		for (size_t at = 0; at < STREAM_SIZE; at++)
			ASSERT_EQ(STREAM_GUARD, self->dst.bytes[at]);
	}
}

static const struct {
	const char *name;
	uint32_t count, flags, reason;
	struct dray_transfer frames[2];
} refused[] = {
	{ "one frame", 1, 0, DRAY_REASON_FRAMES, { RECV_OF(DST, 0, 64) } },
	{ "no frame", 0, 0, DRAY_REASON_FRAMES, {} },
	{ "a million frames", 1000000, 0, DRAY_REASON_FRAMES, {} },
	{ "an unknown flag", 2, 8, DRAY_REASON_NONE, {} },
	{ "frames to send", 2, 0, DRAY_REASON_KIND, { SEND_OF(DST, 0, 64) } },
	{ "frames that overlap",
	  2,
	  0,
	  DRAY_REASON_OVERLAP,
	  { RECV_OF(DST, 0, 64), RECV_OF(DST, 63, 64) } },
	{ "a frame beyond the buffer",
	  2,
	  0,
	  DRAY_REASON_RANGE,
	  { RECV_OF(DST, 0, 64), RECV_OF(DST, STREAM_SIZE, 64) } },
	{ "an empty frame", 2, 0, DRAY_REASON_NONE, { RECV_OF(DST, 0, 0) } },
};

TEST_F(stream, wrong_rings_are_refused)
{
	struct dray_transfer frames[2];

	ASSERT_EQ(0, line_open(self->node, RX0, 1, &self->rx));
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct dray_ring args = { .frames = (uintptr_t)frames,
					  .count = refused[i].count,
					  .flags = refused[i].flags };

		memcpy(frames, refused[i].frames, sizeof(frames));
		for (int k = 0; k < 2; k++) {
			if (frames[k].dst_fd == DST)
				frames[k].dst_fd = self->dst.fd;
			if (frames[k].src_fd == DST)
				frames[k].src_fd = self->dst.fd;
		}
		EXPECT_EQ(-EINVAL, ring_call(&self->rx, &args))
		{
			TH_LOG("%s", refused[i].name);
		}
		EXPECT_EQ(refused[i].reason, args.reason)
		{
			TH_LOG("%s", refused[i].name);
		}
	}
	line_close(&self->rx);
}
