// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * PCI devices that are given to dray by their driver_override, behind an
 * IOMMU: a device reaches the buffers of its own node, at the addresses of its
 * own node, as long as they are its, and nothing else.  Needs two edu devices
 * with 64 bits of address and one as QEMU has it, all without a driver, and the
 * kernel with intel_iommu=on; whether it flushes the IOMMU's cache lazily makes
 * no difference.
 */
#include "../selftests/attach.h"
#include "../selftests/binding.h"
#include "../selftests/fixture_dray.h"
#include "../selftests/setting.h"
#include "edu.h"

#define DRIVER PCI_DRIVERS "/dray"
#define DMA_BITS "/sys/module/dray/parameters/dma_bits"
#define SIZE 4096
#define WORD 4 /* bytes that a forbidden access tries: one fault each */

FIXTURE(given)
{
	struct ledger before;
	struct edu edu[2];
	int node[2];
	struct buffer buffer[2]; /* mapped for the node with the same index */
	uint64_t address[2]; /* there */
};

static int give(struct edu *edu)
{
	int ret = edu_override(edu, "dray");

	if (!ret)
		ret = write_name(DRIVER, "bind", edu->device);
	return ret;
}

FIXTURE_SETUP(given)
{
	int i, node = node_open();

	ASSERT_LE(0, node);
	ASSERT_EQ(0, ledger_take(node, &self->before));
	close(node);
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, edu_find((unsigned int)i, &self->edu[i]));
		ASSERT_EQ(0, give(&self->edu[i]));
		ASSERT_EQ(0, edu_map(&self->edu[i]));
		self->node[i] = edu_open(&self->edu[i]);
		ASSERT_LE(0, self->node[i]);
	}
	/* At different places: what is right for one is wrong for the other. */
	ASSERT_EQ(0, buffer_open(self->node[0], 0, SIZE, &self->buffer[0]));
	ASSERT_EQ(0,
		  buffer_open(self->node[1], 0, 16 * SIZE, &self->buffer[1]));
	for (i = 0; i < 2; i++) {
		self->address[i] =
			bus_address(self->node[i], self->buffer[i].fd);
		ASSERT_NE(0, self->address[i]);
		fill_random(self->buffer[i].bytes, SIZE, (uint64_t)i + 3);
	}
}

FIXTURE_TEARDOWN(given)
{
	faults_expect_no_more();
	for (int i = 0; i < 2; i++) {
		write_name(DRIVER, "unbind", self->edu[i].device);
		EXPECT_EQ(0, edu_override(&self->edu[i], "\n"));
		buffer_close(&self->buffer[i]);
		close(self->node[i]);
	}
	EXPECT_EQ(0, ledger_differences(&self->before));
}

TEST_F(given, a_pci_device_becomes_a_node)
{
	struct dray_info info;

	ASSERT_EQ(0, node_info(self->node[0], &info));
	EXPECT_STREQ(self->edu[0].device, info.device);
	EXPECT_EQ(UINT64_MAX, info.dma_mask);
	EXPECT_EQ(DRAY_NODE_IOMMU | DRAY_NODE_COHERENT,
		  info.flags & (DRAY_NODE_IOMMU | DRAY_NODE_COHERENT |
				DRAY_NODE_VIRTUAL));
	EXPECT_EQ(0, info.channel_count);
}

TEST_F(given, an_address_is_no_physical_address)
{
	EXPECT_NE(0, physical_address(self->buffer[0].bytes));
	EXPECT_NE(physical_address(self->buffer[0].bytes), self->address[0]);
}

TEST_F(given, a_device_reads_and_writes_what_it_was_given)
{
	uint8_t *bytes = self->buffer[0].bytes, copy[SIZE];

	memcpy(copy, bytes, SIZE);
	ASSERT_EQ(0, edu_read(&self->edu[0], self->address[0] + 24, 1000));
	ASSERT_EQ(0, edu_write(&self->edu[0], self->address[0] + 2048, 1000));
	memcpy(copy + 2048, copy + 24, 1000);
	EXPECT_EQ(-1, first_difference(copy, bytes, SIZE));
}

/* The device has not got this word, and has not written another in its place. */
static int expect_nothing_read(FIXTURE_DATA(given) * self, uint64_t address,
			       const uint8_t *word)
{
	uint8_t *bytes = self->buffer[0].bytes;
	int ret = edu_read(&self->edu[0], address, WORD);

	if (ret)
		return ret;
	if (!fault_seen())
		return -ENOMSG;
	/* what the device has now, where it may write it */
	ret = edu_write(&self->edu[0], self->address[0], WORD);
	if (ret)
		return ret;
	return memcmp(bytes, word, WORD) ? 0 : -EEXIST;
}

