// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The device goes away under its users, through sysfs, while buffers are
 * mapped, memory is attached and calls wait.
 */
#include "attach.h"
#include "fixture_bound.h"
#include "fixture_engine.h"
#include "foreign.h"
#include "importer.h"

TEST_F(bound, an_idle_node_goes_and_comes_back)
{
	close(self->node);
	ASSERT_EQ(0, binding_unbind(&self->binding));
	EXPECT_TRUE(wait_for(node_is_gone, NULL));
	ASSERT_EQ(0, binding_bind(&self->binding));
}

TEST_F(bound, unbind_completes_under_mapped_buffers)
{
	struct buffer buffer;

	for (uint32_t i = 0; i < self->info.heap_count; i++)
		ASSERT_EQ(0,
			  buffer_open(self->node, i, 4 * self->page, &buffer));
	EXPECT_EQ(0, binding_unbind(&self->binding));
}

TEST_F(bound, every_later_call_says_that_the_device_is_gone)
{
	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, self->page);
	ASSERT_EQ(0, binding_unbind(&self->binding));
	EXPECT_STREQ("",
		     node_call_that_lives(self->node, buffer.fd, buffer.id));
}

/* Attachments of both kinds; the second is -ENODEV where there is no vgem. */
static int attach_both(FIXTURE_DATA(bound) * self, uint8_t *bytes,
		       struct dray_attach *memory, struct dray_attach *foreign)
{
	int ret = attach_memory(self->node, bytes, 4 * self->page, 0, memory);
	int fd = foreign_open(FOREIGN_VGEM, 4 * self->page);

	foreign->fd = fd;
	if (ret < 0 || fd < 0)
		return ret < 0 ? ret : 0;
	ret = attach_dma_buf(self->node, fd, 0, foreign);
	close(fd);
	return ret < 0 ? ret : 0;
}

