// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Rounds of large descriptors.  Needs dray_test_engine.ko with
 * max_segment=4194304 slots=32, then dray.ko with nodes=1 channels=2.
 */
#include "fixture_fault.h"

#define ROUND (64u << 20) /* bytes that an engine is given at once */
#define LARGE (3u << 20) /* no divisor of it */
#define COUNT 30

TEST_F(fault, a_round_has_no_more_bytes_than_its_limit)
{
	static struct dray_transfer transfers[COUNT];
	struct dray_submit submit = SUBMIT_OF(0, transfers, COUNT);
	static struct buffer dst[COUNT];
	int i, most;

	ASSERT_EQ(0, knob("slots", 32));
	ASSERT_EQ(0, knob("most", 0));
	OPEN_BUFFER(src, DRAY_HEAP_ANY, LARGE);
	fill_random(src.bytes, src.size, 9);
	for (i = 0; i < COUNT; i++) {
		ASSERT_EQ(0, buffer_open(self->node, DRAY_HEAP_ANY, LARGE,
					 &dst[i]));
		transfers[i] =
			(struct dray_transfer)COPY_OF(dst[i].fd, src.fd, LARGE);
	}
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_SUBMIT, &submit));
	EXPECT_EQ(1, fence_wait(submit.fence_fd));
	for (i = 0; i < COUNT; i++)
		EXPECT_EQ(-1, first_difference(src.bytes, dst[i].bytes, LARGE));
	most = parameter_read("dray_test_engine", "most");
	EXPECT_EQ(ROUND / LARGE * LARGE, (unsigned int)most);
}
