// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Platform devices are given to dray by their driver_override, and only so: a
 * device that has a driver keeps it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>

#include "binding.h"
#include "fixture_dray.h"

#define DEVICES "/sys/bus/platform/devices"
#define DRIVER "/sys/bus/platform/drivers/dray"

FIXTURE(override)
{
	struct ledger before;
	char device[256]; /* what the test gave to dray, to take it back */
};

FIXTURE_SETUP(override)
{
	int node = node_open();

	ASSERT_LE(0, node);
	ASSERT_EQ(0, ledger_take(node, &self->before));
	close(node);
}

static int set_override(const char *device, const char *driver)
{
	char folder[PATH_MAX];

	snprintf(folder, sizeof(folder), DEVICES "/%s", device);
	return write_name(folder, "driver_override", driver);
}

FIXTURE_TEARDOWN(override)
{
	if (self->device[0]) {
		write_name(DRIVER, "unbind", self->device);
		EXPECT_EQ(0, set_override(self->device, "\n"));
	}
	EXPECT_EQ(0, ledger_differences(&self->before));
}

/* The driver of a device, or "". */
static void read_driver(const char *device, char *driver, size_t size)
{
	char link[PATH_MAX], target[PATH_MAX];
	ssize_t length;

	snprintf(link, sizeof(link), DEVICES "/%s/driver", device);
	length = readlink(link, target, sizeof(target) - 1);
	target[length < 0 ? 0 : length] = 0;
	snprintf(driver, size, "%s",
		 strrchr(target, '/') ? strrchr(target, '/') + 1 : "");
}

/* The first platform device with a driver that is not dray, or without any. */
static bool find_device(bool driven, char *device, size_t size)
{
	DIR *folder = opendir(DEVICES);
	char driver[256];
	struct dirent *entry;
	bool found = false;

	while (folder && !found && (entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		read_driver(entry->d_name, driver, sizeof(driver));
		found = driven ? driver[0] && strcmp(driver, "dray")
			       : !driver[0];
		if (found)
			snprintf(device, size, "%s", entry->d_name);
	}
	if (folder)
		closedir(folder);
	return found;
}

/* Opens the node of a device, or gives a negative errno. */
static int open_node_of(const char *device)
{
	char pattern[PATH_MAX], path[PATH_MAX];
	glob_t names;
	int node = -ENOENT;

	snprintf(pattern, sizeof(pattern), DEVICES "/%s/misc/dray*", device);
	if (!glob(pattern, 0, NULL, &names)) {
		snprintf(path, sizeof(path), "/dev/%s",
			 strrchr(names.gl_pathv[0], '/') + 1);
		node = open(path, O_RDWR | O_CLOEXEC);
		if (node < 0)
			node = -errno;
		globfree(&names);
	}
	return node;
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

	ASSERT_TRUE(find_device(false, self->device, sizeof(self->device)));
	ASSERT_EQ(0, set_override(self->device, "dray"));
	ASSERT_EQ(0, write_name(DRIVER, "bind", self->device));
	node = open_node_of(self->device);
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

	ASSERT_EQ(0, write_name(DRIVER, "unbind", self->device));
	EXPECT_EQ(-ENODEV, node_info(node, &info));
	EXPECT_EQ(-ENOENT, open_node_of(self->device));
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

	if (access(DEVICES "/" SPARE, F_OK))
		SKIP(return, "this machine has no second region");
	snprintf(self->device, sizeof(self->device), SPARE);
	ASSERT_EQ(0, set_override(SPARE, "dray"));
	ASSERT_EQ(0, write_name(DRIVER, "bind", SPARE));
	node = node_open();
	spare = open_node_of(SPARE);
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
	ASSERT_EQ(0, write_name(DRIVER, "unbind", SPARE));
	ASSERT_EQ(0, write_name(DRIVER, "bind", SPARE));
	spare = open_node_of(SPARE);
	ASSERT_LE(0, spare);
	ASSERT_EQ(0, node_find_heap(spare, DRAY_HEAP_RESERVED, &second));
	EXPECT_STREQ("reserved-1", second.name);
	close(spare);
	close(node);
}

TEST_F(override, a_device_that_was_not_given_is_not_taken)
{
	char device[256];

	ASSERT_TRUE(find_device(false, device, sizeof(device)));
	EXPECT_EQ(-ENODEV, write_name(DRIVER, "bind", device));
	EXPECT_EQ(-ENOENT, open_node_of(device));
}

TEST_F(override, a_device_that_has_a_driver_is_busy_and_keeps_it)
{
	char before[256], after[256];

	ASSERT_TRUE(find_device(true, self->device, sizeof(self->device)));
	read_driver(self->device, before, sizeof(before));
	ASSERT_EQ(0, set_override(self->device, "dray"));
	EXPECT_EQ(-EBUSY, write_name(DRIVER, "bind", self->device))
	{
		TH_LOG("%s of %s", self->device, before);
	}
	read_driver(self->device, after, sizeof(after));
	EXPECT_STREQ(before, after);
}

TEST_HARNESS_MAIN
