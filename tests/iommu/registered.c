// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A node that another driver registers: dray_edu.ko, whose engine copies behind
 * an IOMMU.  Needs an edu device without a driver_override, and dray_edu.ko.
 */
#include "../selftests/attach.h"
#include "../selftests/binding.h"
#include "../selftests/fence.h"
#include "../selftests/fixture_dray.h"
#include "../selftests/signalled.h"
#include "../selftests/sleep.h"
#include "../selftests/transfer.h"
#include "edu.h"

#define DRIVER PCI_DRIVERS "/dray_edu"
#define MASK ((1ull << 28) - 1)
#define SIZE 8192

FIXTURE(registered)
{
	struct ledger before;
	struct edu edu;
	int node;
	struct buffer src;
	struct buffer dst;
};

FIXTURE_SETUP(registered)
{
	OPEN_NODE(node);
	ASSERT_EQ(0, ledger_take(node, &self->before));
	close(node);
	ASSERT_EQ(0, edu_find(0, &self->edu));
	self->node = edu_open(&self->edu);
	ASSERT_LE(0, self->node);
	ASSERT_EQ(0, buffer_open(self->node, 0, SIZE, &self->src));
	ASSERT_EQ(0, buffer_open(self->node, 0, SIZE, &self->dst));
	fill_random(self->src.bytes, SIZE, 11);
	fill_random(self->dst.bytes, SIZE, 12);
}

FIXTURE_TEARDOWN(registered)
{
	int node;

	close(self->node);
	buffer_close(&self->src);
	buffer_close(&self->dst);
	node = edu_open(&self->edu);
	if (node < 0) {
		EXPECT_EQ(0, write_name(DRIVER, "bind", self->edu.device));
	}
	close(node);
	EXPECT_EQ(0, ledger_differences(&self->before));
}

/* Rows of 20 bytes, 100 apart, to rows that are 50 apart. */
static int submit_rows_as(FIXTURE_DATA(registered) * self, uint64_t rows,
			  uint32_t flags)
{
	struct dray_axis axis = { .count = rows,
				  .src_stride = 100,
				  .dst_stride = 50 };
	struct dray_transfer transfer =
		COPY_OF(self->dst.fd, self->src.fd, 20, .src_offset = 3,
			.dst_offset = 4090, .axes = (uintptr_t)&axis,
			.axes_count = 1);
	struct dray_submit submit =
		SUBMIT_OF(DRAY_CHANNEL_ANY, &transfer, 1, .flags = flags);
	int ret = node_call(self->node, DRAY_IOC_SUBMIT, &submit);

	return ret ? ret : submit.fence_fd;
}

static int submit_rows(FIXTURE_DATA(registered) * self, uint64_t rows)
{
	return submit_rows_as(self, rows, 0);
}

/* For signalled_run(). */
static int copy_a_row(void *context)
{
	int fence = submit_rows(context, 1);
	int ret = fence < 0 ? fence : fence_wait(fence);

	return ret == 1 ? 0 : ret;
}

static int set_asleep(FIXTURE_DATA(registered) * self, const char *asleep)
{
	char folder[PATH_MAX];

	snprintf(folder, sizeof(folder), PCI_DEVICES "/%s", self->edu.device);
	return write_name(folder, "asleep", asleep);
}

static int wake(void *context)
{
	return set_asleep(context, "0");
}

static int unbind(void *context)
{
	FIXTURE_DATA(registered) *self = context;

	return write_name(DRIVER, "unbind", self->edu.device);
}

/* The same by the CPU. */
static void expect_rows(FIXTURE_DATA(registered) * self, uint8_t *dst,
			size_t rows)
{
	for (size_t i = 0; i < rows; i++)
		memcpy(dst + 4090 + i * 50, self->src.bytes + 3 + i * 100, 20);
}

