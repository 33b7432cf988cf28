// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Another driver takes a buffer: it attaches, is counted, keeps the memory
 * alive, and its fences order dray's engines.
 */
#include "fixture_dray.h"
#include "fixture_engine.h"
#include "fixture_heap.h"
#include "importer.h"
#include "maintenance.h"

/* More than there may be devices. */
#define ATTACHMENTS 12

#define OPEN_IMPORTER(importer)                                           \
	do {                                                              \
		(importer) = importer_open();                             \
		if ((importer) == -ENODEV)                                \
			SKIP(return, "vgem, an outside importer, is not " \
				     "loaded");                           \
		ASSERT_LE(0, (importer));                                 \
	} while (0)
#define DECLARE_IMPORTER(importer) \
	int importer;              \
	OPEN_IMPORTER(importer)

#define NEED_FENCES(fd)                                                 \
	do {                                                            \
		if (!buffer_tells_fences(fd))                           \
			SKIP(return, "this kernel does not tell a dma-" \
				     "buf's fences");                   \
	} while (0)

TEST_F(heap, another_driver_attaches_and_is_counted)
{
	uint32_t handle;

	DECLARE_IMPORTER(importer);
	ALLOCATE_BUFFER(buffer, self->heap.index, 4 * self->page);
	ASSERT_EQ(0, importer_attach(importer, buffer.fd, &handle));
	READ_BUFFER(info, buffer.id);
	EXPECT_EQ(1, info.attachments);
	ASSERT_EQ(0, importer_detach(importer, handle));
	ASSERT_EQ(0, node_buffer_info(self->node, buffer.id, &info));
	EXPECT_EQ(0, info.attachments);
}

TEST_F(heap, another_driver_keeps_the_buffer)
{
	uint32_t handle;

	DECLARE_IMPORTER(importer);
	ALLOCATE_BUFFER(buffer, self->heap.index, 4 * self->page);
	ASSERT_EQ(0, importer_attach(importer, buffer.fd, &handle));
	buffer_close(&buffer);
	EXPECT_EQ(1, node_lists(self->node, buffer.id));
	ASSERT_EQ(0, importer_detach(importer, handle));
	EXPECT_EQ(0, ledger_differences(&self->before));
}

TEST_F(heap, the_cpu_takes_an_attached_buffer)
{
	uint32_t handle;

	DECLARE_IMPORTER(importer);
	OPEN_BUFFER(buffer, self->heap.index, 4 * self->page);
	ASSERT_EQ(0, importer_attach(importer, buffer.fd, &handle));
	memset(buffer.bytes, 0x77, buffer.size);
	EXPECT_EQ(0, cpu_end(buffer.fd, DMA_BUF_SYNC_RW));
	EXPECT_EQ(0, cpu_begin(buffer.fd, DMA_BUF_SYNC_RW));
	EXPECT_EQ(-1, first_other_byte(buffer.bytes, buffer.size, 0x77));
}

#define STEP ((size_t)1 << 20)

/* Others may run in between, and the task may be killed. */
TEST_F(dray, a_cpu_access_maintains_for_another_driver_in_steps)
{
	static struct maintenance list[1024];
	uint64_t bytes = 0;
	uint32_t handle;
	int importer, count, i, ret;

	SKIP_IF(self->info.flags & DRAY_NODE_COHERENT, "this node is coherent");
	SKIP_IF(node_copies(), "no device gets a copy that is so large");
	OPEN_IMPORTER(importer);
	OPEN_BUFFER(buffer, DRAY_HEAP_ANY, 3 * STEP);
	ASSERT_EQ(0, importer_attach(importer, buffer.fd, &handle));
	ret = maintenance_watch();
	SKIP_IF(ret == -ENODEV, "this kernel does not tell what it maintains");
	ASSERT_EQ(0, ret);
	EXPECT_EQ(0, cpu_begin(buffer.fd, DMA_BUF_SYNC_RW));
	count = maintenance_read(list, 1024);
	maintenance_end();
	ASSERT_LE(0, count);
	for (i = 0; i < count; i++) {
		if (list[i].whole || !list[i].for_cpu)
			continue;
		EXPECT_GE(STEP, list[i].bytes);
		bytes += list[i].bytes;
	}
	/* once for the node, once for the other driver's device */
	EXPECT_EQ(2 * buffer.size, bytes);
}

