// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * SUBMIT, refusals: bytes that leave their buffer, and runs that overlap.
 */
#include <errno.h>
#include <unistd.h>

#include "submit_refusal.h"

TEST_F(engine, source_and_destination_that_overlap_are_refused)
{
	const uint64_t distances[] = { 0, 1, 99 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(distances); i++) {
		struct dray_transfer transfer =
			engine_copy(self, 100 * self->unit);

		transfer.src_fd = self->dst.fd;
		transfer.dst_offset = distances[i] * self->unit;
		EXPECT_EQ(-EINVAL, refuse(self, &transfer).error);
		EXPECT_EQ(DRAY_REASON_OVERLAP, refuse(self, &transfer).reason);
		transfer.src_offset = distances[i] * self->unit;
		transfer.dst_offset = 0;
		EXPECT_EQ(-EINVAL, refuse(self, &transfer).error);
	}
}

TEST_F(engine, spans_that_interleave_are_refused)
{
	struct dray_transfer transfer = engine_copy(self, self->unit);
	struct dray_axis axis = {
		.count = 50,
		.dst_stride = 2 * (int64_t)self->unit,
		.src_stride = 2 * (int64_t)self->unit,
	};

	transfer.src_fd = self->dst.fd;
	transfer.dst_offset = self->unit;
	engine_axes(&transfer, &axis, 1);
	EXPECT_EQ(-EINVAL, refuse(self, &transfer).error);
	EXPECT_EQ(DRAY_REASON_OVERLAP, refuse(self, &transfer).reason);
}

TEST_F(engine, the_same_buffer_by_two_fds_overlaps)
{
	struct dray_transfer transfer = engine_copy(self, self->unit);

	transfer.src_fd = dup(self->dst.fd);
	ASSERT_LE(0, transfer.src_fd);
	EXPECT_EQ(-EINVAL, refuse(self, &transfer).error);
	EXPECT_EQ(DRAY_REASON_OVERLAP, refuse(self, &transfer).reason);
}

TEST_F(engine, destination_rows_that_meet_are_refused)
{
	const int64_t unit = (int64_t)self->unit;
	const struct dray_axis cases[][2] = {
		{ { .count = 2, .dst_stride = 0 }, { .count = 1 } },
		{ { .count = 2, .dst_stride = 9 * unit }, { .count = 1 } },
		{ { .count = 3, .dst_stride = -9 * unit }, { .count = 1 } },
		{ { .count = 2, .dst_stride = 15 * unit },
		  { .count = 2, .dst_stride = 10 * unit } },
		{ { .count = 2, .dst_stride = 100 * unit },
		  { .count = 12, .dst_stride = 10 * unit } },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct dray_transfer transfer =
			engine_copy(self, 10 * self->unit);

		transfer.dst_offset = 1000 * self->unit;
		engine_axes(&transfer, cases[i], 2);
		EXPECT_EQ(-EINVAL, refuse(self, &transfer).error)
		{
			TH_LOG("case %zu", i);
		}
		EXPECT_EQ(DRAY_REASON_OVERLAP, refuse(self, &transfer).reason);
	}
	EXPECT_EQ(-1, engine_difference(self));
}

