// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * SUBMIT, copies at random: what comes out is what the model says, for one
 * process, for several at once, and for a user without any right.
 */
#include "fixture_engine.h"
#include "step.h"

/* A transfer in the making; lengths in elements. */
struct shape {
	uint64_t seed;
	int64_t unit; /* bytes of an element */
	int64_t room; /* of a buffer */
	int64_t run;
	uint32_t count; /* of axes */
	struct dray_axis axes[5];
};

static int64_t pick(struct shape *shape, uint64_t below)
{
	return (int64_t)(next_random(&shape->seed) % below);
}

/*
 * Axes whose destination runs do not meet: packed one around the other, with
 * gaps.  The extent of what is left of them when they fit into a buffer.
 */
static int64_t pack_axes(struct shape *shape)
{
	int64_t extent = shape->run, count, stride;
	struct dray_axis *axis;

	for (uint32_t i = 0; i < shape->count; i++) {
		axis = &shape->axes[i];
		count = 1 + pick(shape, 6);
		stride = extent + pick(shape, 5);
		axis->count = (uint64_t)count;
		axis->dst_stride = stride * shape->unit;
		axis->src_stride = (pick(shape, 4000) - 2000) * shape->unit;
		if (!pick(shape, 8))
			axis->src_stride = 0;
		extent += stride * (count - 1);
	}
	while (extent > shape->room) {
		axis = &shape->axes[--shape->count];
		extent -= axis->dst_stride / shape->unit *
			  ((int64_t)axis->count - 1);
	}
	return extent;
}

static void shuffle_axes(struct shape *shape)
{
	struct dray_axis axis;
	uint32_t i, j;

	for (i = 0; i < shape->count; i++) {
		j = (uint32_t)pick(shape, shape->count);
		axis = shape->axes[i];
		shape->axes[i] = shape->axes[j];
		shape->axes[j] = axis;
	}
}

/* Puts the destination somewhere, with some axes turned over. */
static uint64_t place_destination(struct shape *shape, int64_t extent)
{
	int64_t first = pick(shape, (uint64_t)(shape->room - extent + 1));
	struct dray_axis *axis;

	first *= shape->unit;
	for (uint32_t i = 0; i < shape->count; i++) {
		axis = &shape->axes[i];
		if (!pick(shape, 2))
			continue;
		first += ((int64_t)axis->count - 1) * axis->dst_stride;
		axis->dst_stride = -axis->dst_stride;
	}
	return (uint64_t)first;
}

/* Puts the source somewhere, with strides halved until its span fits. */
static uint64_t place_source(struct shape *shape)
{
	int64_t low, high, span;

	for (;;) {
		low = 0;
		high = shape->run;
		for (uint32_t i = 0; i < shape->count; i++) {
			span = ((int64_t)shape->axes[i].count - 1) *
			       shape->axes[i].src_stride / shape->unit;
			*(span < 0 ? &low : &high) += span;
		}
		if (high - low <= shape->room)
			break;
		for (uint32_t i = 0; i < shape->count; i++)
			shape->axes[i].src_stride = shape->axes[i].src_stride /
						    shape->unit / 2 *
						    shape->unit;
	}
	low = pick(shape, (uint64_t)(shape->room - (high - low) + 1)) - low;
	return (uint64_t)(low * shape->unit);
}

static struct dray_transfer random_transfer(FIXTURE_DATA(engine) * self,
					    struct shape *shape)
{
	struct dray_transfer transfer;
	int64_t extent;

	shape->run = 1 + pick(shape, 40);
	shape->count = (uint32_t)pick(shape, 5);
	extent = pack_axes(shape);
	shuffle_axes(shape);
	transfer = engine_copy(self, (uint64_t)(shape->run * shape->unit));
	transfer.dst_offset = place_destination(shape, extent);
	transfer.src_offset = place_source(shape);
	engine_axes(&transfer, shape->axes, shape->count);
	return transfer;
}

TEST_F(engine, random_transfers_are_what_the_model_says)
{
	struct shape shape = {
		.seed = 20261120,
		.unit = (int64_t)self->unit,
		.room = BUFFER_SIZE / (int64_t)self->unit,
	};
	struct dray_transfer transfer;

	for (int i = 0; i < 200; i++) {
		transfer = random_transfer(self, &shape);
		ASSERT_EQ(0, engine_run(self, &transfer, 1))
		{
			TH_LOG("transfer %d", i);
		}
		ASSERT_EQ(-1, engine_difference(self))
		{
			TH_LOG("transfer %d", i);
		}
	}
}

struct copier {
	uint64_t seed;
	uint64_t unit;
	uid_t uid;
};

/* Crops at random between two buffers of its own; 0 when all were right. */
static int crop(void *context)
{
	struct copier *copier = context;
	FIXTURE_DATA(engine) self = { .unit = copier->unit };
	const int64_t unit = (int64_t)copier->unit;
	struct dray_transfer transfer;
	struct dray_axis axis;
	int i;

	self.node = node_open();
	STEP_LE(0, self.node);
	if (copier->uid)
		STEP_EQ(0, process_become(copier->uid, 0));
	STEP_EQ(0,
		buffer_open(self.node, DRAY_HEAP_ANY, BUFFER_SIZE, &self.src));
	STEP_EQ(0,
		buffer_open(self.node, DRAY_HEAP_ANY, BUFFER_SIZE, &self.dst));
	self.model[0].fd = self.src.fd;
	self.model[0].bytes = malloc(BUFFER_SIZE);
	self.model[1].fd = self.dst.fd;
	self.model[1].bytes = calloc(1, BUFFER_SIZE);
	fill_random(self.model[0].bytes, BUFFER_SIZE, copier->seed);
	memcpy(self.src.bytes, self.model[0].bytes, BUFFER_SIZE);
	for (i = 0; i < 20; i++) {
		transfer = engine_copy(&self, 64 * copier->unit);
		axis = (struct dray_axis){
			.count = 1 + next_random(&copier->seed) % 40,
			.dst_stride = 70 * unit,
			.src_stride = 80 * unit,
		};
		transfer.src_offset =
			next_random(&copier->seed) % 100 * copier->unit;
		transfer.dst_offset =
			next_random(&copier->seed) % 100 * copier->unit;
		engine_axes(&transfer, &axis, 1);
		STEP_EQ(0, engine_run(&self, &transfer, 1));
		STEP_EQ(-1, engine_difference(&self));
	}
	return 0;
}

TEST_F(engine, processes_that_copy_at_once_see_their_own_bytes)
{
	enum {
		COPIERS = 6
	};
	struct copier copier[COPIERS];
	pid_t child[COPIERS];
	int i;

	for (i = 0; i < COPIERS; i++) {
		copier[i] = (struct copier){ .seed = 1000 + (uint64_t)i,
					     .unit = self->unit };
		child[i] = process_start(crop, &copier[i]);
		ASSERT_LT(0, child[i]);
	}
	for (i = 0; i < COPIERS; i++)
		EXPECT_EQ(0, process_wait(child[i]));
}

TEST_F(engine, a_user_without_any_right_copies)
{
	struct copier copier = { .seed = 5, .unit = self->unit, .uid = 65534 };

	EXPECT_EQ(0, process_run(crop, &copier));
}
