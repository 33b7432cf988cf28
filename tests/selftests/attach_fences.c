// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The fences of attached dma-bufs: those of an exporter and of an engine's
 * transfers order each other, as the kernel's drivers expect.
 */
#include "attach.h"
#include "fixture_engine.h"
#include "foreign.h"
#include "importer.h"

/* What an exporter of fences gives: one that signals when it is told. */
struct fenced {
	int importer;
	uint32_t handle;
	uint32_t fence;
	struct dray_attach attach;
};

/* 0, -ENODEV where there is no vgem, or another errno. */
static int fenced_open(FIXTURE_DATA(engine) * self, bool write,
		       struct fenced *fenced)
{
	int fd, ret;

	fenced->importer = importer_open();
	if (fenced->importer < 0)
		return fenced->importer;
	ret = importer_create(fenced->importer, BUFFER_SIZE, &fenced->handle);
	if (ret)
		return ret;
	fd = importer_export(fenced->importer, fenced->handle);
	if (fd < 0)
		return fd;
	ret = attach_dma_buf(self->node, fd, 0, &fenced->attach);
	if (ret < 0)
		return ret;
	if (write)
		return importer_fence(fenced->importer, fenced->handle,
				      &fenced->fence);
	return importer_reader_fence(fenced->importer, fenced->handle,
				     &fenced->fence);
}

#define OPEN_FENCED(fenced, write)                                        \
	do {                                                              \
		int opened = fenced_open(self, write, &(fenced));         \
		if (opened == -ENODEV)                                    \
			SKIP(return, "vgem, an outside exporter, is not " \
				     "loaded");                           \
		ASSERT_EQ(0, opened);                                     \
	} while (0)

TEST_F(engine, a_reader_waits_for_the_exporters_writer)
{
	struct dray_transfer transfer = engine_copy(self, self->page);
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	struct fenced fenced;

	OPEN_FENCED(fenced, true);
	transfer.src_fd = fenced.attach.fd;
	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit));
	ASSERT_EQ(0, engine_pass(self, submit.channel));
	EXPECT_EQ(0, fence_status(submit.fence_fd));
	EXPECT_EQ(-1, engine_difference(self));
	ASSERT_EQ(0, importer_signal(fenced.importer, fenced.fence));
	EXPECT_EQ(1, fence_wait(submit.fence_fd));
	EXPECT_EQ(-1, first_other_byte(self->dst.bytes, self->page, 0));
}

TEST_F(engine, a_writer_waits_for_the_exporters_reader)
{
	struct dray_transfer transfer = engine_copy(self, self->page);
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	struct fenced fenced;

	OPEN_FENCED(fenced, false);
	transfer.dst_fd = fenced.attach.fd;
	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit));
	ASSERT_EQ(0, engine_pass(self, submit.channel));
	EXPECT_EQ(0, fence_status(submit.fence_fd));
	ASSERT_EQ(0, importer_signal(fenced.importer, fenced.fence));
	EXPECT_EQ(1, fence_wait(submit.fence_fd));
}

TEST_F(engine, a_reader_does_not_wait_for_a_reader)
{
	struct dray_transfer transfer = engine_copy(self, self->page);
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	struct fenced fenced;

	OPEN_FENCED(fenced, false);
	transfer.src_fd = fenced.attach.fd;
	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit));
	EXPECT_EQ(1, fence_wait(submit.fence_fd));
	/* the exporter's own is out still */
	EXPECT_EQ(0, importer_signal(fenced.importer, fenced.fence));
}

TEST_F(engine, a_transfer_is_among_the_fences_of_a_foreign_dma_buf)
{
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	struct pollfd poll_fd = { .events = POLLIN };
	struct dray_transfer transfer;

	poll_fd.fd = foreign_open(FOREIGN_VGEM, BUFFER_SIZE);
	NEED_VGEM(poll_fd.fd);
	ATTACH_DMA_BUF(attach, poll_fd.fd, 0);
	transfer = engine_slow(self);
	transfer.dst_fd = attach.fd;
	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit));
	ASSERT_EQ(1, poll(&poll_fd, 1, DEADLINE_MS));
	EXPECT_EQ(1, fence_status(submit.fence_fd));
}

TEST_F(engine, a_transfer_waits_for_the_importers_of_a_buffer)
{
	struct dray_transfer transfer = engine_copy(self, self->page);
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	int importer = importer_open();
	uint32_t handle, fence;

	NEED_VGEM(importer);
	ASSERT_EQ(0, importer_attach(importer, self->src.fd, &handle));
	ASSERT_EQ(0, importer_fence(importer, handle, &fence));
	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit));
	ASSERT_EQ(0, engine_pass(self, submit.channel));
	EXPECT_EQ(0, fence_status(submit.fence_fd));
	EXPECT_EQ(-1, engine_difference(self));
	ASSERT_EQ(0, importer_signal(importer, fence));
	EXPECT_EQ(1, fence_wait(submit.fence_fd));
	model_transfer(self->model, 2, &transfer);
	EXPECT_EQ(-1, engine_difference(self));
}

TEST_F(engine, transfers_of_dray_do_not_wait_for_each_other_unasked)
{
	struct dray_submit slow = { .channel = 0 }, quick = { .channel = 1 };
	struct dray_transfer first, second = engine_copy(self, self->page);

	SKIP_IF(self->info.channel_count < 2, "this node has one channel only");
	first = engine_slow(self);
	second.src_fd = self->src.fd;
	second.dst_fd = self->dst.fd;
	second.dst_offset = BUFFER_SIZE - self->page;
	ASSERT_EQ(0, engine_submit(self, &first, 1, &slow));
	ASSERT_EQ(0, engine_submit(self, &second, 1, &quick));
	EXPECT_EQ(1, fence_wait(quick.fence_fd));
	EXPECT_EQ(0, fence_status(slow.fence_fd));
	EXPECT_EQ(1, fence_wait(slow.fence_fd));
}
