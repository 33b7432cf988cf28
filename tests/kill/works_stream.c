// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Works of the load: packets and rings of the last node, if its first channels
 * are streams.  Processes compete for them.
 */
#include "../selftests/timeline.h"
#include "works.h"

#define FRAMES 4

/* As those of dray_test_stream.ko, and of the board of tools/fpga. */
static bool sends(uint32_t channel)
{
	return channel % 2 == 0;
}

static int streams_open(void)
{
	const uint32_t kinds = DRAY_CHANNEL_SEND | DRAY_CHANNEL_RECV;
	struct dray_channel_info channel;
	char path[32];

	if (me.streams >= 0)
		return me.channels ? 0 : -ENODEV;
	for (int i = 9; i >= 0 && me.streams < 0; i--) {
		snprintf(path, sizeof(path), "/dev/dray%d", i);
		me.streams = open(path, O_RDWR | O_CLOEXEC);
	}
	while (me.channels < LINES &&
	       !node_channel(me.streams, me.channels, &channel) &&
	       channel.flags & kinds)
		me.channels++;
	return me.channels ? 0 : -ENODEV;
}

/* One of the streams; 0 if there is none. */
static uint32_t any_stream(void)
{
	return me.channels ? (uint32_t)pick(me.channels) : 0;
}

/* Opens a stream, or closes one with all that is in flight. */
void work_stream(void)
{
	struct dray_timeline line = { .event_fd = -1 };
	uint32_t channel;
	int ret;

	if (streams_open()) {
		count(WORK_STREAM, -ENODEV);
		count(WORK_PACKET, -ENODEV);
		count(WORK_FRAMES, -ENODEV);
		return;
	}
	channel = line.channel = any_stream();
	if (me.lines[channel] > 0) {
		close(me.lines[channel]);
		me.lines[channel] = 0;
		return;
	}
	ret = node_call(me.streams, DRAY_IOC_TIMELINE, &line);
	count(WORK_STREAM, ret);
	if (!ret)
		me.lines[channel] = line.fd;
}

/* A part of a buffer, which overlaps no other one with its own number. */
static struct dray_transfer piece_of(const struct buffer *buffer,
				     uint32_t channel, uint64_t number)
{
	uint64_t bytes = buffer->size / FRAMES;
	struct dray_transfer out = SEND_OF(buffer->fd, number * bytes, bytes);
	struct dray_transfer in = RECV_OF(buffer->fd, number * bytes, bytes);

	return sends(channel) ? out : in;
}

void work_packet(void)
{
	uint32_t channel = any_stream();
	struct buffer *buffer = any_buffer();
	struct dray_transfer transfer;
	struct dray_submit submit =
		SUBMIT_OF(channel, &transfer, 1,
			  .flags = DRAY_SUBMIT_NO_FENCE | DRAY_SUBMIT_NONBLOCK,
			  .fence_fd = -1);

	if (!buffer || me.lines[channel] <= 0)
		return;
	transfer = piece_of(buffer, channel, pick(FRAMES));
	count(WORK_PACKET, node_call(me.streams, DRAY_IOC_SUBMIT, &submit));
}

/* Gives a stream its ring, and passes a frame of it. */
void work_frames(void)
{
	uint32_t channel = any_stream(), frame, i;
	struct buffer *buffer = any_buffer();
	struct dray_transfer frames[FRAMES];
	struct dray_ring ring = {
		.frames = (uintptr_t)frames,
		.count = FRAMES,
		.flags = sends(channel) || pick(2) ? 0 : DRAY_RING_OVERWRITE,
	};
	struct dray_release release = {
		.frames = (uintptr_t)&frame,
		.count = 1,
	};
	int ret;

	if (!buffer || me.lines[channel] <= 0)
		return;
	for (i = 0; i < FRAMES; i++)
		frames[i] = piece_of(buffer, channel, i);
	ret = node_call(me.lines[channel], DRAY_IOC_RING, &ring);
	/* It has one, or packets in flight. */
	if (ret != -EBUSY)
		count(WORK_FRAMES, ret);
	for (frame = 0; frame < FRAMES; frame++)
		node_call(me.lines[channel], DRAY_IOC_RELEASE, &release);
	if (pick(2))
		return;
	/* Takes the ring away, if no frame is on its way. */
	ring.count = 0;
	ring.flags = DRAY_RING_REPLACE;
	node_call(me.lines[channel], DRAY_IOC_RING, &ring);
}
