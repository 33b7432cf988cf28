// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * SUBMIT, refusals: bytes that leave their buffer, and runs that overlap.
 */
#include "submit_refusal.h"

TEST_F(engine, source_and_destination_that_overlap_are_refused)
{
	const uint64_t distances[] = { 0, 1, 99 };

	for (size_t i = 0; i < ARRAY_SIZE(distances); i++) {
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

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
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

/* Runs of one side; the other side stays inside its buffer. */
struct span {
	uint64_t offset;
	uint64_t run;
	uint64_t count;
	int64_t stride;
};

static struct refusal refuse_span(FIXTURE_DATA(engine) * self,
				  const struct span *span, bool destination)
{
	struct dray_transfer transfer = engine_copy(self, span->run);
	struct dray_axis axis = { .count = span->count };

	if (destination) {
		transfer.dst_offset = span->offset;
		axis.dst_stride = span->stride;
	} else {
		/* rows of the destination do not meet */
		transfer.src_offset = span->offset;
		axis.src_stride = span->stride;
		axis.dst_stride = (int64_t)self->unit;
	}
	engine_axes(&transfer, &axis, 1);
	return refuse(self, &transfer);
}

static void expect_refused(struct __test_metadata *_metadata,
			   FIXTURE_DATA(engine) * self, const struct span *span,
			   bool destination)
{
	struct refusal refusal = refuse_span(self, span, destination);
	bool many = refusal.reason == DRAY_REASON_RUNS ||
		    refusal.reason == DRAY_REASON_BYTES;

	EXPECT_EQ(-EINVAL, refusal.error);
	/* so many rows leave more than one bound behind */
	EXPECT_TRUE(many || (refusal.reason == DRAY_REASON_RANGE &&
			     refusal.limit == BUFFER_SIZE))
	{
		TH_LOG("offset %lld, run %lld, count %lld, stride %lld, %s: reason %u, limit %llu",
		       (long long)span->offset, (long long)span->run,
		       (long long)span->count, (long long)span->stride,
		       destination ? "destination" : "source", refusal.reason,
		       (unsigned long long)refusal.limit);
	}
}

/* As a source and as a destination; and nothing is written. */
static void expect_all_refused(struct __test_metadata *_metadata,
			       FIXTURE_DATA(engine) * self,
			       const struct span *spans, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		expect_refused(_metadata, self, &spans[i], false);
		expect_refused(_metadata, self, &spans[i], true);
	}
	EXPECT_EQ(-1, engine_difference(self));
}

TEST_F(engine, what_goes_past_the_end_or_before_the_start_is_refused)
{
	const int64_t unit = (int64_t)self->unit;
	const uint64_t size = BUFFER_SIZE;
	const struct span spans[] = {
		{ .offset = size, .run = unit, .count = 1 },
		{ .offset = 0, .run = size + unit, .count = 1 },
		{ .offset = size - unit, .run = 2 * unit, .count = 1 },
		{ .offset = unit, .run = unit, .count = 3, .stride = -unit },
		{ .run = unit, .count = 2, .stride = (int64_t)size },
		{ .run = unit, .count = size / unit + 1, .stride = unit },
	};

	expect_all_refused(_metadata, self, spans, ARRAY_SIZE(spans));
}

TEST_F(engine, what_overflows_64_bits_is_refused)
{
	const int64_t unit = (int64_t)self->unit;
	const struct span spans[] = {
		{ .offset = -unit, .run = unit, .count = 1 },
		{ .offset = -unit, .run = 2 * unit, .count = 1 },
		{ .run = -unit, .count = 1 },
		{ .offset = unit, .run = -unit, .count = 1 },
		{ .run = unit, .count = 2, .stride = INT64_MIN },
		{ .run = unit, .count = 2, .stride = INT64_MAX - unit + 1 },
		{ .run = unit, .count = 3, .stride = 1ll << 62 },
		{ .run = unit, .count = 5, .stride = 1ll << 62 },
		{ .run = unit, .count = (1ull << 61) + 1, .stride = 8 * unit },
		{ .run = unit, .count = UINT64_MAX, .stride = -unit },
		{ .run = unit, .count = UINT64_MAX, .stride = INT64_MIN },
	};

	expect_all_refused(_metadata, self, spans, ARRAY_SIZE(spans));
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

	for (int i = 0; i < 4; i++)
		transfers[i] = engine_copy(self, self->page);
	transfers[2].dst_offset = BUFFER_SIZE;
	EXPECT_EQ(-EINVAL, engine_submit(self, transfers, 4, &submit));
	EXPECT_EQ(2, submit.failed);
	EXPECT_EQ(DRAY_REASON_RANGE, submit.reason);
	EXPECT_EQ(-1, engine_difference(self));
}
