// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Who keeps a buffer alive, and that nothing is left when the last one lets
 * go: descriptors passed on, mappings, processes that are killed, and
 * transfers that outlive whoever asked for them.
 */
#include "fixture_engine.h"
#include "fixture_heap.h"
#include "step.h"

#define PAGES 4

TEST_F(heap, a_duplicated_fd_keeps_the_buffer)
{
	int second;

	ALLOCATE_BUFFER(buffer, self->heap.index, PAGES * self->page);
	second = dup(buffer.fd);
	ASSERT_LE(0, second);
	close(buffer.fd);
	EXPECT_EQ(1, node_lists(self->node, buffer.id));
	close(second);
	EXPECT_EQ(0, ledger_differences(&self->before));
}

TEST_F(heap, a_mapping_keeps_the_buffer)
{
	OPEN_BUFFER(buffer, self->heap.index, PAGES * self->page);
	close(buffer.fd);
	buffer.fd = -1;
	EXPECT_EQ(1, node_lists(self->node, buffer.id));
	fill_random(buffer.bytes, buffer.size, 3);
	EXPECT_EQ(0, madvise(buffer.bytes, buffer.size, MADV_NORMAL));
	buffer_close(&buffer);
	EXPECT_EQ(0, ledger_differences(&self->before));
}

TEST_F(heap, a_mapping_outlives_the_nodes_file)
{
	struct buffer buffer;

	OPEN_NODE(node);
	ASSERT_EQ(0, buffer_open(node, self->heap.index, PAGES * self->page,
				 &buffer));
	close(node);
	fill_random(buffer.bytes, buffer.size, 3);
	EXPECT_EQ(1, node_lists(self->node, buffer.id));
	/* a page that was not touched before, or dropped, comes in now */
	madvise(buffer.bytes, buffer.size, MADV_DONTNEED);
	buffer.bytes[0] = 1;
	EXPECT_EQ(1, buffer.bytes[0]);
}

struct errand {
	uint32_t heap;
	size_t size;
	int socket;
	uint64_t id;
};

/* Allocates, writes, passes the fd on and leaves. */
static int pass_on(void *context)
{
	struct errand *errand = context;
	struct buffer buffer;
	int node = node_open();

	STEP_LE(0, node);
	STEP_EQ(0, buffer_open(node, errand->heap, errand->size, &buffer));
	fill_random(buffer.bytes, buffer.size, 99);
	STEP_EQ(0, send_descriptor(errand->socket, buffer.fd));
	return 0;
}

TEST_F(heap, a_buffer_on_its_way_outlives_its_allocator)
{
	struct errand errand = { .heap = self->heap.index,
				 .size = PAGES * self->page };
	uint8_t *bytes, *expected = malloc(PAGES * self->page);
	int sockets[2], fd;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	errand.socket = sockets[1];
	ASSERT_EQ(0, process_run(pass_on, &errand));
	/* nobody has it open now; it lies in the socket */
	EXPECT_EQ(self->before.buffers + 1, node_count(self->node));
	fd = receive_descriptor(sockets[0]);
	ASSERT_LE(0, fd);
	bytes = mmap(NULL, errand.size, PROT_READ, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, bytes);
	fill_random(expected, errand.size, 99);
	EXPECT_EQ(-1, first_difference(expected, bytes, errand.size));
	munmap(bytes, errand.size);
	close(fd);
	EXPECT_EQ(0, ledger_differences(&self->before));
}

TEST_F(heap, a_buffer_lost_in_a_socket_comes_back)
{
	struct errand errand = { .heap = self->heap.index,
				 .size = PAGES * self->page };
	int sockets[2];

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	errand.socket = sockets[1];
	ASSERT_EQ(0, process_run(pass_on, &errand));
	close(sockets[0]);
	close(sockets[1]);
	EXPECT_EQ(0, ledger_differences(&self->before));
}

/* Allocates, maps, writes, tells, and waits to be killed. */
static int hold(void *context)
{
	struct errand *errand = context;
	struct buffer buffer[8];
	int node = node_open(), i;
	char byte = 1;

	STEP_LE(0, node);
	for (i = 0; i < 8; i++) {
		STEP_EQ(0, buffer_open(node, errand->heap, errand->size,
				       &buffer[i]));
		memset(buffer[i].bytes, 1, buffer[i].size);
	}
	STEP_EQ(1, write(errand->socket, &byte, 1));
	for (;;)
		pause();
}

TEST_F(heap, a_killed_process_leaves_nothing)
{
	struct errand errand = { .heap = self->heap.index,
				 .size = PAGES * self->page };
	int sockets[2];
	pid_t child;
	char byte;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	errand.socket = sockets[1];
	child = process_start(hold, &errand);
	ASSERT_LT(0, child);
	ASSERT_EQ(1, read(sockets[0], &byte, 1));
	EXPECT_EQ(self->before.buffers + 8, node_count(self->node));
	ASSERT_EQ(0, kill(child, SIGKILL));
	EXPECT_EQ(-SIGKILL, process_wait(child));
	EXPECT_EQ(0, ledger_differences(&self->before));
}

