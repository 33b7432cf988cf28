// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The system sleeps and wakes: what a program has is as it was, and what an
 * engine was doing is carried on.
 */
#include "fixture_dray.h"
#include "fixture_engine.h"
#include "fixture_heap.h"
#include "importer.h"
#include "long_sync.h"
#include "shared.h"
#include "sleep.h"

#define SLEEP()                                                            \
	do {                                                               \
		int slept = system_sleep();                                \
                                                                           \
		if (slept == -ENOENT)                                      \
			SKIP(return, "the kernel has no test of suspend"); \
		ASSERT_EQ(0, slept);                                       \
	} while (0)

static int ask_address(int node, int fd, struct dray_segment *segment)
{
	struct dray_address address = {
		.fd = fd,
		.segments = (uintptr_t)segment,
		.room = 1,
	};

	return node_call(node, DRAY_IOC_ADDRESS, &address);
}

TEST_F(heap, a_buffer_its_mapping_and_its_address_stay_over_sleep)
{
	struct dray_segment before, after;
	uint8_t *copy;

	OPEN_BUFFER(buffer, self->heap.index, 4 * self->page);
	copy = malloc(buffer.size);
	fill_random(copy, buffer.size, 23);
	memcpy(buffer.bytes, copy, buffer.size);
	ASSERT_EQ(0, ask_address(self->node, buffer.fd, &before));
	SLEEP();
	EXPECT_EQ(-1, first_difference(copy, buffer.bytes, buffer.size));
	ASSERT_EQ(0, ask_address(self->node, buffer.fd, &after));
	EXPECT_EQ(before.address, after.address);
}

TEST_F(dray, an_importer_stays_attached_over_sleep)
{
	int importer = importer_open();
	uint32_t handle;

	NEED_VGEM(importer);
	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, self->page);
	ASSERT_EQ(0, importer_attach(importer, buffer.fd, &handle));
	SLEEP();
	READ_BUFFER(info, buffer.id);
	EXPECT_EQ(1, info.attachments);
}

/*
 * The kernel gives up after 20 s.  Each list that ends by itself adds as many
 * bytes as all its ranges have.
 */
TEST_F(dray, a_process_in_a_long_list_of_sync_falls_asleep_within_the_list)
{
	struct long_sync work;
	uint64_t bytes;
	int slept;

	SKIP_IF(!node_is_maintained(&self->info),
		"this node needs no maintenance");
	SKIP_IF(node_copies(), "no device gets a copy that is so large");
	ASSERT_EQ(0, long_sync_start(&work, self->node, 64 << 20));
	slept = system_sleep();
	EXPECT_EQ(-SIGKILL, long_sync_end(&work, &bytes));
	SKIP_IF(slept == -ENOENT, "the kernel has no test of suspend");
	EXPECT_EQ(0, slept);
	EXPECT_GT(DRAY_MAX_RANGES * work.buffer.size, bytes);
}

TEST_F(engine, a_transfer_under_way_is_done_before_sleep)
{
	SUBMIT_SLOW(submit, transfer);
	SLEEP();
	EXPECT_EQ(1, fence_status(submit.fence_fd));
	model_transfer(self->model, 2, &transfer);
	EXPECT_EQ(-1, engine_difference(self));
}

TEST_F(engine, an_engine_copies_after_sleep)
{
	struct dray_transfer transfer = engine_copy(self, BUFFER_SIZE);

	SLEEP();
	EXPECT_EQ(0, engine_run(self, &transfer, 1));
	EXPECT_EQ(-1, engine_difference(self));
}

TEST_F(engine, what_is_shared_stays_over_sleep_with_transfers_under_way)
{
	struct dray_submit submit = { .channel = 0 };
	struct dray_transfer transfer;
	struct shared shared;
	int fences[2], ret;

	NEED_ATTACHING();
	ret = shared_open(self->node, &self->dst, &shared);
	NEED_VGEM(ret);
	ASSERT_EQ(0, ret);
	transfer = engine_slow(self);
	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit));
	ASSERT_EQ(0, shared_submit(self->node, &self->dst, &shared, fences));
	SLEEP();
	EXPECT_EQ(1, fence_status(submit.fence_fd));
	EXPECT_EQ(1, fence_status(fences[0]));
	EXPECT_EQ(1, fence_status(fences[1]));
	EXPECT_TRUE(shared_arrived(&self->dst, &shared));
	EXPECT_STREQ("", shared_change(self->node, &self->dst, &shared, false));
	memset(self->dst.bytes, 0, self->dst.size);
	ASSERT_EQ(0, shared_submit(self->node, &self->dst, &shared, fences));
	EXPECT_EQ(1, fence_wait(fences[0]));
	EXPECT_EQ(1, fence_wait(fences[1]));
	EXPECT_TRUE(shared_arrived(&self->dst, &shared));
	shared_close(&shared);
}
