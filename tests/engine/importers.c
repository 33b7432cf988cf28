// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Devices of other drivers on a read-only dma-buf of each heap: one that reads
 * is let in, one that writes is not, and no driver gets the kernel's own address
 * of it.  And many of them: they do not keep the node's own devices out.  And
 * a region of the device tree that such a device has already.
 * Needs dray_test_importer.ko, and on the PC dray.ko with nodes=1.
 */
#include "../selftests/binding.h"
#include "../selftests/export.h"
#include "../selftests/fixture_dray.h"
#include "../selftests/fixture_engine.h"
#include "../selftests/fixture_heap.h"
#include "../selftests/maintenance.h"
#include "../selftests/platform.h"
#include "importing.h"

#define POOLED "pooled"

/* The kernel has no mapping of it. */
/* clang-format off */
FIXTURE_VARIANT_ADD(heap, carveout) { .type = DRAY_HEAP_CARVEOUT };
/* clang-format on */

/* Of all bytes that the device has read, or -1. */
static long sum_read(void)
{
	return number_read(IMPORTER "sum");
}

static uint32_t attachments(int node, uint64_t id)
{
	struct dray_buffer_info info;

	return node_buffer_info(node, id, &info) ? UINT32_MAX
						 : info.attachments;
}

/* A buffer full of known bytes, and its read-only descriptor. */
#define OPEN_KNOWN(buffer, reader)      \
	OPEN_READ_ONLY(buffer, reader); \
	fill_random(buffer.bytes, buffer.size, 21)

TEST_F(heap, a_device_that_reads_reads_through_it)
{
	OPEN_KNOWN(buffer, reader);
	ASSERT_EQ(0, import("to", reader));
	EXPECT_EQ(sum_of(&buffer), sum_read());
	EXPECT_EQ(0, attachments(self->node, buffer.id));
}

TEST_F(heap, a_device_that_writes_is_refused_and_writes_nothing)
{
	long sum;

	OPEN_KNOWN(buffer, reader);
	sum = sum_of(&buffer);
	EXPECT_EQ(-EACCES, import("from", reader));
	EXPECT_EQ(-EACCES, import("both", reader));
	EXPECT_EQ(sum, sum_of(&buffer));
	EXPECT_EQ(0, attachments(self->node, buffer.id));
}

TEST_F(heap, a_device_writes_through_the_buffers_own_descriptor)
{
	OPEN_KNOWN(buffer, reader);
	ASSERT_EQ(0, import("from", buffer.fd));
	EXPECT_EQ(-1, first_other_byte(buffer.bytes, buffer.size, 0x55));
	ASSERT_EQ(0, import("both", buffer.fd));
	EXPECT_EQ(-1, first_other_byte(buffer.bytes, buffer.size, 0x66));
	/* what was written before is what is read through the other */
	ASSERT_EQ(0, import("to", reader));
	EXPECT_EQ(sum_of(&buffer), sum_read());
}

TEST_F(heap, no_driver_gets_the_kernels_address_of_it)
{
	OPEN_KNOWN(buffer, reader);
	EXPECT_GT(0, import("vmap", reader));
	if (variant->type == DRAY_HEAP_CARVEOUT) {
		EXPECT_GT(0, import("vmap", buffer.fd));
	} else {
		EXPECT_EQ(0, import("vmap", buffer.fd));
	}
}

/* Bytes in pages that were written back, and then dropped for the CPU. */
static uint64_t bytes_dropped(size_t page)
{
	static struct maintenance list[64];
	int count = maintenance_read(list, 64), i;
	uint64_t bytes = 0, written = 0;

	for (i = 0; i < count; i++) {
		if (list[i].bytes != page)
			continue;
		if (!list[i].for_cpu)
			written = list[i].address;
		else if (list[i].direction == MAINTAIN_FROM_DEVICE &&
			 list[i].address == written)
			bytes += page;
	}
	return bytes;
}

/*
 * No mapping of dray's own is maintained, as none would be of a node that is
 * coherent: what the other driver's device wrote is seen all the same.
 */
TEST_F(heap, a_reader_sees_what_a_device_writes_while_no_node_is_maintained)
{
	struct dma_buf_sync sync = { .flags = DMA_BUF_SYNC_START |
					      DMA_BUF_SYNC_READ };
	struct binding binding;
	int ret;

	READ_NODE(info);
	SKIP_IF(info.flags & DRAY_NODE_COHERENT ||
			variant->type == DRAY_HEAP_CARVEOUT,
		"nothing is maintained");
	OPEN_KNOWN(buffer, reader);
	ASSERT_EQ(0, import("keep", buffer.fd));
	ASSERT_EQ(0, binding_find(self->node, &binding));
	EXPECT_EQ(0, binding_unbind(&binding));
	ret = maintenance_watch();
	if (!ret) {
		EXPECT_EQ(0, ioctl(reader, DMA_BUF_IOCTL_SYNC, &sync));
		EXPECT_EQ(buffer.size, bytes_dropped(self->page));
		maintenance_end();
	}
	ASSERT_EQ(0, import("drop", buffer.fd));
	ASSERT_EQ(0, binding_bind(&binding));
	SKIP_IF(ret == -ENODEV, "the kernel has no probes");
	EXPECT_EQ(0, ret);
}

TEST_F(engine, many_devices_of_others_leave_room_for_its_own)
{
	struct dray_transfer transfer = engine_copy(self, self->page);

	EXPECT_EQ(0, import("crowd", self->dst.fd));
	EXPECT_EQ(9, sum_read());
	EXPECT_EQ(9, attachments(self->node, self->dst.id));
	EXPECT_EQ(0, engine_run(self, &transfer, 1));
	EXPECT_EQ(-1, engine_difference(self));
	/* one of those that are there */
	EXPECT_EQ(0, import("to", self->dst.fd));
	EXPECT_EQ(0, import("leave", self->dst.fd));
	EXPECT_EQ(0, attachments(self->node, self->dst.id));
}

TEST_F(dray, a_region_that_is_the_pool_of_a_device_is_no_heap)
{
	struct dray_heap_info heap;
	int node, found;

	SKIP_IF(access(PLATFORM_DEVICES "/" POOLED, F_OK),
		"this machine has no region for a pool");
	ASSERT_EQ(0, write_text(IMPORTER "pool", "/" POOLED));
	ASSERT_EQ(0, platform_override(POOLED, "dray"));
	ASSERT_EQ(0, write_name(PLATFORM_DRIVER, "bind", POOLED));
	node = platform_open(POOLED);
	found = node_find_heap(node, DRAY_HEAP_CARVEOUT, &heap);
	close(node);
	EXPECT_EQ(0, write_name(PLATFORM_DRIVER, "unbind", POOLED));
	EXPECT_EQ(0, platform_override(POOLED, "\n"));
	EXPECT_LE(0, node);
	EXPECT_EQ(-ENOENT, found);
}
