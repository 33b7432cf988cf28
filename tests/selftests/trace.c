// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tracepoints: each event is there, comes when it should, and names what it is
 * about.  Reads the kernel's trace, so it runs as root with tracefs mounted.
 */
#include "attach.h"
#include "fixture_engine.h"
#include "foreign.h"
#include "importer.h"
#include "tracing.h"

FIXTURE(trace)
{
	int node;
	struct ledger before;
	size_t size; /* two pages */
	struct buffer buffer;
	char id[32];
};

FIXTURE_SETUP(trace)
{
	self->node = node_open();
	ASSERT_LE(0, self->node);
	ASSERT_EQ(0, ledger_take(self->node, &self->before));
	TRACE_BEGIN();
	self->size = 2 * (size_t)sysconf(_SC_PAGESIZE);
	ASSERT_EQ(0, buffer_open(self->node, DRAY_HEAP_ANY, self->size,
				 &self->buffer));
	snprintf(self->id, sizeof(self->id), "id=%llu ",
		 (unsigned long long)self->buffer.id);
}

FIXTURE_TEARDOWN_PARENT(trace)
{
	tracing_stop();
	EXPECT_EQ(0, ledger_differences(&self->before));
}

BRIEF(TEST_F(trace, an_allocation_is_an_event),
      EXPECT_TRUE(trace_has("dray_alloc:", self->id)));

/* Whoever asks who took the memory is told, when it goes back too. */
TEST_F(trace, a_buffer_is_its_owners_from_begin_to_end)
{
	char owner[64], comm[32] = "";
	FILE *file = fopen("/proc/self/comm", "r");

	ASSERT_NE(NULL, file);
	ASSERT_EQ(1, fscanf(file, "%31s", comm));
	fclose(file);
	snprintf(owner, sizeof(owner), "pid=%d comm=%s", (int)getpid(), comm);
	EXPECT_TRUE(trace_has("dray_alloc:", owner));
	buffer_close(&self->buffer);
	EXPECT_TRUE(trace_has("dray_free:", owner));
}

/* Two buffers of a heap with a region never have one place. */
TEST_F(trace, a_buffer_has_a_place_in_its_heaps_region)
{
	struct buffer other;
	long long place[2] = { -2, -2 };
	char *trace, *line;

	ASSERT_EQ(0,
		  buffer_open(self->node, DRAY_HEAP_ANY, self->size, &other));
	trace = trace_read();
	ASSERT_NE(NULL, trace);
	line = trace;
	for (int i = 0; i < 2; i++) {
		line = strstr(line, "dray_alloc:");
		ASSERT_NE(NULL, line);
		line = strstr(line, "offset=");
		ASSERT_NE(NULL, line);
		ASSERT_EQ(1, sscanf(line, "offset=%lld", &place[i]));
	}
	free(trace);
	EXPECT_LE(-1, place[0]);
	EXPECT_TRUE(place[0] != place[1] || place[0] == -1);
}

/* Whoever reads the trace on a terminal is not to be told anything by it. */
TEST_F(trace, a_name_is_part_of_its_line_and_no_command)
{
	struct dray_alloc alloc = { .size = 1,
				    .heap = DRAY_HEAP_ANY,
				    .name = "a\nb\033[2Jc\303\244d" };

	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_ALLOC, &alloc));
	EXPECT_TRUE(trace_has("dray_alloc:", "name=a?b?[2Jc??d"));
}

TEST_F(trace, the_mapping_for_a_device_is_an_event)
{
	ASSERT_EQ(0, buffer_sync(self->node, self->buffer.fd,
				 DRAY_SYNC_FOR_DEVICE, DRAY_TO_DEVICE, 0, 1));
	EXPECT_TRUE(trace_has("dray_map:", self->id));
}

BRIEF(TEST_F(trace, the_mapping_of_a_program_is_an_event),
      EXPECT_TRUE(trace_has("dray_mmap:", self->id)));

TEST_F(trace, the_end_of_a_buffer_is_an_event)
{
	EXPECT_FALSE(trace_has("dray_free:", self->id));
	buffer_close(&self->buffer);
	EXPECT_TRUE(trace_has("dray_free:", self->id));
}

TEST_F(trace, a_refusal_is_an_event_with_its_reason)
{
	struct dray_alloc args = { .size = 0, .heap = DRAY_HEAP_ANY };

	ASSERT_EQ(-EINVAL, node_call(self->node, DRAY_IOC_ALLOC, &args));
	EXPECT_TRUE(trace_has("dray_fail:", "call=3 error=-22 reason=1 "));
	args.size = UINT64_C(1) << 60;
	ASSERT_NE(0, node_call(self->node, DRAY_IOC_ALLOC, &args));
	EXPECT_TRUE(trace_has("dray_fail:", "size=1152921504606846976 "));
}