TEST_F(heap, one_device_reads_and_writes_by_many_attachments)
{
	int importers[ATTACHMENTS], i;
	uint32_t handle;

	OPEN_BUFFER(buffer, self->heap.index, 4 * self->page);
	for (i = 0; i < ATTACHMENTS; i++) {
		OPEN_IMPORTER(importers[i]);
		ASSERT_EQ(0, importer_attach(importers[i], buffer.fd, &handle));
	}
	READ_BUFFER(info, buffer.id);
	EXPECT_EQ(ATTACHMENTS, info.attachments);
	memset(buffer.bytes, 0x77, buffer.size);
	EXPECT_EQ(0, cpu_end(buffer.fd, DMA_BUF_SYNC_RW));
	EXPECT_EQ(0, cpu_begin(buffer.fd, DMA_BUF_SYNC_RW));
	EXPECT_EQ(-1, first_other_byte(buffer.bytes, buffer.size, 0x77));
	for (i = 0; i < ATTACHMENTS; i++)
		close(importers[i]);
	ASSERT_EQ(0, node_buffer_info(self->node, buffer.id, &info));
	EXPECT_EQ(0, info.attachments);
	EXPECT_EQ(-1, first_other_byte(buffer.bytes, buffer.size, 0x77));
}

TEST_F(heap, what_comes_back_from_another_driver_is_the_same_buffer)
{
	struct dray_buffer_info info = { .flags = DRAY_BUFFER_BY_FD };
	uint32_t handle;

	DECLARE_IMPORTER(importer);
	ALLOCATE_BUFFER(buffer, self->heap.index, self->page);
	ASSERT_EQ(0, importer_attach(importer, buffer.fd, &handle));
	info.fd = importer_export(importer, handle);
	ASSERT_LE(0, info.fd);
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_BUFFER_INFO, &info));
	EXPECT_EQ(buffer.id, info.id);
}

TEST_F(dray, a_dma_buf_of_another_driver_is_refused)
{
	struct dray_buffer_info info = { .flags = DRAY_BUFFER_BY_FD };
	struct dray_address address = { 0 };
	struct dray_range range = { .width = 1, .rows = 1 };
	struct dray_sync sync = SYNC_OF(DRAY_TARGET_NODE, DRAY_SYNC_FOR_DEVICE,
					DRAY_TO_DEVICE, &range, 1);
	uint32_t handle;
	int importer, foreign;

	OPEN_IMPORTER(importer);
	ASSERT_EQ(0, importer_create(importer, self->page, &handle));
	foreign = importer_export(importer, handle);
	ASSERT_LE(0, foreign);
	info.fd = foreign;
	EXPECT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_BUFFER_INFO, &info));
	address.fd = foreign;
	EXPECT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_ADDRESS, &address));
	EXPECT_EQ(DRAY_REASON_FOREIGN, address.reason);
	EXPECT_EQ(foreign, address.limit);
	range.fd = foreign;
	EXPECT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_SYNC, &sync));
	EXPECT_EQ(DRAY_REASON_FOREIGN, sync.reason);
	EXPECT_EQ(foreign, sync.limit);
}

TEST_F(engine, a_dma_buf_of_another_driver_is_no_source_or_destination)
{
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	uint32_t handle;
	int importer, foreign, side;

	OPEN_IMPORTER(importer);
	ASSERT_EQ(0, importer_create(importer, BUFFER_SIZE, &handle));
	foreign = importer_export(importer, handle);
	ASSERT_LE(0, foreign);
	for (side = 0; side < 2; side++) {
		struct dray_transfer transfer = engine_copy(self, self->unit);

		if (side)
			transfer.dst_fd = foreign;
		else
			transfer.src_fd = foreign;
		EXPECT_EQ(-EINVAL, engine_submit(self, &transfer, 1, &submit));
		EXPECT_EQ(DRAY_REASON_FOREIGN, submit.reason);
		EXPECT_EQ(foreign, submit.limit);
	}
}

