// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Bad input of streams: each argument that may be wrong, with its errno, its
 * reason and its limit.  Nothing is moved, and the stream lives on.
 */
#include "streams.h"

/* Stand for file descriptors in a table. */
#define SRC (-100)
#define DST (-101)
#define READ_ONLY (-102)

static struct dray_axis backward[] = {
	{ .count = 2, .dst_stride = -16 },
};
static struct dray_axis repeated[] = {
	{ .count = 2 },
};
static struct dray_axis none[] = {
	{ .count = 0, .dst_stride = 16 },
};
static struct dray_axis crossing[] = {
	{ .count = 2, .dst_stride = 8 },
};
static struct dray_axis sent_backward[] = {
	{ .count = 2, .src_stride = -16 },
};

#define AXES(list) .axes = (uintptr_t)(list), .axes_count = 1
#define INSTANCE "/sys/kernel/tracing/instances/dray_refused"
#define NO_FENCE .flags = DRAY_SUBMIT_NO_FENCE

static const struct {
	const char *name;
	int error;
	uint32_t reason;
	uint64_t limit;
	struct dray_transfer transfer;
	struct dray_submit submit;
} cases[] = {
	{ "send on a receiver",
	  -EINVAL,
	  DRAY_REASON_KIND,
	  RX0,
	  SEND_OF(SRC, 0, 64),
	  { .channel = RX0, NO_FENCE } },
	{ "receive on a sender",
	  -EINVAL,
	  DRAY_REASON_KIND,
	  TX0,
	  RECV_OF(DST, 0, 64),
	  { .channel = TX0, NO_FENCE } },
	{ "copy on a sender",
	  -EINVAL,
	  DRAY_REASON_KIND,
	  TX0,
	  COPY_OF(DST, SRC, 64),
	  { .channel = TX0 } },
	{ "copy on a receiver",
	  -EINVAL,
	  DRAY_REASON_KIND,
	  RX0,
	  COPY_OF(DST, SRC, 64),
	  { .channel = RX0 } },
	{ "fill on a receiver",
	  -EINVAL,
	  DRAY_REASON_KIND,
	  RX0,
	  { .op = DRAY_OP_FILL,
	    .dst_fd = DST,
	    .src_fd = -1,
	    .run = 64,
	    .pattern_size = 1 },
	  { .channel = RX0 } },
	{ "no operation",
	  -EINVAL,
	  0,
	  0,
	  { .dst_fd = DST, .src_fd = -1, .run = 64 },
	  { .channel = RX0, NO_FENCE } },
	{ "an unknown operation",
	  -EINVAL,
	  0,
	  0,
	  { .op = 6, .dst_fd = DST, .src_fd = -1, .run = 64 },
	  { .channel = RX0, NO_FENCE } },
	{ "any channel",
	  -EINVAL,
	  DRAY_REASON_KIND,
	  DRAY_CHANNEL_ANY,
	  RECV_OF(DST, 0, 64),
	  { .channel = DRAY_CHANNEL_ANY, NO_FENCE } },
	{ "an unknown channel",
	  -EINVAL,
	  DRAY_REASON_CHANNEL,
	  STREAM_CHANNELS,
	  RECV_OF(DST, 0, 64),
	  { .channel = STREAM_CHANNELS, NO_FENCE } },
	{ "a stream that is not open",
	  -ENOTCONN,
	  DRAY_REASON_STREAM,
	  RX1,
	  RECV_OF(DST, 0, 64),
	  { .channel = RX1, NO_FENCE } },
	{ "length 0 to receive",
	  -EINVAL,
	  0,
	  0,
	  RECV_OF(DST, 0, 0),
	  { .channel = RX0, NO_FENCE } },
	{ "length 0 to send",
	  -EINVAL,
	  0,
	  0,
	  SEND_OF(SRC, 0, 0),
	  { .channel = TX0, NO_FENCE } },
	{ "an axis without elements",
	  -EINVAL,
	  0,
	  0,
	  RECV_OF(DST, 0, 16, AXES(none)),
	  { .channel = RX0, NO_FENCE } },
	{ "stride 0 to receive",
	  -EINVAL,
	  DRAY_REASON_OVERLAP,
	  0,
	  RECV_OF(DST, 0, 16, AXES(repeated)),
	  { .channel = RX0, NO_FENCE } },
	{ "runs that cross",
	  -EINVAL,
	  DRAY_REASON_OVERLAP,
	  0,
	  RECV_OF(DST, 0, 16, AXES(crossing)),
	  { .channel = RX0, NO_FENCE } },
	{ "bytes in front of the buffer",
	  -EINVAL,
	  DRAY_REASON_RANGE,
	  STREAM_SIZE,
	  RECV_OF(DST, 0, 16, AXES(backward)),
	  { .channel = RX0, NO_FENCE } },
	{ "bytes in front of a sender's",
	  -EINVAL,
	  DRAY_REASON_RANGE,
	  STREAM_SIZE,
	  SEND_OF(SRC, 0, 16, AXES(sent_backward)),
	  { .channel = TX0, NO_FENCE } },
	{ "bytes behind the buffer",
	  -EINVAL,
	  DRAY_REASON_RANGE,
	  STREAM_SIZE,
	  RECV_OF(DST, STREAM_SIZE - 8, 16),
	  { .channel = RX0, NO_FENCE } },
	{ "an offset that wraps",
	  -EINVAL,
	  DRAY_REASON_RANGE,
	  STREAM_SIZE,
	  SEND_OF(SRC, UINT64_MAX - 7, 16),
	  { .channel = TX0, NO_FENCE } },
	{ "a sender's destination",
	  -EINVAL,
	  0,
	  0,
	  { .op = DRAY_OP_SEND, .dst_fd = DST, .src_fd = SRC, .run = 64 },
	  { .channel = TX0, NO_FENCE } },
	{ "a sender's other offset",
	  -EINVAL,
	  0,
	  0,
	  SEND_OF(SRC, 0, 64, .dst_offset = 8),
	  { .channel = TX0, NO_FENCE } },
	{ "a receiver's source",
	  -EINVAL,
	  0,
	  0,
	  { .op = DRAY_OP_RECV, .dst_fd = DST, .src_fd = SRC, .run = 64 },
	  { .channel = RX0, NO_FENCE } },
	{ "a receiver's other offset",
	  -EINVAL,
	  0,
	  0,
	  RECV_OF(DST, 0, 64, .src_offset = 8),
	  { .channel = RX0, NO_FENCE } },
	{ "a sender's other stride",
	  -EINVAL,
	  0,
	  0,
	  SEND_OF(SRC, 0, 16, AXES(backward)),
	  { .channel = TX0, NO_FENCE } },
	{ "a receiver's other stride",
	  -EINVAL,
	  0,
	  0,
	  RECV_OF(DST, 0, 16, AXES(sent_backward)),
	  { .channel = RX0, NO_FENCE } },
	{ "a pattern to send",
	  -EINVAL,
	  0,
	  0,
	  SEND_OF(SRC, 0, 64, .pattern_size = 1),
	  { .channel = TX0, NO_FENCE } },
	{ "flags of a transfer",
	  -EINVAL,
	  0,
	  0,
	  RECV_OF(DST, 0, 64, .flags = 1),
	  { .channel = RX0, NO_FENCE } },
	{ "no buffer",
	  -EBADF,
	  DRAY_REASON_FOREIGN,
	  UINT32_MAX,
	  RECV_OF(-1, 0, 64),
	  { .channel = RX0, NO_FENCE } },
	{ "a buffer for reading",
	  -EACCES,
	  DRAY_REASON_READ_ONLY,
	  UINT64_MAX,
	  RECV_OF(READ_ONLY, 0, 64),
	  { .channel = RX0, NO_FENCE } },
	{ "a fence without a deadline",
	  -EINVAL,
	  DRAY_REASON_DEADLINE,
	  DRAY_MAX_FENCE_DEADLINE,
	  RECV_OF(DST, 0, 64),
	  { .channel = RX0 } },
	{ "a deadline too far",
	  -EINVAL,
	  DRAY_REASON_DEADLINE,
	  DRAY_MAX_FENCE_DEADLINE,
	  RECV_OF(DST, 0, 64),
	  { .channel = RX0, .deadline_ns = DRAY_MAX_FENCE_DEADLINE + 1 } },
	{ "a deadline too far, without a fence",
	  -EINVAL,
	  DRAY_REASON_DEADLINE,
	  DRAY_MAX_DEADLINE,
	  RECV_OF(DST, 0, 64),
	  { .channel = RX0, NO_FENCE, .deadline_ns = UINT64_MAX } },
	{ "an unknown flag",
	  -EINVAL,
	  0,
	  0,
	  RECV_OF(DST, 0, 64),
	  { .channel = RX0, .flags = DRAY_SUBMIT_NO_FENCE | 1u << 3 } },
	{ "padding",
	  -EINVAL,
	  0,
	  0,
	  RECV_OF(DST, 0, 64),
	  { .channel = RX0, NO_FENCE, .reserved = 1 } },
	{ "too many in-fences",
	  -EINVAL,
	  0,
	  0,
	  RECV_OF(DST, 0, 64),
	  { .channel = RX0,
	    NO_FENCE,
	    .in_fence_count = DRAY_MAX_IN_FENCES + 1 } },
};

