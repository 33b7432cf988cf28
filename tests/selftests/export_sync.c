// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Cache maintenance through a read-only descriptor.  What it drops somebody may
 * be writing, so that it drops nothing while only channels have written the
 * buffer, and writes back first what it has to drop.
 */
#include "export.h"
#include "frames.h"
#include "ledger.h"
#include "maintenance.h"
#include "setup.h"
#include "transfer.h"

#define PAGES 4
#define MOST 4096

static struct maintenance list[MOST];

FIXTURE(reader)
{
	int node;
	size_t page;
	struct dray_info info;
	struct ledger before;
	struct buffer buffer;
	int fd; /* the read-only one */
	struct dray_segment segment[PAGES];
	struct dray_range all;
};

FIXTURE_SETUP(reader)
{
	SETUP_NODE();
	ASSERT_EQ(0, node_info(self->node, &self->info));
	ASSERT_EQ(0, ledger_take(self->node, &self->before));
	SKIP_IF(self->info.flags & DRAY_NODE_COHERENT, "this node is coherent");
	SKIP_IF(node_copies(),
		"a copy is maintained by the kernel's own means");
	ASSERT_EQ(0, buffer_open(self->node, DRAY_HEAP_ANY, PAGES * self->page,
				 &self->buffer));
	memset(self->buffer.bytes, 0x21, self->buffer.size);
	self->fd = export_fd(self->node, self->buffer.fd);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(PAGES, frames_of(self->buffer.bytes, self->buffer.size,
				   self->segment, PAGES));
	self->all =
		(struct dray_range){ .width = self->buffer.size, .rows = 1 };
}

FIXTURE_TEARDOWN_PARENT(reader)
{
	maintenance_end();
	EXPECT_EQ(0, ledger_reclaimed_differences(&self->before));
}

/* Both ways to ask. */
static int sync_for_cpu(FIXTURE_DATA(reader) * self)
{
	int ret = buffer_sync(self->node, self->fd, DRAY_SYNC_FOR_CPU,
			      DRAY_FROM_DEVICE, 0, self->buffer.size);

	if (ret)
		return ret;
	return cpu_begin(self->fd, DMA_BUF_SYNC_READ);
}

/* Times that bytes of it were dropped, or written back; or a negative errno. */
static int64_t maintained(FIXTURE_DATA(reader) * self, bool dropped)
{
	int count = maintenance_read(list, MOST), i;
	uint64_t bytes = 0, start = self->segment[0].address;

	for (i = 0; i < count; i++)
		if (!list[i].whole && list[i].for_cpu == dropped &&
		    list[i].address >= start &&
		    list[i].address < start + self->buffer.size)
			bytes += list[i].bytes;
	return count < 0 ? count : (int64_t)bytes;
}

static int tell_address(FIXTURE_DATA(reader) * self)
{
	struct dray_segment segment;
	struct dray_address address = {
		.fd = self->buffer.fd,
		.segments = (uintptr_t)&segment,
		.room = 1,
	};

	return node_call(self->node, DRAY_IOC_ADDRESS, &address);
}

static int write_by_channel(FIXTURE_DATA(reader) * self, uint32_t flags)
{
	struct dray_transfer transfer =
		COPY_OF(self->buffer.fd, self->buffer.fd, self->page,
			.dst_offset = self->page);

	return transfer_run(self->node, &transfer, 0, flags);
}

TEST_F(reader, nothing_is_dropped_of_what_no_device_has_written)
{
	WATCH_MAINTENANCE();
	ASSERT_EQ(0, sync_for_cpu(self));
	EXPECT_EQ(0, maintained(self, true));
}

TEST_F(reader, nothing_is_dropped_of_what_a_channel_has_written)
{
	SKIP_IF(!self->info.channel_count, "this node has no DMA channel");
	ASSERT_EQ(0, write_by_channel(self, 0));
	WATCH_MAINTENANCE();
	ASSERT_EQ(0, sync_for_cpu(self));
	EXPECT_EQ(0, maintained(self, true));
}

/* Twice: by either call. */
TEST_F(reader, what_a_stranger_may_have_written_is_written_back_and_dropped)
{
	NEED_ADDRESSES();
	ASSERT_EQ(0, tell_address(self));
	WATCH_MAINTENANCE();
	ASSERT_EQ(0, sync_for_cpu(self));
	EXPECT_EQ((int64_t)(2 * self->buffer.size), maintained(self, true));
	EXPECT_LE((int64_t)(2 * self->buffer.size), maintained(self, false));
}

TEST_F(reader, what_a_channel_wrote_without_sync_is_written_back_and_dropped)
{
	SKIP_IF(!self->info.channel_count, "this node has no DMA channel");
	ASSERT_EQ(0, write_by_channel(self, DRAY_SUBMIT_NO_SYNC));
	WATCH_MAINTENANCE();
	ASSERT_EQ(0, sync_for_cpu(self));
	EXPECT_EQ((int64_t)(2 * self->buffer.size), maintained(self, true));
	EXPECT_LE((int64_t)(2 * self->buffer.size), maintained(self, false));
}

/* The first sync writes back besides, since the zeros are the CPU's. */
TEST_F(reader, the_owners_own_sync_drops_what_it_is_told_to)
{
	ASSERT_EQ(0, buffer_sync(self->node, self->buffer.fd, DRAY_SYNC_FOR_CPU,
				 DRAY_FROM_DEVICE, 0, self->buffer.size));
	WATCH_MAINTENANCE();
	ASSERT_EQ(0, buffer_sync(self->node, self->buffer.fd, DRAY_SYNC_FOR_CPU,
				 DRAY_FROM_DEVICE, 0, self->buffer.size));
	EXPECT_EQ(-1, maintenance_difference(list, maintenance_read(list, MOST),
					     self->segment, PAGES, true,
					     MAINTAIN_FROM_DEVICE, &self->all));
}