TEST_F(trace, maintenance_is_an_event_with_its_bytes)
{
	struct dray_range range = {
		.fd = self->buffer.fd,
		.offset = 64,
		.width = 128,
		.pitch = 1024,
		.rows = 4,
	};
	struct dray_sync args = SYNC_OF(DRAY_TARGET_NODE, DRAY_SYNC_FOR_DEVICE,
					DRAY_TO_DEVICE, &range, 1);

	READ_NODE(info);
	SKIP_IF(!node_is_maintained(&info), "this node is coherent");
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_SYNC, &args));
	EXPECT_TRUE(trace_has("dray_sync:", "bytes=512 "));
	EXPECT_TRUE(trace_has("dray_sync:", "for the device, to device"));
}

TEST_F(trace, maintenance_of_attached_memory_is_an_event_too)
{
	uint8_t *bytes = fresh_memory(self->size);
	char text[64];

	READ_NODE(info);
	SKIP_IF(info.flags & DRAY_NODE_COHERENT, "this node is coherent");
	SKIP_IF(node_copies(), "a device that gets copies gets none of it");
	ATTACH_MEMORY(attach, bytes, self->size, 0);
	snprintf(text, sizeof(text), "dray_sync: id=%llu bytes=%zu ",
		 (unsigned long long)attach.id, self->size);
	EXPECT_TRUE(trace_has(text, "for the device, to device"));
	ASSERT_EQ(0, buffer_sync(self->node, attach.fd, DRAY_SYNC_FOR_CPU,
				 DRAY_FROM_DEVICE, 64, 192));
	snprintf(text, sizeof(text), "dray_sync: id=%llu bytes=192 ",
		 (unsigned long long)attach.id);
	EXPECT_TRUE(trace_has(text, "for the CPU, from device"));
}

/* Otherwise the memory's last contents would be there instead of them. */
TEST_F(trace, the_zeros_are_written_back_before_the_first_line_is_dropped)
{
	char back[64], dropped[64], *trace;

	READ_NODE(info);
	SKIP_IF(info.flags & DRAY_NODE_COHERENT, "this node is coherent");
	SKIP_IF(node_copies(), "a copy has them from the start");
	ASSERT_EQ(0, buffer_sync(self->node, self->buffer.fd, DRAY_SYNC_FOR_CPU,
				 DRAY_FROM_DEVICE, 4096, 64));
	snprintf(back, sizeof(back), "dray_sync: %sbytes=%zu ", self->id,
		 self->size);
	snprintf(dropped, sizeof(dropped), "dray_sync: %sbytes=64 ", self->id);
	trace = trace_read();
	ASSERT_NE(NULL, trace);
	ASSERT_NE(NULL, strstr(trace, back));
	EXPECT_NE(NULL, strstr(strstr(trace, back), dropped));
	free(trace);
	EXPECT_TRUE(trace_has(back, "for the device, to device"));
}

/* Of the whole buffer too, and never twice. */
TEST_F(trace, the_zeros_are_written_back_before_the_first_cpu_access)
{
	char back[64], *trace, *first;

	READ_NODE(info);
	SKIP_IF(info.flags & DRAY_NODE_COHERENT, "this node is coherent");
	SKIP_IF(node_copies(), "a copy has them from the start");
	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, cpu_begin(self->buffer.fd, DMA_BUF_SYNC_READ));
	snprintf(back, sizeof(back), "dray_sync: %sbytes=%zu ", self->id,
		 self->size);
	trace = trace_read();
	ASSERT_NE(NULL, trace);
	first = strstr(trace, "dray_sync:");
	ASSERT_NE(NULL, first);
	EXPECT_EQ(first, strstr(trace, back));
	first = strstr(first, "for the ");
	EXPECT_EQ(0, strncmp(first, "for the device", 14));
	EXPECT_EQ(NULL, strstr(first + 1, "for the device"));
	free(trace);
}

TEST_F(trace, an_importer_is_an_event_and_its_end_is_one)
{
	int importer = importer_open();
	uint32_t handle;

	SKIP_IF(importer < 0, "this kernel has no importer");
	ASSERT_EQ(0, importer_attach(importer, self->buffer.fd, &handle));
	EXPECT_TRUE(trace_has("dray_attach:", self->id));
	EXPECT_TRUE(trace_has("dray_attach:", " kind=buffer "));
	EXPECT_FALSE(trace_has("dray_detach:", self->id));
	close(importer);
	EXPECT_TRUE(trace_has("dray_detach:", self->id));
}

/* What all events of an attachment say. */
static void attached_text(const struct dray_attach *attach, const char *kind,
			  const struct dray_info *info, char *text, size_t room)
{
	snprintf(text, room, "id=%llu size=%llu kind=%s device=%s",
		 (unsigned long long)attach->id,
		 (unsigned long long)attach->length, kind, info->device);
}