static int read_only(FIXTURE_DATA(stream) * self)
{
	struct dray_export export = { .buffer_fd = self->dst.fd,
				      .flags = DRAY_EXPORT_READ_ONLY };
	int ret = node_call(self->node, DRAY_IOC_EXPORT, &export);

	return ret ? ret : export.fd;
}

static int meant(FIXTURE_DATA(stream) * self, int fd, int exported)
{
	if (fd == READ_ONLY)
		return exported;
	return fd == SRC ? self->src.fd : fd == DST ? self->dst.fd : fd;
}

TEST_F(stream, wrong_submissions_are_refused)
{
	int exported = read_only(self);

	ASSERT_LE(0, exported);
	ASSERT_EQ(0, stream_open(self, 1));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dray_transfer transfer = cases[i].transfer;
		struct dray_submit submit = cases[i].submit;
		uint64_t limit = cases[i].limit;
		int ret;

		transfer.dst_fd = meant(self, transfer.dst_fd, exported);
		transfer.src_fd = meant(self, transfer.src_fd, exported);
		if (cases[i].reason == DRAY_REASON_READ_ONLY)
			limit = (uint64_t)exported;
		submit.transfers = (uintptr_t)&transfer;
		submit.count = 1;
		ret = node_call(self->node, DRAY_IOC_SUBMIT, &submit);
		EXPECT_TRUE(cases[i].error == ret &&
			    cases[i].reason == submit.reason &&
			    limit == submit.limit)
		{
			TH_LOG("%s: %d, reason %u, limit %llu", cases[i].name,
			       ret, submit.reason,
			       (unsigned long long)submit.limit);
		}
	}
	EXPECT_EQ(0, line_completed(&self->rx));
	EXPECT_EQ(0, stream_passes(self));
}

