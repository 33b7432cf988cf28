// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Works of the load: packets and rings of the node of dray_test_stream.ko, which
 * is the last one.  Processes compete for its four streams.
 */
#include "../selftests/timeline.h"
#include "works.h"

#define CHANNELS 4 /* even ones send, odd ones receive */
#define FRAMES 4

static bool sends(uint32_t channel)
{
	return channel % 2 == 0;
}

static int streams_open(void)
{
	char path[32];

	for (int i = 9; i >= 0 && me.streams < 0; i--) {
		snprintf(path, sizeof(path), "/dev/dray%d", i);
		me.streams = open(path, O_RDWR | O_CLOEXEC);
	}
	return me.streams < 0 ? -ENODEV : 0;
}

static bool is_gone(const char *name)
{
	return access(name, F_OK);
}

/* Opens a stream, or closes one with all that is in flight. */
void work_stream(void)
{
	uint32_t channel = (uint32_t)pick(CHANNELS);
	struct dray_timeline line = { .channel = channel, .event_fd = -1 };
	int ret;

	if (is_gone("/sys/module/dray_test_stream") || streams_open()) {
		count(WORK_STREAM, -ENODEV);
		count(WORK_PACKET, -ENODEV);
		count(WORK_FRAMES, -ENODEV);
		return;
	}
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
	uint32_t channel = (uint32_t)pick(CHANNELS);
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
	uint32_t channel = (uint32_t)pick(CHANNELS), frame, i;
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
}
