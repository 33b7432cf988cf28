// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A signal that comes while a call waits: where its handler was installed with
 * SA_RESTART the call goes on, else it is EINTR.  What is waited for is a fence
 * of vgem, which signals when the test says so.
 */
#include "attach.h"
#include "fixture_engine.h"
#include "importer.h"
#include "signalled.h"

FIXTURE(restart)
{
	struct dray_info info;
	struct ledger before;
	int node;
	int importer;
	uint32_t handle;
	uint32_t fence; /* of a writer of the dma-buf */
	struct dray_attach attach; /* the dma-buf */
	struct buffer buffer;
};

FIXTURE_SETUP(restart)
{
	int fd;

	self->node = node_open();
	ASSERT_LE(0, self->node);
	ASSERT_EQ(0, node_info(self->node, &self->info));
	ASSERT_EQ(0, ledger_take(self->node, &self->before));
	self->importer = importer_open();
	NEED_VGEM(self->importer);
	ASSERT_EQ(0,
		  importer_create(self->importer, BUFFER_SIZE, &self->handle));
	fd = importer_export(self->importer, self->handle);
	ASSERT_LE(0, fd);
	ASSERT_LE(0, attach_dma_buf(self->node, fd, 0, &self->attach));
	ASSERT_EQ(0,
		  importer_fence(self->importer, self->handle, &self->fence));
	ASSERT_EQ(0, buffer_open(self->node, DRAY_HEAP_ANY, BUFFER_SIZE,
				 &self->buffer));
}

FIXTURE_TEARDOWN_PARENT(restart)
{
	EXPECT_EQ(0, ledger_differences(&self->before));
}

static int release(void *context)
{
	FIXTURE_DATA(restart) *self = context;

	return importer_signal(self->importer, self->fence);
}

static int sync_for_the_cpu(void *context)
{
	FIXTURE_DATA(restart) *self = context;
	struct dray_range range = { .fd = self->attach.fd,
				    .width = BUFFER_SIZE,
				    .rows = 1 };
	struct dray_sync sync = SYNC_OF(DRAY_TARGET_NODE, DRAY_SYNC_FOR_CPU,
					DRAY_FROM_DEVICE, &range, 1);

	return node_call(self->node, DRAY_IOC_SYNC, &sync);
}

TEST_F(restart, sync_that_waits_for_fences_starts_again)
{
	struct signalled signalled = { .call = sync_for_the_cpu,
				       .release = release,
				       .context = self,
				       .flags = SA_RESTART };

	EXPECT_EQ(0, signalled_run(&signalled));
}

TEST_F(restart, sync_that_waits_for_fences_is_interrupted)
{
	struct signalled signalled = { .call = sync_for_the_cpu,
				       .release = release,
				       .context = self };

	EXPECT_EQ(-EINTR, signalled_run(&signalled));
}

/* From the dma-buf that nothing may read yet. */
static int submit(void *context)
{
	FIXTURE_DATA(restart) *self = context;
	struct dray_transfer transfer =
		COPY_OF(self->buffer.fd, self->attach.fd, BUFFER_SIZE);
	struct dray_submit submit = SUBMIT_OF(0, &transfer, 1);
	int ret = node_call(self->node, DRAY_IOC_SUBMIT, &submit);

	if (!ret)
		close(submit.fence_fd);
	return ret;
}

#define FILL_THE_QUEUE()                                                 \
	do {                                                             \
		uint32_t place;                                          \
		if (!self->info.channel_count)                           \
			SKIP(return, "this node has no DMA channel");    \
		for (place = 0; place < self->info.queue_depth; place++) \
			ASSERT_EQ(0, submit(self));                      \
	} while (0)

TEST_F(restart, submit_that_waits_for_a_place_starts_again)
{
	struct signalled signalled = { .call = submit,
				       .release = release,
				       .context = self,
				       .flags = SA_RESTART };

	FILL_THE_QUEUE();
	EXPECT_EQ(0, signalled_run(&signalled));
}

TEST_F(restart, submit_that_waits_for_a_place_is_interrupted)
{
	struct signalled signalled = { .call = submit,
				       .release = release,
				       .context = self };

	FILL_THE_QUEUE();
	EXPECT_EQ(-EINTR, signalled_run(&signalled));
}
