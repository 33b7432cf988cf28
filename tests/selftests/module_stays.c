// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The module is not removed while anything is held of it: a file, a mapping, a
 * fence.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fence.h"
#include "fixture_bound.h"

static int remove_module(void)
{
	return syscall(SYS_delete_module, "dray", O_NONBLOCK) ? -errno : 0;
}

/* What delete_module() says of a module in use, and not EBUSY. */
#define HELD (-EAGAIN)

TEST_F(bound, the_module_stays_while_the_node_is_open)
{
	EXPECT_EQ(HELD, remove_module());
}

TEST_F(bound, the_module_stays_while_a_buffers_fd_lives)
{
	struct buffer buffer;

	ASSERT_EQ(0, buffer_allocate(self->node, DRAY_HEAP_ANY, 1, &buffer));
	close(self->node);
	EXPECT_EQ(HELD, remove_module());
}

TEST_F(bound, the_module_stays_while_a_mapping_lives)
{
	struct buffer buffer;

	ASSERT_EQ(0,
		  buffer_open(self->node, DRAY_HEAP_ANY, self->page, &buffer));
	close(buffer.fd);
	close(self->node);
	EXPECT_EQ(HELD, remove_module());
	buffer.bytes[0] = 1;
}

TEST_F(bound, the_module_stays_while_a_fence_lives)
{
	struct dray_transfer transfer = { .op = DRAY_OP_COPY,
					  .run = 64,
					  .dst_offset = 64 };
	struct dray_submit submit = {
		.channel = DRAY_CHANNEL_ANY,
		.transfers = (uintptr_t)&transfer,
		.count = 1,
	};
	struct buffer buffer;

	if (!self->info.channel_count)
		SKIP(return, "this node has no DMA channel");
	ASSERT_EQ(0, buffer_allocate(self->node, DRAY_HEAP_ANY, 1, &buffer));
	transfer.src_fd = buffer.fd;
	transfer.dst_fd = buffer.fd;
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_SUBMIT, &submit));
	ASSERT_EQ(1, fence_wait(submit.fence_fd));
	close(buffer.fd);
	close(self->node);
	EXPECT_EQ(HELD, remove_module());
}

TEST_F(bound, the_module_stays_while_a_buffer_outlives_its_device)
{
	struct buffer buffer;

	ASSERT_EQ(0,
		  buffer_open(self->node, DRAY_HEAP_ANY, self->page, &buffer));
	ASSERT_EQ(0, binding_unbind(&self->binding));
	close(self->node);
	EXPECT_EQ(HELD, remove_module());
}

TEST_HARNESS_MAIN
