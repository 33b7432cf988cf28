// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * SUBMIT, fills: patterns of every size, borders, and what a fill refuses.
 */
#include "fixture_engine.h"

static struct dray_transfer fill(FIXTURE_DATA(engine) * self, uint64_t run,
				 uint32_t pattern_size)
{
	struct dray_transfer transfer = {
		.op = DRAY_OP_FILL,
		.dst_fd = self->dst.fd,
		.src_fd = -1,
		.run = run,
		.pattern_size = pattern_size,
	};

	for (uint32_t i = 0; i < pattern_size; i++)
		transfer.pattern[i] = (uint8_t)(0xa1 + i);
	return transfer;
}

TEST_F(engine, a_pattern_of_every_size_fills_a_run)
{
	for (uint32_t size = 1; size <= DRAY_MAX_PATTERN; size *= 2) {
		struct dray_transfer transfer = fill(self, 16 * 100, size);

		transfer.dst_offset = 4096 * size;
		ASSERT_EQ(0, engine_run(self, &transfer, 1))
		{
			TH_LOG("pattern of %u bytes", size);
		}
		EXPECT_EQ(-1, engine_difference(self))
		{
			TH_LOG("pattern of %u bytes", size);
		}
	}
}

TEST_F(engine, one_pattern_is_filled_in)
{
	struct dray_transfer transfer = fill(self, 16, 16);

	transfer.dst_offset = BUFFER_SIZE - 16;
	EXPECT_MODEL(&transfer, 1);
}

TEST_F(engine, a_whole_buffer_is_filled)
{
	struct dray_transfer transfer = fill(self, BUFFER_SIZE, 8);

	EXPECT_MODEL(&transfer, 1);
}

TEST_F(engine, every_run_starts_the_pattern_again)
{
	struct dray_transfer transfer = fill(self, 3 * 16, 16);
	struct dray_axis axis = { .count = 40, .dst_stride = 5 * 16 + 16 };

	engine_axes(&transfer, &axis, 1);
	EXPECT_MODEL(&transfer, 1);
}

TEST_F(engine, a_fill_with_negative_strides_stays_in_its_rows)
{
	struct dray_transfer transfer = fill(self, 16, 4);
	struct dray_axis axes[] = {
		{ .count = 10, .dst_stride = -640 },
		{ .count = 7, .dst_stride = 64 },
	};

	transfer.dst_offset = 9 * 640;
	engine_axes(&transfer, axes, 2);
	EXPECT_MODEL(&transfer, 1);
}

TEST_F(engine, a_border_is_four_fills_around_a_copy)
{
	enum {
		ROW = 16 * 40,
		ROWS = 50,
		EDGE = 16 * 2
	};
	struct dray_axis sides = { .count = ROWS - 4, .dst_stride = ROW };
	struct dray_axis inside = { .count = ROWS - 4,
				    .dst_stride = ROW,
				    .src_stride = ROW - 2 * EDGE };
	struct dray_transfer transfers[] = {
		fill(self, 2 * ROW, 16),
		fill(self, 2 * ROW, 16),
		fill(self, EDGE, 16),
		fill(self, EDGE, 16),
		engine_copy(self, ROW - 2 * EDGE),
	};

	transfers[1].dst_offset = (ROWS - 2) * ROW;
	transfers[2].dst_offset = 2 * ROW;
	engine_axes(&transfers[2], &sides, 1);
	transfers[3].dst_offset = 3 * ROW - EDGE;
	engine_axes(&transfers[3], &sides, 1);
	transfers[4].dst_offset = 2 * ROW + EDGE;
	engine_axes(&transfers[4], &inside, 1);
	EXPECT_MODEL(transfers, 5);
}

/* Those with runs that are longer than what there is of their patterns too. */
TEST_F(engine, each_of_the_most_fills_has_its_own_pattern)
{
	struct dray_transfer transfers[DRAY_MAX_TRANSFERS];

	for (uint32_t i = 0; i < DRAY_MAX_TRANSFERS; i++) {
		transfers[i] = fill(self, i % 3 ? 16 : 4080, 1u << i % 5);
		transfers[i].dst_offset = 4096 * i;
		transfers[i].pattern[0] = (uint8_t)i;
	}
	EXPECT_MODEL(transfers, DRAY_MAX_TRANSFERS);
}

TEST_F(engine, a_pattern_of_another_size_is_refused)
{
	const uint32_t sizes[] = { 0, 3, 5, 12, 17, 32, UINT32_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct dray_transfer transfer = fill(self, 4080, 1);

		transfer.pattern_size = sizes[i];
		EXPECT_EQ(-EINVAL, engine_run(self, &transfer, 1));
	}
}

TEST_F(engine, a_run_that_is_no_multiple_of_the_pattern_is_refused)
{
	struct dray_transfer transfer = fill(self, 24, 16);

	EXPECT_EQ(-EINVAL, engine_run(self, &transfer, 1));
	EXPECT_EQ(-1, engine_difference(self));
}

TEST_F(engine, a_fill_with_a_source_is_refused)
{
	struct dray_axis axis = { .count = 2,
				  .dst_stride = 64,
				  .src_stride = 64 };
	struct dray_transfer transfer = fill(self, 16, 4);

	transfer.src_fd = self->src.fd;
	EXPECT_EQ(-EINVAL, engine_run(self, &transfer, 1));
	transfer = fill(self, 16, 4);
	transfer.src_offset = 16;
	EXPECT_EQ(-EINVAL, engine_run(self, &transfer, 1));
	transfer = fill(self, 16, 4);
	engine_axes(&transfer, &axis, 1);
	EXPECT_EQ(-EINVAL, engine_run(self, &transfer, 1));
	EXPECT_EQ(-1, engine_difference(self));
}

TEST_F(engine, bytes_behind_the_pattern_are_refused)
{
	struct dray_transfer transfer = fill(self, 16, 4);

	transfer.pattern[4] = 1;
	EXPECT_EQ(-EINVAL, engine_run(self, &transfer, 1));
}

TEST_F(engine, a_copy_with_a_pattern_is_refused)
{
	struct dray_transfer transfer = engine_copy(self, self->unit);

	transfer.pattern_size = 4;
	EXPECT_EQ(-EINVAL, engine_run(self, &transfer, 1));
	transfer = engine_copy(self, self->unit);
	transfer.pattern[15] = 1;
	EXPECT_EQ(-EINVAL, engine_run(self, &transfer, 1));
}