TEST_F(trace, attached_memory_is_an_event_and_its_mapping_and_its_end)
{
	uint8_t *bytes = fresh_memory(self->size);
	char text[128];

	READ_NODE(info);
	SKIP_IF(node_copies(), "a device that gets copies gets none of it");
	/* It need not begin or end with a page. */
	ATTACH_MEMORY(attach, bytes + 64, self->size - 100, 0);
	EXPECT_EQ(self->size - 100, attach.length);
	attached_text(&attach, "user", &info, text, sizeof(text));
	EXPECT_TRUE(trace_has("dray_attach:", text));
	EXPECT_TRUE(trace_has("dray_map:", text));
	EXPECT_FALSE(trace_has("dray_detach:", text));
	close(attach.fd);
	EXPECT_TRUE(trace_has("dray_detach:", text));
}

TEST_F(trace, an_attached_dma_buf_is_an_event_and_its_mapping_and_its_end)
{
	int fd = foreign_open(FOREIGN_VGEM, self->size);
	char text[128];

	SKIP_IF(fd == -ENODEV, "this kernel has no exporter");
	ASSERT_LE(0, fd);
	READ_NODE(info);
	SKIP_IF(node_copies(), "a device that gets copies gets none of it");
	ATTACH_DMA_BUF(attach, fd, 0);
	attached_text(&attach, "dma-buf", &info, text, sizeof(text));
	EXPECT_TRUE(trace_has("dray_attach:", text));
	EXPECT_TRUE(trace_has("dray_map:", text));
	EXPECT_FALSE(trace_has("dray_detach:", text));
	close(attach.fd);
	EXPECT_TRUE(trace_has("dray_detach:", text));
	close(fd);
}

TEST_F(engine, a_transfer_is_two_events_of_one_number)
{
	struct dray_transfer transfer = engine_copy(self, self->page);
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	char bytes[64];

	TRACE_BEGIN();
	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit));
	ASSERT_EQ(1, fence_wait(submit.fence_fd));
	tracing_stop();
	snprintf(bytes, sizeof(bytes), "bytes=%zu", self->page);
	EXPECT_TRUE(trace_has("dray_submit:", bytes));
	EXPECT_TRUE(trace_has("dray_submit:", "seqno=1 "));
	EXPECT_TRUE(trace_has("dray_complete:", "seqno=1 "));
	EXPECT_TRUE(trace_has("dray_complete:", "error=0"));
	EXPECT_TRUE(trace_has("dray_complete:", bytes));
	snprintf(bytes, sizeof(bytes), "pid=%d ", (int)getpid());
	EXPECT_TRUE(trace_has("dray_submit:", bytes));
	EXPECT_TRUE(trace_has("dray_complete:", bytes));
}

/* Sooner it would keep, or drop, what the engine has yet to write. */
TEST_F(engine, a_cpu_access_is_maintained_after_the_engine_has_written)
{
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY,
				      .flags = DRAY_SUBMIT_NO_SYNC };
	struct dray_transfer transfer = engine_slow(self);
	char *trace, *done, *next;
	int before = 0, after = 0;
	char sync[64];

	SKIP_IF(!node_is_maintained(&self->info), "this node is coherent");
	snprintf(sync, sizeof(sync), "dray_sync: id=%llu ",
		 (unsigned long long)self->dst.id);
	TRACE_BEGIN();
	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit));
	ASSERT_EQ(0, cpu_begin(self->dst.fd, DMA_BUF_SYNC_READ));
	tracing_stop();
	trace = trace_read();
	ASSERT_NE(NULL, trace);
	done = strstr(trace, "dray_complete:");
	ASSERT_NE(NULL, done);
	for (next = trace; (next = strstr(next, sync)); next++) {
		if (strncmp(strstr(next, "for the "), "for the CPU", 11))
			continue;
		before += next < done;
		after += next > done;
	}
	free(trace);
	EXPECT_EQ(0, before);
	EXPECT_EQ(1, after);
}

TEST_F(engine, no_event_has_an_address)
{
	struct dray_transfer transfer = engine_copy(self, self->page);
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY };
	struct dray_address address = { .room = 1 };
	struct dray_segment segment;
	struct buffer fresh;
	char text[32], *trace;

	TRACE_BEGIN();
	ASSERT_EQ(0,
		  buffer_open(self->node, DRAY_HEAP_ANY, BUFFER_SIZE, &fresh));
	transfer.dst_fd = fresh.fd;
	ASSERT_EQ(0, engine_submit(self, &transfer, 1, &submit));
	ASSERT_EQ(1, fence_wait(submit.fence_fd));
	tracing_stop();
	address.fd = fresh.fd;
	address.segments = (uintptr_t)&segment;
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_ADDRESS, &address));
	/* Its address is known: it would be held if its owner just died. */
	close(submit.fence_fd);
	buffer_close(&fresh);
	trace = trace_read();
	ASSERT_NE(NULL, trace);
	EXPECT_NE(NULL, strstr(trace, "dray_map:"));
	snprintf(text, sizeof(text), "%llx",
		 (unsigned long long)segment.address);
	EXPECT_EQ(NULL, strstr(trace, text));
	snprintf(text, sizeof(text), "%llu",
		 (unsigned long long)segment.address);
	EXPECT_EQ(NULL, strstr(trace, text));
	free(trace);
}