TEST_F(registered, the_node_is_as_its_device_is)
{
	READ_NODE(info);
	EXPECT_STREQ(self->edu.device, info.device);
	EXPECT_EQ(MASK, info.dma_mask);
	EXPECT_EQ(DRAY_NODE_IOMMU | DRAY_NODE_COHERENT,
		  info.flags & (DRAY_NODE_IOMMU | DRAY_NODE_COHERENT |
				DRAY_NODE_VIRTUAL));
	ASSERT_EQ(1, info.channel_count);
	READ_CHANNEL(channel, 0);
	EXPECT_STREQ("edu", channel.name);
}

TEST_F(registered, addresses_are_within_the_devices_reach)
{
	uint64_t address = bus_address(self->node, self->src.fd);

	ASSERT_NE(0, address);
	EXPECT_GE(MASK, address + SIZE - 1);
	EXPECT_NE(physical_address(self->src.bytes), address);
}

TEST_F(registered, its_engine_copies_byte_for_byte)
{
	struct dray_transfer transfer =
		COPY_OF(self->dst.fd, self->src.fd, 5000, .src_offset = 5,
			.dst_offset = 1021);
	struct dray_submit submit = SUBMIT_OF(DRAY_CHANNEL_ANY, &transfer, 1);
	uint8_t copy[SIZE];

	memcpy(copy, self->dst.bytes, SIZE);
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_SUBMIT, &submit));
	EXPECT_EQ(1, fence_wait(submit.fence_fd));
	memcpy(copy + 1021, self->src.bytes + 5, 5000);
	EXPECT_EQ(-1, first_difference(copy, self->dst.bytes, SIZE));
	/* of at most 2 KiB each */
	EXPECT_EQ(3, submit.runs);
}

TEST_F(registered, its_engine_copies_rows)
{
	uint8_t copy[SIZE];
	int fence;

	memcpy(copy, self->dst.bytes, SIZE);
	fence = submit_rows(self, 4);
	ASSERT_LE(0, fence);
	EXPECT_EQ(1, fence_wait(fence));
	expect_rows(self, copy, 4);
	EXPECT_EQ(-1, first_difference(copy, self->dst.bytes, SIZE));
}

static int copy_bytes(int node, int dst, uint64_t dst_offset, int src,
		      uint64_t src_offset, uint64_t run)
{
	struct dray_transfer transfer =
		COPY_OF(dst, src, run, .src_offset = src_offset,
			.dst_offset = dst_offset);

	return transfer_run(node, &transfer, DRAY_CHANNEL_ANY, 0);
}

TEST_F(registered, its_engine_copies_to_and_from_memory_of_the_process)
{
	uint8_t *bytes = fresh_memory(SIZE), copy[SIZE];

	ASSERT_NE(MAP_FAILED, (void *)bytes);
	fill_random(bytes, SIZE, 14);
	memcpy(copy, bytes, SIZE);
	ATTACH_MEMORY(attach, bytes + 60, SIZE - 100, 0);
	/* its first byte is the 60th of the page */
	ASSERT_EQ(0, copy_bytes(self->node, attach.fd, 3001, self->src.fd, 7,
				3000));
	memcpy(copy + 60 + 3001, self->src.bytes + 7, 3000);
	EXPECT_EQ(-1, first_difference(copy, bytes, SIZE));
	ASSERT_EQ(0, copy_bytes(self->node, self->dst.fd, 11, attach.fd, 2999,
				3000));
	EXPECT_EQ(-1, first_difference(copy + 60 + 2999, self->dst.bytes + 11,
				       3000));
	close(attach.fd);
	EXPECT_EQ(-1, first_difference(copy, bytes, SIZE));
}

/* Buffers of one node, transfers on another. */
TEST_F(registered, buffers_of_another_node_are_copied)
{
	struct dray_transfer transfer = {
		.op = DRAY_OP_COPY,
		.dst_fd = self->dst.fd,
		.run = 64,
	};
	struct dray_submit submit = SUBMIT_OF(DRAY_CHANNEL_ANY, &transfer, 1);
	struct buffer other;

	OPEN_NODE(node);
	ASSERT_EQ(0, buffer_open(node, DRAY_HEAP_ANY, 4096, &other));
	fill_random(other.bytes, 64, 13);
	transfer.src_fd = other.fd;
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_SUBMIT, &submit));
	EXPECT_EQ(1, fence_wait(submit.fence_fd));
	EXPECT_EQ(-1, first_difference(other.bytes, self->dst.bytes, 64));
	buffer_close(&other);
	close(node);
}

