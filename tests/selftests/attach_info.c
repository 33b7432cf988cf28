// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * LIST and BUFFER_INFO of attachments: what pins memory is seen, with whose it
 * is and for which node.
 */
#include "attach.h"
#include "fixture_dray.h"
#include "foreign.h"
#include "step.h"

#define PAGES 16
#define NOBODY 65534

FIXTURE(attached)
{
	int node;
	size_t page;
	size_t size;
	uint8_t *bytes;
	struct ledger before;
};

FIXTURE_SETUP(attached)
{
	self->node = node_open();
	ASSERT_LE(0, self->node);
	NEED_ATTACHING();
	ASSERT_EQ(0, ledger_take(self->node, &self->before));
	self->page = (size_t)sysconf(_SC_PAGESIZE);
	self->size = PAGES * self->page;
	self->bytes = mmap(NULL, self->size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->bytes);
}

FIXTURE_TEARDOWN_PARENT(attached)
{
	if (self->size)
		EXPECT_EQ(0, ledger_differences(&self->before));
}

static int info_by_fd(int node, int fd, struct dray_buffer_info *info)
{
	*info = (struct dray_buffer_info){ .flags = DRAY_BUFFER_BY_FD,
					   .fd = fd };
	return node_call(node, DRAY_IOC_BUFFER_INFO, info);
}

TEST_F(attached, it_is_listed_until_it_is_closed)
{
	struct dray_buffer_info info;

	ATTACH_MEMORY(attach, self->bytes, self->size, 0);
	EXPECT_EQ(1, node_lists(self->node, attach.id));
	EXPECT_EQ(self->before.buffers + 1, node_count(self->node));
	close(attach.fd);
	EXPECT_EQ(0, node_lists(self->node, attach.id));
	EXPECT_EQ(-ENOENT, node_buffer_info(self->node, attach.id, &info));
}

TEST_F(attached, its_id_is_of_the_sequence_of_the_buffers)
{
	struct buffer buffer[2];
	uint64_t ids[3] = { 0 };
	struct dray_list list = { .ids = (uintptr_t)ids, .room = 3 };

	SKIP_IF(self->before.buffers, "others have buffers");
	ASSERT_EQ(0, buffer_allocate(self->node, DRAY_HEAP_ANY, 1, &buffer[0]));
	ATTACH_MEMORY(attach, self->bytes, 1, 0);
	ASSERT_EQ(0, buffer_allocate(self->node, DRAY_HEAP_ANY, 1, &buffer[1]));
	EXPECT_LT(buffer[0].id, attach.id);
	EXPECT_LT(attach.id, buffer[1].id);
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_LIST, &list));
	EXPECT_EQ(buffer[0].id, ids[0]);
	EXPECT_EQ(attach.id, ids[1]);
	EXPECT_EQ(buffer[1].id, ids[2]);
}

TEST_F(attached, pinned_memory_tells_whose_it_is_and_for_which_node)
{
	struct dray_buffer_info info;
	char comm[DRAY_COMM_LEN + 1] = { 0 };
	FILE *file = fopen("/proc/self/comm", "r");

	ASSERT_NE(NULL, file);
	ASSERT_EQ(1, fscanf(file, "%16[^\n]", comm));
	READ_NODE(node);
	ATTACH_MEMORY(attach, self->bytes, self->size, 0);
	/* what comes in must not come out again */
	memset(&info, 0x5a, sizeof(info));
	info.id = attach.id;
	info.flags = 0;
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_BUFFER_INFO, &info));
	EXPECT_EQ(attach.id, info.id);
	EXPECT_EQ(DRAY_KIND_USER, info.kind);
	EXPECT_EQ(self->size, info.size);
	EXPECT_EQ(0, info.flags);
	EXPECT_EQ(getpid(), info.pid);
	EXPECT_EQ(getuid(), info.uid);
	EXPECT_STREQ(comm, info.comm);
	EXPECT_STREQ(node.name, info.node_name);
	EXPECT_EQ(DRAY_HEAP_ANY, info.heap);
	EXPECT_STREQ("", info.heap_name);
	EXPECT_STREQ("", info.name);
	EXPECT_EQ(0, info.mapped);
	EXPECT_EQ(0, info.attachments);
	EXPECT_EQ(0, info.transfers);
	EXPECT_GT(60 * 1000000000ull, info.age_ns);
}

