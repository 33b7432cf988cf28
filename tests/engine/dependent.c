// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Transfers of one call that need what the ones before have written, on an
 * engine that reads ahead of what it has to write, and on one that does its
 * descriptors in any order.  Needs dray_test_engine.ko, with or without
 * unordered=1, then dray.ko with nodes=1 channels=2.
 */
#include "fixture_fault.h"

#define STEP 4096
#define CHAIN 6

static int submit(FIXTURE_DATA(fault) * self, struct dray_transfer *transfers,
		  uint32_t count)
{
	struct dray_submit submit =
		SUBMIT_OF(0, transfers, count, .fence_fd = -1);
	int ret = node_call(self->node, DRAY_IOC_SUBMIT, &submit);

	return ret ? ret : fence_wait(submit.fence_fd);
}

/* From the source to the first step of the destination, and on from there. */
static void chain(FIXTURE_DATA(fault) * self, struct dray_transfer *transfers)
{
	for (int i = 0; i < CHAIN; i++)
		transfers[i] = (struct dray_transfer)COPY_OF(
			self->dst.fd, i ? self->dst.fd : self->src.fd, STEP,
			.src_offset = i ? (i - 1) * STEP : 0,
			.dst_offset = i * STEP);
}

TEST_F(fault, a_transfer_reads_what_the_one_before_has_written)
{
	struct dray_transfer transfers[CHAIN];

	ASSERT_EQ(0, knob("ahead", 1));
	chain(self, transfers);
	ASSERT_EQ(1, submit(self, transfers, CHAIN));
	for (int i = 0; i < CHAIN; i++)
		EXPECT_EQ(-1,
			  first_difference(self->src.bytes,
					   self->dst.bytes + i * STEP, STEP));
}

TEST_F(fault, every_descriptor_of_the_one_before_has_written)
{
	struct dray_axis axis = { .count = 7,
				  .dst_stride = 2 * STEP,
				  .src_stride = STEP };
	struct dray_transfer transfers[2] = {
		{ .op = DRAY_OP_COPY,
		  .src_fd = self->src.fd,
		  .dst_fd = self->dst.fd,
		  .run = STEP,
		  .axes_count = 1,
		  .axes = (uintptr_t)&axis },
		{ .op = DRAY_OP_COPY,
		  .src_fd = self->dst.fd,
		  .dst_fd = self->dst.fd,
		  .dst_offset = 4 * PIECE,
		  .run = 13 * STEP },
	};

	ASSERT_EQ(0, knob("ahead", 1));
	ASSERT_EQ(1, submit(self, transfers, 2));
	for (int i = 0; i < 7; i++)
		EXPECT_EQ(-1, first_difference(self->src.bytes + i * STEP,
					       self->dst.bytes + 4 * PIECE +
						       2 * i * STEP,
					       STEP));
}

static struct dray_transfer step(FIXTURE_DATA(fault) * self, int src_fd,
				 uint64_t src, uint64_t dst)
{
	return (struct dray_transfer)COPY_OF(self->dst.fd, src_fd, STEP,
					     .src_offset = src * STEP,
					     .dst_offset = dst * STEP);
}

TEST_F(fault, a_transfer_writes_what_the_one_before_has_read)
{
	struct dray_transfer transfers[] = {
		step(self, self->dst.fd, 0, 1),
		step(self, self->src.fd, 5, 0),
	};
	uint8_t old[STEP];

	ASSERT_EQ(0, knob("ahead", 1));
	fill_random(self->dst.bytes, 2 * STEP, 9);
	memcpy(old, self->dst.bytes, STEP);
	ASSERT_EQ(1, submit(self, transfers, 2));
	EXPECT_EQ(-1, first_difference(old, self->dst.bytes + STEP, STEP));
	EXPECT_EQ(-1, first_difference(self->src.bytes + 5 * STEP,
				       self->dst.bytes, STEP));
}

TEST_F(fault, the_last_of_two_that_write_the_same_stays)
{
	struct dray_transfer transfers[] = {
		step(self, self->src.fd, 1, 0),
		step(self, self->src.fd, 2, 0),
	};

	ASSERT_EQ(1, submit(self, transfers, 2));
	EXPECT_EQ(-1, first_difference(self->src.bytes + 2 * STEP,
				       self->dst.bytes, STEP));
}

TEST_F(fault, transfers_that_need_nothing_of_each_other_are_out_together)
{
	int before = parameter_read("dray_test_engine", "early");
	struct dray_transfer transfers[] = {
		step(self, self->src.fd, 1, 0),
		step(self, self->src.fd, 2, 1),
	};

	ASSERT_LE(0, before);
	ASSERT_EQ(0, knob("ahead", 1));
	ASSERT_EQ(1, submit(self, transfers, 2));
	EXPECT_LT(before, parameter_read("dray_test_engine", "early"));
	EXPECT_EQ(-1, first_difference(self->src.bytes + STEP, self->dst.bytes,
				       2 * STEP));
}

/* Or the tests above would pass on any engine; and each round costs time. */
TEST_F(fault, the_descriptors_of_a_transfer_are_out_together)
{
	struct dray_transfer transfer = whole(self);
	int before = parameter_read("dray_test_engine", "early");

	ASSERT_LE(0, before);
	ASSERT_EQ(0, knob("ahead", 1));
	ASSERT_EQ(1, submit(self, &transfer, 1));
	EXPECT_LT(before, parameter_read("dray_test_engine", "early"));
	EXPECT_TRUE(is_equal(self));
}

TEST_F(fault, what_fails_without_an_order_is_said)
{
	struct dray_transfer transfers[CHAIN];

	SKIP_IF(!knob_is_on("unordered"), "the engine keeps to an order");
	chain(self, transfers);
	ASSERT_EQ(0, knob("fail", 1));
	EXPECT_EQ(-EIO, submit(self, transfers, CHAIN));
	ASSERT_EQ(0, knob("fail", 0));
	EXPECT_EQ(1, submit(self, transfers, CHAIN));
}
