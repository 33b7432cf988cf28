// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A buffer that another driver imports for a device behind an IOMMU: the device
 * reads and writes it there as the import says, as long as it lasts, and nothing
 * of it afterwards.  Needs dray_edu_importer.ko, and an edu device that puts out
 * 28 bits of an address as the third, without a driver.
 */
#include "../selftests/binding.h"
#include "../selftests/export.h"
#include "../selftests/fixture_dray.h"
#include "edu.h"

#define IMPORTER "dray_edu_importer"
#define DRIVER PCI_DRIVERS "/" IMPORTER
#define MASK ((1ull << 28) - 1)
#define PAGES 4
#define WORD 4 /* bytes that a forbidden access tries: one fault each */

FIXTURE(imported)
{
	struct ledger before;
	struct edu edu;
	int node; /* not the device's */
	size_t page;
	struct buffer buffer;
	struct buffer other;
};

FIXTURE_SETUP(imported)
{
	SETUP_NODE();
	ASSERT_EQ(0, ledger_take(self->node, &self->before));
	ASSERT_EQ(0, edu_find(2, &self->edu));
	ASSERT_EQ(0, edu_override(&self->edu, IMPORTER));
	ASSERT_EQ(0, write_name(DRIVER, "bind", self->edu.device));
	ASSERT_EQ(0, edu_map(&self->edu));
	ASSERT_EQ(0, buffer_open(self->node, DRAY_HEAP_ANY, PAGES * self->page,
				 &self->buffer));
	ASSERT_EQ(0, buffer_open(self->node, DRAY_HEAP_ANY, self->page,
				 &self->other));
	fill_random(self->buffer.bytes, self->buffer.size, 31);
	fill_random(self->other.bytes, self->other.size, 32);
}

FIXTURE_TEARDOWN(imported)
{
	faults_expect_no_more();
	write_name(DRIVER, "unbind", self->edu.device);
	EXPECT_EQ(0, edu_override(&self->edu, "\n"));
	buffer_close(&self->buffer);
	buffer_close(&self->other);
	close(self->node);
	EXPECT_EQ(0, ledger_differences(&self->before));
}

/* How: "to" and "from" the device, or "both". */
static int import(FIXTURE_DATA(imported) * self, const char *how, int fd)
{
	char folder[PATH_MAX], text[32];

	snprintf(folder, sizeof(folder), PCI_DEVICES "/%s", self->edu.device);
	snprintf(text, sizeof(text), "%s %d", how, fd);
	return write_name(folder, "import", text);
}

static int import_end(FIXTURE_DATA(imported) * self)
{
	char folder[PATH_MAX];

	snprintf(folder, sizeof(folder), PCI_DEVICES "/%s", self->edu.device);
	return write_name(folder, "import", "none");
}

/* Where the device has it, or 0. */
static uint64_t import_address(FIXTURE_DATA(imported) * self)
{
	char path[PATH_MAX], text[32] = "";
	int fd;

	snprintf(path, sizeof(path), PCI_DEVICES "/%s/address",
		 self->edu.device);
	fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	close(fd);
	return strtoull(text, NULL, 0);
}

/* What the device has of its own is written where another import lets it. */
static int see_own(FIXTURE_DATA(imported) * self, size_t length)
{
	int ret = import(self, "from", self->other.fd);

	if (!ret)
		ret = edu_write(&self->edu, import_address(self), length);
	return ret ? ret : import_end(self);
}

TEST_F(imported, a_device_reads_and_writes_where_it_has_the_buffer)
{
	uint8_t *bytes = self->buffer.bytes, copy[PAGES * self->page];
	uint64_t address, to = 3 * self->page - 500;

	memcpy(copy, bytes, sizeof(copy));
	ASSERT_EQ(0, import(self, "both", self->buffer.fd));
	address = import_address(self);
	ASSERT_NE(0, address);
	EXPECT_GE(MASK, address + self->buffer.size - 1);
	EXPECT_NE(physical_address(bytes), address);
	ASSERT_EQ(0, edu_read(&self->edu, address + 24, 1000));
	ASSERT_EQ(0, edu_write(&self->edu, address + to, 1000));
	ASSERT_EQ(0, import_end(self));
	memcpy(copy + to, copy + 24, 1000);
	EXPECT_EQ(-1, first_difference(copy, bytes, sizeof(copy)));
}

