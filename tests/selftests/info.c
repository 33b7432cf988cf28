// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * INFO: what a node says of itself, and what the node's file refuses.
 */
#include <sys/sysmacros.h>
#include <sys/utsname.h>

#include "fixture_dray.h"
#include "step.h"

#define KNOWN_FLAGS                                                 \
	(DRAY_NODE_COHERENT | DRAY_NODE_IOMMU | DRAY_NODE_VIRTUAL | \
	 DRAY_NODE_SUBMIT | DRAY_NODE_ADDRESS | DRAY_NODE_REGISTERS)

static bool power_of_two(uint64_t value)
{
	return value && !(value & (value - 1));
}

BRIEF(TEST_F(dray, the_interface_version_is_the_one_of_the_header),
      EXPECT_EQ(DRAY_ABI_VERSION, self->info.abi_version));

TEST_F(dray, only_known_flags_are_set)
{
	EXPECT_EQ(0, self->info.flags & ~KNOWN_FLAGS);
}

TEST_F(dray, the_name_is_the_one_in_dev)
{
	const char *base = strrchr(node_path(), '/');

	ASSERT_NE(NULL, memchr(self->info.name, 0, DRAY_NAME_LEN));
	EXPECT_STREQ(base ? base + 1 : node_path(), self->info.name);
}

TEST_F(dray, device_and_version_are_terminated_and_not_empty)
{
	ASSERT_NE(NULL, memchr(self->info.device, 0, DRAY_NAME_LEN));
	ASSERT_NE(NULL, memchr(self->info.version, 0, DRAY_NAME_LEN));
	EXPECT_NE(0, self->info.device[0]);
	EXPECT_NE(0, self->info.version[0]);
}

TEST_F(dray, the_device_is_the_one_that_sysfs_names)
{
	char link[64], target[4096];
	const char *base;
	struct stat status;
	ssize_t length;

	ASSERT_EQ(0, fstat(self->node, &status));
	snprintf(link, sizeof(link), "/sys/dev/char/%u:%u/device",
		 major(status.st_rdev), minor(status.st_rdev));
	length = readlink(link, target, sizeof(target) - 1);
	ASSERT_LT(0, length)
	{
		TH_LOG("%s: %s", link, strerror(errno));
	}
	target[length] = 0;
	base = strrchr(target, '/');
	EXPECT_STREQ(base ? base + 1 : target, self->info.device);
}

TEST_F(dray, the_mask_is_a_run_of_ones)
{
	EXPECT_NE(0, self->info.dma_mask);
	EXPECT_EQ(0, self->info.dma_mask & (self->info.dma_mask + 1));
}

TEST_F(dray, cache_line_and_alignment_are_powers_of_two)
{
	EXPECT_TRUE(power_of_two(self->info.cache_line));
	EXPECT_TRUE(power_of_two(self->info.dma_alignment));
}

TEST_F(dray, a_coherent_node_wants_no_alignment)
{
	SKIP_IF(!(self->info.flags & DRAY_NODE_COHERENT),
		"this node is not coherent");
	EXPECT_EQ(1, self->info.dma_alignment);
}

#ifdef __aarch64__
/* How much a cache writes back at once, as the processor says; 0: nothing. */
static uint64_t writeback_granule(void)
{
	uint64_t type;

	__asm__("mrs %0, ctr_el0" : "=r"(type));
	type = type >> 24 & 0xf;
	return type ? 4ull << type : 0;
}

/* Older kernels align for the worst processor that there is. */
static bool kernel_aligns_to_128(void)
{
	struct utsname name;
	int major, minor;

	if (uname(&name) || sscanf(name.release, "%d.%d", &major, &minor) != 2)
		return false;
	return major < 6 || (major == 6 && minor < 5);
}

TEST_F(dray, on_arm64_the_alignment_is_the_writeback_granule)
{
	uint64_t granule = writeback_granule();

	SKIP_IF(self->info.flags & DRAY_NODE_COHERENT, "this node is coherent");
	if (!granule || (granule < 128 && kernel_aligns_to_128()))
		granule = 128;
	EXPECT_EQ(granule, self->info.dma_alignment);
	EXPECT_EQ(granule, self->info.cache_line);
}
#endif

BRIEF(TEST_F(dray, the_page_is_the_processs_page),
      EXPECT_EQ(self->page, self->info.page_size));
BRIEF(TEST_F(dray, there_is_at_least_one_heap),
      EXPECT_LE(1, self->info.heap_count));

TEST_F(dray, a_node_that_submits_says_its_bounds)
{
	SKIP_IF(!(self->info.flags & DRAY_NODE_SUBMIT),
		"this kernel has no SUBMIT");
	EXPECT_LT(0, self->info.max_runs);
	EXPECT_LT(0, self->info.max_bytes);
	EXPECT_LT(0, self->info.queue_depth);
}

TEST_F(dray, channels_come_with_submit)
{
	if (self->info.channel_count) {
		EXPECT_EQ(DRAY_NODE_SUBMIT,
			  self->info.flags & DRAY_NODE_SUBMIT);
	}
}

TEST_F(dray, two_openers_read_the_same)
{
	struct dray_info other;

	OPEN_NODE(node);
	ASSERT_EQ(0, node_info(node, &other));
	EXPECT_EQ(0, memcmp(&other, &self->info, sizeof(other)));
}

static int may_ask_for_addresses(void *context)
{
	struct dray_info info;
	int node;

	STEP_EQ(0, process_keep(0));
	node = node_open();
	STEP_LE(0, node);
	STEP_EQ(0, node_info(node, &info));
	return !!(info.flags & DRAY_NODE_ADDRESS);
}

TEST_F(dray, the_right_to_addresses_is_said_to_root)
{
	EXPECT_EQ(DRAY_NODE_ADDRESS, self->info.flags & DRAY_NODE_ADDRESS);
}

BRIEF(TEST_F(dray, the_right_to_addresses_is_not_said_without_capability),
      EXPECT_EQ(0, process_run(may_ask_for_addresses, NULL)));

TEST_F(dray, an_unknown_call_is_refused)
{
	uint64_t argument[32] = { 0 };

	EXPECT_EQ(-ENOTTY,
		  node_call(self->node, _IOWR(DRAY_IOC_MAGIC, 200, uint64_t),
			    argument));
}

TEST_F(dray, a_call_of_another_magic_is_refused)
{
	struct dray_info info = { 0 };

	EXPECT_EQ(-ENOTTY, node_call(self->node,
				     _IOWR('d', 0, struct dray_info), &info));
}

BRIEF(TEST_F(dray, a_reply_to_nowhere_is_refused),
      EXPECT_EQ(-EFAULT, node_call(self->node, DRAY_IOC_INFO, NULL)));

TEST_F(dray, the_node_is_neither_read_nor_written_nor_mapped)
{
	char byte = 0;

	EXPECT_EQ(-1, read(self->node, &byte, 1));
	EXPECT_EQ(-1, write(self->node, &byte, 1));
	EXPECT_EQ(MAP_FAILED,
		  mmap(NULL, self->page, PROT_READ, MAP_SHARED, self->node, 0));
}
