// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * SUBMIT, copies: every shape that a slice of an array can have.  After each
 * the whole of both buffers is compared with the model.
 */
#include "fixture_engine.h"

/* A copy in elements: axes have { count, destination stride, source stride }. */
struct shape {
	uint64_t run, dst_offset, src_offset;
	struct dray_axis axes[5]; /* the first without a count ends them */
};

/* The same in bytes, as a transfer that has the axes of @shape. */
static struct dray_transfer in_bytes(FIXTURE_DATA(engine) * self,
				     struct shape *shape)
{
	struct dray_transfer transfer =
		engine_copy(self, shape->run * self->unit);
	struct dray_axis *axis = shape->axes;

	transfer.dst_offset = shape->dst_offset * self->unit;
	transfer.src_offset = shape->src_offset * self->unit;
	for (; axis->count; axis++) {
		axis->dst_stride *= (int64_t)self->unit;
		axis->src_stride *= (int64_t)self->unit;
	}
	engine_axes(&transfer, shape->axes, (uint32_t)(axis - shape->axes));
	return transfer;
}

#define COPIES(name, ...)                                               \
	TEST_F(engine, name)                                            \
	{                                                               \
		struct shape shape = { __VA_ARGS__ };                   \
		struct dray_transfer transfer = in_bytes(self, &shape); \
                                                                        \
		EXPECT_MODEL(&transfer, 1);                             \
	}                                                               \
	struct shape

COPIES(one_run_is_copied, 1000, 11, 3);
COPIES(a_whole_buffer_is_copied, BUFFER_SIZE / self->unit);
COPIES(the_smallest_run_is_copied, 1, 0, BUFFER_SIZE / self->unit - 1);
COPIES(a_crop_leaves_the_bytes_between_its_rows, 40, 5, 17,
       { { 64, 48, 200 } });
COPIES(every_second_row_is_copied, 64, 0, 0, { { 50, 64, 128 } });
COPIES(a_negative_source_stride_turns_the_rows_over, 30, 0, 59 * 64,
       { { 60, 32, -64 } });
COPIES(a_negative_destination_stride_turns_the_rows_over, 30, 59 * 64, 0,
       { { 60, -64, 32 } });
COPIES(negative_strides_on_both_sides_keep_the_order, 30, 59 * 64, 59 * 32,
       { { 60, -64, -32 } });
COPIES(a_tile_is_transposed_element_by_element, 1, 0, 0,
       { { 32, 1, 40 }, { 24, 40, 1 } });
COPIES(a_source_stride_of_zero_repeats_a_row, 16, 0, 77, { { 100, 20, 0 } });
COPIES(four_axes_are_walked_in_order, 2, 0, 300,
       { { 3, 1000, 7 }, { 5, 2, 900 }, { 4, 120, -100 }, { 3, 20, 0 } });

TEST_F(engine, odd_addresses_are_copied_or_refused_as_the_channel_says)
{
	struct dray_transfer transfer = engine_copy(self, 13);
	struct dray_submit submit = { 0 };
	int ret;

	READ_CHANNEL(channel, 0);
	transfer.src_offset = 1;
	transfer.dst_offset = 7;
	ret = engine_submit(self, &transfer, 1, &submit);
	if (channel.alignment > 1) {
		EXPECT_EQ(-EINVAL, ret);
		EXPECT_EQ(DRAY_REASON_ALIGNMENT, submit.reason);
		EXPECT_EQ(channel.alignment, submit.limit);
		return;
	}
	ASSERT_EQ(0, ret);
	ASSERT_EQ(1, fence_wait(submit.fence_fd));
	model_transfer(self->model, 2, &transfer);
	EXPECT_EQ(-1, engine_difference(self));
}

TEST_F(engine, the_stride_of_an_axis_of_one_does_not_matter)
{
	struct dray_transfer transfer = engine_copy(self, 10 * self->unit);
	struct dray_axis axes[DRAY_MAX_AXES];

	for (int i = 0; i < DRAY_MAX_AXES; i++)
		axes[i] = (struct dray_axis){
			.count = 1,
			.dst_stride = INT64_MIN,
			.src_stride = INT64_MAX,
		};
	axes[20] = (struct dray_axis){
		.count = 5,
		.dst_stride = 12 * (int64_t)self->unit,
		.src_stride = 10 * (int64_t)self->unit,
	};
	engine_axes(&transfer, axes, DRAY_MAX_AXES);
	EXPECT_MODEL(&transfer, 1);
}

TEST_F(engine, the_reply_counts_descriptors_and_bytes)
{
	struct dray_transfer transfer = engine_copy(self, 8 * self->unit);
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	struct dray_axis axis = {
		.count = 25,
		.dst_stride = 16 * (int64_t)self->unit,
		.src_stride = 16 * (int64_t)self->unit,
	};

	engine_axes(&transfer, &axis, 1);
	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit));
	EXPECT_EQ(1, fence_wait(submit.fence_fd));
	EXPECT_EQ(25, submit.runs);
	EXPECT_EQ(25 * 8 * self->unit, submit.bytes);
	EXPECT_GT(self->info.channel_count, submit.channel);
	EXPECT_EQ(DRAY_REASON_NONE, submit.reason);
}

