// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Packets through the running sum of tools/fpga, on the kernel's own driver. */
#include "axidma.h"

TEST_F(axidma, words_come_back_as_running_sums)
{
	for (uint64_t round = 0; round < 50; round++) {
		struct dray_axis from = { .count = 1 + round,
					  .src_stride = 100 };
		struct dray_transfer send =
			SEND_OF(self->src.fd, 4 * round, 40,
				.axes = (uintptr_t)&from, .axes_count = 1);
		uint64_t bytes = 40 * from.count;
		uint32_t sum = 0, word, got;
		int64_t in, out;

		in = receive_bytes(self, 0, bytes, 0);
		ASSERT_LT(0, in);
		out = submit(self, &send, 0);
		ASSERT_LT(0, out);
		ASSERT_EQ((int64_t)bytes,
			  line_bytes(&self->received, (uint64_t)in));
		for (uint64_t i = 0; i < bytes; i += 4) {
			memcpy(&word,
			       self->src.bytes + 4 * round + i / 40 * 100 +
				       i % 40,
			       sizeof(word));
			memcpy(&got, self->dst.bytes + i, sizeof(got));
			sum += word;
			ASSERT_EQ(sum, got);
		}
		ASSERT_EQ(GUARD, self->dst.bytes[bytes]);
		ASSERT_EQ((int64_t)bytes,
			  line_bytes(&self->sent, (uint64_t)out));
	}
}