TEST_F(given, at_another_nodes_address_nothing_is_read)
{
	faults_expect();
	EXPECT_EQ(0, expect_nothing_read(self, self->address[1],
					 self->buffer[1].bytes));
}

TEST_F(given, at_another_nodes_address_nothing_is_written)
{
	uint8_t copy[SIZE];

	memcpy(copy, self->buffer[1].bytes, SIZE);
	ASSERT_EQ(0, edu_read(&self->edu[0], self->address[0], WORD));
	faults_expect();
	ASSERT_EQ(0, edu_write(&self->edu[0], self->address[1], WORD));
	EXPECT_TRUE(fault_seen());
	EXPECT_EQ(-1, first_difference(copy, self->buffer[1].bytes, SIZE));
}

TEST_F(given, at_the_physical_address_nothing_is_read)
{
	uint8_t word[WORD];

	memcpy(word, self->buffer[0].bytes, WORD);
	faults_expect();
	EXPECT_EQ(0,
		  expect_nothing_read(
			  self, physical_address(self->buffer[0].bytes), word));
}

TEST_F(given, at_the_address_of_a_freed_buffer_nothing_is_read)
{
	struct buffer freed;
	uint64_t address;
	uint8_t word[WORD] = { 0xfe, 0xed, 0xbe, 0xef };

	ASSERT_EQ(0, buffer_open(self->node[0], 0, SIZE, &freed));
	address = bus_address(self->node[0], freed.fd);
	memcpy(freed.bytes, word, WORD);
	ASSERT_EQ(0, edu_read(&self->edu[0], address, WORD));
	buffer_close(&freed);
	faults_expect();
	EXPECT_EQ(0, expect_nothing_read(self, address, word));
}

/* A page of this process, with a word in it that no buffer begins with. */
struct attached {
	int fd;
	uint8_t *bytes;
	uint64_t address; /* for the first node's device */
};

static const uint8_t attached_word[WORD] = { 0xfe, 0xed, 0xbe, 0xef };

static int attach_word(FIXTURE_DATA(given) * self, struct attached *attached)
{
	struct dray_attach attach;

	attached->bytes = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (attached->bytes == MAP_FAILED)
		return -errno;
	memcpy(attached->bytes, attached_word, WORD);
	attached->fd =
		attach_memory(self->node[0], attached->bytes, SIZE, 0, &attach);
	if (attached->fd < 0)
		return attached->fd;
	attached->address = bus_address(self->node[0], attached->fd);
	return attached->address ? 0 : -ENXIO;
}

TEST_F(given, a_device_reads_and_writes_what_was_attached_for_it)
{
	struct attached attached;

	ASSERT_EQ(0, attach_word(self, &attached));
	ASSERT_EQ(0, edu_read(&self->edu[0], attached.address, WORD));
	ASSERT_EQ(0, edu_write(&self->edu[0], attached.address + 512, WORD));
	EXPECT_EQ(-1,
		  first_difference(attached_word, attached.bytes + 512, WORD));
	close(attached.fd);
}

/*
 * The device has used it, so that the IOMMU's cache has it; what the device has
 * of its own before is another word.
 */
static int attach_and_end(FIXTURE_DATA(given) * self, struct attached *attached)
{
	int ret = attach_word(self, attached);

	if (!ret)
		ret = edu_read(&self->edu[0], attached->address, WORD);
	if (!ret)
		ret = edu_read(&self->edu[0], self->address[0], WORD);
	if (!ret)
		close(attached->fd);
	return ret;
}

TEST_F(given, at_the_address_of_an_attachment_that_ended_nothing_is_read)
{
	struct attached attached;

	ASSERT_EQ(0, attach_and_end(self, &attached));
	faults_expect();
	EXPECT_EQ(0,
		  expect_nothing_read(self, attached.address, attached_word));
}

TEST_F(given, at_the_address_of_an_attachment_that_ended_nothing_is_written)
{
	struct attached attached;

	ASSERT_EQ(0, attach_and_end(self, &attached));
	faults_expect();
	ASSERT_EQ(0, edu_write(&self->edu[0], attached.address, WORD));
	EXPECT_TRUE(fault_seen());
	EXPECT_EQ(-1, first_difference(attached_word, attached.bytes, WORD));
}