TEST_F(stream, one_call_goes_one_way)
{
	struct dray_transfer transfers[] = { SEND_OF(self->src.fd, 0, 64),
					     RECV_OF(self->dst.fd, 0, 64) };
	struct dray_submit submit;

	ASSERT_EQ(0, stream_open(self, 1));
	EXPECT_EQ(-EINVAL, stream_submit(self, TX0, transfers, 2, 0, &submit));
	EXPECT_EQ(1, submit.failed);
	EXPECT_EQ(-EINVAL, stream_submit(self, TX0, transfers, 0, 0, &submit));
	EXPECT_EQ(-EINVAL, stream_submit(self, TX0, transfers,
					 DRAY_MAX_TRANSFERS + 1, 0, &submit));
}

static const struct {
	const char *name;
	int error;
	uint32_t reason;
	uint64_t limit;
	struct dray_timeline args;
} lines[] = {
	{ "an unknown channel",
	  -EINVAL,
	  DRAY_REASON_CHANNEL,
	  STREAM_CHANNELS,
	  { .channel = STREAM_CHANNELS, .event_fd = -1 } },
	{ "any channel",
	  -EINVAL,
	  DRAY_REASON_CHANNEL,
	  STREAM_CHANNELS,
	  { .channel = DRAY_CHANNEL_ANY, .event_fd = -1 } },
	{ "an unknown flag",
	  -EINVAL,
	  0,
	  0,
	  { .channel = TX0, .flags = 1u << 31, .event_fd = -1 } },
	{ "padding",
	  -EINVAL,
	  0,
	  0,
	  { .channel = TX0, .reserved = 1, .event_fd = -1 } },
	{ "too many points",
	  -EINVAL,
	  DRAY_REASON_POINTS,
	  DRAY_MAX_POINTS,
	  { .channel = TX0, .points = DRAY_MAX_POINTS + 1, .event_fd = -1 } },
	{ "as many points as there are",
	  -EINVAL,
	  DRAY_REASON_POINTS,
	  DRAY_MAX_POINTS,
	  { .channel = TX0, .points = UINT32_MAX, .event_fd = -1 } },
	{ "a batch too large",
	  -EINVAL,
	  0,
	  0,
	  { .channel = TX0, .batch = 65, .event_fd = -1 } },
	{ "no eventfd", -EBADF, 0, 0, { .channel = TX0, .event_fd = 999 } },
	{ "a negative eventfd",
	  -EINVAL,
	  0,
	  0,
	  { .channel = TX0, .event_fd = -2 } },
};