TEST_F(imported, a_device_that_only_writes_writes)
{
	uint8_t *bytes = self->buffer.bytes, copy[PAGES * self->page];

	memcpy(copy, bytes, sizeof(copy));
	ASSERT_EQ(0, import(self, "to", self->other.fd));
	ASSERT_EQ(0, edu_read(&self->edu, import_address(self), 1000));
	ASSERT_EQ(0, import(self, "from", self->buffer.fd));
	ASSERT_EQ(0, edu_write(&self->edu, import_address(self) + self->page,
			       1000));
	ASSERT_EQ(0, import_end(self));
	memcpy(copy + self->page, self->other.bytes, 1000);
	EXPECT_EQ(-1, first_difference(copy, bytes, sizeof(copy)));
}

/* The IOMMU is told what an importer said, and what the descriptor lets it. */
TEST_F(imported, a_device_that_only_reads_writes_nothing)
{
	uint8_t *bytes = self->buffer.bytes, copy[PAGES * self->page];
	int reader = export_fd(self->node, self->buffer.fd);
	uint64_t address;

	memcpy(copy, bytes, sizeof(copy));
	ASSERT_LE(0, reader);
	ASSERT_EQ(0, import(self, "to", reader));
	address = import_address(self);
	ASSERT_EQ(0, edu_read(&self->edu, address, 1000));
	faults_expect();
	ASSERT_EQ(0, edu_write(&self->edu, address + self->page, WORD));
	EXPECT_TRUE(fault_seen());
	faults_expect_no_more();
	EXPECT_EQ(-1, first_difference(copy, bytes, sizeof(copy)));
	/* what it has read is right */
	ASSERT_EQ(0, see_own(self, 1000));
	EXPECT_EQ(-1, first_difference(bytes, self->other.bytes, 1000));
	close(reader);
}

/* The device has used the address, so that the IOMMU's cache has it. */
static int import_and_end(FIXTURE_DATA(imported) * self, uint64_t *address)
{
	int ret = import(self, "both", self->buffer.fd);

	*address = import_address(self);
	if (!ret)
		ret = edu_read(&self->edu, *address, WORD);
	return ret ? ret : import_end(self);
}

TEST_F(imported, after_the_import_nothing_is_read)
{
	static const uint8_t word[WORD] = { 0xfe, 0xed, 0xbe, 0xef };
	uint64_t address;

	ASSERT_EQ(0, import_and_end(self, &address));
	memcpy(self->buffer.bytes, word, WORD);
	faults_expect();
	ASSERT_EQ(0, edu_read(&self->edu, address, WORD));
	EXPECT_TRUE(fault_seen());
	faults_expect_no_more();
	ASSERT_EQ(0, see_own(self, WORD));
	EXPECT_NE(0, memcmp(self->other.bytes, word, WORD));
}

TEST_F(imported, after_the_import_nothing_is_written)
{
	uint8_t *bytes = self->buffer.bytes, copy[PAGES * self->page];
	uint64_t address;

	ASSERT_EQ(0, import_and_end(self, &address));
	memcpy(copy, bytes, sizeof(copy));
	faults_expect();
	ASSERT_EQ(0, edu_write(&self->edu, address + 512, WORD));
	EXPECT_TRUE(fault_seen());
	EXPECT_EQ(-1, first_difference(copy, bytes, sizeof(copy)));
}

TEST_F(imported, a_buffer_that_was_closed_stays_for_the_device)
{
	uint8_t copy[1000];
	uint64_t address;

	memcpy(copy, self->buffer.bytes, sizeof(copy));
	ASSERT_EQ(0, import(self, "to", self->buffer.fd));
	address = import_address(self);
	buffer_close(&self->buffer);
	ASSERT_EQ(1, node_lists(self->node, self->buffer.id));
	ASSERT_EQ(0, edu_read(&self->edu, address, sizeof(copy)));
	ASSERT_EQ(0, see_own(self, sizeof(copy)));
	EXPECT_EQ(-1, first_difference(copy, self->other.bytes, sizeof(copy)));
	EXPECT_EQ(0, node_lists(self->node, self->buffer.id));
}