TEST_F(given, an_address_from_before_a_rebind_is_worth_nothing)
{
	uint64_t address = self->address[0];
	struct buffer old = self->buffer[0];

	ASSERT_EQ(0, write_name(DRIVER, "unbind", self->edu[0].device));
	ASSERT_EQ(0, write_name(DRIVER, "bind", self->edu[0].device));
	close(self->node[0]);
	self->node[0] = edu_open(&self->edu[0]);
	ASSERT_LE(0, self->node[0]);
	faults_expect();
	ASSERT_EQ(0, edu_read(&self->edu[0], address, WORD));
	EXPECT_TRUE(fault_seen());
	/* the buffer is still a buffer: it is mapped again when asked for */
	address = bus_address(self->node[0], old.fd);
	ASSERT_NE(0, address);
	ASSERT_EQ(0, edu_read(&self->edu[0], address, 16));
	ASSERT_EQ(0, edu_write(&self->edu[0], address + 16, 16));
	EXPECT_EQ(-1, first_difference(old.bytes, old.bytes + 16, 16));
}

TEST_F(given, an_unbound_device_writes_nothing)
{
	uint8_t copy[SIZE];

	ASSERT_EQ(0, edu_read(&self->edu[0], self->address[0], WORD));
	memcpy(copy, self->buffer[0].bytes, SIZE);
	ASSERT_EQ(0, write_name(DRIVER, "unbind", self->edu[0].device));
	ASSERT_EQ(0,
		  edu_write(&self->edu[0], self->address[0] + 512, 2 * WORD));
	EXPECT_EQ(-1, first_difference(copy, self->buffer[0].bytes, SIZE));
}

TEST_F(given, a_device_that_was_not_given_is_not_taken)
{
	ASSERT_EQ(0, write_name(DRIVER, "unbind", self->edu[0].device));
	ASSERT_EQ(0, edu_override(&self->edu[0], "\n"));
	EXPECT_EQ(-ENODEV, write_name(DRIVER, "bind", self->edu[0].device));
}

/* The disk of this machine has one. */
TEST_F(given, a_device_that_has_a_driver_is_busy)
{
	struct edu disk = { 0 };
	char link[PATH_MAX], *name;
	int ret;

	ASSERT_NE(NULL, realpath("/sys/block/vda/device/..", link));
	name = strrchr(link, '/') + 1;
	snprintf(disk.device, sizeof(disk.device), "%s", name);
	ASSERT_EQ(0, edu_override(&disk, "dray"));
	ret = write_name(DRIVER, "bind", disk.device);
	EXPECT_EQ(0, edu_override(&disk, "\n"));
	EXPECT_EQ(-EBUSY, ret);
}

/* The third device puts out 28 bits of an address, which nobody can ask it. */
FIXTURE(narrow)
{
	struct ledger before;
	struct edu edu;
	int node;
	struct buffer buffer;
};

FIXTURE_SETUP(narrow)
{
	OPEN_NODE(node);
	ASSERT_EQ(0, ledger_take(node, &self->before));
	close(node);
	ASSERT_EQ(0, edu_find(2, &self->edu));
	ASSERT_EQ(0, setting_write(DMA_BITS, 28));
	ASSERT_EQ(0, give(&self->edu));
	ASSERT_EQ(0, edu_map(&self->edu));
	self->node = edu_open(&self->edu);
	ASSERT_LE(0, self->node);
	ASSERT_EQ(0, buffer_open(self->node, 0, SIZE, &self->buffer));
	fill_random(self->buffer.bytes, SIZE, 9);
}

FIXTURE_TEARDOWN(narrow)
{
	write_name(DRIVER, "unbind", self->edu.device);
	EXPECT_EQ(0, edu_override(&self->edu, "\n"));
	EXPECT_EQ(0, setting_write(DMA_BITS, 0));
	buffer_close(&self->buffer);
	close(self->node);
	EXPECT_EQ(0, ledger_differences(&self->before));
}

TEST_F(narrow, a_device_of_28_bits_reads_and_writes_what_it_was_given)
{
	uint64_t address = bus_address(self->node, self->buffer.fd);
	uint8_t *bytes = self->buffer.bytes;

	ASSERT_NE(0, address);
	EXPECT_LE(address + SIZE - 1, (1ull << 28) - 1);
	ASSERT_EQ(0, edu_read(&self->edu, address, 1000));
	ASSERT_EQ(0, edu_write(&self->edu, address + 2048, 1000));
	EXPECT_EQ(-1, first_difference(bytes, bytes + 2048, 1000));
}
