// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Regions of the device tree that dray cannot use: where there is no memory,
 * where the kernel maps what it was told to leave alone, and where another driver
 * has it.  The node is there without them, and the log says why.  The
 * emulated board's tree has a device for this.
 */
#include "binding.h"
#include "kernel_log.h"
#include "ledger.h"
#include "platform.h"
#include "setup.h"

#define USELESS "useless"

/* The device given to dray, and its node. */
FIXTURE(regions)
{
	bool there;
	int node;
	struct dray_info info;
	struct ledger before;
};

FIXTURE_VARIANT(regions)
{
	const char *name;
	const char *why; /* what the log says */
	const char *useless;
};

FIXTURE_VARIANT_ADD(regions, no_memory){
	.name = "absent",
	.why = "absent has no reserved pages of its own",
	.useless = "region 0 is of no use",
};

FIXTURE_VARIANT_ADD(regions, mapped_by_the_kernel){
	.name = "mapped",
	.why = "mapped is memory that the kernel maps",
	.useless = "region 1 is of no use",
};

FIXTURE_VARIANT_ADD(regions, another_drivers){
	.name = "taken",
	.why = "taken is in use already",
	.useless = "region 2 is of no use",
};

FIXTURE_SETUP(regions)
{
	int node = node_open();

	self->there = !access(PLATFORM_DEVICES "/" USELESS, F_OK);
	SKIP_IF(!self->there, "this machine has no such regions");
	ASSERT_LE(0, node);
	ASSERT_EQ(0, ledger_take(node, &self->before));
	close(node);
	ASSERT_EQ(0, log_begin());
	ASSERT_EQ(0, platform_override(USELESS, "dray"));
	ASSERT_EQ(0, write_name(PLATFORM_DRIVER, "bind", USELESS));
	self->node = platform_open(USELESS);
	ASSERT_LE(0, self->node);
	ASSERT_EQ(0, node_info(self->node, &self->info));
}

FIXTURE_TEARDOWN_PARENT(regions)
{
	if (self->there) {
		write_name(PLATFORM_DRIVER, "unbind", USELESS);
		EXPECT_EQ(0, platform_override(USELESS, "\n"));
		EXPECT_EQ(0, ledger_differences(&self->before));
	}
}

TEST_F(regions, it_is_no_heap_of_the_node)
{
	struct dray_heap_info heap;

	for (uint32_t i = 0; i < self->info.heap_count; i++) {
		ASSERT_EQ(0, node_heap(self->node, i, &heap));
		EXPECT_STRNE(variant->name, heap.name);
		EXPECT_EQ(DRAY_HEAP_PAGES, heap.type);
	}
}

TEST_F(regions, it_is_no_heap_in_sysfs)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/class/dray-heap/%s", variant->name);
	EXPECT_NE(0, access(path, F_OK));
	EXPECT_EQ(ENOENT, errno);
}

TEST_F(regions, the_log_says_why)
{
	const char *log = log_read();

	ASSERT_NE(NULL, log);
	EXPECT_NE(NULL, strstr(log, variant->why));
	EXPECT_NE(NULL, strstr(log, variant->useless));
}

TEST_F(regions, memory_comes_from_the_heaps_that_are_left)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	OPEN_BUFFER(buffer, DRAY_HEAP_ANY, page);
	memset(buffer.bytes, 1, page);
	EXPECT_EQ(0, buffer_sync(self->node, buffer.fd, DRAY_SYNC_FOR_DEVICE,
				 DRAY_TO_DEVICE, 0, page));
	buffer_close(&buffer);
}

/* Bound anew it is refused anew: nothing of it was kept. */
TEST_F(regions, it_stays_of_no_use)
{
	struct dray_info info;
	int node;

	close(self->node);
	ASSERT_EQ(0, write_name(PLATFORM_DRIVER, "unbind", USELESS));
	ASSERT_EQ(0, log_begin());
	ASSERT_EQ(0, write_name(PLATFORM_DRIVER, "bind", USELESS));
	node = platform_open(USELESS);
	ASSERT_LE(0, node);
	ASSERT_EQ(0, node_info(node, &info));
	EXPECT_EQ(self->info.heap_count, info.heap_count);
	EXPECT_NE(NULL, strstr(log_read(), variant->why));
}
