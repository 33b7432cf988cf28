// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Two channels on one buffer, of which one comes to its end long before the
 * other: whoever finds the fences at the dma-buf, and knows nothing of either
 * channel, waits for both.  Needs dray_test_importer.ko and what the fixture
 * needs.
 */
#include "../selftests/importer.h"
#include "fixture_fault.h"
#include "importing.h"

FIXTURE_VARIANT(fault)
{
	uint32_t last; /* the channel that does not end until it is let go */
};

/* clang-format off */
FIXTURE_VARIANT_ADD(fault, the_first_channel_ends_last) { .last = 0 };
FIXTURE_VARIANT_ADD(fault, the_second_channel_ends_last) { .last = 1 };
/* clang-format on */

/* Each channel copies one half; returns when one has, and the other has not. */
static int copy_halves(FIXTURE_DATA(fault) * self, uint32_t last, int *fences)
{
	struct dray_transfer transfer = whole(self);
	struct dray_submit submit;
	int ret = knob("stuck", 1u << last);

	transfer.run /= 2;
	for (uint32_t i = 0; i < 2 && !ret; i++) {
		transfer.src_offset = i * transfer.run;
		transfer.dst_offset = i * transfer.run;
		submit = (struct dray_submit)SUBMIT_OF(i, &transfer, 1);
		ret = node_call(self->node, DRAY_IOC_SUBMIT, &submit);
		fences[i] = submit.fence_fd;
	}
	if (ret)
		return ret;
	ret = fence_wait(fences[!last]);
	if (ret != 1)
		return ret ? ret : -ETIME;
	return fence_status(fences[last]) ? -EALREADY : 0;
}

static bool is_ready(int fd, short events, int milliseconds)
{
	struct pollfd poll_fd = { .fd = fd, .events = events };

	return poll(&poll_fd, 1, milliseconds) == 1;
}

static bool have_signalled(const int *fences)
{
	return fence_status(fences[0]) == 1 && fence_status(fences[1]) == 1;
}

TEST_F(fault, who_polls_for_reading_waits_for_both_writers)
{
	int fences[2];

	ASSERT_EQ(0, copy_halves(self, variant->last, fences));
	EXPECT_FALSE(is_ready(self->dst.fd, POLLIN, 0));
	ASSERT_EQ(0, knob("stuck", 0));
	EXPECT_TRUE(is_ready(self->dst.fd, POLLIN, DEADLINE_MS));
	EXPECT_TRUE(have_signalled(fences));
	EXPECT_TRUE(is_equal(self));
}

TEST_F(fault, who_polls_for_writing_waits_for_both_readers)
{
	int fences[2];

	ASSERT_EQ(0, copy_halves(self, variant->last, fences));
	EXPECT_TRUE(is_ready(self->src.fd, POLLIN, 0));
	EXPECT_FALSE(is_ready(self->src.fd, POLLOUT, 0));
	ASSERT_EQ(0, knob("stuck", 0));
	EXPECT_TRUE(is_ready(self->src.fd, POLLOUT, DEADLINE_MS));
	EXPECT_TRUE(have_signalled(fences));
}

static int begin_to_read(void *context)
{
	return -buffer_cpu_access(*(int *)context,
				  DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ);
}

TEST_F(fault, a_cpu_access_waits_for_both_writers)
{
	int fences[2];
	pid_t child;

	ASSERT_EQ(0, copy_halves(self, variant->last, fences));
	child = process_start(begin_to_read, &self->dst.fd);
	ASSERT_LT(0, child);
	EXPECT_TRUE(wait_for(process_sleeps, &child));
	EXPECT_EQ(0, fence_status(fences[variant->last]));
	ASSERT_EQ(0, knob("stuck", 0));
	EXPECT_EQ(0, process_wait(child));
	EXPECT_TRUE(have_signalled(fences));
}

TEST_F(fault, a_driver_that_imports_it_waits_for_both_writers)
{
	int fences[2];

	ASSERT_EQ(0, copy_halves(self, variant->last, fences));
	ASSERT_EQ(0, import("wait", self->dst.fd));
	EXPECT_EQ(0, number_read(IMPORTER "waited"));
	EXPECT_EQ(0, fence_status(fences[variant->last]));
	ASSERT_EQ(0, knob("stuck", 0));
	EXPECT_TRUE(wait_for(has_waited, NULL));
	EXPECT_EQ(1, number_read(IMPORTER "waited"));
	EXPECT_TRUE(have_signalled(fences));
}

TEST_F(fault, the_fences_that_a_dma_buf_gives_are_those_of_both)
{
	int fences[2], both;

	SKIP_IF(!buffer_tells_fences(self->dst.fd),
		"this kernel exports no fences");
	ASSERT_EQ(0, copy_halves(self, variant->last, fences));
	both = buffer_fences(self->dst.fd);
	ASSERT_LE(0, both);
	EXPECT_EQ(0, fence_status(both));
	ASSERT_EQ(0, knob("stuck", 0));
	EXPECT_EQ(1, fence_wait(both));
	EXPECT_TRUE(have_signalled(fences));
}
