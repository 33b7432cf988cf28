// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * How many bits of an address a device has that is given to dray: as many as
 * the module's dma_bits says when it is bound.  Memory above is refused.
 */
#include "binding.h"
#include "fixture_dray.h"
#include "platform.h"
#include "setting.h"

#define DMA_BITS "/sys/module/dray/parameters/dma_bits"
#define FEW 24 /* what the machine's oldest memory zone is for */
#define LIMIT ((1ull << FEW) - 1)
#define LARGE (4ull << 20)

FIXTURE(width)
{
	size_t page;
	char device[256]; /* nobody's, but for the test */
	struct ledger before;
};

FIXTURE_SETUP(width)
{
	OPEN_NODE(node);
	self->page = (size_t)sysconf(_SC_PAGESIZE);
	ASSERT_EQ(0, ledger_take(node, &self->before));
	close(node);
	ASSERT_TRUE(platform_find(false, self->device, sizeof(self->device)));
	ASSERT_EQ(0, platform_override(self->device, "dray"));
}

FIXTURE_TEARDOWN_PARENT(width)
{
	write_name(PLATFORM_DRIVER, "unbind", self->device);
	EXPECT_EQ(0, setting_write(DMA_BITS, 0));
	EXPECT_EQ(0, platform_override(self->device, "\n"));
	EXPECT_EQ(0, ledger_differences(&self->before));
}

/* Binds the device with that many bits: its node, or a negative errno. */
static int bind_with(const char *device, uint64_t bits)
{
	int ret = setting_write(DMA_BITS, bits);

	if (!ret)
		ret = write_name(PLATFORM_DRIVER, "bind", device);
	return ret ? ret : platform_open(device);
}

static int bind_again(const char *device, uint64_t bits)
{
	int ret = write_name(PLATFORM_DRIVER, "unbind", device);

	return ret ? ret : bind_with(device, bits);
}

static uint64_t mask_of(int node)
{
	struct dray_info info = { 0 };

	return node_info(node, &info) ? 0 : info.dma_mask;
}

TEST_F(width, a_device_has_the_bits_that_dma_bits_says)
{
	int node = bind_with(self->device, 0);
	uint64_t wide = mask_of(node);

	ASSERT_LE(0, node);
	EXPECT_LE(UINT32_MAX, wide);
	close(node);
	node = bind_again(self->device, 34);
	ASSERT_LE(0, node);
	EXPECT_EQ(wide & ((1ull << 34) - 1), mask_of(node));
	close(node);
}

TEST_F(width, a_width_above_64_is_refused)
{
	EXPECT_EQ(-EINVAL, bind_with(self->device, 65));
	EXPECT_EQ(-ENOENT, platform_open(self->device));
}

/* No machine has memory for one bit. */
TEST_F(width, a_device_that_no_memory_suits_is_refused)
{
	EXPECT_EQ(-EIO, bind_with(self->device, 1));
	EXPECT_EQ(-ENOENT, platform_open(self->device));
}

/* Leaves the test where the machine has no zone of memory for FEW bits. */
#define BIND_NARROW(node)                                                   \
	do {                                                                \
		(node) = bind_with(self->device, FEW);                      \
		if ((node) == -EIO)                                         \
			SKIP(return, "no memory here is for %d bits", FEW); \
		ASSERT_LE(0, node);                                         \
	} while (0)

/* What dma_bits says is for one binding, whoever comes after it. */
TEST_F(width, a_device_gets_its_own_width_back)
{
	int node = bind_with(self->device, 0);
	uint64_t wide = mask_of(node);

	ASSERT_LE(0, node);
	close(node);
	ASSERT_EQ(0, write_name(PLATFORM_DRIVER, "unbind", self->device));
	BIND_NARROW(node);
	EXPECT_EQ(LIMIT, mask_of(node));
	close(node);
	node = bind_again(self->device, 0);
	ASSERT_LE(0, node);
	EXPECT_EQ(wide, mask_of(node));
	close(node);
}

static int allocate(int node, uint64_t size, struct dray_alloc *alloc)
{
	struct dray_heap_info heap;
	int ret = node_find_heap(node, DRAY_HEAP_PAGES, &heap);

	*alloc = (struct dray_alloc){ .size = size, .heap = heap.index };
	return ret ? ret : node_call(node, DRAY_IOC_ALLOC, alloc);
}

TEST_F(width, memory_is_below_the_limit)
{
	struct dray_segment segment = { 0 };
	struct dray_address address = { .segments = (uintptr_t)&segment,
					.room = 1 };
	struct dray_alloc alloc;
	int node, ret;

	BIND_NARROW(node);
	ret = allocate(node, self->page, &alloc);
	/* Where no zone ends there it is luck what a page's address is. */
	if (ret == -ENOMEM && alloc.reason == DRAY_REASON_MASK)
		SKIP(return, "the page was above %d bits", FEW);
	ASSERT_EQ(0, ret);
	address.fd = alloc.fd;
	ASSERT_EQ(0, node_call(node, DRAY_IOC_ADDRESS, &address));
	EXPECT_LE(segment.address + self->page - 1, LIMIT);
	close(alloc.fd);
	close(node);
}

TEST_F(width, memory_above_the_limit_is_refused)
{
	struct dray_alloc alloc;
	int node, pieces, ret = 0;

	BIND_NARROW(node);
	for (pieces = 0; !ret && pieces <= LIMIT / LARGE; pieces++)
		ret = allocate(node, LARGE, &alloc);
	EXPECT_EQ(-ENOMEM, ret);
	EXPECT_EQ(DRAY_REASON_MASK, alloc.reason);
	EXPECT_EQ(LIMIT, alloc.limit);
	close(node);
}

TEST_F(width, what_lies_above_is_not_mapped_for_the_device)
{
	struct dray_segment segment = { 0 };
	struct dray_address address = { .segments = (uintptr_t)&segment,
					.room = 1 };
	struct dray_alloc alloc;
	int node, wide = node_open();

	ASSERT_LE(0, wide);
	BIND_NARROW(node);
	ASSERT_EQ(0, allocate(wide, self->page, &alloc));
	address.fd = alloc.fd;
	EXPECT_EQ(-ENOMEM, node_call(node, DRAY_IOC_ADDRESS, &address));
	EXPECT_EQ(DRAY_REASON_BOUNCE, address.reason);
	EXPECT_EQ(LIMIT, address.limit);
	close(alloc.fd);
	close(wide);
	close(node);
}
