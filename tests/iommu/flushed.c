// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Where the kernel flushes the IOMMU's cache lazily, when it pays or after ten
 * milliseconds, what dray has told an address of is flushed at once.  The
 * device of this machine is slower than that and finds nothing either way: so
 * a probe at the IOMMU's driver tells who flushes, and when.
 */
#include "../selftests/attach.h"
#include "../selftests/binding.h"
#include "../selftests/fixture_dray.h"
#include "edu.h"

#define DRIVER PCI_DRIVERS "/dray"
#define TRACING "/sys/kernel/tracing/"
#define INSTANCE TRACING "instances/dray_flushed"
#define SIZE 4096

FIXTURE(flushed)
{
	struct ledger before;
	struct edu edu;
	int node;
};

/* Is the device in a domain whose cache is flushed lazily? */
static bool is_lazy(const struct edu *edu)
{
	char path[PATH_MAX], type[16] = "";
	FILE *file;

	snprintf(path, sizeof(path), PCI_DEVICES "/%s/iommu_group/type",
		 edu->device);
	file = fopen(path, "r");
	if (!file)
		return false;
	if (!fgets(type, sizeof(type), file))
		type[0] = 0;
	fclose(file);
	return !strcmp(type, "DMA-FQ\n");
}

static void unwatch(void)
{
	rmdir(INSTANCE);
	write_text(TRACING "kprobe_events", "-:dray_flushed/all");
}

static int watch(void)
{
	int ret = write_text(TRACING "kprobe_events",
			     "p:dray_flushed/all intel_flush_iotlb_all");

	if (ret)
		return ret;
	if (mkdir(INSTANCE, 0700))
		return -errno;
	return write_text(INSTANCE "/events/dray_flushed/enable", "1");
}

/*
 * How often this process flushed itself: a timer of the kernel's does it in an
 * interrupt, whoever runs then, which the third of the flags says.
 */
static int flushes(void)
{
	FILE *file = fopen(INSTANCE "/trace", "r");
	char line[256], mine[32], *flags;
	int count = 0;

	if (!file)
		return -errno;
	snprintf(mine, sizeof(mine), "-%d ", (int)getpid());
	while (fgets(line, sizeof(line), file)) {
		flags = strstr(line, "] ");
		count += line[0] != '#' && strstr(line, mine) && flags &&
			 flags[4] == '.';
	}
	fclose(file);
	return count;
}

FIXTURE_SETUP(flushed)
{
	OPEN_NODE(node);
	ASSERT_EQ(0, ledger_take(node, &self->before));
	close(node);
	ASSERT_EQ(0, edu_find(0, &self->edu));
	ASSERT_EQ(0, edu_override(&self->edu, "dray"));
	ASSERT_EQ(0, write_name(DRIVER, "bind", self->edu.device));
	self->node = edu_open(&self->edu);
	ASSERT_LE(0, self->node);
}

FIXTURE_TEARDOWN(flushed)
{
	unwatch();
	write_name(DRIVER, "unbind", self->edu.device);
	EXPECT_EQ(0, edu_override(&self->edu, "\n"));
	close(self->node);
	EXPECT_EQ(0, ledger_differences(&self->before));
}

#define ONLY_WHERE_LAZY()                                            \
	do {                                                         \
		if (!is_lazy(&self->edu))                            \
			SKIP(return, "this kernel flushes at once"); \
	} while (0)

TEST_F(flushed, a_buffer_whose_address_was_told_is_flushed_when_it_goes)
{
	ONLY_WHERE_LAZY();
	OPEN_BUFFER(buffer, 0, SIZE);
	ASSERT_NE(0, bus_address(self->node, buffer.fd));
	ASSERT_EQ(0, watch());
	buffer_close(&buffer);
	EXPECT_EQ(1, flushes());
}

TEST_F(flushed, a_buffer_whose_address_nobody_knows_is_not)
{
	ONLY_WHERE_LAZY();
	OPEN_BUFFER(buffer, 0, SIZE);
	ASSERT_EQ(0, watch());
	buffer_close(&buffer);
	EXPECT_EQ(0, flushes());
}

TEST_F(flushed, attached_memory_is_flushed_when_it_is_let_go)
{
	uint8_t *bytes;

	ONLY_WHERE_LAZY();
	bytes = fresh_memory(SIZE);
	ATTACH_MEMORY(attach, bytes, SIZE, 0);
	ASSERT_NE(0, bus_address(self->node, attach.fd));
	ASSERT_EQ(0, watch());
	close(attach.fd);
	EXPECT_EQ(1, flushes());
}
