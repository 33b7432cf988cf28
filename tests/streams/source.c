// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Frames of 4 KiB of a source that never stops, on the kernel's own driver: word i of
 * frame n is n + i.
 */
#include "axidma.h"

#define FRAME 4096u
#define AHEAD 8u /* receives that wait */
#define FRAMES 200u

/* Four runs with a gap behind each. */
#define RUN (FRAME / 4)
#define STRIDE (RUN + 512)
#define PLACE (4 * STRIDE)

static int64_t receive_frame(FIXTURE_DATA(axidma) * self, uint64_t place)
{
	struct dray_axis axis = { .count = 4, .dst_stride = STRIDE };
	struct dray_transfer receive =
		RECV_OF(self->dst.fd, place * PLACE, RUN,
			.axes = (uintptr_t)&axis, .axes_count = 1);

	memset(self->dst.bytes + place * PLACE, GUARD, PLACE);
	return submit(self, &receive, 0);
}

/* The frame's number, or -1 if it is torn or a gap was written. */
static int64_t number_at(FIXTURE_DATA(axidma) * self, uint64_t place)
{
	const uint8_t *bytes = self->dst.bytes + place * PLACE;
	uint32_t first, word;

	memcpy(&first, bytes, sizeof(first));
	for (uint32_t i = 0; i < FRAME / 4; i++) {
		memcpy(&word, bytes + i * 4 / RUN * STRIDE + i * 4 % RUN,
		       sizeof(word));
		if (word != first + i)
			return -1;
	}
	for (uint32_t i = 0; i < PLACE; i++)
		if (i % STRIDE >= RUN && bytes[i] != GUARD)
			return -1;
	return first;
}

TEST_F(axidma, frames_follow_each_other_without_a_loss)
{
	int64_t first = 0;

	for (uint64_t i = 0; i < AHEAD; i++)
		ASSERT_LT(0, receive_frame(self, i));
	for (uint64_t i = 0; i < FRAMES; i++) {
		uint64_t place = i % AHEAD;

		ASSERT_EQ(FRAME, line_bytes(&self->received, i + 1));
		if (!i)
			first = number_at(self, place);
		ASSERT_LE(0, first);
		ASSERT_EQ(first + (int64_t)i, number_at(self, place));
		if (i + AHEAD < FRAMES)
			ASSERT_LT(0, receive_frame(self, place));
	}
	/* The source waits whenever nothing is to receive. */
	EXPECT_LT(0, self->model->s2mm.held);
}