TEST_F(attached, its_size_is_that_of_the_pages_that_it_takes)
{
	/* two bytes, in two pages */
	ATTACH_MEMORY(attach, self->bytes + self->page - 1, 2,
		      DRAY_ATTACH_READ_ONLY);
	READ_BUFFER(info, attach.id);
	EXPECT_EQ(2 * self->page, info.size);
	EXPECT_EQ(DRAY_BUFFER_READ_ONLY, info.flags);
}

TEST_F(attached, a_buffer_is_of_no_node)
{
	struct dray_buffer_info info;

	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, 1);
	memset(&info, 0x5a, sizeof(info));
	info.id = buffer.id;
	info.flags = 0;
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_BUFFER_INFO, &info));
	EXPECT_EQ(DRAY_KIND_BUFFER, info.kind);
	EXPECT_STREQ("", info.node_name);
}

TEST_F(attached, a_dma_buf_tells_its_exporter_and_its_name)
{
	int fd = foreign_open(FOREIGN_VGEM, self->size);

	NEED_VGEM(fd);
	ASSERT_EQ(0, ioctl(fd, DMA_BUF_SET_NAME, "photograph"));
	ATTACH_DMA_BUF(attach, fd, 0);
	READ_BUFFER(info, attach.id);
	EXPECT_EQ(DRAY_KIND_DMABUF, info.kind);
	EXPECT_EQ(self->size, info.size);
	EXPECT_STREQ("photograph", info.name);
	EXPECT_STRNE("", info.heap_name);
}

TEST_F(attached, fd_and_id_tell_the_same)
{
	struct dray_buffer_info by_fd;

	ATTACH_MEMORY(attach, self->bytes, self->size, 0);
	READ_BUFFER(by_id, attach.id);
	ASSERT_EQ(0, info_by_fd(self->node, attach.fd, &by_fd));
	EXPECT_EQ(attach.id, by_fd.id);
	EXPECT_EQ(by_id.kind, by_fd.kind);
	EXPECT_EQ(by_id.size, by_fd.size);
	EXPECT_EQ(by_id.pid, by_fd.pid);
	EXPECT_STREQ(by_id.node_name, by_fd.node_name);
}

struct stranger {
	uint64_t id;
	uint64_t capabilities;
	int fd;
	uint8_t *bytes;
	size_t size;
};

/* 0 not seen at all, 1 seen in every way, else something between. */
static int look(void *context)
{
	struct stranger *stranger = context;
	struct dray_buffer_info info;
	int listed, known;

	STEP_OPEN_AS(node, NOBODY, stranger->capabilities);
	listed = node_lists(node, stranger->id);
	known = node_buffer_info(node, stranger->id, &info);
	if (listed == 1 && !known)
		return 1;
	STEP_EQ(0, listed);
	STEP_EQ(-ENOENT, known);
	return 0;
}

TEST_F(attached, another_user_does_not_see_it)
{
	struct stranger stranger = { .capabilities = OPENER };

	ATTACH_MEMORY(attach, self->bytes, 1, 0);
	stranger.id = attach.id;
	EXPECT_EQ(0, process_run(look, &stranger));
}

TEST_F(attached, an_administrator_sees_it)
{
	struct stranger stranger = { .capabilities = ADMINISTRATOR };

	ATTACH_MEMORY(attach, self->bytes, 1, 0);
	stranger.id = attach.id;
	EXPECT_EQ(1, process_run(look, &stranger));
}