TEST_F(stream, wrong_timelines_are_refused)
{
	struct dray_timeline args = { .channel = TX0, .event_fd = self->node };
	struct line line;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		int ret;

		args = lines[i].args;
		ret = line_open_as(self->node, &args, &line);
		EXPECT_TRUE(lines[i].error == ret &&
			    lines[i].reason == line.reason &&
			    lines[i].limit == line.limit)
		{
			TH_LOG("%s: %d, reason %u, limit %llu", lines[i].name,
			       ret, line.reason,
			       (unsigned long long)line.limit);
		}
	}
	args = (struct dray_timeline){ .channel = TX0, .event_fd = self->node };
	EXPECT_EQ(-EINVAL, line_open_as(self->node, &args, &line));
	args = (struct dray_timeline){ .channel = TX0,
				       .batch = 64,
				       .points = DRAY_MAX_POINTS,
				       .event_fd = -1 };
	EXPECT_EQ(0, line_open_as(self->node, &args, &line));
	EXPECT_EQ(DRAY_MAX_POINTS, args.points);
}

TEST_F(stream, a_stream_has_one_opener_at_a_time)
{
	struct line mine, theirs;

	OPEN_NODE(other);
	ASSERT_EQ(0, line_open(self->node, TX0, 0, &mine));
	EXPECT_EQ(-EBUSY, line_open(self->node, TX0, 0, &theirs));
	EXPECT_EQ(DRAY_REASON_STREAM, theirs.reason);
	EXPECT_EQ(TX0, theirs.limit);
	EXPECT_EQ(-EBUSY, line_open(other, TX0, 0, &theirs));
	EXPECT_EQ(DRAY_REASON_STREAM, theirs.reason);
	EXPECT_EQ(TX0, theirs.limit);
	ASSERT_EQ(0, line_open(other, TX1, 0, &theirs));
	line_close(&theirs);
	line_close(&mine);
	ASSERT_EQ(0, line_open(other, TX0, 0, &theirs));
	EXPECT_EQ(-ENOTCONN, stream_send(self, 0, 64));
	line_close(&theirs);
	close(other);
}

TEST_F(stream, wrong_cancels_are_refused)
{
	struct dray_cancel cancel = { .fence_fd = -1,
				      .channel = DRAY_CHANNEL_ANY,
				      .point = 1 };

	EXPECT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_CANCEL, &cancel));
	EXPECT_EQ(DRAY_REASON_CHANNEL, cancel.reason);
	EXPECT_EQ(STREAM_CHANNELS, cancel.limit);
	cancel = (struct dray_cancel){ .fence_fd = -1,
				       .channel = STREAM_CHANNELS };
	EXPECT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_CANCEL, &cancel));
	EXPECT_EQ(DRAY_REASON_CHANNEL, cancel.reason);
	cancel = (struct dray_cancel){ .fence_fd = -1, .flags = 1 };
	EXPECT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_CANCEL, &cancel));
	cancel = (struct dray_cancel){ .fence_fd = -1, .reserved = 1 };
	EXPECT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_CANCEL, &cancel));
	/* a stream that is not open has nothing to cancel */
	EXPECT_EQ(0, stream_cancel(self, RX0, 1));
}

TEST_F(stream, channels_say_which_way_they_go)
{
	static const uint32_t kinds[] = { DRAY_CHANNEL_SEND, DRAY_CHANNEL_RECV,
					  DRAY_CHANNEL_SEND,
					  DRAY_CHANNEL_RECV };
	static const char *const names[] = { "tx0", "rx0", "tx1", "rx1" };

	for (uint32_t i = 0; i < STREAM_CHANNELS; i++) {
		READ_CHANNEL(channel, i);
		EXPECT_STREQ(names[i], channel.name);
		EXPECT_EQ(kinds[i],
			  channel.flags &
				  (DRAY_CHANNEL_COPY | DRAY_CHANNEL_FILL |
				   DRAY_CHANNEL_SEND | DRAY_CHANNEL_RECV));
		EXPECT_EQ(0, channel.first_alignment);
	}
}

