// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Platform devices are given to dray by their driver_override, and only so: a
 * device that has a driver keeps it.  When such a device goes the heap that it
 * brought has no node, and its buffers live on.
 */
#include "binding.h"
#include "fixture_dray.h"
#include "platform.h"
#include "transfer.h"

FIXTURE(override)
{
	struct ledger before;
	char device[256]; /* what the test gave to dray, to take it back */
};

FIXTURE_SETUP(override)
{
	OPEN_NODE(node);
	ASSERT_EQ(0, ledger_take(node, &self->before));
	close(node);
}

FIXTURE_TEARDOWN(override)
{
	if (self->device[0]) {
		write_name(PLATFORM_DRIVER, "unbind", self->device);
		EXPECT_EQ(0, platform_override(self->device, "\n"));
	}
	EXPECT_EQ(0, ledger_differences(&self->before));
}

TEST_F(override, a_device_is_given_to_dray)
{
	struct dray_segment segment = { 0 };
	struct dray_address address = {
		.segments = (uintptr_t)&segment,
		.room = 1,
	};
	struct dray_info info;
	struct buffer buffer;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int node;

	ASSERT_TRUE(platform_find(false, self->device, sizeof(self->device)));
	ASSERT_EQ(0, platform_override(self->device, "dray"));
	ASSERT_EQ(0, write_name(PLATFORM_DRIVER, "bind", self->device));
	node = platform_open(self->device);
	ASSERT_LE(0, node)
	{
		TH_LOG("%s: %s", self->device, strerror(-node));
	}
	ASSERT_EQ(0, node_info(node, &info));
	EXPECT_EQ(0,
		  strncmp(self->device, info.device, sizeof(info.device) - 1));
	EXPECT_EQ(0, info.flags & DRAY_NODE_VIRTUAL);
	EXPECT_EQ(0, info.channel_count);
	ASSERT_EQ(0, buffer_open(node, DRAY_HEAP_ANY, page, &buffer));
	address.fd = buffer.fd;
	EXPECT_EQ(0, node_call(node, DRAY_IOC_ADDRESS, &address));
	EXPECT_EQ(page, segment.length);

	ASSERT_EQ(0, write_name(PLATFORM_DRIVER, "unbind", self->device));
	EXPECT_EQ(-ENODEV, node_info(node, &info));
	EXPECT_EQ(-ENOENT, platform_open(self->device));
	buffer.bytes[0] = 1;
	buffer_close(&buffer);
	close(node);
}

/* The emulated board's tree has it for this. */
#define SPARE "spare"

TEST_F(override, two_regions_of_one_name_are_two_heaps_of_different_names)
{
	struct dray_heap_info first, second;
	struct buffer buffer;
	int node, spare;
	uint64_t used;

	SKIP_IF(access(PLATFORM_DEVICES "/" SPARE, F_OK),
		"this machine has no second region");
	snprintf(self->device, sizeof(self->device), SPARE);
	ASSERT_EQ(0, platform_override(SPARE, "dray"));
	ASSERT_EQ(0, write_name(PLATFORM_DRIVER, "bind", SPARE));
	node = node_open();
	spare = platform_open(SPARE);
	ASSERT_LE(0, node);
	ASSERT_LE(0, spare);
	ASSERT_EQ(0, node_find_heap(node, DRAY_HEAP_RESERVED, &first));
	ASSERT_EQ(0, node_find_heap(spare, DRAY_HEAP_RESERVED, &second));
	EXPECT_STREQ("reserved", first.name);
	EXPECT_STREQ("reserved-1", second.name);
	EXPECT_EQ(0, access("/sys/class/dray-heap/reserved", F_OK));
	EXPECT_EQ(0, access("/sys/class/dray-heap/reserved-1", F_OK));
	/* what is taken of one is not taken of the other */
	ASSERT_EQ(0, buffer_allocate(spare, second.index, 8192, &buffer));
	ASSERT_EQ(0, node_find_heap(spare, DRAY_HEAP_RESERVED, &second));
	EXPECT_EQ(buffer.size, second.used);
	used = first.used;
	ASSERT_EQ(0, node_heap(node, first.index, &first));
	EXPECT_EQ(used, first.used);
	buffer_close(&buffer);
	/* a rebind finds the heap again, by the name that it has */
	close(spare);
	ASSERT_EQ(0, write_name(PLATFORM_DRIVER, "unbind", SPARE));
	ASSERT_EQ(0, write_name(PLATFORM_DRIVER, "bind", SPARE));
	spare = platform_open(SPARE);
	ASSERT_LE(0, spare);
	ASSERT_EQ(0, node_find_heap(spare, DRAY_HEAP_RESERVED, &second));
	EXPECT_STREQ("reserved-1", second.name);
	close(spare);
	close(node);
}

TEST_F(override, a_device_that_was_not_given_is_not_taken)
{
	char device[256];

	ASSERT_TRUE(platform_find(false, device, sizeof(device)));
	EXPECT_EQ(-ENODEV, write_name(PLATFORM_DRIVER, "bind", device));
	EXPECT_EQ(-ENOENT, platform_open(device));
}

TEST_F(override, a_device_that_has_a_driver_is_busy_and_keeps_it)
{
	char before[256], after[256];

	ASSERT_TRUE(platform_find(true, self->device, sizeof(self->device)));
	platform_driver(self->device, before, sizeof(before));
	ASSERT_EQ(0, platform_override(self->device, "dray"));
	EXPECT_EQ(-EBUSY, write_name(PLATFORM_DRIVER, "bind", self->device))
	{
		TH_LOG("%s of %s", self->device, before);
	}
	platform_driver(self->device, after, sizeof(after));
	EXPECT_STREQ(before, after);
}

