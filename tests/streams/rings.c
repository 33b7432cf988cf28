// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Rings on an AXI DMA with the kernel's own driver: numbered frames through the
 * IP, read in time and late, and sent from a ring.  DRAY_TEST_FRAMES is their number.
 */
#include "axidma.h"

#define FRAME 4096u
#define FRAMES 8u

static uint32_t frames_to_see(void)
{
	const char *text = getenv("DRAY_TEST_FRAMES");

	return text ? (uint32_t)strtoul(text, NULL, 10) : 300;
}

static int give_ring(const struct line *line, bool sends, uint32_t flags,
		     int fd)
{
	struct dray_transfer frames[FRAMES];
	struct dray_ring args = { .frames = (uintptr_t)frames,
				  .count = FRAMES,
				  .flags = flags };

	for (uint64_t i = 0; i < FRAMES; i++) {
		struct dray_transfer send = SEND_OF(fd, i * FRAME, FRAME);
		struct dray_transfer receive = RECV_OF(fd, i * FRAME, FRAME);

		frames[i] = sends ? send : receive;
	}
	return ioctl(line->fd, DRAY_IOC_RING, &args) ? -errno : 0;
}

static int release(const struct line *line, uint32_t frame)
{
	struct dray_release args = { .frames = (uintptr_t)&frame, .count = 1 };

	return ioctl(line->fd, DRAY_IOC_RELEASE, &args) ? -errno : 0;
}

static void set_number(uint8_t *bytes, uint32_t number)
{
	uint32_t words[FRAME / sizeof(number)];

	for (uint32_t i = 0; i < FRAME / sizeof(number); i++)
		words[i] = number + i * 65536;
	memcpy(bytes, words, FRAME);
}

/* The number of a frame that the IP has inverted, 0 if it is torn. */
static uint32_t number_of(const uint8_t *bytes)
{
	uint32_t words[FRAME / sizeof(uint32_t)];

	memcpy(words, bytes, FRAME);
	for (uint32_t i = 0; i < FRAME / sizeof(uint32_t); i++)
		if (~words[i] != ~words[0] + i * 65536)
			return 0;
	return ~words[0];
}

/* Fills frames to send as they come back. */
static int send_next(FIXTURE_DATA(axidma) * self, uint32_t *sent)
{
	struct dray_point point = { .frame = *sent };
	int ret = 0;

	if (*sent >= FRAMES)
		ret = line_wait(&self->sent, *sent - FRAMES + 1, &point);
	if (!ret)
		ret = point.status;
	if (ret)
		return ret;
	set_number(self->src.bytes + point.frame * FRAME, ++*sent);
	return release(&self->sent, point.frame);
}

/* The reader leaves all frames unread at times, while more packets wait. */
TEST_F_TIMEOUT(axidma, frames_of_rings_come_whole_and_in_order, 3600)
{
	uint32_t sent = 0, most = frames_to_see();
	struct dray_point point;

	ASSERT_EQ(0, give_ring(&self->received, false, 0, self->dst.fd));
	ASSERT_EQ(0, give_ring(&self->sent, true, 0, self->src.fd));
	for (uint32_t i = 1; i <= most; i++) {
		while (sent < most && sent - i + 1 < FRAMES + 4)
			ASSERT_EQ(0, send_next(self, &sent));
		if (i % 50 == 0 && i + FRAMES <= most)
			ASSERT_EQ(0, line_wait(&self->received, i + FRAMES - 1,
					       &point));
		ASSERT_EQ(0, line_wait(&self->received, i, &point));
		ASSERT_EQ(0, point.status);
		ASSERT_EQ(FRAME, point.bytes);
		ASSERT_EQ(i, number_of(self->dst.bytes + point.frame * FRAME));
		memset(self->dst.bytes + point.frame * FRAME, GUARD, FRAME);
		ASSERT_EQ(0, release(&self->received, point.frame));
	}
	EXPECT_EQ(0, self->received.head->lost);
	EXPECT_LT(0, self->received.head->held_back);
	for (size_t i = FRAMES * FRAME; i < SIZE; i++)
		ASSERT_EQ(GUARD, self->dst.bytes[i]);
}

/* None is torn or comes twice, and as many are missing as were counted. */
TEST_F_TIMEOUT(axidma, a_late_reader_loses_the_oldest_frames, 3600)
{
	uint32_t sent = 0, seen = 0, missing = 0, most = frames_to_see();
	uint32_t frames[FRAMES / 2], number;
	struct dray_point points[FRAMES / 2];
	struct dray_release args = { .frames = (uintptr_t)frames,
				     .points = (uintptr_t)points,
				     .room = FRAMES / 2 };

	ASSERT_EQ(0, give_ring(&self->received, false, DRAY_RING_OVERWRITE,
			       self->dst.fd));
	ASSERT_EQ(0, give_ring(&self->sent, true, 0, self->src.fd));
	while (seen < most) {
		/* Several rings pass unread after each 50th frame. */
		for (uint32_t i = sent % 50 ? 1 : 4 * FRAMES;
		     i-- && sent < most;)
			ASSERT_EQ(0, send_next(self, &sent));
		ASSERT_EQ(0, ioctl(self->received.fd, DRAY_IOC_RELEASE, &args));
		ASSERT_EQ(args.count, args.released);
		for (uint32_t i = 0; i < args.acquired; i++) {
			ASSERT_EQ(0, points[i].status);
			ASSERT_EQ(FRAME, points[i].bytes);
			number = number_of(self->dst.bytes +
					   points[i].frame * FRAME);
			ASSERT_LT(seen, number);
			missing += number - seen - 1;
			seen = number;
			frames[i] = points[i].frame;
		}
		args.count = args.acquired;
	}
	EXPECT_EQ(missing, self->received.head->lost);
	EXPECT_LT(0, missing);
	for (size_t i = FRAMES * FRAME; i < SIZE; i++)
		ASSERT_EQ(GUARD, self->dst.bytes[i]);
}

/* A frame that was cancelled comes back, and the ring goes on. */
TEST_F(axidma, a_ring_goes_on_after_a_cancel)
{
	struct dray_cancel cancel = { .fence_fd = -1, .channel = self->rx };
	struct dray_point point;
	uint64_t i;

	ASSERT_EQ(0, give_ring(&self->received, false, 0, self->dst.fd));
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_CANCEL, &cancel));
	/* Until the engine has been stopped, it would lose what is sent. */
	for (i = 1; i <= cancel.count; i++) {
		ASSERT_EQ(0, line_wait(&self->received, i, &point));
		ASSERT_EQ(-ECANCELED, point.status);
		ASSERT_EQ(0, release(&self->received, point.frame));
	}
	ASSERT_LT(0, send_bytes(self, 0, FRAME));
	ASSERT_EQ(0, line_wait(&self->received, i, &point));
	EXPECT_EQ(0, point.status);
	EXPECT_EQ(FRAME, point.bytes);
}
