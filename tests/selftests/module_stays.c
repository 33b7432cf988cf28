// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The module is not removed while anything is held of it: a file, a mapping, a
 * fence, a page that somebody else still has.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "fence.h"
#include "fixture_bound.h"

#define MODULE "/sys/module/dray/"

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

/* Of modules that use it. */
static int holders(void)
{
	DIR *folder = opendir(MODULE "holders");
	struct dirent *entry;
	int count = 0;

	while (folder && (entry = readdir(folder)))
		count += entry->d_name[0] != '.';
	if (folder)
		closedir(folder);
	return count;
}

/* What else holds the module. */
static int references(void)
{
	FILE *file = fopen(MODULE "refcnt", "r");
	int count = -1;

	if (!file)
		return -errno;
	if (fscanf(file, "%d", &count) != 1)
		count = -EINVAL;
	fclose(file);
	return count - holders();
}

/* For wait_for(): a new reply looks after what was quarantined. */
static bool nobody_holds_it(void *context)
{
	struct dray_heap_info heap;
	int node = node_open();

	node_heap(node, *(uint32_t *)context, &heap);
	close(node);
	return references() == 0;
}

/* Else nobody would ever take it back: the next insertion finds it taken. */
TEST_F(bound, the_module_stays_while_a_page_is_quarantined)
{
	struct iovec iovec = { .iov_len = self->page };
	uint8_t *seen = malloc(self->page);
	struct dray_heap_info heap;
	struct buffer buffer;
	int node, pipes[2];

	if (node_find_heap(self->node, DRAY_HEAP_RESERVED, &heap))
		SKIP(return, "this node has no reserved heap");
	ASSERT_EQ(0, pipe(pipes));
	close(self->node);
	ASSERT_TRUE(wait_for(nobody_holds_it, &heap.index, BIND_DEADLINE));
	node = node_open();
	ASSERT_LE(0, node);
	ASSERT_EQ(0, buffer_open(node, heap.index, self->page, &buffer));
	iovec.iov_base = buffer.bytes;
	ASSERT_EQ(self->page, vmsplice(pipes[1], &iovec, 1, 0));
	buffer_close(&buffer);
	ASSERT_EQ(0, node_heap(node, heap.index, &heap));
	ASSERT_EQ(self->page, heap.quarantined);
	close(node);
	ASSERT_EQ(1, references());
	EXPECT_EQ(HELD, remove_module());
	ASSERT_EQ(self->page, read(pipes[0], seen, self->page));
	EXPECT_TRUE(wait_for(nobody_holds_it, &heap.index, BIND_DEADLINE));
}

TEST_HARNESS_MAIN