/* 1 one's own is seen */
static int attach_and_look(void *context)
{
	struct dray_buffer_info info;
	struct dray_attach attach;

	STEP_OPEN_AS(node, NOBODY, OPENER);
	STEP_LE(0, attach_memory(node, context, 1, 0, &attach));
	STEP_EQ(0, node_buffer_info(node, attach.id, &info));
	STEP_EQ(NOBODY, info.uid);
	return node_lists(node, attach.id) == 1 && node_count(node) == 1;
}

TEST_F(attached, a_user_sees_his_own)
{
	/* one of root's, so that "all" and "his own" differ */
	ATTACH_MEMORY(attach, self->bytes, 1, 0);
	EXPECT_EQ(1, process_run(attach_and_look, self->bytes));
}

/* 0 the pieces are told, 1 they are not, else something went wrong */
static int attach_and_count(void *context)
{
	struct stranger *stranger = context;
	struct dray_attach attach;

	STEP_OPEN_AS(node, NOBODY, stranger->capabilities);
	STEP_LE(0, attach_memory(node, stranger->bytes, stranger->size, 0,
				 &attach));
	STEP_EQ(stranger->size, attach.length);
	return attach.segments ? 0 : 1;
}

TEST_F(attached, how_many_pieces_there_are_is_for_who_may_know_where)
{
	struct stranger stranger = {
		.capabilities = OPENER,
		.bytes = self->bytes,
		.size = self->size,
	};

	READ_NODE(info);
	/* behind an IOMMU it tells nothing of memory */
	EXPECT_EQ(info.flags & DRAY_NODE_IOMMU ? 0 : 1,
		  process_run(attach_and_count, &stranger));
	stranger.capabilities |= CAPABILITY(CAP_SYS_RAWIO);
	EXPECT_EQ(0, process_run(attach_and_count, &stranger));
}

struct heir {
	int socket;
	uint8_t *bytes;
};

static int attach_and_leave(void *context)
{
	struct heir *heir = context;
	struct dray_attach attach;
	int node = node_open();

	if (node < 0 || attach_memory(node, heir->bytes, 1, 0, &attach) < 0)
		return 1;
	STEP_EQ(0, send_descriptor(heir->socket, attach.fd));
	return 0;
}

TEST_F(attached, one_whose_owner_is_gone_is_an_orphan)
{
	struct dray_buffer_info info;
	struct heir heir = { .bytes = self->bytes };
	int sockets[2], fd;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	heir.socket = sockets[1];
	ASSERT_EQ(0, process_run(attach_and_leave, &heir));
	fd = receive_descriptor(sockets[0]);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, info_by_fd(self->node, fd, &info));
	EXPECT_EQ(DRAY_BUFFER_ORPHAN, info.flags & DRAY_BUFFER_ORPHAN);
	EXPECT_EQ(1, node_lists(self->node, info.id));
}

/* Is there a line "ID SIZE attached to NODE" in debugfs? */
static bool debugfs_has(uint64_t id, size_t size, const char *rest)
{
	const char *node = strrchr(node_path(), '/') + 1;
	char path[64], start[64], *line = NULL;
	size_t room = 0;
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/kernel/debug/dray/%s/buffers", node);
	file = fopen(path, "r");
	snprintf(start, sizeof(start), "%llu %zu attached to %s",
		 (unsigned long long)id, size, node);
	while (file && !found && getline(&line, &room, file) >= 0)
		found = !strncmp(line, start, strlen(start)) &&
			strstr(line, rest);
	if (file)
		fclose(file);
	free(line);
	return found;
}

TEST_F(attached, debugfs_has_a_line_until_it_is_closed)
{
	char pid[32];

	SKIP_IF(access("/sys/kernel/debug/dray", F_OK),
		"this kernel has no debugfs");
	ATTACH_MEMORY(attach, self->bytes, self->size, 0);
	snprintf(pid, sizeof(pid), ", pid %d ", getpid());
	EXPECT_TRUE(debugfs_has(attach.id, self->size, pid));
	close(attach.fd);
	EXPECT_FALSE(debugfs_has(attach.id, self->size, pid));
}