TEST_F(bound, unbind_completes_under_attachments)
{
	uint8_t *bytes = mmap(NULL, 4 * self->page, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct dray_attach memory, foreign;

	ASSERT_EQ(0, attach_both(self, bytes, &memory, &foreign));
	ASSERT_EQ(0, binding_unbind(&self->binding));
	EXPECT_EQ(-ENODEV,
		  buffer_sync(self->node, memory.fd, DRAY_SYNC_FOR_DEVICE,
			      DRAY_TO_DEVICE, 0, 1));
	memset(bytes, 1, 4 * self->page);
	EXPECT_EQ(0, close(memory.fd));
	if (foreign.fd >= 0)
		EXPECT_EQ(0, close(foreign.fd));
}

struct waiter {
	int node;
	int fd;
	size_t size;
};

/* Its exit status is the errno of the call. */
static int sync_for_cpu(void *context)
{
	const struct waiter *waiter = context;

	return -buffer_sync(waiter->node, waiter->fd, DRAY_SYNC_FOR_CPU,
			    DRAY_FROM_DEVICE, 0, waiter->size);
}

TEST_F(bound, unbind_does_not_wait_for_the_fences_of_a_foreign_dma_buf)
{
	struct waiter waiter = { .node = self->node, .size = self->page };
	int importer = importer_open(), fd;
	uint32_t handle, fence;
	pid_t child;

	NEED_VGEM(importer);
	ASSERT_EQ(0, importer_create(importer, self->page, &handle));
	fd = importer_export(importer, handle);
	ASSERT_LE(0, fd);
	ATTACH_DMA_BUF(attach, fd, 0);
	ASSERT_EQ(0, importer_fence(importer, handle, &fence));
	waiter.fd = attach.fd;
	child = process_start(sync_for_cpu, &waiter);
	ASSERT_LT(0, child);
	ASSERT_TRUE(wait_for(process_sleeps, &child));
	EXPECT_EQ(0, binding_unbind(&self->binding));
	/* the fence was out all the time: it cannot be signalled twice */
	EXPECT_EQ(0, importer_signal(importer, fence));
	EXPECT_EQ(ENODEV, process_wait(child));
}

struct submitter {
	int node;
	struct dray_submit submit;
};

/* Its exit status is the errno of the call. */
static int submit_another(void *context)
{
	struct submitter *submitter = context;

	return -node_call(submitter->node, DRAY_IOC_SUBMIT, &submitter->submit);
}

TEST_F(bound, a_submit_that_waits_for_a_slot_is_told_that_the_device_is_gone)
{
	struct dray_transfer transfer = { .op = DRAY_OP_COPY,
					  .dst_offset = 64,
					  .run = 64 };
	struct submitter submitter = { .node = self->node };
	int importer = importer_open(), fd, in_fence;
	struct dray_submit submit;
	uint32_t handle, fence, i;
	pid_t child;

	SKIP_IF(!self->info.channel_count, "this node has no DMA channel");
	NEED_VGEM(importer);
	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, self->page);
	ASSERT_EQ(0, importer_create(importer, self->page, &handle));
	fd = importer_export(importer, handle);
	ASSERT_LE(0, fd);
	SKIP_IF(!buffer_tells_fences(fd),
		"this kernel does not tell a dma-buf's fences");
	ASSERT_EQ(0, importer_fence(importer, handle, &fence));
	in_fence = buffer_fences(fd);
	ASSERT_LE(0, in_fence);
	transfer.src_fd = buffer.fd;
	transfer.dst_fd = buffer.fd;
	submitter.submit =
		(struct dray_submit)SUBMIT_OF(DRAY_CHANNEL_ANY, &transfer, 1,
					      .in_fences = (uintptr_t)&in_fence,
					      .in_fence_count = 1);
	for (i = 0; i < self->info.queue_depth; i++) {
		submit = submitter.submit;
		ASSERT_EQ(0, node_call(self->node, DRAY_IOC_SUBMIT, &submit));
	}
	child = process_start(submit_another, &submitter);
	ASSERT_LT(0, child);
	ASSERT_TRUE(wait_for(process_sleeps, &child));
	EXPECT_EQ(0, binding_unbind(&self->binding));
	EXPECT_EQ(ENODEV, process_wait(child));
	EXPECT_EQ(-ENODEV, fence_status(submit.fence_fd));
	/* nothing has waited for what the jobs waited for */
	EXPECT_EQ(0, importer_signal(importer, fence));
}

TEST_F(bound, an_attachment_is_not_of_the_node_that_came_back)
{
	uint8_t *bytes = mmap(NULL, 4 * self->page, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct dray_attach memory, foreign;

	ASSERT_EQ(0, attach_both(self, bytes, &memory, &foreign));
	close(self->node);
	ASSERT_EQ(0, binding_unbind(&self->binding));
	ASSERT_EQ(0, binding_bind(&self->binding));
	OPEN_NODE(node);
	EXPECT_EQ(-EINVAL, buffer_sync(node, memory.fd, DRAY_SYNC_FOR_DEVICE,
				       DRAY_TO_DEVICE, 0, 1));
	EXPECT_LE(0, attach_memory(node, bytes, 4 * self->page, 0, &memory));
}

TEST_F(bound, a_buffer_of_a_removed_node_is_still_no_foreign_one)
{
	struct dray_attach attach;

	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, self->page);
	ASSERT_EQ(0, binding_unbind(&self->binding));
	ASSERT_EQ(0, binding_bind(&self->binding));
	OPEN_NODE(node);
	EXPECT_EQ(-EINVAL, attach_dma_buf(node, buffer.fd, 0, &attach));
	EXPECT_EQ(DRAY_REASON_OWN, attach.reason);
}

