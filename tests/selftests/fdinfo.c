// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * /proc/PID/fdinfo of an opener of a node, and of a buffer.
 */
#include "attach.h"
#include "fdinfo.h"
#include "fence.h"
#include "fixture_dray.h"
#include "fixture_heap.h"
#include "step.h"
#include "sync.h"

static const char *const keys[] = {
	"dray-buffers",		  "dray-memory",      "dray-allocated-buffers",
	"dray-allocated",	  "dray-attachments", "dray-attached",
	"dray-sync-bytes",	  "dray-transfers",   "dray-transfer-bytes",
	"dray-transfers-running",
};

TEST_F(dray, a_new_opener_has_nothing)
{
	char text[64];

	OPEN_NODE(other);
	ASSERT_TRUE(fdinfo_text(other, "dray-node", text, sizeof(text)));
	EXPECT_STREQ(self->info.name, text);
	for (unsigned int i = 0; i < ARRAY_SIZE(keys); i++) {
		EXPECT_EQ(0, fdinfo_number(other, keys[i]))
		{
			TH_LOG("%s", keys[i]);
		}
	}
}

TEST_F(dray, openers_have_numbers_of_their_own)
{
	int64_t first = fdinfo_number(self->node, "dray-client-id"), second;
	int copy = dup(self->node);

	OPEN_NODE(other);
	second = fdinfo_number(other, "dray-client-id");
	EXPECT_LT(0, first);
	EXPECT_LT(first, second);
	EXPECT_EQ(first, fdinfo_number(copy, "dray-client-id"));
	close(other);
	OPEN_NODE(later);
	EXPECT_LT(second, fdinfo_number(later, "dray-client-id"));
}

TEST_F(heap, buffers_are_those_of_their_opener_alone)
{
	OPEN_NODE(other);
	OPEN_NODE(opener);
	struct buffer buffer[2];

	ASSERT_EQ(0, buffer_allocate(opener, self->heap.index, 4 * self->page,
				     &buffer[0]));
	ASSERT_EQ(0, buffer_allocate(opener, self->heap.index, 8 * self->page,
				     &buffer[1]));
	EXPECT_EQ(2, fdinfo_number(opener, "dray-buffers"));
	EXPECT_EQ(12 * self->page, fdinfo_number(opener, "dray-memory"));
	EXPECT_EQ(0, fdinfo_number(other, "dray-buffers"));
	EXPECT_EQ(0, fdinfo_number(other, "dray-allocated"));
	buffer_close(&buffer[0]);
	EXPECT_EQ(1, fdinfo_number(opener, "dray-buffers"));
	EXPECT_EQ(8 * self->page, fdinfo_number(opener, "dray-memory"));
	EXPECT_EQ(2, fdinfo_number(opener, "dray-allocated-buffers"));
	EXPECT_EQ(12 * self->page, fdinfo_number(opener, "dray-allocated"));
	buffer_close(&buffer[1]);
	EXPECT_EQ(0, fdinfo_number(opener, "dray-memory"));
}

TEST_F(dray, a_refused_allocation_is_not_counted)
{
	struct dray_alloc alloc = { .size = 1, .heap = DRAY_MAX_TRANSFERS };

	OPEN_NODE(opener);
	EXPECT_EQ(-EINVAL, node_call(opener, DRAY_IOC_ALLOC, &alloc));
	EXPECT_EQ(0, fdinfo_number(opener, "dray-allocated-buffers"));
}

/* The buffer lives on, and nothing refers to memory that is gone. */
TEST_F(dray, a_buffer_outlives_its_opener)
{
	struct buffer buffer;

	OPEN_NODE(opener);
	ASSERT_EQ(0, buffer_open(opener, DRAY_HEAP_ANY, self->page, &buffer));
	close(opener);
	OPEN_NODE(other);
	EXPECT_EQ(0, fdinfo_number(other, "dray-buffers"));
	EXPECT_EQ(0, buffer_sync(other, buffer.fd, DRAY_SYNC_FOR_DEVICE,
				 DRAY_BIDIRECTIONAL, 0, self->page));
	buffer_close(&buffer);
	EXPECT_EQ(0, fdinfo_number(other, "dray-buffers"));
}