/* A fence that nothing but waking up would signal is shown to nobody. */
TEST_F(registered, who_submits_to_a_node_that_sleeps_waits_until_it_wakes)
{
	struct signalled copy = { .call = copy_a_row,
				  .release = wake,
				  .context = self,
				  .flags = SA_RESTART };
	uint8_t expected[SIZE];

	memcpy(expected, self->dst.bytes, SIZE);
	ASSERT_EQ(0, set_asleep(self, "1"));
	EXPECT_EQ(0, signalled_run(&copy));
	expect_rows(self, expected, 1);
	EXPECT_EQ(-1, first_difference(expected, self->dst.bytes, SIZE));
}

TEST_F(registered, who_does_not_want_to_wait_is_refused)
{
	ASSERT_EQ(0, set_asleep(self, "1"));
	EXPECT_EQ(-EAGAIN, submit_rows_as(self, 1, DRAY_SUBMIT_NONBLOCK));
	ASSERT_EQ(0, set_asleep(self, "0"));
	EXPECT_EQ(0, copy_a_row(self));
}

TEST_F(registered, who_waits_for_a_node_that_goes_is_told)
{
	struct signalled copy = { .call = copy_a_row,
				  .release = unbind,
				  .context = self,
				  .flags = SA_RESTART };

	ASSERT_EQ(0, set_asleep(self, "1"));
	EXPECT_EQ(-ENODEV, signalled_run(&copy));
}

/* Others may have to see their fences before they can sleep. */
TEST_F(registered, what_was_submitted_is_done_before_a_node_sleeps)
{
	int fences[3], i;

	for (i = 0; i < 3; i++) {
		fences[i] = submit_rows(self, 2);
		ASSERT_LE(0, fences[i]);
	}
	ASSERT_EQ(0, set_asleep(self, "1"));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(1, fence_status(fences[i]));
	ASSERT_EQ(0, set_asleep(self, "0"));
}

TEST_F(registered, a_transfer_is_done_before_the_system_sleeps)
{
	uint8_t copy[SIZE];
	int fence, slept;

	memcpy(copy, self->dst.bytes, SIZE);
	fence = submit_rows(self, 4);
	ASSERT_LE(0, fence);
	slept = system_sleep();
	SKIP_IF(slept == -ENOENT, "the kernel has no test of suspend");
	ASSERT_EQ(0, slept);
	EXPECT_EQ(1, fence_status(fence));
	expect_rows(self, copy, 4);
	EXPECT_EQ(-1, first_difference(copy, self->dst.bytes, SIZE));
}

TEST_F(registered, its_driver_is_unbound_with_a_transfer_under_way)
{
	uint8_t copy[SIZE];
	int fence, ret;

	fence = submit_rows(self, 4);
	ASSERT_LE(0, fence);
	ASSERT_EQ(0, write_name(DRIVER, "unbind", self->edu.device));
	EXPECT_EQ(-ENOENT, edu_open(&self->edu));
	EXPECT_STREQ("", node_call_that_lives(self->node, self->src.fd,
					      self->src.id));
	ret = fence_status(fence);
	EXPECT_TRUE(ret == 1 || ret == -ENODEV)
	{
		TH_LOG("the fence says %d", ret);
	}
	close(fence);
	close(self->node);

	ASSERT_EQ(0, write_name(DRIVER, "bind", self->edu.device));
	self->node = edu_open(&self->edu);
	ASSERT_LE(0, self->node);
	memcpy(copy, self->dst.bytes, SIZE);
	fence = submit_rows(self, 2);
	ASSERT_LE(0, fence);
	EXPECT_EQ(1, fence_wait(fence));
	expect_rows(self, copy, 2);
	EXPECT_EQ(-1, first_difference(copy, self->dst.bytes, SIZE));
	close(fence);
}
