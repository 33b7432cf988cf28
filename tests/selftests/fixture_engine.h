/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The fixture of tests that move bytes: two buffers full of different bytes,
 * and beside each the model's copy of it.
 */
#ifndef SELFTEST_FIXTURE_ENGINE_H
#define SELFTEST_FIXTURE_ENGINE_H

#include "fence.h"
#include "ledger.h"
#include "process.h"
#include "setup.h"
#include "transfer_model.h"

#define BUFFER_SIZE (256 * 1024)

FIXTURE(engine)
{
	int node;
	size_t page;
	uint64_t unit; /* bytes of an element: what the channels can address */
	struct dray_info info;
	struct ledger before;
	struct buffer src;
	struct buffer dst;
	struct model_memory model[2]; /* of src, of dst */
	struct dray_axis slow; /* of engine_slow() */
};

FIXTURE_SETUP(engine)
{
	struct dray_channel_info channel;

	SETUP_NODE();
	ASSERT_EQ(0, node_info(self->node, &self->info));
	SKIP_IF(!self->info.channel_count, "this node has no DMA channel");
	ASSERT_EQ(0, ledger_take(self->node, &self->before));
	self->unit = 4;
	for (uint32_t i = 0; i < self->info.channel_count; i++) {
		ASSERT_EQ(0, node_channel(self->node, i, &channel));
		if (channel.alignment > self->unit)
			self->unit = channel.alignment;
	}
	ASSERT_EQ(0, buffer_open(self->node, DRAY_HEAP_ANY, BUFFER_SIZE,
				 &self->src));
	ASSERT_EQ(0, buffer_open(self->node, DRAY_HEAP_ANY, BUFFER_SIZE,
				 &self->dst));
	self->model[0].fd = self->src.fd;
	self->model[0].bytes = malloc(BUFFER_SIZE);
	self->model[1].fd = self->dst.fd;
	self->model[1].bytes = malloc(BUFFER_SIZE);
	fill_random(self->model[0].bytes, BUFFER_SIZE, 1);
	fill_random(self->model[1].bytes, BUFFER_SIZE, 2);
	memcpy(self->src.bytes, self->model[0].bytes, BUFFER_SIZE);
	memcpy(self->dst.bytes, self->model[1].bytes, BUFFER_SIZE);
}

FIXTURE_TEARDOWN_PARENT(engine)
{
	EXPECT_EQ(0, ledger_reclaimed_differences(&self->before));
}

/* One SUBMIT of these transfers; the reply stays readable. */
static inline int engine_submit(FIXTURE_DATA(engine) * self,
				const struct dray_transfer *transfers,
				uint32_t count, struct dray_submit *submit)
{
	submit->transfers = (uintptr_t)transfers;
	submit->count = count;
	return node_call(self->node, DRAY_IOC_SUBMIT, submit);
}

/*
 * Submits, waits, does the same in the model.  Returns 0, or the negative
 * errno of the call or of the fence.
 */
static inline int engine_run(FIXTURE_DATA(engine) * self,
			     const struct dray_transfer *transfers,
			     uint32_t count)
{
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	int ret = engine_submit(self, transfers, count, &submit);

	if (ret)
		return ret;
	ret = fence_wait(submit.fence_fd);
	close(submit.fence_fd);
	if (ret != 1)
		return ret ? ret : -ETIME;
	for (uint32_t i = 0; i < count; i++)
		model_transfer(self->model, 2, &transfers[i]);
	return 0;
}

/* The first byte of either buffer that is not the model's, or -1. */
static inline int64_t engine_difference(FIXTURE_DATA(engine) * self)
{
	int64_t at = first_difference(self->model[1].bytes, self->dst.bytes,
				      BUFFER_SIZE);

	if (at >= 0)
		return at;
	return first_difference(self->model[0].bytes, self->src.bytes,
				BUFFER_SIZE);
}

/* Does the transfers; expects both buffers to equal the model afterwards. */
#define EXPECT_MODEL(transfers, count)                                \
	do {                                                          \
		ASSERT_EQ(0, engine_run(self, transfers, count));     \
		EXPECT_EQ(-1, engine_difference(self));               \
	} while (0)

/* A copy of one run between the two buffers, for a test to change. */
static inline struct dray_transfer engine_copy(FIXTURE_DATA(engine) * self,
					       uint64_t run)
{
	return (struct dray_transfer)COPY_OF(self->dst.fd, self->src.fd, run);
}

/* What a copy between two areas says: 0, or the reason why not. */
static inline uint32_t engine_refusal(FIXTURE_DATA(engine) * self, int to,
				      uint64_t to_offset, int from,
				      uint64_t from_offset, uint64_t run)
{
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	struct dray_transfer transfer = engine_copy(self, run);
	int ret;

	transfer.dst_fd = to;
	transfer.dst_offset = to_offset;
	transfer.src_fd = from;
	transfer.src_offset = from_offset;
	ret = engine_submit(self, &transfer, 1, &submit);
	if (ret)
		return ret == -EINVAL ? submit.reason : UINT32_MAX;
	ret = fence_wait(submit.fence_fd);
	close(submit.fence_fd);
	return ret == 1 ? 0 : UINT32_MAX;
}

/*
 * Returns 0 when the channel has done a copy for another opener, and so has had
 * its time for all that was given to it before.
 */
static inline int engine_pass(FIXTURE_DATA(engine) * self, uint32_t channel)
{
	struct dray_transfer transfer = { .op = DRAY_OP_COPY,
					  .dst_offset = self->page / 2,
					  .run = self->unit };
	struct dray_submit submit = SUBMIT_OF(channel, &transfer, 1);
	struct buffer buffer;
	int other = node_open(), ret;

	if (other < 0)
		return other;
	ret = buffer_allocate(other, DRAY_HEAP_ANY, self->page, &buffer);
	transfer.dst_fd = buffer.fd;
	transfer.src_fd = buffer.fd;
	if (!ret)
		ret = node_call(other, DRAY_IOC_SUBMIT, &submit);
	if (!ret) {
		ret = fence_wait(submit.fence_fd);
		ret = ret == 1 ? 0 : ret ? ret : -ETIME;
		close(submit.fence_fd);
	}
	buffer_close(&buffer);
	close(other);
	return ret;
}

static inline void engine_axes(struct dray_transfer *transfer,
			       const struct dray_axis *axes, uint32_t count)
{
	transfer->axes = (uintptr_t)axes;
	transfer->axes_count = count;
}

/*
 * A copy that keeps an engine busy while a test does something else: as many
 * descriptors of one element each as fit and as one call may take.  The
 * emulated engine needs 50 us and more for each; where it is slower, fewer do.
 */
static inline struct dray_transfer engine_slow(FIXTURE_DATA(engine) * self)
{
	struct dray_transfer transfer = engine_copy(self, self->unit);
	struct dray_axis *axis = &self->slow;

	axis->count = BUFFER_SIZE / (2 * self->unit);
	if (axis->count > self->info.max_runs)
		axis->count = self->info.max_runs;
	axis->count /= (uint32_t)engine_slowness();
	axis->dst_stride = 2 * (int64_t)self->unit;
	axis->src_stride = 2 * (int64_t)self->unit;
	engine_axes(&transfer, axis, 1);
	return transfer;
}

/* Declares both, and submits it. */
#define SUBMIT_SLOW(submit, transfer)                                         \
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };          \
	struct dray_transfer transfer = engine_slow(self);                    \
	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit))

#endif
