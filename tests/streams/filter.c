// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Pictures of 64 samples a line through the blur of tools/fpga, on the kernel's own
 * driver: lines of a larger picture go out, and come back into another.
 */
#include "axidma.h"

#define WIDTH 64
#define MOST 100 /* lines */
#define FROM 200 /* bytes from line to line */
#define TO 72

static int clamped(int value, int most)
{
	return value < 0 ? 0 : value > most ? most : value;
}

static uint8_t blurred(const uint8_t *picture, int height, int y, int x)
{
	int sum = 0;

	for (int i = 0; i < 9; i++)
		sum += picture[clamped(y + i / 3 - 1, height - 1) * FROM +
			       clamped(x + i % 3 - 1, WIDTH - 1)];
	return (uint8_t)((sum + 4) / 9);
}

TEST_F(axidma, pictures_come_back_blurred)
{
	static uint8_t expected[MOST * TO];

	for (int height = 1; height <= MOST; height += 1 + height / 4) {
		uint64_t start = 4 * (uint64_t)height, bytes;
		struct dray_axis from = { .count = (uint32_t)height,
					  .src_stride = FROM };
		struct dray_axis to = { .count = (uint32_t)height,
					.dst_stride = TO };
		struct dray_transfer send =
			SEND_OF(self->src.fd, start, WIDTH,
				.axes = (uintptr_t)&from, .axes_count = 1);
		struct dray_transfer receive =
			RECV_OF(self->dst.fd, 0, WIDTH, .axes = (uintptr_t)&to,
				.axes_count = 1);
		int64_t in, out;

		memset(expected, GUARD, sizeof(expected));
		memset(self->dst.bytes, GUARD, sizeof(expected));
		for (int i = 0; i < height * WIDTH; i++)
			expected[i / WIDTH * TO + i % WIDTH] =
				blurred(self->src.bytes + start, height,
					i / WIDTH, i % WIDTH);
		bytes = (uint64_t)height * WIDTH;
		in = submit(self, &receive, 0);
		ASSERT_LT(0, in);
		out = submit(self, &send, 0);
		ASSERT_LT(0, out);
		ASSERT_EQ((int64_t)bytes,
			  line_bytes(&self->received, (uint64_t)in));
		ASSERT_EQ((int64_t)bytes,
			  line_bytes(&self->sent, (uint64_t)out));
		ASSERT_EQ(-1, first_difference(expected, self->dst.bytes,
					       sizeof(expected)));
	}
}