TEST_F(dray, attached_memory_is_counted)
{
	uint8_t *bytes = mmap(NULL, 3 * self->page, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	NEED_ATTACHING();
	ASSERT_NE(MAP_FAILED, bytes);
	ATTACH_MEMORY(attach, bytes + 100, 2 * self->page, 0);
	EXPECT_EQ(1, fdinfo_number(self->node, "dray-attachments"));
	EXPECT_EQ(3 * self->page, fdinfo_number(self->node, "dray-attached"));
	EXPECT_EQ(0, fdinfo_number(self->node, "dray-allocated-buffers"));
	close(attach.fd);
	EXPECT_EQ(0, fdinfo_number(self->node, "dray-attachments"));
	EXPECT_EQ(0, fdinfo_number(self->node, "dray-attached"));
}

TEST_F(dray, syncs_are_counted_as_those_of_the_buffer)
{
	struct dray_buffer_info info;

	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, 4 * self->page);
	for (int i = 0; i < 3; i++)
		ASSERT_EQ(0, buffer_sync(self->node, buffer.fd,
					 DRAY_SYNC_FOR_DEVICE, DRAY_TO_DEVICE,
					 0, self->page));
	ASSERT_EQ(0, node_buffer_info(self->node, buffer.id, &info));
	EXPECT_EQ(info.sync_bytes,
		  fdinfo_number(self->node, "dray-sync-bytes"));
	if (node_is_maintained(&self->info)) {
		EXPECT_LE(3 * self->page, info.sync_bytes);
	}
}

TEST_F(dray, transfers_are_counted_when_they_have_ended)
{
	SKIP_IF(!self->info.channel_count, "this node has no DMA channel");
	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, 2 * self->page);
	for (int i = 1; i < 4; i++) {
		struct dray_transfer transfer =
			COPY_OF(buffer.fd, buffer.fd, self->page,
				.dst_offset = self->page);
		struct dray_submit submit =
			SUBMIT_OF(DRAY_CHANNEL_ANY, &transfer, 1);

		ASSERT_EQ(0, node_call(self->node, DRAY_IOC_SUBMIT, &submit));
		ASSERT_EQ(1, fence_wait(submit.fence_fd));
		EXPECT_EQ(i, fdinfo_number(self->node, "dray-transfers"));
		EXPECT_EQ(i * (int64_t)self->page,
			  fdinfo_number(self->node, "dray-transfer-bytes"));
		EXPECT_EQ(0,
			  fdinfo_number(self->node, "dray-transfers-running"));
	}
}

/* The keys of the dma-buf core, and the name from ALLOC. */
TEST_F(heap, a_buffer_has_its_size_its_exporter_and_its_name)
{
	struct dray_alloc alloc = { .size = 3 * self->page,
				    .heap = self->heap.index,
				    .mode = heap_usual_mode(&self->heap),
				    .name = "a name of 31 bytes, with spaces" };
	struct dray_export export = { .flags = DRAY_EXPORT_READ_ONLY };
	char text[64];

	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_ALLOC, &alloc));
	EXPECT_EQ(alloc.size, fdinfo_number(alloc.fd, "size"));
	ASSERT_TRUE(fdinfo_text(alloc.fd, "exp_name", text, sizeof(text)));
	EXPECT_STREQ("dray", text);
	ASSERT_TRUE(fdinfo_text(alloc.fd, "name", text, sizeof(text)));
	EXPECT_STREQ(alloc.name, text);
	export.buffer_fd = alloc.fd;
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_EXPORT, &export));
	ASSERT_TRUE(fdinfo_text(export.fd, "name", text, sizeof(text)));
	EXPECT_STREQ(alloc.name, text);
	ASSERT_EQ(0, ioctl(alloc.fd, DMA_BUF_SET_NAME, "another"));
	ASSERT_TRUE(fdinfo_text(alloc.fd, "name", text, sizeof(text)));
	EXPECT_STREQ("another", text);
}

TEST_F(dray, a_buffer_without_a_name_has_none)
{
	char text[64];

	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, 1);
	EXPECT_FALSE(fdinfo_text(buffer.fd, "name", text, sizeof(text)));
}

struct churn {
	int node;
	size_t page;
};

/* Until it is killed, or gets no memory. */
static int allocate_and_free(void *context)
{
	const struct churn *churn = context;
	struct buffer buffer;

	while (!buffer_allocate(churn->node, DRAY_HEAP_ANY, churn->page,
				&buffer))
		buffer_close(&buffer);
	return 1;
}

/* All three share one opener, which they inherit. */
TEST_F(dray, it_is_read_while_others_allocate)
{
	struct churn churn = { .page = self->page };
	pid_t children[3];
	int64_t buffers, before = 0, now;

	churn.node = self->node;
	for (int i = 0; i < 3; i++)
		children[i] = process_start(allocate_and_free, &churn);
	for (int i = 0; i < 300; i++) {
		now = fdinfo_number(self->node, "dray-allocated-buffers");
		buffers = fdinfo_number(self->node, "dray-buffers");
		ASSERT_LE(before, now);
		ASSERT_LE(0, buffers);
		ASSERT_GE(3, buffers);
		before = now;
	}
	for (int i = 0; i < 3; i++) {
		kill(children[i], SIGKILL);
		EXPECT_EQ(-SIGKILL, process_wait(children[i]));
	}
	EXPECT_EQ(0, fdinfo_number(self->node, "dray-buffers"));
	EXPECT_EQ(0, fdinfo_number(self->node, "dray-memory"));
}