/* Each second run touches the next one on both sides. */
TEST_F(engine, a_descriptor_crosses_a_seam)
{
	const int64_t unit = 8 * (int64_t)self->unit;
	struct dray_axis axes[] = {
		{ .count = 4, .dst_stride = 2 * unit, .src_stride = 4 * unit },
		{ .count = 2, .dst_stride = unit, .src_stride = 3 * unit },
	};
	struct dray_transfer transfer = engine_copy(self, unit);
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };

	engine_axes(&transfer, axes, 2);
	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit));
	EXPECT_EQ(1, fence_wait(submit.fence_fd));
	EXPECT_EQ(5, submit.runs);
	EXPECT_EQ(8 * unit, submit.bytes);
}

TEST_F(engine, several_transfers_of_one_call_run_in_order)
{
	struct dray_transfer transfers[DRAY_MAX_TRANSFERS];

	/* each reads what the one before it wrote */
	for (int i = 0; i < DRAY_MAX_TRANSFERS; i++) {
		transfers[i] = engine_copy(self, 10 * self->unit);
		transfers[i].src_fd = i ? self->dst.fd : self->src.fd;
		transfers[i].src_offset = i ? 10ull * i * self->unit : 0;
		transfers[i].dst_offset = 10ull * (i + 1) * self->unit;
	}
	EXPECT_MODEL(transfers, DRAY_MAX_TRANSFERS);
}

TEST_F(engine, a_buffer_is_copied_into_another_part_of_itself)
{
	struct dray_transfer transfer = engine_copy(self, BUFFER_SIZE / 2);

	transfer.src_fd = self->dst.fd;
	transfer.dst_offset = BUFFER_SIZE / 2;
	EXPECT_MODEL(&transfer, 1);
}

TEST_F(engine, a_duplicated_fd_is_the_same_buffer)
{
	struct dray_transfer transfer = engine_copy(self, self->page);
	int fd = dup(self->dst.fd);

	ASSERT_LE(0, fd);
	transfer.dst_fd = fd;
	self->model[1].fd = fd;
	EXPECT_MODEL(&transfer, 1);
}

TEST_F(engine, every_pair_of_heaps_is_copied_between)
{
	struct buffer src, dst;
	uint32_t from, to;

	for (from = 0; from < self->info.heap_count; from++)
		for (to = 0; to < self->info.heap_count; to++) {
			struct dray_transfer transfer =
				engine_copy(self, self->page);

			ASSERT_EQ(0, buffer_open(self->node, from, self->page,
						 &src));
			ASSERT_EQ(0, buffer_open(self->node, to, self->page,
						 &dst));
			fill_random(src.bytes, self->page, from + 1);
			fill_random(dst.bytes, self->page, to + 100);
			transfer.src_fd = src.fd;
			transfer.dst_fd = dst.fd;
			self->model[0].fd = src.fd;
			self->model[1].fd = dst.fd;
			ASSERT_EQ(0, engine_run(self, &transfer, 1));
			EXPECT_EQ(-1, first_difference(src.bytes, dst.bytes,
						       self->page))
			{
				TH_LOG("from heap %u to heap %u", from, to);
			}
			buffer_close(&src);
			buffer_close(&dst);
		}
}

TEST_F(engine, without_sync_the_caller_syncs)
{
	struct dray_transfer transfer = engine_copy(self, BUFFER_SIZE);
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY,
				      .flags = DRAY_SUBMIT_NO_SYNC };

	ASSERT_EQ(0, buffer_sync(self->node, self->src.fd, DRAY_SYNC_FOR_DEVICE,
				 DRAY_TO_DEVICE, 0, BUFFER_SIZE));
	ASSERT_EQ(0, buffer_sync(self->node, self->dst.fd, DRAY_SYNC_FOR_DEVICE,
				 DRAY_FROM_DEVICE, 0, BUFFER_SIZE));
	READ_BUFFER(before, self->dst.id);
	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit));
	ASSERT_EQ(1, fence_wait(submit.fence_fd));
	READ_BUFFER(after, self->dst.id);
	EXPECT_EQ(before.sync_bytes, after.sync_bytes);
	ASSERT_EQ(0, buffer_sync(self->node, self->dst.fd, DRAY_SYNC_FOR_CPU,
				 DRAY_FROM_DEVICE, 0, BUFFER_SIZE));
	model_transfer(self->model, 2, &transfer);
	EXPECT_EQ(-1, engine_difference(self));
}

/* A device that gets copies has the bytes nowhere else until the access. */
TEST_F(engine, without_sync_a_cpu_access_brings_what_is_still_to_be_written)
{
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY,
				      .flags = DRAY_SUBMIT_NO_SYNC };
	struct dray_transfer transfer = engine_slow(self);

	ASSERT_EQ(0, buffer_sync(self->node, self->src.fd, DRAY_SYNC_FOR_DEVICE,
				 DRAY_TO_DEVICE, 0, BUFFER_SIZE));
	/* what lies between the rows comes back too */
	ASSERT_EQ(0, buffer_sync(self->node, self->dst.fd, DRAY_SYNC_FOR_DEVICE,
				 DRAY_TO_DEVICE, 0, BUFFER_SIZE));
	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit));
	ASSERT_EQ(0, cpu_begin(self->dst.fd, DMA_BUF_SYNC_READ));
	EXPECT_EQ(1, fence_status(submit.fence_fd));
	model_transfer(self->model, 2, &transfer);
	EXPECT_EQ(-1, engine_difference(self));
}