TEST_F(heap, a_forked_child_that_is_killed_takes_nothing_away)
{
	struct errand errand = { .heap = self->heap.index,
				 .size = PAGES * self->page };
	int sockets[2];
	pid_t child;
	char byte;

	OPEN_BUFFER(buffer, self->heap.index, PAGES * self->page);
	buffer.bytes[1] = 42;
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	errand.socket = sockets[1];
	child = process_start(hold, &errand);
	ASSERT_LT(0, child);
	ASSERT_EQ(1, read(sockets[0], &byte, 1));
	ASSERT_EQ(0, kill(child, SIGKILL));
	EXPECT_EQ(-SIGKILL, process_wait(child));
	EXPECT_EQ(42, buffer.bytes[1]);
	EXPECT_EQ(1, node_lists(self->node, buffer.id));
}

TEST_F(engine, closing_everything_does_not_stop_a_transfer)
{
	SUBMIT_SLOW(submit, transfer);
	/* source and destination are held by the transfer alone */
	buffer_close(&self->src);
	buffer_close(&self->dst);
	EXPECT_EQ(0, fence_status(submit.fence_fd));
	EXPECT_EQ(self->before.buffers + 2, node_count(self->node));
	EXPECT_EQ(1, fence_wait(submit.fence_fd));
	EXPECT_EQ(0, ledger_differences(&self->before));
}

/* Done, or given up because nobody asks any more. */
#define EXPECT_ENDS(fence)                                     \
	do {                                                   \
		int ended = fence_wait(fence);                 \
                                                               \
		EXPECT_TRUE(ended == 1 || ended == -ECANCELED) \
		{                                              \
			TH_LOG("the fence says %d", ended);    \
		}                                              \
	} while (0)

TEST_F(engine, a_fence_outlives_the_nodes_file)
{
	SUBMIT_SLOW(submit, transfer);
	close(self->node);
	EXPECT_ENDS(submit.fence_fd);
}

struct dying {
	int socket;
	bool many;
};

/* Starts a long transfer, passes its fence on, and waits to be killed. */
static int transfer_and_hold(void *context)
{
	struct dying *dying = context;
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	struct dray_transfer transfer = { .op = DRAY_OP_COPY, .run = 16 };
	struct dray_axis axis = { .dst_stride = 32, .src_stride = 32 };
	struct dray_info info;
	struct buffer src, dst;
	int node = node_open();

	STEP_LE(0, node);
	STEP_EQ(0, node_info(node, &info));
	STEP_EQ(0, buffer_open(node, DRAY_HEAP_ANY, 4 * BUFFER_SIZE, &src));
	STEP_EQ(0, buffer_open(node, DRAY_HEAP_ANY, 4 * BUFFER_SIZE, &dst));
	axis.count = 4 * BUFFER_SIZE / 32;
	if (axis.count > info.max_runs)
		axis.count = info.max_runs;
	axis.count /= (uint32_t)engine_slowness();
	transfer.src_fd = src.fd;
	transfer.dst_fd = dst.fd;
	engine_axes(&transfer, &axis, 1);
	submit.transfers = (uintptr_t)&transfer;
	submit.count = 1;
	STEP_EQ(0, node_call(node, DRAY_IOC_SUBMIT, &submit));
	STEP_EQ(0, send_descriptor(dying->socket, submit.fence_fd));
	/* the next ones wait behind it, the last for a place in the queue */
	for (uint32_t i = 0; dying->many && i <= info.queue_depth; i++)
		STEP_EQ(0, node_call(node, DRAY_IOC_SUBMIT, &submit));
	for (;;)
		pause();
}

/* Starts it when the memory of the fixture is free; has the transfer's fence. */
#define START_DYING(dying, child, fence)                                    \
	do {                                                                \
		int sockets[2];                                             \
                                                                            \
		if (node_copies())                                          \
			SKIP(return, "no device gets a copy so large");     \
		buffer_close(&self->src);                                   \
		buffer_close(&self->dst);                                   \
		ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets)); \
		(dying)->socket = sockets[1];                               \
		*(child) = process_start(transfer_and_hold, dying);         \
		ASSERT_LT(0, *(child));                                     \
		*(fence) = receive_descriptor(sockets[0]);                  \
		ASSERT_LE(0, *(fence));                                     \
	} while (0)

TEST_F(engine, a_process_killed_in_a_transfer_leaves_nothing)
{
	struct dying dying = { 0 };
	pid_t child;
	int fence;

	START_DYING(&dying, &child, &fence);
	ASSERT_EQ(0, kill(child, SIGKILL));
	EXPECT_EQ(-SIGKILL, process_wait(child));
	/* it was in the middle, else this says nothing */
	EXPECT_NE(1, fence_status(fence));
	EXPECT_ENDS(fence);
	EXPECT_EQ(0, ledger_differences(&self->before));
}

TEST_F(engine, a_process_killed_with_a_full_queue_leaves_nothing)
{
	struct dying dying = { .many = true };
	pid_t child;
	int fence;

	START_DYING(&dying, &child, &fence);
	EXPECT_TRUE(wait_for(process_sleeps, &child));
	ASSERT_EQ(0, kill(child, SIGKILL));
	EXPECT_EQ(-SIGKILL, process_wait(child));
	EXPECT_ENDS(fence);
}