TEST_F(engine, transfers_that_leave_a_buffer_are_refused)
{
	const int64_t unit = (int64_t)self->unit;
	const uint64_t size = BUFFER_SIZE;
	const struct {
		uint64_t offset, run, count;
		int64_t stride;
	} cases[] = {
		/* past the end, before the start */
		{ .offset = size, .run = self->unit, .count = 1 },
		{ .offset = 0, .run = size + self->unit, .count = 1 },
		{ .offset = size - self->unit,
		  .run = 2 * self->unit,
		  .count = 1 },
		{ .offset = self->unit,
		  .run = self->unit,
		  .count = 3,
		  .stride = -unit },
		{ .run = self->unit, .count = 2, .stride = (int64_t)size },
		{ .run = self->unit,
		  .count = size / self->unit + 1,
		  .stride = unit },
		/* each term overflows */
		{ .offset = -self->unit, .run = self->unit, .count = 1 },
		{ .offset = -self->unit, .run = 2 * self->unit, .count = 1 },
		{ .run = -self->unit, .count = 1 },
		{ .offset = self->unit, .run = -self->unit, .count = 1 },
		{ .run = self->unit, .count = 2, .stride = INT64_MIN },
		{ .run = self->unit,
		  .count = 2,
		  .stride = INT64_MAX - unit + 1 },
		{ .run = self->unit, .count = 3, .stride = 1ll << 62 },
		{ .run = self->unit, .count = 5, .stride = 1ll << 62 },
		{ .run = self->unit,
		  .count = (1ull << 61) + 1,
		  .stride = 8 * unit },
		{ .run = self->unit, .count = UINT64_MAX, .stride = -unit },
		{ .run = self->unit, .count = UINT64_MAX, .stride = INT64_MIN },
	};
	size_t i;
	int side;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		for (side = 0; side < 2; side++) {
			struct dray_transfer transfer =
				engine_copy(self, cases[i].run);
			struct dray_axis axis = { .count = cases[i].count };
			struct refusal refusal;

			if (side) {
				transfer.dst_offset = cases[i].offset;
				axis.dst_stride = cases[i].stride;
			} else {
				/* rows of the destination do not meet */
				transfer.src_offset = cases[i].offset;
				axis.src_stride = cases[i].stride;
				axis.dst_stride = unit;
			}
			engine_axes(&transfer, &axis, 1);
			refusal = refuse(self, &transfer);
			EXPECT_EQ(-EINVAL, refusal.error)
			{
				TH_LOG("case %zu, %s", i,
				       side ? "destination" : "source");
			}
			/* so many rows leave more than one bound behind */
			if (refusal.reason != DRAY_REASON_RUNS &&
			    refusal.reason != DRAY_REASON_BYTES) {
				EXPECT_EQ(DRAY_REASON_RANGE, refusal.reason)
				{
					TH_LOG("case %zu, %s", i,
					       side ? "destination" : "source");
				}
				EXPECT_EQ(size, refusal.limit);
			}
		}
	EXPECT_EQ(-1, engine_difference(self));
}

TEST_F(engine, the_sum_over_axes_is_what_must_stay_inside)
{
	struct dray_transfer transfer = engine_copy(self, self->unit);
	const int64_t third =
		BUFFER_SIZE / 3 / (int64_t)self->unit * (int64_t)self->unit;
	struct dray_axis axes[] = {
		{ .count = 2, .dst_stride = 64, .src_stride = third },
		{ .count = 2, .dst_stride = 128, .src_stride = third },
		{ .count = 2, .dst_stride = 256, .src_stride = third },
		{ .count = 2, .dst_stride = 512, .src_stride = third },
	};

	/* each axis alone stays inside, and so do two of them */
	engine_axes(&transfer, axes, 4);
	EXPECT_EQ(-EINVAL, refuse(self, &transfer).error);
	EXPECT_EQ(DRAY_REASON_RANGE, refuse(self, &transfer).reason);
	engine_axes(&transfer, axes, 2);
	EXPECT_EQ(0, refuse(self, &transfer).error);
}

TEST_F(engine, the_wrong_transfer_of_several_is_named_and_none_runs)
{
	struct dray_transfer transfers[4];
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	int i;

	for (i = 0; i < 4; i++)
		transfers[i] = engine_copy(self, self->page);
	transfers[2].dst_offset = BUFFER_SIZE;
	EXPECT_EQ(-EINVAL, engine_submit(self, transfers, 4, &submit));
	EXPECT_EQ(2, submit.failed);
	EXPECT_EQ(DRAY_REASON_RANGE, submit.reason);
	EXPECT_EQ(-1, engine_difference(self));
}

TEST_HARNESS_MAIN
