// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * BUFFER_INFO: whose a buffer is and what happens to it, by id and by fd.
 */
#include "fixture_dray.h"
#include "fixture_heap.h"
#include "step.h"

static int info_by_fd(int node, int fd, struct dray_buffer_info *info)
{
	memset(info, 0, sizeof(*info));
	info->flags = DRAY_BUFFER_BY_FD;
	info->fd = fd;
	return node_call(node, DRAY_IOC_BUFFER_INFO, info);
}

TEST_F(heap, a_buffer_tells_its_size_heap_and_mode)
{
	ALLOCATE_BUFFER(buffer, self->heap.index, 3 * self->page);
	READ_BUFFER(info, buffer.id);
	EXPECT_EQ(buffer.id, info.id);
	EXPECT_EQ(3 * self->page, info.size);
	EXPECT_EQ(self->heap.index, info.heap);
	EXPECT_EQ(DRAY_MODE_CACHED, info.mode);
	EXPECT_STREQ(self->heap.name, info.heap_name);
}

TEST_F(heap, mappings_are_counted)
{
	void *second;

	ALLOCATE_BUFFER(buffer, self->heap.index, 2 * self->page);
	READ_BUFFER(info, buffer.id);
	EXPECT_EQ(0, info.mapped);
	buffer.bytes =
		mmap(NULL, buffer.size, PROT_READ, MAP_SHARED, buffer.fd, 0);
	second = mmap(NULL, self->page, PROT_READ, MAP_SHARED, buffer.fd, 0);
	ASSERT_NE(MAP_FAILED, second);
	ASSERT_EQ(0, node_buffer_info(self->node, buffer.id, &info));
	EXPECT_EQ(2, info.mapped);
	munmap(second, self->page);
	munmap(buffer.bytes, buffer.size);
	ASSERT_EQ(0, node_buffer_info(self->node, buffer.id, &info));
	EXPECT_EQ(0, info.mapped);
}

TEST_F(heap, a_split_mapping_is_counted_right_when_it_is_gone)
{
	OPEN_BUFFER(buffer, self->heap.index, 3 * self->page);
	ASSERT_EQ(0, munmap(buffer.bytes + self->page, self->page));
	READ_BUFFER(info, buffer.id);
	EXPECT_LT(0, info.mapped);
	ASSERT_EQ(0, munmap(buffer.bytes, 3 * self->page));
	ASSERT_EQ(0, node_buffer_info(self->node, buffer.id, &info));
	EXPECT_EQ(0, info.mapped);
}

TEST_F(dray, a_buffer_tells_who_allocated_it)
{
	char comm[DRAY_COMM_LEN + 1] = { 0 };
	FILE *file = fopen("/proc/self/comm", "r");

	ASSERT_NE(NULL, file);
	ASSERT_EQ(1, fscanf(file, "%16[^\n]", comm));
	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, 1);
	READ_BUFFER(info, buffer.id);
	EXPECT_EQ(getpid(), info.pid);
	EXPECT_EQ(getuid(), info.uid);
	ASSERT_NE(NULL, memchr(info.comm, 0, DRAY_COMM_LEN));
	EXPECT_STREQ(comm, info.comm);
}

TEST_F(dray, a_buffer_tells_its_name)
{
	struct dray_alloc alloc = { .size = 1,
				    .heap = DRAY_HEAP_ANY,
				    .name = "photograph" };

	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_ALLOC, &alloc));
	READ_BUFFER(info, alloc.id);
	EXPECT_STREQ("photograph", info.name);
}

static bool is_older(void *context)
{
	uint64_t *age = context;
	struct dray_buffer_info info;
	int node = node_open();
	int ret = node_buffer_info(node, age[0], &info);

	close(node);
	return !ret && info.age_ns > age[1];
}

TEST_F(dray, a_buffer_grows_older)
{
	uint64_t age[2];

	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, 1);
	READ_BUFFER(info, buffer.id);
	EXPECT_GT(60 * 1000000000ull, info.age_ns);
	age[0] = buffer.id;
	age[1] = info.age_ns;
	EXPECT_TRUE(wait_for(is_older, age));
}

TEST_F(dray, fd_and_id_tell_the_same)
{
	struct dray_buffer_info by_fd;

	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, 1);
	ASSERT_EQ(0, info_by_fd(self->node, buffer.fd, &by_fd));
	EXPECT_EQ(buffer.id, by_fd.id);
	READ_BUFFER(by_id, buffer.id);
	EXPECT_EQ(by_id.size, by_fd.size);
	EXPECT_EQ(by_id.heap, by_fd.heap);
	EXPECT_EQ(by_id.pid, by_fd.pid);
}