TEST_F(stream, the_queue_has_an_end)
{
	struct dray_transfer transfer = SEND_OF(self->src.fd, 0, 64);
	struct dray_submit submit =
		SUBMIT_OF(TX0, &transfer, 1,
			  .flags = DRAY_SUBMIT_NO_FENCE | DRAY_SUBMIT_NONBLOCK);
	struct line line;

	ASSERT_EQ(0, line_open(self->node, TX0, 64, &line));
	ASSERT_EQ(0, stream_knob("stall", 1u << TX0));
	for (uint32_t i = 0; i < self->info.queue_depth; i++)
		ASSERT_EQ(0, node_call(self->node, DRAY_IOC_SUBMIT, &submit));
	EXPECT_EQ(-EAGAIN, node_call(self->node, DRAY_IOC_SUBMIT, &submit));
	EXPECT_EQ(DRAY_REASON_BUSY, submit.reason);
	EXPECT_EQ(self->info.queue_depth, submit.limit);
	ASSERT_EQ(0, stream_knob("stall", 0));
}

static int ring_refusal(const struct line *line, struct dray_ring *args)
{
	return ioctl(line->fd, DRAY_IOC_RING, args) < 0 ? -errno : 0;
}

/* Only its point names a frame that comes back, unless RELEASE does. */
TEST_F(stream, a_ring_has_no_more_frames_than_points)
{
	enum {
		POINTS = 128
	};
	struct dray_transfer frames[POINTS + 1];
	struct dray_timeline args = { .channel = RX0,
				      .points = POINTS,
				      .event_fd = -1 };
	struct dray_ring ring = { .frames = (uintptr_t)frames,
				  .count = POINTS + 1 };

	for (uint64_t i = 0; i <= POINTS; i++)
		frames[i] =
			(struct dray_transfer)RECV_OF(self->dst.fd, i * 64, 64);
	ASSERT_EQ(0, line_open_as(self->node, &args, &self->rx));
	EXPECT_EQ(-EINVAL, ring_refusal(&self->rx, &ring));
	EXPECT_EQ(DRAY_REASON_FRAMES, ring.reason);
	EXPECT_EQ(POINTS, ring.limit);
	ring.count = POINTS;
	ASSERT_EQ(0, ring_refusal(&self->rx, &ring));
	line_close(&self->rx);
	ASSERT_EQ(0, line_open_as(self->node, &args, &self->rx));
	ring.count = POINTS + 1;
	ring.flags = DRAY_RING_OVERWRITE;
	EXPECT_EQ(0, ring_refusal(&self->rx, &ring));
}

static bool trace_tells(const char *text)
{
	FILE *file = fopen(INSTANCE "/trace", "re");
	char line[512];
	bool tells = false;

	while (file && !tells && fgets(line, sizeof(line), file))
		tells = strstr(line, "dray_fail:") && strstr(line, text);
	if (file)
		fclose(file);
	return tells;
}

TEST_F(stream, refused_calls_of_a_timeline_are_events)
{
	struct dray_ring ring = { .count = DRAY_MAX_FRAMES + 1 };
	struct dray_release release = { .reserved = 1 };
	struct dray_wait wait = { .number = 0 };

	SKIP_IF(access("/sys/kernel/tracing/instances", W_OK),
		"this kernel does not trace");
	rmdir(INSTANCE);
	ASSERT_EQ(0, mkdir(INSTANCE, 0700));
	ASSERT_EQ(0, write_text(INSTANCE "/events/dray/dray_fail/enable", "1"));
	ASSERT_EQ(0, line_open(self->node, RX0, 1, &self->rx));
	EXPECT_EQ(-EINVAL, line_call(&self->rx, &wait));
	EXPECT_EQ(-EINVAL, ring_refusal(&self->rx, &ring));
	EXPECT_GT(0, ioctl(self->rx.fd, DRAY_IOC_RELEASE, &release));
	wait.number = 1;
	EXPECT_EQ(-ETIME, line_call(&self->rx, &wait));
	EXPECT_TRUE(trace_tells("call=32 error=-22 "));
	EXPECT_TRUE(trace_tells("call=33 error=-22 "));
	EXPECT_TRUE(trace_tells("call=34 error=-22 "));
	EXPECT_FALSE(trace_tells("error=-62 "));
	rmdir(INSTANCE);
}