/* The heap of the spare device has a buffer, and its only node has gone. */
FIXTURE(nodeless)
{
	int node; /* of the other device, which has other heaps */
	struct dray_heap_info heap; /* empty */
	struct buffer buffer;
	uint8_t *copy; /* its bytes */
	struct ledger before;
};

#define PIECE 8192

FIXTURE_SETUP(nodeless)
{
	int spare;

	SKIP_IF(access(PLATFORM_DEVICES "/" SPARE, F_OK),
		"this machine has no second region");
	self->node = node_open();
	ASSERT_LE(0, self->node);
	ASSERT_EQ(0, ledger_take(self->node, &self->before));
	ASSERT_EQ(0, platform_override(SPARE, "dray"));
	ASSERT_EQ(0, write_name(PLATFORM_DRIVER, "bind", SPARE));
	spare = platform_open(SPARE);
	ASSERT_LE(0, spare);
	ASSERT_EQ(0, node_find_heap(spare, DRAY_HEAP_RESERVED, &self->heap));
	ASSERT_EQ(0,
		  buffer_open(spare, self->heap.index, PIECE, &self->buffer));
	self->copy = malloc(PIECE);
	fill_random(self->copy, PIECE, 31);
	memcpy(self->buffer.bytes, self->copy, PIECE);
	close(spare);
	ASSERT_EQ(0, write_name(PLATFORM_DRIVER, "unbind", SPARE));
}

FIXTURE_TEARDOWN_PARENT(nodeless)
{
	if (self->heap.total) {
		write_name(PLATFORM_DRIVER, "unbind", SPARE);
		EXPECT_EQ(0, platform_override(SPARE, "\n"));
		EXPECT_EQ(0, ledger_differences(&self->before));
	}
}

TEST_F(nodeless, another_node_names_the_heap_of_a_live_buffer)
{
	READ_BUFFER(info, self->buffer.id);
	EXPECT_STREQ(self->heap.name, info.heap_name);
	EXPECT_EQ(DRAY_HEAP_ANY, info.heap);
	EXPECT_EQ(self->buffer.size, info.size);
}

TEST_F(nodeless, a_live_buffer_is_mapped_with_its_bytes)
{
	uint8_t *second = mmap(NULL, PIECE, PROT_READ | PROT_WRITE, MAP_SHARED,
			       self->buffer.fd, 0);

	ASSERT_NE(MAP_FAILED, second);
	EXPECT_EQ(-1, first_difference(self->copy, second, PIECE));
	second[1] ^= 0xff;
	EXPECT_EQ(second[1], self->buffer.bytes[1]);
}

TEST_F(nodeless, a_live_buffer_is_synced_for_another_node)
{
	EXPECT_EQ(0,
		  buffer_sync(self->node, self->buffer.fd, DRAY_SYNC_FOR_DEVICE,
			      DRAY_BIDIRECTIONAL, 0, PIECE));
	EXPECT_EQ(0, buffer_sync(self->node, self->buffer.fd, DRAY_SYNC_FOR_CPU,
				 DRAY_BIDIRECTIONAL, 0, PIECE));
	EXPECT_EQ(-1, first_difference(self->copy, self->buffer.bytes, PIECE));
}

/* A copy of all bytes by the other node's engine; 0 or a negative errno. */
static int copy(int node, const struct buffer *to, const struct buffer *from)
{
	struct dray_transfer transfer = COPY_OF(to->fd, from->fd, PIECE);

	return transfer_run(node, &transfer, DRAY_CHANNEL_ANY, 0);
}

TEST_F(nodeless, a_live_buffer_is_copied_by_another_nodes_engine)
{
	READ_NODE(info);
	SKIP_IF(!info.channel_count, "the other node has no DMA channel");
	OPEN_BUFFER(other, DRAY_HEAP_ANY, PIECE);
	EXPECT_EQ(0, copy(self->node, &other, &self->buffer));
	EXPECT_EQ(-1, first_difference(self->copy, other.bytes, PIECE));
	memset(other.bytes, 0x5a, PIECE);
	EXPECT_EQ(0, copy(self->node, &self->buffer, &other));
	EXPECT_EQ(-1, first_other_byte(self->buffer.bytes, PIECE, 0x5a));
}

TEST_F(nodeless, what_is_freed_meanwhile_is_there_when_the_heap_comes_back)
{
	struct dray_heap_info heap;
	struct buffer all;
	int spare;

	buffer_close(&self->buffer);
	ASSERT_EQ(0, write_name(PLATFORM_DRIVER, "bind", SPARE));
	spare = platform_open(SPARE);
	ASSERT_LE(0, spare);
	ASSERT_EQ(0, node_find_heap(spare, DRAY_HEAP_RESERVED, &heap));
	EXPECT_STREQ(self->heap.name, heap.name);
	EXPECT_EQ(0, heap.used);
	EXPECT_EQ(heap.total, heap.free);
	EXPECT_EQ(0, buffer_allocate(spare, heap.index, heap.total, &all));
}

TEST_F(nodeless, what_lives_is_taken_when_the_heap_comes_back)
{
	struct dray_heap_info heap;
	int spare;

	ASSERT_EQ(0, write_name(PLATFORM_DRIVER, "bind", SPARE));
	spare = platform_open(SPARE);
	ASSERT_LE(0, spare);
	ASSERT_EQ(0, node_find_heap(spare, DRAY_HEAP_RESERVED, &heap));
	EXPECT_EQ(1, heap.buffers);
	EXPECT_EQ(self->heap.free - self->buffer.size, heap.free);
}
