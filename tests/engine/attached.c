// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Attached memory that a hanging engine has: it stays where it is, listed, until
 * the engine has finished; and when its node is gone, until RECLAIM.
 */
#include "../selftests/attach.h"
#include "../selftests/foreign.h"
#include "../selftests/pins.h"
#include "fixture_fault.h"

/*
 * A transfer to attached memory that nothing but the engine knows any more;
 * *@id is its identifier.
 */
static int lose_attached_memory(FIXTURE_DATA(fault) * self, uint64_t *id)
{
	uint8_t *bytes = mmap(NULL, PIECE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct dray_transfer transfer = whole(self);
	struct dray_submit submit = SUBMIT_OF(0, &transfer, 1);
	struct dray_attach attach;
	int ret = attach_memory(self->node, bytes, PIECE, 0, &attach);

	if (ret < 0)
		return ret;
	*id = attach.id;
	transfer.dst_fd = attach.fd;
	transfer.run = PIECE;
	ret = node_call(self->node, DRAY_IOC_SUBMIT, &submit);
	close(attach.fd);
	munmap(bytes, PIECE);
	if (ret)
		return ret;
	ret = fence_wait(submit.fence_fd);
	close(submit.fence_fd);
	return ret;
}

/* After its end; the engine goes on. */
static int node_comes_back(FIXTURE_DATA(fault) * self)
{
	int ret = knob("hang", 0);

	if (!ret)
		ret = write_text(DRIVER "bind", "dray-virtual.0");
	if (ret || !wait_for(node_answers, NULL))
		return ret ? ret : -ETIME;
	close(self->node);
	self->node = node_open();
	return self->node < 0 ? self->node : 0;
}

TEST_F(fault,
       attached_memory_of_a_hanging_engine_is_pinned_until_it_has_finished)
{
	long before = pins_count();
	uint64_t id;

	ASSERT_LE(0, before);
	ASSERT_EQ(1, lose_attached_memory(self, &id));
	EXPECT_TRUE(wait_for(pins_are, &before));
	ASSERT_EQ(0, knob("hang", 1));
	ASSERT_EQ(0, watchdog(IMPATIENT));
	ASSERT_EQ(-ETIMEDOUT, lose_attached_memory(self, &id));
	EXPECT_EQ(before + PIECE / sysconf(_SC_PAGESIZE), pins_count());
	READ_BUFFER(info, id);
	EXPECT_EQ(1, info.transfers);
	EXPECT_EQ(0, info.flags & DRAY_BUFFER_HELD);
	ASSERT_EQ(0, knob("hang", 0));
	EXPECT_TRUE(wait_for(pins_are, &before));
}

TEST_F(fault, attached_memory_of_a_hanging_node_that_is_unbound_is_held)
{
	struct dray_reclaim reclaim;
	long before = pins_count();
	uint64_t id;

	ASSERT_LE(0, before);
	ASSERT_EQ(0, knob("hang", 1));
	ASSERT_EQ(0, watchdog(IMPATIENT));
	ASSERT_EQ(-ETIMEDOUT, lose_attached_memory(self, &id));
	EXPECT_EQ(0, write_text(DRIVER "unbind", "dray-virtual.0"));
	EXPECT_EQ(before + PIECE / sysconf(_SC_PAGESIZE), pins_count());
	ASSERT_EQ(0, node_comes_back(self));
	EXPECT_EQ(1, node_lists(self->node, id));
	READ_BUFFER(info, id);
	EXPECT_NE(0, info.flags & DRAY_BUFFER_HELD);
	EXPECT_EQ(0, info.transfers);
	EXPECT_EQ(before + PIECE / sysconf(_SC_PAGESIZE), pins_count());

	reclaim = (struct dray_reclaim){ .id = id };
	EXPECT_EQ(0, node_call(self->node, DRAY_IOC_RECLAIM, &reclaim));
	EXPECT_EQ(1, reclaim.attachments);
	EXPECT_EQ(PIECE, reclaim.bytes);
	EXPECT_EQ(before, pins_count());
	EXPECT_EQ(0, node_lists(self->node, id));
}

/* The file is closed last: it is held from then on. */
TEST_F(fault, a_dma_buf_of_a_hanging_node_is_held_once_its_file_is_closed)
{
	int fd = foreign_open(FOREIGN_VGEM, PIECE);
	struct dray_transfer transfer = whole(self);
	struct dray_submit submit = SUBMIT_OF(0, &transfer, 1);
	struct dray_reclaim reclaim;

	SKIP_IF(fd == -ENOENT || fd == -ENODEV,
		"vgem, another exporter, is not loaded");
	ASSERT_LE(0, fd);
	ATTACH_DMA_BUF(attach, fd, 0);
	close(fd);
	ASSERT_EQ(0, knob("hang", 1));
	ASSERT_EQ(0, watchdog(IMPATIENT));
	transfer.dst_fd = attach.fd;
	transfer.run = PIECE;
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_SUBMIT, &submit));
	EXPECT_EQ(-ETIMEDOUT, fence_wait(submit.fence_fd));
	close(submit.fence_fd);
	EXPECT_EQ(0, write_text(DRIVER "unbind", "dray-virtual.0"));
	ASSERT_EQ(0, node_comes_back(self));

	reclaim = (struct dray_reclaim){ .id = attach.id };
	EXPECT_EQ(-ENOENT, node_call(self->node, DRAY_IOC_RECLAIM, &reclaim));
	close(attach.fd);
	EXPECT_EQ(1, node_lists(self->node, attach.id));
	EXPECT_EQ(0, node_call(self->node, DRAY_IOC_RECLAIM, &reclaim));
	EXPECT_EQ(1, reclaim.attachments);
	EXPECT_EQ(0, node_lists(self->node, attach.id));
}