TEST_F(dray, nothing_is_in_flight_and_nobody_is_attached_at_first)
{
	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, 1);
	READ_BUFFER(info, buffer.id);
	EXPECT_EQ(0, info.transfers);
	EXPECT_EQ(0, info.attachments);
	EXPECT_EQ(0, info.sync_bytes);
	EXPECT_EQ(0, info.flags);
}

TEST_F(dray, an_id_that_never_was_is_not_found)
{
	struct dray_buffer_info info;

	EXPECT_EQ(-ENOENT, node_buffer_info(self->node, 0, &info));
	EXPECT_EQ(-ENOENT, node_buffer_info(self->node, UINT64_MAX, &info));
}

TEST_F(dray, an_id_is_not_found_after_its_buffer_was_freed)
{
	struct dray_buffer_info info;

	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, 1);
	buffer_close(&buffer);
	ASSERT_EQ(0, ledger_differences(&self->before));
	EXPECT_EQ(-ENOENT, node_buffer_info(self->node, buffer.id, &info));
}

/* Flags that only a reply has. */
#define SAID                                                                  \
	(DRAY_BUFFER_ORPHAN | DRAY_BUFFER_READ_ONLY | DRAY_BUFFER_DISCLOSED | \
	 DRAY_BUFFER_HELD)

/* Whoever asks again and again need not clear what a reply said. */
TEST_F(dray, flags_are_refused_but_for_those_that_a_reply_says)
{
	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, 1);
	for (uint32_t bit = 1; bit < 32; bit++) {
		struct dray_buffer_info info = { .id = buffer.id,
						 .flags = 1u << bit };
		bool said = info.flags & SAID;

		EXPECT_EQ(said ? 0 : -EINVAL,
			  node_call(self->node, DRAY_IOC_BUFFER_INFO, &info));
		if (said)
			EXPECT_EQ(0, info.flags);
	}
}

TEST_F(dray, a_closed_fd_is_refused)
{
	struct dray_buffer_info info;
	int closed = dup(0);

	close(closed);
	EXPECT_EQ(-EBADF, info_by_fd(self->node, closed, &info));
}

TEST_F(dray, an_fd_that_is_no_dma_buf_is_refused)
{
	struct dray_buffer_info info;

	EXPECT_EQ(-EINVAL, info_by_fd(self->node, self->node, &info));
}

struct stranger {
	int fd;
	uint64_t id;
	uint64_t capabilities;
};

/* What the call says to another user, as a positive errno. */
static int ask_by_id(void *context)
{
	struct stranger *stranger = context;
	struct dray_buffer_info info;

	STEP_OPEN_AS(node, 65534, stranger->capabilities);
	return -node_buffer_info(node, stranger->id, &info);
}

static int ask_by_fd(void *context)
{
	struct stranger *stranger = context;
	struct dray_buffer_info info;

	STEP_OPEN_AS(node, 65534, stranger->capabilities);
	return -info_by_fd(node, stranger->fd, &info);
}

TEST_F(dray, another_users_id_is_not_found)
{
	struct stranger stranger = { .capabilities = OPENER };

	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, 1);
	stranger.id = buffer.id;
	EXPECT_EQ(ENOENT, process_run(ask_by_id, &stranger));
}

TEST_F(dray, an_administrator_asks_for_another_users_id)
{
	struct stranger stranger = { .capabilities = ADMINISTRATOR };

	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, 1);
	stranger.id = buffer.id;
	EXPECT_EQ(0, process_run(ask_by_id, &stranger));
}

TEST_F(dray, who_holds_the_fd_may_ask)
{
	struct stranger stranger = { .capabilities = OPENER };

	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, 1);
	stranger.fd = buffer.fd;
	EXPECT_EQ(0, process_run(ask_by_fd, &stranger));
}

struct heir {
	int socket;
};

static int allocate_and_leave(void *context)
{
	struct heir *heir = context;
	struct buffer buffer;
	int node = node_open();

	if (node < 0 || buffer_allocate(node, DRAY_HEAP_ANY, 1, &buffer))
		return 1;
	return send_descriptor(heir->socket, buffer.fd) ? 2 : 0;
}

TEST_F(dray, a_buffer_whose_owner_is_gone_is_an_orphan)
{
	struct dray_buffer_info info;
	struct heir heir;
	int sockets[2], fd;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	heir.socket = sockets[1];
	ASSERT_EQ(0, process_run(allocate_and_leave, &heir));
	fd = receive_descriptor(sockets[0]);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, info_by_fd(self->node, fd, &info));
	EXPECT_EQ(DRAY_BUFFER_ORPHAN, info.flags & DRAY_BUFFER_ORPHAN);
}