TEST_F(engine, another_driver_does_not_take_the_engine_away)
{
	struct dray_transfer transfer = engine_copy(self, self->page);
	int importer, i;
	uint32_t handle;

	for (i = 0; i < ATTACHMENTS; i++) {
		OPEN_IMPORTER(importer);
		ASSERT_EQ(0, importer_attach(importer, self->dst.fd, &handle));
	}
	EXPECT_EQ(0, engine_run(self, &transfer, 1));
	EXPECT_EQ(-1, engine_difference(self));
}

/* A fence of the importer for what is in the source, and as an in-fence. */
struct foreign_fence {
	int importer;
	uint32_t handle;
	uint32_t fence;
	int sync_file;
};

/* Submits a transfer that waits for it. */
#define SUBMIT_BEHIND(foreign, transfer, submit)                             \
	do {                                                                 \
		OPEN_IMPORTER((foreign)->importer);                          \
		NEED_FENCES(self->src.fd);                                   \
		ASSERT_EQ(0,                                                 \
			  importer_attach((foreign)->importer, self->src.fd, \
					  &(foreign)->handle));              \
		ASSERT_EQ(0, importer_fence((foreign)->importer,             \
					    (foreign)->handle,               \
					    &(foreign)->fence));             \
		(foreign)->sync_file = buffer_fences(self->src.fd);          \
		ASSERT_LE(0, (foreign)->sync_file);                          \
		(submit)->in_fences = (uintptr_t) & (foreign)->sync_file;    \
		(submit)->in_fence_count = 1;                                \
		ASSERT_EQ(0, engine_submit(self, transfer, 1, submit));      \
	} while (0)

TEST_F(engine, the_engine_waits_for_another_drivers_fence)
{
	struct dray_transfer transfer = engine_copy(self, self->page);
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	struct foreign_fence foreign;

	SUBMIT_BEHIND(&foreign, &transfer, &submit);
	ASSERT_EQ(0, engine_pass(self, submit.channel));
	EXPECT_EQ(0, fence_status(submit.fence_fd));
	EXPECT_EQ(-1, engine_difference(self));
	ASSERT_EQ(0, importer_signal(foreign.importer, foreign.fence));
	EXPECT_EQ(1, fence_wait(submit.fence_fd));
	model_transfer(self->model, 2, &transfer);
	EXPECT_EQ(-1, engine_difference(self));
}

/* vgem ends its fences without an error: the one that fails is cancelled. */
TEST_F(engine, an_in_fence_that_failed_fails_the_transfer)
{
	struct dray_transfer transfer = engine_copy(self, self->page);
	struct dray_submit failed = { .channel = DRAY_CHANNEL_ANY };
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY,
				      .in_fence_count = 1 };
	struct dray_cancel cancel = { .channel = DRAY_CHANNEL_ANY };
	struct foreign_fence foreign;

	SUBMIT_BEHIND(&foreign, &transfer, &failed);
	cancel.fence_fd = failed.fence_fd;
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_CANCEL, &cancel));
	ASSERT_EQ(0, importer_signal(foreign.importer, foreign.fence));
	ASSERT_EQ(-ECANCELED, fence_wait(failed.fence_fd));
	submit.in_fences = (uintptr_t)&failed.fence_fd;
	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit));
	EXPECT_EQ(-ECANCELED, fence_wait(submit.fence_fd));
	EXPECT_EQ(-1, engine_difference(self));
}

TEST_F(engine, closing_all_while_a_fence_is_waited_for_leaves_nothing)
{
	struct dray_transfer transfer = engine_copy(self, self->page);
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	struct foreign_fence foreign;
	int ret;

	SUBMIT_BEHIND(&foreign, &transfer, &submit);
	close(self->node);
	buffer_close(&self->src);
	buffer_close(&self->dst);
	ASSERT_EQ(0, importer_signal(foreign.importer, foreign.fence));
	ASSERT_EQ(0, importer_detach(foreign.importer, foreign.handle));
	ret = fence_wait(submit.fence_fd);
	EXPECT_TRUE(ret == 1 || ret == -ECANCELED)
	{
		TH_LOG("the fence says %d", ret);
	}
	EXPECT_EQ(0, ledger_differences(&self->before));
}