TEST_F(bound, a_mapping_stays_valid_after_unbind)
{
	struct buffer buffer;
	uint8_t *second, *copy = malloc(4 * self->page);
	uint32_t i;

	for (i = 0; i < self->info.heap_count; i++) {
		int node = node_open();

		ASSERT_LE(0, node);
		ASSERT_EQ(0, buffer_open(node, i, 4 * self->page, &buffer));
		fill_random(copy, buffer.size, i);
		memcpy(buffer.bytes, copy, buffer.size);
		ASSERT_EQ(0, binding_unbind(&self->binding));
		EXPECT_EQ(-1,
			  first_difference(copy, buffer.bytes, buffer.size));
		/* a dropped page comes in again, a new mapping is possible */
		madvise(buffer.bytes, buffer.size, MADV_DONTNEED);
		EXPECT_EQ(-1,
			  first_difference(copy, buffer.bytes, buffer.size));
		second = mmap(NULL, buffer.size, PROT_READ | PROT_WRITE,
			      MAP_SHARED, buffer.fd, 0);
		ASSERT_NE(MAP_FAILED, second);
		second[1] ^= 0xff;
		EXPECT_EQ(second[1], buffer.bytes[1]);
		munmap(second, buffer.size);
		buffer_close(&buffer);
		close(node);
		ASSERT_EQ(0, binding_bind(&self->binding));
	}
}

TEST_F(bound, a_node_that_came_back_does_not_give_away_live_memory)
{
	static struct buffer others[64];
	uint8_t *copy = malloc(4 * self->page);
	struct dray_heap_info heap;
	struct buffer buffer;
	unsigned int count;
	uint32_t i;

	for (i = 0; i < self->info.heap_count; i++) {
		int node = node_open();

		ASSERT_LE(0, node);
		ASSERT_EQ(0, buffer_open(node, i, 4 * self->page, &buffer));
		fill_random(copy, buffer.size, i);
		memcpy(buffer.bytes, copy, buffer.size);
		ASSERT_EQ(0, binding_unbind(&self->binding));
		ASSERT_EQ(0, binding_bind(&self->binding));
		close(node);
		node = node_open();
		ASSERT_LE(0, node);
		ASSERT_EQ(0, node_heap(node, i, &heap));
		EXPECT_LE(buffer.size, heap.used);
		for (count = 0; count < 64; count++) {
			if (buffer_open(node, i, 4 * self->page,
					&others[count]))
				break;
			memset(others[count].bytes, 0xee, 4 * self->page);
		}
		EXPECT_LT(0, count);
		EXPECT_EQ(-1,
			  first_difference(copy, buffer.bytes, buffer.size));
		while (count)
			buffer_close(&others[--count]);
		buffer_close(&buffer);
		close(node);
	}
}

TEST_F(bound, a_transfer_under_way_ends_and_unbind_completes)
{
	struct dray_transfer transfer = { .op = DRAY_OP_COPY, .run = 16 };
	struct dray_axis axis = { .dst_stride = 32, .src_stride = 32 };
	struct dray_submit submit = SUBMIT_OF(DRAY_CHANNEL_ANY, &transfer, 1);
	int ret;

	SKIP_IF(!self->info.channel_count, "this node has no DMA channel");
	OPEN_BUFFER(src, DRAY_HEAP_ANY, BUFFER_SIZE);
	OPEN_BUFFER(dst, DRAY_HEAP_ANY, BUFFER_SIZE);
	axis.count = BUFFER_SIZE / 32;
	if (axis.count > self->info.max_runs)
		axis.count = self->info.max_runs;
	transfer.src_fd = src.fd;
	transfer.dst_fd = dst.fd;
	engine_axes(&transfer, &axis, 1);
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_SUBMIT, &submit));
	ASSERT_EQ(0, fence_status(submit.fence_fd));
	ASSERT_EQ(0, binding_unbind(&self->binding));
	ret = fence_wait(submit.fence_fd);
	EXPECT_TRUE(ret == 1 || ret == -ENODEV || ret == -ECANCELED)
	{
		TH_LOG("the fence says %d", ret);
	}
	if (ret == 1) {
		EXPECT_EQ(-1, first_difference(dst.bytes, src.bytes, 16));
	}
}
