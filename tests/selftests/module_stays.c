// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The module is not removed while anything is held of it: a file of any kind, a
 * mapping, a fence, a page that somebody else still has.  Each is alone: nobody
 * else refers to the module then.
 */
#include "attach.h"
#include "fence.h"
#include "fixture_bound.h"
#include "foreign.h"

#define MODULE "/sys/module/dray/"

/* What delete_module() says of a module in use, and not EBUSY. */
#define HELD (-EAGAIN)

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

	for (uint32_t i = 0; !node_heap(node, i, &heap); i++)
		;
	close(node);
	return references() == 0;
}

/* The same of what the test has; jobs that have ended let go a little later. */
static bool one_holds_it(void *context)
{
	return references() == 1;
}

/*
 * Without the test nobody holds it: else any module would stay.  The node is
 * opened anew.
 */
#define BEGIN()                                               \
	do {                                                  \
		close(self->node);                            \
		ASSERT_TRUE(wait_for(nobody_holds_it, NULL)); \
		self->node = node_open();                     \
		ASSERT_LE(0, self->node);                     \
		ASSERT_EQ(1, references());                   \
	} while (0)

static int remove_module(void)
{
	return syscall(SYS_delete_module, "dray", O_NONBLOCK) ? -errno : 0;
}

/* By the one thing that is left. */
#define EXPECT_HELD()                                       \
	do {                                                \
		EXPECT_TRUE(wait_for(one_holds_it, NULL))   \
		{                                           \
			TH_LOG("%d hold it", references()); \
		}                                           \
		EXPECT_EQ(HELD, remove_module());           \
	} while (0)

TEST_F(bound, the_module_stays_while_the_node_is_open)
{
	BEGIN();
	EXPECT_HELD();
}

TEST_F(bound, the_module_stays_while_a_buffers_fd_lives)
{
	BEGIN();
	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, 1);
	close(self->node);
	EXPECT_HELD();
}

TEST_F(bound, the_module_stays_while_a_read_only_descriptor_lives)
{
	struct dray_export export = { .flags = DRAY_EXPORT_READ_ONLY };

	BEGIN();
	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, 1);
	export.buffer_fd = buffer.fd;
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_EXPORT, &export));
	close(buffer.fd);
	close(self->node);
	EXPECT_HELD();
}

TEST_F(bound, the_module_stays_while_memory_of_a_process_is_attached)
{
	NEED_ATTACHING();
	BEGIN();
	ATTACH_MEMORY(attach, fresh_memory(self->page), self->page, 0);
	close(self->node);
	EXPECT_HELD();
}

TEST_F(bound, the_module_stays_while_a_dma_buf_is_attached)
{
	int fd = foreign_open(FOREIGN_VGEM, self->page);

	SKIP_IF(fd == -ENODEV, "this kernel has no exporter");
	ASSERT_LE(0, fd);
	NEED_ATTACHING();
	BEGIN();
	ATTACH_DMA_BUF(attach, fd, 0);
	close(fd);
	close(self->node);
	EXPECT_HELD();
}

TEST_F(bound, the_module_stays_while_a_mapping_lives)
{
	struct buffer buffer;

	BEGIN();
	ASSERT_EQ(0,
		  buffer_open(self->node, DRAY_HEAP_ANY, self->page, &buffer));
	close(buffer.fd);
	close(self->node);
	EXPECT_HELD();
	buffer.bytes[0] = 1;
}

TEST_F(bound, the_module_stays_while_a_fence_lives)
{
	struct dray_transfer transfer = { .op = DRAY_OP_COPY,
					  .run = 64,
					  .dst_offset = 64 };
	struct dray_submit submit = SUBMIT_OF(DRAY_CHANNEL_ANY, &transfer, 1);

	SKIP_IF(!self->info.channel_count, "this node has no DMA channel");
	BEGIN();
	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, 1);
	transfer.src_fd = buffer.fd;
	transfer.dst_fd = buffer.fd;
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_SUBMIT, &submit));
	ASSERT_EQ(1, fence_wait(submit.fence_fd));
	close(buffer.fd);
	close(self->node);
	EXPECT_HELD();
}

TEST_F(bound, the_module_stays_while_a_buffer_outlives_its_device)
{
	BEGIN();
	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, self->page);
	ASSERT_EQ(0, binding_unbind(&self->binding));
	close(self->node);
	EXPECT_HELD();
}

/* Else nobody would ever take it back: the next insertion finds it taken. */
TEST_F(bound, the_module_stays_while_a_page_is_quarantined)
{
	struct iovec iovec = { .iov_len = self->page };
	uint8_t *seen = malloc(self->page);
	struct dray_heap_info heap;
	int pipes[2];

	SKIP_IF(node_find_heap(self->node, DRAY_HEAP_RESERVED, &heap),
		"this node has no reserved heap");
	ASSERT_EQ(0, pipe(pipes));
	BEGIN();
	OPEN_BUFFER(buffer, heap.index, self->page);
	iovec.iov_base = buffer.bytes;
	ASSERT_EQ(self->page, vmsplice(pipes[1], &iovec, 1, 0));
	buffer_close(&buffer);
	ASSERT_EQ(0, node_heap(self->node, heap.index, &heap));
	ASSERT_EQ(self->page, heap.quarantined);
	close(self->node);
	ASSERT_EQ(1, references());
	EXPECT_EQ(HELD, remove_module());
	ASSERT_EQ(self->page, read(pipes[0], seen, self->page));
	EXPECT_TRUE(wait_for(nobody_holds_it, NULL));
}
